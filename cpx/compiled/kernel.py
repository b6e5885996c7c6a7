"""Functions compiled to machine code when the package is built.

:func:`kernel` marks a function that Python calls as machine code, and :func:`subroutine` one that
kernels call. Their machine code is on its own: it needs neither Numba, which makes it
(:mod:`~cpx.compiled.build`), nor Python, and releases the interpreter lock.

A kernel says by its annotations what it takes: integers, floats, booleans, arrays of the types
below, and named tuples of these. It returns nothing, an integer, a boolean or a tuple of these;
it must not allocate and not raise, or it is refused when it is compiled. What it calls, and the
constants it uses, are globals of its module.

Compiled, it is one function, ``void name(void **table, int64 *table, double *table)``, of one
table that is given three times. It holds the arguments from left to right: of a number its value,
of an array the address of its data and its lengths, of a named tuple its members. Then come the
results.

The machine code of all kernels is one file (:mod:`~cpx.compiled.machine_code`), loaded when the
first of them is called.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from array import array
from collections.abc import Callable, Iterator
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.machine_code import machine_code, note_sources
from cpx.errors import EngineError


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

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

registered: list[Kernel] = []
"""The kernels of all modules that were imported."""

# The sources may be edited while this process runs.
note_sources()

_Entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)  # releases the interpreter lock
_Start = ctypes.c_char * 0


def kernel(function: F) -> F:
    """Mark a function that is called as machine code, from Python and from other kernels."""
    made = Kernel(cast(FunctionType, function))
    registered.append(made)
    return cast(F, made)


def subroutine(function: F) -> F:
    """Mark a function that kernels call; the types of its arguments follow from the calls.

    Called from Python it runs as Python.
    """
    function.__dict__["compiled"] = True
    return function


def bind(function: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """Return a call of a kernel that may be made again and again, by one thread at a time.

    The arguments are looked at once, which for many arrays takes longer than a short call.
    What the arrays hold may change between calls.
    """
    return cast(Kernel, function).bind(*arguments)


class Kernel:
    """A function that is called as machine code."""

    def __init__(self, function: FunctionType) -> None:
        update_wrapper(self, function)
        self.function = function
        self.symbol = f"{function.__module__}.{function.__name__}"

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code."""
        return self.bind(*arguments)()

    def bind(self, *arguments: Any) -> Callable[[], Any]:
        """Return the call with these arguments; see :func:`bind`.

        Raises
        ------
        TypeError
            Where the arguments are not what the annotations say: other types or numbers of
            axes, arrays that cannot be written or do not lie in memory in the order of C, or
            integers beyond 64 bits.
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
        entry, place = self.entry, table.buffer_info()[0]

        def call(owners: object = arguments) -> Any:  # they own the arrays
            entry(place, place, place)
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

    @cached_property
    def entry(self) -> Any:
        """The machine code."""
        return entry_at(address_of(self.symbol))


def entry_at(address: int) -> Any:
    """Return the call of the machine code of a kernel at an address."""
    return _Entry(address)


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


# ------------------------------------------------------- the machine code of all

seconds_compiling = 0.0
"""How long this process has waited for machine code to be made; no solve counts it."""

_loaded: list[Any] = []
_lock = threading.Lock()


def address_of(symbol: str) -> int:
    """Return the address of a kernel."""
    address: int = _engine().get_function_address(symbol)
    if not address:
        raise EngineError(f"{symbol} is not among the compiled kernels")
    return address


def load() -> None:
    """Load the machine code, which takes a while only where it must be made first."""
    _engine()


def _engine() -> Any:
    global seconds_compiling
    if not _loaded:
        with _lock:  # threads may call the first kernel at the same time
            if not _loaded:
                code, seconds = machine_code()
                seconds_compiling += seconds
                _loaded.append(link(code))
    return _loaded[0]


def link(code: bytes) -> Any:
    """Return the engine that an object was loaded into, which owns it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    # An engine is made around a module, and the object comes on top of that.
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
