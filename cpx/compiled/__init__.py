"""Kernels: the inner loops of the package, in C.

- ``kernel``: how Python declares and calls one; ``kernel.h``, ``vectors.h``: what their code uses;
- ``tables``: the C declarations that follow from those in Python;
- ``library``: the library of all kernels for this processor.
"""
