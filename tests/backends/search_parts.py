"""Parts of the exact search in C, as kernels that tests can call."""

from __future__ import annotations

from types import SimpleNamespace

from cpx.backends.search.side_constraints import Additive, Buffers, Side
from cpx.compiled.kernel import Ints, Shorts2, Words
from cpx.models.monomial.search.objective import Numbers
from cpx.models.monomial.search.stack import Levels, Params, Scratch
from tests.compiled.compiling import compiled


def rank(objective: Numbers, c: int, lost: int) -> int: ...


def low(objective: Numbers, c_high: int, c_low: int, lost: int) -> int: ...


def most_bad(objective: Numbers, limit: int, lost: int) -> int: ...


def survey(
    covered: int, after: Ints, lost: Ints, kept: Ints, n: int, r: int, top: Ints
) -> tuple[int, int, int, int, int]: ...


def pair_bounds(
    objective: Numbers,
    shared: Shorts2,
    asking: Additive,
    slack: Ints,
    ids: Ints,
    covered: int,
    before: int,
    after: Ints,
    lost: Ints,
    n: int,
    front: int,
    most: int,
    r: int,
    limit: int,
    bounds: Ints,
) -> None: ...


def ask_first(
    side: Side, spare: Buffers, chosen: Ints, size: int, ids: Ints, kept: Ints, n: int, room: Ints
) -> int: ...


def weigh_child(levels: Levels, scratch: Scratch, level: int, params: Params) -> int: ...


def limit_all(levels: Levels, scratch: Scratch, level: int, params: Params, limit: int) -> int: ...


def limit_kept(
    levels: Levels, scratch: Scratch, level: int, n: int, objective: Numbers, limit: int
) -> None: ...


def drop_useless(scratch: Scratch, n: int) -> int: ...


def scan_pairs(
    table: Words,
    height: int,
    rows: int,
    x: int,
    last: int,
    y: int,
    mosts: Ints,
    limits: Ints,
    n: int,
) -> int: ...


def search_parts(flags: list[str] | None = None) -> SimpleNamespace:
    """Return the parts, compiled with some flags."""
    functions = (
        *(rank, low, most_bad, survey, pair_bounds, ask_first, weigh_child),
        *(limit_all, limit_kept, drop_useless, scan_pairs),
    )
    made = compiled(*functions, flags=flags)
    return SimpleNamespace(**{one.function.__name__: one for one in made})
