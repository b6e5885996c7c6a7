"""The scan of :mod:`~cpx.backends.search.jit`: the loop that takes most of the time of a search.

Imported only where something must be compiled.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from cpx.backends.search.jit import LANES
from cpx.backends.search.vectors import (
    VECTOR,
    WORD,
    counts,
    masked,
    splat,
    sum_of_seven,
    vector_at,
)

__all__ = ["scan"]


def scan(
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
        many = builder.icmp_signed(">=", arguments[2], ir.Constant(WORD, 7))
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
    pointer = WORD.as_pointer()
    kinds = [pointer, *[WORD] * 5, pointer, pointer, WORD]
    function = ir.Function(module, ir.FunctionType(WORD, kinds), name)
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
    zero, eight = ir.Constant(WORD, 0), ir.Constant(WORD, LANES)
    one, low = ir.Constant(WORD, 1), ir.Constant(WORD, LANES - 1)
    builder.branch(column)

    builder.position_at_end(column)
    x, y = builder.phi(WORD), builder.phi(WORD)
    most = builder.load(builder.gep(mosts, [x]))
    some = builder.icmp_signed(">=", most, zero)
    builder.cbranch(builder.and_(some, builder.icmp_signed("<", y, n)), start, following)

    builder.position_at_end(start)
    highest = splat(builder, most)
    in_block = builder.and_(x, low)
    own = builder.add(builder.mul(builder.sub(x, in_block), height), in_block)
    own = builder.gep(table, [own])
    builder.branch(block)

    builder.position_at_end(block)
    at = builder.phi(WORD)
    limit = builder.load(vector_at(builder, limits, at), align=8)
    limit = builder.select(builder.icmp_signed("<", limit, highest), limit, highest)
    eights = builder.gep(table, [builder.mul(at, height)])
    builder.branch(words)

    builder.position_at_end(words)
    row, sums = builder.phi(WORD), builder.phi(VECTOR)
    taken = []
    for place in range(step):
        offset = builder.mul(builder.add(row, ir.Constant(WORD, place)), eight)
        mask = builder.load(builder.gep(own, [offset]))
        taken.append(masked(builder, vector_at(builder, eights, offset), mask))
    total = counts(builder, taken[0]) if step == 1 else sum_of_seven(builder, taken)
    total = builder.add(sums, total)
    within = builder.icmp_signed("<=", total, limit)
    bits = builder.zext(builder.bitcast(within, ir.IntType(LANES)), WORD)
    next_row = builder.add(row, ir.Constant(WORD, step))
    small = builder.icmp_unsigned("!=", bits, zero)
    more = builder.icmp_signed("<", next_row, rows)
    builder.cbranch(builder.and_(more, small), words, counted)
    row.add_incoming(zero, block)
    row.add_incoming(next_row, words)
    sums.add_incoming(ir.Constant(VECTOR, [0] * LANES), block)
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
    next_y = builder.and_(builder.add(next_x, one), ir.Constant(WORD, -LANES))
    x.add_incoming(first, entry)
    x.add_incoming(next_x, following)
    y.add_incoming(begin, entry)
    y.add_incoming(next_y, following)
    builder.cbranch(builder.icmp_signed("<", next_x, last), column, end)

    builder.position_at_end(found)
    result = builder.or_(builder.shl(x, ir.Constant(WORD, 32)), bits)
    builder.ret(builder.or_(result, builder.shl(at, ir.Constant(WORD, 8))))
    builder.position_at_end(end)
    builder.ret(zero)
    return function
