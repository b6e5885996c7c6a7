"""The instructions of :mod:`~cpx.backends.search.jit`, as Numba's intrinsics.

Imported only where something must be compiled. Each works on eight words at once. They are
several times faster than what the loop vectoriser makes of the same loops; LLVM lowers the
vectors to whatever the machine has, down to plain scalar code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cpx.backends.search.jit import LANES

__all__ = ["add_counts", "add_seven", "few", "popcount", "skip", "squeeze"]

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


def _words(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return a pointer to the eight words of an array that begin at an index."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, zeros)


def _and(builder: Any, words: Any, mask: Any) -> Any:
    """Return the eight ``words & mask``."""
    return builder.and_(builder.load(words, align=8), _splat(builder, mask))


def _counts(builder: Any, vector: Any) -> Any:
    """Return the popcounts of eight words."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    ctpop = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{LANES}i64")
    return builder.call(ctpop, [vector])


def _sum_of_seven(builder: Any, rows: Sequence[Any]) -> Any:
    """Return the popcounts of seven rows of eight words, added up.

    A full adder makes a sum bit and a carry bit of three bits, in all places at once. Four of
    them make the bits of 1, of 2 and of 4 of seven rows, so that three popcounts do for seven.
    A popcount of vectors takes about ten instructions, a full adder two where the machine has
    AVX-512, five elsewhere.
    """

    def full(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        one = builder.xor(a, b)
        carry = builder.or_(builder.and_(a, b), builder.and_(one, c))
        return builder.xor(one, c), carry

    ones, first = full(*rows[:3])
    ones, second = full(ones, *rows[3:5])
    ones, third = full(ones, *rows[5:])
    twos, fours = full(first, second, third)
    total = _counts(builder, ones)
    for place, bits in enumerate((twos, fours), 1):
        by = ir.Constant(_VECTOR, [place] * LANES)
        total = builder.add(total, builder.shl(_counts(builder, bits), by))
    return total


def _popcount(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _common(
    context: Any,
    builder: Any,
    kind: Any,
    array: Any,
    stride: Any,
    rows: Any,
    x: Any,
    y: Any,
    limit: Any,
) -> Any:
    """Return which of the columns y .. y + 7 have at most so much in common with column x."""
    zero = ir.Constant(_WORD, 0)
    before = builder.block
    loop, end = builder.append_basic_block("row"), builder.append_basic_block("counted")
    builder.branch(loop)
    builder.position_at_end(loop)
    row, offset, sums = builder.phi(_WORD), builder.phi(_WORD), builder.phi(_VECTOR)
    data = context.make_array(kind)(context, builder, array).data
    mask = builder.load(builder.gep(data, [builder.add(offset, x)]))
    pointer = _words(context, builder, kind, array, builder.add(offset, y))
    total = builder.add(sums, _counts(builder, _and(builder, pointer, mask)))
    small = builder.icmp_signed("<=", total, limit)
    bits = builder.zext(builder.bitcast(small, ir.IntType(LANES)), _WORD)
    following, below = builder.add(row, ir.Constant(_WORD, 1)), builder.add(offset, stride)
    more = builder.and_(
        builder.icmp_signed("<", following, rows), builder.icmp_unsigned("!=", bits, zero)
    )
    builder.cbranch(more, loop, end)
    for phi, first, later in (
        (row, zero, following),
        (offset, zero, below),
        (sums, ir.Constant(_VECTOR, [0] * LANES), total),
    ):
        phi.add_incoming(first, before)
        phi.add_incoming(later, loop)
    builder.position_at_end(end)
    return bits


def _few(typing: Any, words: Any, stride: Any, rows: Any, x: Any, y: Any, most: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, stride, rows, x, y, most = arguments
        limit = _splat(builder, most)
        kind = signature.args[0]
        return _common(context, builder, kind, array, stride, rows, x, y, limit)

    return types.int64(words, *[types.int64] * 5), generate


def _skip(
    typing: Any, words: Any, stride: Any, rows: Any, x: Any, y: Any, most: Any, end: Any
) -> Any:
    # One loop nest of its own: inlined into a larger one, every block of eight would pay for
    # reloading what does not fit into registers.
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, stride, rows, x, y, most, stop = arguments
        limit = _splat(builder, most)
        before = builder.block
        head, end = builder.append_basic_block("block"), builder.append_basic_block("end")
        builder.cbranch(builder.icmp_signed("<", y, stop), head, end)
        builder.position_at_end(head)
        at = builder.phi(_WORD)
        bits = _common(context, builder, signature.args[0], array, stride, rows, x, at, limit)
        following = builder.add(at, ir.Constant(_WORD, LANES))
        none = builder.icmp_unsigned("==", bits, ir.Constant(_WORD, 0))
        tail = builder.block
        result = builder.select(none, following, at)
        builder.cbranch(builder.and_(none, builder.icmp_signed("<", following, stop)), head, end)
        at.add_incoming(y, before)
        at.add_incoming(following, tail)
        builder.position_at_end(end)
        found = builder.phi(_WORD)
        found.add_incoming(y, before)
        found.add_incoming(result, tail)
        return found

    return types.int64(words, *[types.int64] * 6), generate


def _add_counts(
    typing: Any, sums: Any, to: Any, words: Any, at: Any, mask: Any, shift: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = _words(context, builder, signature.args[0], arguments[0], arguments[1])
        pointer = _words(context, builder, signature.args[2], arguments[2], arguments[3])
        counts = _counts(builder, _and(builder, pointer, arguments[4]))
        counts = builder.shl(counts, _splat(builder, arguments[5]))
        builder.store(builder.add(builder.load(target, align=8), counts), target, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.int64, words, types.int64, types.uint64, types.int64), generate


def _add_seven(
    typing: Any, sums: Any, to: Any, words: Any, at: Any, stride: Any, masks: Any, first: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, to, words, at, stride, masks, first = arguments
        target = _words(context, builder, signature.args[0], array, to)
        data = context.make_array(signature.args[5])(context, builder, masks).data
        rows = []
        for step in range(7):
            index = builder.add(first, ir.Constant(_WORD, step))
            mask = builder.load(builder.gep(data, [index]))
            rows.append(
                _and(builder, _words(context, builder, signature.args[2], words, at), mask)
            )
            at = builder.add(at, stride)
        total = _sum_of_seven(builder, rows)
        builder.store(builder.add(builder.load(target, align=8), total), target, align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(sums, number, words, number, number, masks, number), generate


def _squeeze(typing: Any, words: Any, at: Any, mask: Any, moves: Any, which: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _words(context, builder, signature.args[0], arguments[0], arguments[1])
        data = context.make_array(signature.args[3])(context, builder, arguments[3]).data
        x = builder.and_(builder.load(pointer, align=8), _splat(builder, arguments[2]))
        for step in range(6):
            index = builder.add(arguments[4], ir.Constant(_WORD, 16 * step))
            move = _splat(builder, builder.load(builder.gep(data, [index])))
            by = ir.Constant(_VECTOR, [1 << step] * LANES)
            stay = builder.and_(x, builder.not_(move))
            x = builder.or_(stay, builder.lshr(builder.and_(x, move), by))
        builder.store(x, pointer, align=8)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.uint64, moves, types.int64), generate


popcount = intrinsic(_popcount)
few = intrinsic(_few)
skip = intrinsic(_skip)
add_counts = intrinsic(_add_counts)
add_seven = intrinsic(_add_seven)
squeeze = intrinsic(_squeeze)
