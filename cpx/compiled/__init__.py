"""Kernels: the functions of the package that are machine code.

- ``kernel``: how a function becomes one, is loaded, and is called;
- ``vectors``: what kernels do to eight words at once;
- ``build``: Numba and LLVM make the machine code, when the package is built;
- ``machine_code``: the file for this processor is found, or made.
"""
