"""The instructions of :mod:`~cpx.compiled.vectors`, as LLVM takes them.

They work on vectors of eight words, which LLVM lowers to whatever the processor has, down to plain
scalar code. What its own vectoriser makes of the same loops is slower; docs/benchmarks.md says by
how much. Imported only where kernels are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from cpx.compiled.vectors import LANES

__all__ = ["NOT_INLINED", "prepare", "scan", "squeeze"]

WORD = ir.IntType(64)
VECTOR = ir.VectorType(WORD, LANES)
_POPCOUNT = f"llvm.ctpop.v{LANES}i64"

NOT_INLINED = "cpx.compiled.instructions."
"""What the names of functions begin with that are not to become part of others."""


def _returning(kind: Any, count: int, build: Callable[..., Any]) -> Any:
    """Return what an intrinsic is made of: its types, all addresses and numbers, and its code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result = build(builder, *arguments)
        return context.get_dummy_value() if result is None else result

    return kind(*[types.int64] * count), generate


def _pointer(builder: Any, address: Any, at: Any) -> Any:
    """Return a pointer to a word of an array."""
    return builder.gep(builder.inttoptr(address, WORD.as_pointer()), [at])


def _load(builder: Any, pointer: Any) -> Any:
    """Return the eight words that begin at a pointer."""
    return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


def _store(builder: Any, vector: Any, pointer: Any) -> None:
    builder.store(vector, builder.bitcast(pointer, VECTOR.as_pointer()), align=8)


def _all(number: int) -> Any:
    return VECTOR([number] * LANES)


def _splat(builder: Any, value: Any) -> Any:
    undefined, zero = VECTOR(ir.Undefined), ir.IntType(32)(0)
    first = builder.insert_element(undefined, value, zero)
    zeros = ir.VectorType(ir.IntType(32), LANES)([0] * LANES)
    return builder.shuffle_vector(first, undefined, zeros)


def _counts(builder: Any, vector: Any) -> Any:
    """Return the popcounts of eight words."""
    return builder.call(
        builder.module.declare_intrinsic(_POPCOUNT, fnty=ir.FunctionType(VECTOR, [VECTOR])),
        [vector],
    )


