"""Kernels: functions compiled to machine code, once per machine.

:func:`kernel` marks a function for compilation by Numba. What Python calls is compiled when it
is called first, and kept in a file (:mod:`~cpx.backends.search.cache`); later processes load
the machine code (:mod:`~cpx.backends.search.native`) without Numba, whose import alone takes
longer than most searches. Kernels that are called by kernels are part of their code.

Kernels may use a few instructions that Numba has no name for. They are declared here, and
made in :mod:`~cpx.backends.search.instructions`, which needs Numba.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar, cast

from cpx.backends.search import cache
from cpx.backends.search.native import Kinds, Native, NotPlain, pack

__all__ = [
    "LANES",
    "Instruction",
    "Kernel",
    "add_counts",
    "add_seven",
    "bind",
    "kernel",
    "popcount",
    "prepare",
    "scan",
    "square_root",
    "squeeze",
]

LANES = 8
"""Words handled at once; arrays that are read so have this much slack at the end."""

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# Compilation, and loading: threads may call the same kernel first at the same time.
_lock = threading.RLock()


def kernel(function: F) -> F:
    """Compile a function to machine code that releases the interpreter lock, at its first call.

    Kernels take integers, booleans, arrays, and named tuples of these; they must not allocate
    and not raise. They may call kernels and :class:`Instruction` objects that are globals of
    their module.
    """
    return cast(F, Kernel(cast(FunctionType, function)))


def bind(function: Callable[..., T], *arguments: Any) -> Callable[[], T]:
    """Return a call of a kernel that may be made again and again, by one thread at a time.

    The arguments are looked at once, which for many arrays takes longer than a short call.
    What the arrays hold may change between calls.
    """
    return cast(Kernel, function).bind(*arguments)


class Kernel:
    """A function, and its machine code for each kind of arguments it was called with."""

    def __init__(self, function: FunctionType) -> None:
        update_wrapper(self, function)
        self.function = function
        self._codes: dict[Kinds, Native | None] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code; load or compile it when these kinds of arguments are new."""
        return self.bind(*arguments)()

    def bind(self, *arguments: Any) -> Callable[[], Any]:
        """Return the call with these arguments; see :func:`bind`."""
        try:
            kinds, words = pack(arguments)
        except NotPlain:
            return partial(self.dispatcher, *arguments)
        if kinds not in self._codes:
            with _lock:
                if kinds not in self._codes:
                    self._codes[kinds] = self._code(kinds, arguments)
        code = self._codes[kinds]
        if code is None:
            return partial(self.dispatcher, *arguments)
        return code.bind(words, arguments)

    def _code(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Native | None:
        """Load the machine code, else compile and keep it; None where only Numba can call it."""
        entry = cache.entry(self.function, kinds)
        stored = entry.read()
        if stored is None:
            from cpx.backends.search.compiling import compile_native

            stored = compile_native(self, arguments)
            if stored is None:
                return None
            entry.write(stored)
        return Native(self.function.__name__, stored)

    @cached_property
    def inner(self) -> Any:
        """The function as other kernels call it: Numba's dispatcher, not callable from Python."""
        from cpx.backends.search.compiling import dispatcher

        return dispatcher(self.function, no_cpython_wrapper=True, no_cfunc_wrapper=True)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as Numba would have it called from Python, with any arguments."""
        from cpx.backends.search.compiling import dispatcher

        return dispatcher(self.function)


class Instruction:
    """The name of an instruction that kernels may call, and Python may not."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def inner(self) -> Any:
        """The instruction itself."""
        return getattr(import_module("cpx.backends.search.instructions"), self.name)


def _instruction(name: str) -> Any:
    return Instruction(name)


popcount: Callable[[Any], int] = _instruction("popcount")
"""``popcount(word)``: number of bits set."""

square_root: Callable[[Any], Any] = _instruction("square_root")
"""``square_root(x)``: of a float of either width. Numba's own is a function of the C library,
without which machine code would not be on its own."""

scan: Callable[[Any, int, int, int, int, int, Any, Any, int], int] = _instruction("scan")
"""``scan(table, height, rows, x, last, y, mosts, limits, n)``: look for columns that have few
samples in common, in blocks of eight.

Word r of column y is ``table[(y & -8) * height + 8 * r + (y & 7)]``, r < ``rows``; seven rows or
more must be a multiple of seven. A pair of columns passes when they have at most ``mosts[x]``
and at most ``limits[y]`` in common. The rows of a block are added up, seven at a time where there
are so many, until all eight have more. Columns x, x + 1, .. below ``last`` are taken in turn,
but for those where ``mosts`` is negative: the first with the blocks y, y + 8, .. below n, those
after it from the block of the next column on.

The result is 0 if no pair passes, otherwise ``2^32 x + 2^8 y + bits``: bit b says whether the pair
of x and y + b does. Pairs of a block whose second column is not after the first may be there."""

add_counts: Callable[[Any, int, Any, int, Any, int], None] = _instruction("add_counts")
"""``add_counts(sums, to, words, at, mask, shift)``: add the popcount of ``words[at + b] & mask``,
shifted left, to ``sums[to + b]``, for b = 0 .. 7."""

add_seven: Callable[[Any, int, Any, int, int, Any, int], None] = _instruction("add_seven")
"""``add_seven(sums, to, words, at, stride, masks, w)``: add the popcounts of
``words[at + s * stride + b] & masks[w + s]``, s = 0 .. 6, to ``sums[to + b]``, for b = 0 .. 7."""

prepare: Callable[[Any, int, Any], None] = _instruction("prepare")
"""``prepare(masks, w, moves)``: prepare :func:`squeeze` for masks w .. w + 7.

Bit i of a squeezed word comes from the i-th set bit of the mask. A bit moves right by the number
of zeros of the mask below it; ``moves[8 * s + b]`` are the bits that, at step s = 0 .. 5, move by
2^s under mask w + b (Hacker's Delight, 7-4)."""

squeeze: Callable[[Any, int, int, Any, int, Any, Any, int, int], None] = _instruction("squeeze")
"""``squeeze(into, to, step, words, at, mask, moves, b, shift)``: move the bits of
``words[at + c] & mask`` to the right end of the word, the mask being the b-th that was prepared,
and shift them left by 0 to 63, for c = 0 .. 7. They are added to ``into[to + c]``; what was
shifted out, or nothing, is written to ``into[to + step + c]``."""
