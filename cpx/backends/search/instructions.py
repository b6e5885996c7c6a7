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

__all__ = [
    "add_counts",
    "add_seven",
    "popcount",
    "prepare",
    "scan",
    "squeeze",
]

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


def _words(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return a pointer to the eight words of an array that begin at an index."""
    return _vector_at(builder, context.make_array(kind)(context, builder, array).data, at)


def _vector_at(builder: Any, data: Any, at: Any) -> Any:
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
    total = _counts(builder, ones)
    for place, bits in enumerate((twos, fours), 1):
        by = ir.Constant(_VECTOR, [place] * LANES)
        total = builder.add(total, builder.shl(_counts(builder, bits), by))
    return total


def _popcount(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _scan(
    typing: Any,
    table: Any,
    height: Any,
    rows: Any,
    x: Any,
    last: Any,
    y: Any,
    mosts: Any,
    limits: Any,
    n: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def data(at: int) -> Any:
            return context.make_array(signature.args[at])(context, builder, arguments[at]).data

        given = [data(at) if at in (0, 6, 7) else arguments[at] for at in range(9)]
        many = builder.icmp_signed(">=", arguments[2], ir.Constant(_WORD, 7))
        with builder.if_else(many) as (sevens, ones):
            with sevens:
                by_seven = builder.call(_scanner(builder.module, 7), given)
                end_of_sevens = builder.block
            with ones:
                one_by_one = builder.call(_scanner(builder.module, 1), given)
                end_of_ones = builder.block
        found = builder.phi(_WORD)
        found.add_incoming(by_seven, end_of_sevens)
        found.add_incoming(one_by_one, end_of_ones)
        return found

    number = types.int64
    return number(table, *[number] * 5, mosts, limits, number), generate


def _scanner(module: Any, step: int) -> Any:
    """Return the function that scans a table; ``step`` rows are added up between two looks.

    It is not part of the code that calls it: there, each block of eight pairs would pay for
    reloading what does not fit into registers.
    """
    name = f"cpx_scan_by_{step}"
    if name in module.globals:
        return module.globals[name]
    pointer = _WORD.as_pointer()
    kinds = [pointer, *[_WORD] * 5, pointer, pointer, _WORD]
    function = ir.Function(module, ir.FunctionType(_WORD, kinds), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    table, height, rows, first, last, begin, mosts, limits, n = function.args
    names = (
        "entry",
        "column",
        "start",
        "block",
        "words",
        "counted",
        "missed",
        "next",
        "found",
        "end",
    )
    entry, column, start, block, words, counted, missed, following, found, end = (
        function.append_basic_block(label) for label in names
    )
    builder = ir.IRBuilder(entry)
    zero, eight = ir.Constant(_WORD, 0), ir.Constant(_WORD, LANES)
    one, low = ir.Constant(_WORD, 1), ir.Constant(_WORD, LANES - 1)
    builder.branch(column)

    builder.position_at_end(column)
    x, y = builder.phi(_WORD), builder.phi(_WORD)
    most = builder.load(builder.gep(mosts, [x]))
    some = builder.icmp_signed(">=", most, zero)
    builder.cbranch(builder.and_(some, builder.icmp_signed("<", y, n)), start, following)

    builder.position_at_end(start)
    highest = _splat(builder, most)
    in_block = builder.and_(x, low)
    own = builder.add(builder.mul(builder.sub(x, in_block), height), in_block)
    own = builder.gep(table, [own])
    builder.branch(block)

    builder.position_at_end(block)
    at = builder.phi(_WORD)
    limit = builder.load(_vector_at(builder, limits, at), align=8)
    limit = builder.select(builder.icmp_signed("<", limit, highest), limit, highest)
    eights = builder.gep(table, [builder.mul(at, height)])
    builder.branch(words)

    builder.position_at_end(words)
    row, sums = builder.phi(_WORD), builder.phi(_VECTOR)
    taken = []
    for place in range(step):
        offset = builder.mul(builder.add(row, ir.Constant(_WORD, place)), eight)
        mask = builder.load(builder.gep(own, [offset]))
        taken.append(_and(builder, _vector_at(builder, eights, offset), mask))
    total = _counts(builder, taken[0]) if step == 1 else _sum_of_seven(builder, taken)
    total = builder.add(sums, total)
    within = builder.icmp_signed("<=", total, limit)
    bits = builder.zext(builder.bitcast(within, ir.IntType(LANES)), _WORD)
    next_row = builder.add(row, ir.Constant(_WORD, step))
    small = builder.icmp_unsigned("!=", bits, zero)
    more = builder.icmp_signed("<", next_row, rows)
    builder.cbranch(builder.and_(more, small), words, counted)
    row.add_incoming(zero, block)
    row.add_incoming(next_row, words)
    sums.add_incoming(ir.Constant(_VECTOR, [0] * LANES), block)
    sums.add_incoming(total, words)

    builder.position_at_end(counted)
    next_block = builder.add(at, eight)
    left = builder.icmp_signed("<", next_block, n)
    at.add_incoming(y, start)
    at.add_incoming(next_block, missed)
    builder.cbranch(small, found, missed)
    builder.position_at_end(missed)
    builder.cbranch(left, block, following)

    builder.position_at_end(following)
    next_x = builder.add(x, one)
    next_y = builder.and_(builder.add(next_x, one), ir.Constant(_WORD, -LANES))
    x.add_incoming(first, entry)
    x.add_incoming(next_x, following)
    y.add_incoming(begin, entry)
    y.add_incoming(next_y, following)
    builder.cbranch(builder.icmp_signed("<", next_x, last), column, end)

    builder.position_at_end(found)
    result = builder.or_(builder.shl(x, ir.Constant(_WORD, 32)), bits)
    builder.ret(builder.or_(result, builder.shl(at, ir.Constant(_WORD, 8))))
    builder.position_at_end(end)
    builder.ret(zero)
    return function


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


def _prepare(typing: Any, masks: Any, w: Any, moves: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        masks, w, moves = arguments
        mask = builder.load(_words(context, builder, signature.args[0], masks, w), align=8)

        def by(places: int) -> Any:
            return ir.Constant(_VECTOR, [places] * LANES)

        left = builder.shl(builder.not_(mask), by(1))
        for step in range(6):
            parity = left
            for places in (1, 2, 4, 8, 16, 32):
                parity = builder.xor(parity, builder.shl(parity, by(places)))
            move = builder.and_(parity, mask)
            moved = builder.lshr(move, by(1 << step))
            mask = builder.or_(builder.xor(mask, move), moved)
            left = builder.and_(left, builder.not_(parity))
            at = ir.Constant(_WORD, LANES * step)
            target = _words(context, builder, signature.args[2], moves, at)
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
        source = _words(context, builder, kinds[3], words, at)
        data = context.make_array(kinds[6])(context, builder, moves).data
        x = _and(builder, source, mask)
        for place in range(6):
            index = builder.add(which, ir.Constant(_WORD, LANES * place))
            move = _splat(builder, builder.load(builder.gep(data, [index])))
            by = ir.Constant(_VECTOR, [1 << place] * LANES)
            stay = builder.and_(x, builder.not_(move))
            x = builder.or_(stay, builder.lshr(builder.and_(x, move), by))
        here = _words(context, builder, kinds[0], into, to)
        there = _words(context, builder, kinds[0], into, builder.add(to, step))
        low = builder.or_(builder.load(here, align=8), builder.shl(x, _splat(builder, shift)))
        # In two steps: a shift by 64 is not defined.
        back = builder.sub(ir.Constant(_WORD, 63), shift)
        one = ir.Constant(_VECTOR, [1] * LANES)
        high = builder.lshr(builder.lshr(x, one), _splat(builder, back))
        builder.store(low, here, align=8)
        builder.store(high, there, align=8)
        return context.get_dummy_value()

    number = types.int64
    return (
        types.void(into, number, number, words, number, types.uint64, moves, number, number),
        generate,
    )


popcount = intrinsic(_popcount)
scan = intrinsic(_scan)
prepare = intrinsic(_prepare)
add_counts = intrinsic(_add_counts)
add_seven = intrinsic(_add_seven)
squeeze = intrinsic(_squeeze)