def _sum_of_seven(builder: Any, rows: Sequence[Any]) -> Any:
    """Return the popcounts of seven rows of eight words, added up.

    This is :func:`~cpx.compiled.vectors.sum_of_seven`.
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
        total = builder.add(total, builder.shl(_counts(builder, bits), _all(place)))
    return total


def _prepare(typing: Any, masks: Any, w: Any, moves: Any) -> Any:
    def build(builder: Any, masks: Any, w: Any, moves: Any) -> None:
        mask = _load(builder, _pointer(builder, masks, w))
        left = builder.shl(builder.not_(mask), _all(1))
        for step in range(6):
            parity = left
            for places in (1, 2, 4, 8, 16, 32):
                parity = builder.xor(parity, builder.shl(parity, _all(places)))
            move = builder.and_(parity, mask)
            mask = builder.or_(builder.xor(mask, move), builder.lshr(move, _all(1 << step)))
            left = builder.and_(left, builder.not_(parity))
            _store(builder, move, _pointer(builder, moves, WORD(LANES * step)))

    return _returning(types.void, 3, build)


def _squeeze(
    typing: Any, into: Any, to: Any, step: Any, words: Any, at: Any, mask: Any, moves: Any,
    which: Any, shift: Any,
) -> Any:  # fmt: skip
    def build(
        builder: Any, into: Any, to: Any, step: Any, words: Any, at: Any, mask: Any, moves: Any,
        which: Any, shift: Any,
    ) -> None:  # fmt: skip
        x = builder.and_(_load(builder, _pointer(builder, words, at)), _splat(builder, mask))
        for place in range(6):
            index = builder.add(which, WORD(LANES * place))
            move = _splat(builder, builder.load(_pointer(builder, moves, index)))
            moved = builder.lshr(builder.and_(x, move), _all(1 << place))
            x = builder.or_(builder.and_(x, builder.not_(move)), moved)
        here = _pointer(builder, into, to)
        _store(
            builder,
            builder.or_(_load(builder, here), builder.shl(x, _splat(builder, shift))),
            here,
        )
        # In two steps: a shift by 64 is not defined.
        back = _splat(builder, builder.sub(WORD(63), shift))
        high = builder.lshr(builder.lshr(x, _all(1)), back)
        _store(builder, high, _pointer(builder, into, builder.add(to, step)))

    return _returning(types.void, 9, build)


def _scan(
    typing: Any, table: Any, height: Any, rows: Any, x: Any, last: Any, y: Any, mosts: Any,
    limits: Any, n: Any,
) -> Any:  # fmt: skip
    def build(builder: Any, *given: Any) -> Any:
        many = builder.icmp_signed(">=", given[2], WORD(7))
        with builder.if_else(many) as (sevens, ones):
            with sevens:
                by_seven = builder.call(_scanner(builder.module, 7), given)
                end_of_sevens = builder.block
            with ones:
                one_by_one = builder.call(_scanner(builder.module, 1), given)
                end_of_ones = builder.block
        found = builder.phi(WORD)
        found.add_incoming(by_seven, end_of_sevens)
        found.add_incoming(one_by_one, end_of_ones)
        return found

    return _returning(types.int64, 9, build)


def _scanner(module: Any, step: int) -> Any:
    """Return the function that scans a table; ``step`` rows are added up between two looks.

    It is not part of the code that calls it: there, each block of eight pairs would pay for
    reloading what does not fit into registers.
    """
    name = f"{NOT_INLINED}scan_by_{step}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(WORD, [WORD] * 9), name)
    function.linkage = "linkonce_odr"
    table, height, rows, first, last, begin, mosts, limits, n = function.args
    labels = [
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
    ]
    entry, column, start, block, words, counted, missed, following, found, end = map(
        function.append_basic_block, labels
    )
    builder = ir.IRBuilder(entry)
    zero, eight = WORD(0), WORD(LANES)
    one, low = WORD(1), WORD(LANES - 1)
    builder.branch(column)

    builder.position_at_end(column)
    x, y = builder.phi(WORD), builder.phi(WORD)
    most = builder.load(_pointer(builder, mosts, x))
    some = builder.icmp_signed(">=", most, zero)
    builder.cbranch(builder.and_(some, builder.icmp_signed("<", y, n)), start, following)

    builder.position_at_end(start)
    highest = _splat(builder, most)
    in_block = builder.and_(x, low)
    own = builder.add(builder.mul(builder.sub(x, in_block), height), in_block)
    own = _pointer(builder, table, own)
    builder.branch(block)

    builder.position_at_end(block)
    at = builder.phi(WORD)
    limit = _load(builder, _pointer(builder, limits, at))
    limit = builder.select(builder.icmp_signed("<", limit, highest), limit, highest)
    eights = _pointer(builder, table, builder.mul(at, height))
    builder.branch(words)

    builder.position_at_end(words)
    row, sums = builder.phi(WORD), builder.phi(VECTOR)
    taken = []
    for place in range(step):
        offset = builder.mul(builder.add(row, WORD(place)), eight)
        mask = builder.load(builder.gep(own, [offset]))
        pairs = _load(builder, builder.gep(eights, [offset]))
        taken.append(builder.and_(pairs, _splat(builder, mask)))
    total = _counts(builder, taken[0]) if step == 1 else _sum_of_seven(builder, taken)
    total = builder.add(sums, total)
    within = builder.icmp_signed("<=", total, limit)
    bits = builder.zext(builder.bitcast(within, ir.IntType(LANES)), WORD)
    next_row = builder.add(row, WORD(step))
    small = builder.icmp_unsigned("!=", bits, zero)
    more = builder.icmp_signed("<", next_row, rows)
    builder.cbranch(builder.and_(more, small), words, counted)
    row.add_incoming(zero, block)
    row.add_incoming(next_row, words)
    sums.add_incoming(_all(0), block)
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
    next_y = builder.and_(builder.add(next_x, one), WORD(-LANES))
    x.add_incoming(first, entry)
    x.add_incoming(next_x, following)
    y.add_incoming(begin, entry)
    y.add_incoming(next_y, following)
    builder.cbranch(builder.icmp_signed("<", next_x, last), column, end)

    builder.position_at_end(found)
    result = builder.or_(builder.shl(x, WORD(32)), bits)
    builder.ret(builder.or_(result, builder.shl(at, WORD(8))))
    builder.position_at_end(end)
    builder.ret(zero)
    return function


prepare = intrinsic(_prepare)
squeeze = intrinsic(_squeeze)
scan = intrinsic(_scan)
