"""Vectors of eight words, as the builder of :mod:`llvmlite` makes them.

Imported only where something must be compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from cpx.backends.search.jit import LANES

__all__ = ["VECTOR", "WORD", "counts", "masked", "splat", "sum_of_seven", "vector_at", "words_at"]

WORD = ir.IntType(64)
VECTOR = ir.VectorType(WORD, LANES)


def words_at(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return a pointer to the eight words of an array that begin at an index."""
    return vector_at(builder, context.make_array(kind)(context, builder, array).data, at)


def vector_at(builder: Any, data: Any, at: Any) -> Any:
    return builder.bitcast(builder.gep(data, [at]), VECTOR.as_pointer())


def splat(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, zeros)


def masked(builder: Any, words: Any, mask: Any) -> Any:
    """Return the eight ``words & mask``."""
    return builder.and_(builder.load(words, align=8), splat(builder, mask))


def counts(builder: Any, vector: Any) -> Any:
    """Return the popcounts of eight words."""
    kind = ir.FunctionType(VECTOR, [VECTOR])
    ctpop = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{LANES}i64")
    return builder.call(ctpop, [vector])


def sum_of_seven(builder: Any, rows: Sequence[Any]) -> Any:
    """Return the popcounts of seven rows of eight words, added up.

    A full adder makes a sum bit and a carry bit of three bits, in all places at once. Four of
    them make the bits of 1, of 2 and of 4 of seven rows, so that three popcounts do for seven.
    A popcount of vectors takes about ten instructions, a full adder three where the machine has
    AVX-512, six elsewhere.
    """

    def full(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        carry = builder.or_(builder.and_(a, b), builder.and_(builder.or_(a, b), c))
        return builder.xor(builder.xor(a, b), c), carry

    ones, first = full(*rows[:3])
    ones, second = full(ones, *rows[3:5])
    ones, third = full(ones, *rows[5:])
    twos, fours = full(first, second, third)
    total = counts(builder, ones)
    for place, bits in enumerate((twos, fours), 1):
        by = ir.Constant(VECTOR, [place] * LANES)
        total = builder.add(total, builder.shl(counts(builder, bits), by))
    return total
