"""Functions in C that Python calls: the kernels.

:func:`kernel` marks the declaration of one: a function with a docstring and nothing else. Its
code is in a C file beside the module, of the same name, under the name of the function with its
module, underscores in place of dots. All kernels are one library
(:mod:`~cpx.compiled.library`), loaded when the first of them is called. A call releases the
interpreter lock.

A kernel says by its annotations what it takes: integers, floats, booleans, arrays of the types
below, and named tuples of these. It returns nothing, an integer, a boolean or a tuple of these.

In C it is one function, ``void name(struct name *t)``, of one table. It holds the arguments from
left to right: of a number its value, of an array the address of its data and its lengths, of a
named tuple its members. Then come the results. The struct is written from the annotations by
:mod:`~cpx.compiled.tables`.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Callable, Iterator
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.library import entry_of


class ArrayKind(NamedTuple):
    """Element type and number of axes of an array that lies in memory in the order of C."""

    dtype: np.dtype[Any]
    axes: int


def _kind(element: Any, axes: int) -> ArrayKind:
    return ArrayKind(np.dtype(element), axes)


Bools = Annotated[NDArray[np.bool_], _kind(np.bool_, 1)]
Bytes = Annotated[NDArray[np.uint8], _kind(np.uint8, 1)]
Bytes2 = Annotated[NDArray[np.uint8], _kind(np.uint8, 2)]
Shorts = Annotated[NDArray[np.int32], _kind(np.int32, 1)]
Shorts2 = Annotated[NDArray[np.int32], _kind(np.int32, 2)]
Shorts3 = Annotated[NDArray[np.int32], _kind(np.int32, 3)]
Ints = Annotated[NDArray[np.int64], _kind(np.int64, 1)]
Ints2 = Annotated[NDArray[np.int64], _kind(np.int64, 2)]
Ints3 = Annotated[NDArray[np.int64], _kind(np.int64, 3)]
Words = Annotated[NDArray[np.uint64], _kind(np.uint64, 1)]
Words2 = Annotated[NDArray[np.uint64], _kind(np.uint64, 2)]
Words3 = Annotated[NDArray[np.uint64], _kind(np.uint64, 3)]
Singles = Annotated[NDArray[np.float32], _kind(np.float32, 1)]
Singles2 = Annotated[NDArray[np.float32], _kind(np.float32, 2)]
Singles3 = Annotated[NDArray[np.float32], _kind(np.float32, 3)]
Floats = Annotated[NDArray[np.float64], _kind(np.float64, 1)]

LANES = 8
"""Words handled at once; arrays that are read so have this much slack at the end."""

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

registered: list[Kernel] = []
"""The kernels of all modules that were imported."""

_Start = ctypes.c_char * 0


def kernel(function: F) -> F:
    """Mark the declaration of a function whose code is in C."""
    made = Kernel(cast(FunctionType, function))
    registered.append(made)
    return cast(F, made)


def bind(function: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """Return a call of a kernel that may be made again and again, by one thread at a time.

    The arguments are looked at once, which for many arrays takes longer than a short call.
    What the arrays hold may change between calls.
    """
    return cast(Kernel, function).bind(*arguments)


class Kernel:
    """A function whose code is in C."""

    def __init__(self, function: FunctionType) -> None:
        update_wrapper(self, function)
        self.function = function
        self.symbol = f"{function.__module__}.{function.__name__}".replace(".", "_")
        self.entry: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the code."""
        return self.bind(*arguments)()

    def bind(self, *arguments: Any) -> Callable[[], Any]:
        """Return the call with these arguments; see :func:`bind`.

        Raises TypeError: Where the arguments are not what the annotations say: other types or
            numbers of axes, arrays that cannot be written or do not lie in memory in the order of
            C, or integers beyond 64 bits.
        """
        kinds: list[Any] = []
        words: list[int] = []
        for argument in arguments:
            if not _pack(argument, kinds, words):
                break
        if kinds != self._kinds:
            raise TypeError(f"{self.symbol}{self._kinds} was called with {kinds}")
        convert, before = self._convert, len(words)
        table = array("q", words + [0] * len(convert))
        if self.entry is None:
            self.entry = entry_of(self.symbol, len(table))
        entry, place = self.entry, table.buffer_info()[0]

        def call(owners: object = arguments) -> Any:  # they own the arrays
            entry(place)
            if not convert:
                return None
            results = [kind(word) for kind, word in zip(convert, table[before:])]
            return tuple(results) if self._several else results[0]

        return call

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The annotations."""
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def _kinds(self) -> list[Any]:
        names = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        return [kind for name in names for kind in _flat(self.hints[name])]

    @cached_property
    def _convert(self) -> tuple[Callable[[int], Any], ...]:
        returned = self.hints["return"]
        if returned is type(None):
            return ()
        return get_args(returned) if self._several else (returned,)

    @cached_property
    def _several(self) -> bool:
        return get_origin(self.hints["return"]) is tuple


def _flat(hint: Any) -> Iterator[Any]:
    """Yield the kinds that :func:`_pack` should find."""
    if get_origin(hint) is Annotated:
        yield from get_args(hint)[1]
    else:
        yield hint
        if hasattr(hint, "_fields"):
            for member in get_type_hints(hint, include_extras=True).values():
                yield from _flat(member)


def _pack(argument: Any, kinds: list[Any], words: list[int]) -> bool:
    """Append the kinds and words of an argument; False where there are none for it."""
    kind = type(argument)
    if kind is np.ndarray:
        if not argument.flags.carray:
            kinds.append("not in the order of C, or read-only")
            return False
        shape = argument.shape
        kinds += argument.dtype, len(shape)
        words.append(ctypes.addressof(_Start.from_buffer(argument)))
        words += shape
    elif kind is bool or kind is np.bool_:
        kinds.append(bool)
        words.append(int(argument))
    elif (kind is int or kind is np.int64) and -(2**63) <= argument < 2**63:
        kinds.append(int)
        words.append(int(argument))
    elif kind is float:
        kinds.append(float)
        words += struct.unpack("q", struct.pack("d", argument))
    elif isinstance(argument, tuple) and hasattr(kind, "_fields"):
        kinds.append(kind)
        for member in argument:
            if not _pack(member, kinds, words):
                return False
    else:
        kinds.append(f"{kind.__name__} {argument}")
        return False
    return True
