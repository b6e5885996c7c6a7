"""Kernels: the functions of the package that are machine code.

- ``kernel``: how a function becomes one, and how it is called;
- ``vectors``: what kernels do to eight words at once;
- ``build``: Numba and LLVM make the machine code, when the package is built;
- ``machine_code``: the one for this processor is found and loaded.
"""
