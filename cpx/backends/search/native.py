"""Machine code of kernels: loaded by LLVM's linker alone, called with plain words.

A compiled kernel is an object file with one function for Python to call,

    int32 cpx_kernel(int64 *table),

and the table is all there is to its calling convention. It holds first the arguments, from
left to right: of an integer or a boolean its value, of an array the address of its data and
its lengths, of a named tuple its members. Then come the results, as many words as there are.
The status is 0, or the kernel raised an exception.

What the words cannot tell is the kind of each argument: the machine code is for one list of
kinds, and :func:`pack` says which one the arguments are of.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpx.errors import EngineError

__all__ = ["ENTRY", "Kinds", "Native", "NotPlain", "Stored", "pack"]

ENTRY = "cpx_kernel"
"""Symbol of the function that Python calls."""

Kinds = tuple[Any, ...]
"""Kinds of the arguments, in the order of the table: ``"int"``, ``"bool"``, the type and the
number of axes of an array, the class of a named tuple before its members."""

_Start = ctypes.c_char * 0
_Entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)  # releases the interpreter lock


class NotPlain(Exception):
    """An argument that machine code cannot be called with."""


@dataclass(frozen=True)
class Stored:
    """Machine code of a kernel, as it is kept in a file.

    Attributes
    ----------
    objects : tuple of bytes
        Object files, to be linked with each other.
    results : tuple of str
        Kinds of the results, ``"int"`` or ``"bool"``.
    single : bool
        Whether the one result is returned as it is, and not as a tuple.
    """

    objects: tuple[bytes, ...]
    results: tuple[str, ...]
    single: bool


def pack(arguments: tuple[Any, ...]) -> tuple[Kinds, list[int]]:
    """Return the kinds and the words of a list of arguments.

    Raises
    ------
    NotPlain
        Where one is neither an integer of 64 bits, nor a boolean, nor an array that can be
        written and lies in memory in the order of C, nor a named tuple of these.

    Examples
    --------
    >>> pack((7, True))
    (('int', 'bool'), [7, 1])
    >>> kinds, words = pack((np.zeros((2, 3)),))
    >>> kinds, words[1:]
    ((dtype('float64'), 2), [2, 3])
    """
    kinds: list[Any] = []
    words: list[int] = []
    _pack(arguments, kinds, words)
    return tuple(kinds), words


def _pack(arguments: tuple[Any, ...], kinds: list[Any], words: list[int]) -> None:
    for argument in arguments:
        kind = type(argument)
        if kind is np.ndarray:
            if not argument.flags.carray:
                raise NotPlain
            shape = argument.shape
            kinds += argument.dtype, len(shape)
            words.append(ctypes.addressof(_Start.from_buffer(argument)))
            words += shape
        elif kind is int or kind is np.int64:
            if not -(2**63) <= argument < 2**63:
                raise NotPlain
            kinds.append("int")
            words.append(int(argument))
        elif kind is bool or kind is np.bool_:
            kinds.append("bool")
            words.append(int(argument))
        elif isinstance(argument, tuple) and hasattr(kind, "_fields"):
            kinds.append(kind)
            _pack(argument, kinds, words)
        else:
            raise NotPlain


class Native:
    """A loaded kernel.

    Calls raise :class:`~cpx.errors.EngineError` when the kernel raised an exception, which
    kernels must not.
    """

    def __init__(self, name: str, stored: Stored) -> None:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        machine = binding.Target.from_default_triple().create_target_machine()
        # An engine is made around a module, and the objects come on top of that. Each kernel
        # has its own: two may have parts of equal name.
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        for code in stored.objects:
            self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._entry = _Entry(self._engine.get_function_address(ENTRY))
        self._name = name
        self._convert = [bool if kind == "bool" else int for kind in stored.results]
        self._single = stored.single

    def bind(self, words: list[int], owners: object) -> Callable[[], Any]:
        """Return a call with words of the kinds the kernel was compiled for.

        ``owners`` are kept as long as the call is: they own the arrays.
        """
        convert, before = self._convert, len(words)
        table = array("q", words + [0] * len(convert))
        address = table.buffer_info()[0]

        def call(owners: object = owners) -> Any:
            status = self._entry(address)
            if status:
                raise EngineError(f"the kernel {self._name} failed with status {status}")
            if not convert:
                return None
            results = [kind(word) for kind, word in zip(convert, table[before:], strict=True)]
            return results[0] if self._single else tuple(results)

        return call
