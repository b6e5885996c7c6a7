"""The instructions of :mod:`~cpx.backends.search.jit`, as Numba's intrinsics.

Imported only where something must be compiled. Each works on eight words at once. They are
several times faster than what the loop vectoriser makes of the same loops; LLVM lowers the
vectors to whatever the machine has, down to plain scalar code.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cpx.backends.search.jit import LANES

__all__ = ["add_counts", "few", "popcount", "skip", "squeeze"]

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


def _counts(builder: Any, words: Any, mask: Any) -> Any:
    """Return the eight popcounts of ``words & mask``."""
    both = builder.and_(builder.load(words, align=8), _splat(builder, mask))
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    ctpop = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{LANES}i64")
    return builder.call(ctpop, [both])


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
    total = builder.add(sums, _counts(builder, pointer, mask))
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
        counts = builder.shl(
            _counts(builder, pointer, arguments[4]), _splat(builder, arguments[5])
        )
        builder.store(builder.add(builder.load(target, align=8), counts), target, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.int64, words, types.int64, types.uint64, types.int64), generate


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
squeeze = intrinsic(_squeeze)
