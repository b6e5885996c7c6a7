"""The instructions of :mod:`~cpx.backends.search.jit`, as Numba's intrinsics.

Imported only where something must be compiled. Most work on eight words at once. They are
several times faster than what the loop vectoriser makes of the same loops; LLVM lowers the
vectors to whatever the machine has, down to plain scalar code.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from cpx.backends.search import scanner
from cpx.backends.search.jit import LANES
from cpx.backends.search.vectors import VECTOR, WORD, counts, masked, splat, sum_of_seven, words_at

__all__ = ["add_counts", "add_seven", "popcount", "prepare", "scan", "square_root", "squeeze"]


def _popcount(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _square_root(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        root = builder.module.declare_intrinsic("llvm.sqrt", [arguments[0].type])
        return builder.call(root, arguments)

    return x(x), generate


def _add_counts(
    typing: Any, sums: Any, to: Any, words: Any, at: Any, mask: Any, shift: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = words_at(context, builder, signature.args[0], arguments[0], arguments[1])
        pointer = words_at(context, builder, signature.args[2], arguments[2], arguments[3])
        added = counts(builder, masked(builder, pointer, arguments[4]))
        added = builder.shl(added, splat(builder, arguments[5]))
        builder.store(builder.add(builder.load(target, align=8), added), target, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.int64, words, types.int64, types.uint64, types.int64), generate


def _add_seven(
    typing: Any, sums: Any, to: Any, words: Any, at: Any, stride: Any, masks: Any, first: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, to, words, at, stride, masks, first = arguments
        target = words_at(context, builder, signature.args[0], array, to)
        data = context.make_array(signature.args[5])(context, builder, masks).data
        rows = []
        for step in range(7):
            index = builder.add(first, ir.Constant(WORD, step))
            mask = builder.load(builder.gep(data, [index]))
            rows.append(
                masked(builder, words_at(context, builder, signature.args[2], words, at), mask)
            )
            at = builder.add(at, stride)
        total = sum_of_seven(builder, rows)
        builder.store(builder.add(builder.load(target, align=8), total), target, align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(sums, number, words, number, number, masks, number), generate


def _prepare(typing: Any, masks: Any, w: Any, moves: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        masks, w, moves = arguments
        mask = builder.load(words_at(context, builder, signature.args[0], masks, w), align=8)

        def by(places: int) -> Any:
            return ir.Constant(VECTOR, [places] * LANES)

        left = builder.shl(builder.not_(mask), by(1))
        for step in range(6):
            parity = left
            for places in (1, 2, 4, 8, 16, 32):
                parity = builder.xor(parity, builder.shl(parity, by(places)))
            move = builder.and_(parity, mask)
            moved = builder.lshr(move, by(1 << step))
            mask = builder.or_(builder.xor(mask, move), moved)
            left = builder.and_(left, builder.not_(parity))
            at = ir.Constant(WORD, LANES * step)
            target = words_at(context, builder, signature.args[2], moves, at)
            builder.store(move, target, align=8)
        return context.get_dummy_value()

    return types.void(masks, types.int64, moves), generate


def _squeeze(
    typing: Any,
    into: Any,
    to: Any,
    step: Any,
    words: Any,
    at: Any,
    mask: Any,
    moves: Any,
    which: Any,
    shift: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        into, to, step, words, at, mask, moves, which, shift = arguments
        kinds = signature.args
        source = words_at(context, builder, kinds[3], words, at)
        data = context.make_array(kinds[6])(context, builder, moves).data
        x = masked(builder, source, mask)
        for place in range(6):
            index = builder.add(which, ir.Constant(WORD, LANES * place))
            move = splat(builder, builder.load(builder.gep(data, [index])))
            by = ir.Constant(VECTOR, [1 << place] * LANES)
            stay = builder.and_(x, builder.not_(move))
            x = builder.or_(stay, builder.lshr(builder.and_(x, move), by))
        here = words_at(context, builder, kinds[0], into, to)
        there = words_at(context, builder, kinds[0], into, builder.add(to, step))
        low = builder.or_(builder.load(here, align=8), builder.shl(x, splat(builder, shift)))
        # In two steps: a shift by 64 is not defined.
        back = builder.sub(ir.Constant(WORD, 63), shift)
        one = ir.Constant(VECTOR, [1] * LANES)
        high = builder.lshr(builder.lshr(x, one), splat(builder, back))
        builder.store(low, here, align=8)
        builder.store(high, there, align=8)
        return context.get_dummy_value()

    number = types.int64
    return (
        types.void(into, number, number, words, number, types.uint64, moves, number, number),
        generate,
    )


popcount = intrinsic(_popcount)
square_root = intrinsic(_square_root)
scan = intrinsic(scanner.scan)
prepare = intrinsic(_prepare)
add_counts = intrinsic(_add_counts)
add_seven = intrinsic(_add_seven)
squeeze = intrinsic(_squeeze)
