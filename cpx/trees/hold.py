"""What is said of trees, held against ``predict`` of the live model they were read from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import ClassifierError, DataError, UnsupportedModel, shown
from cpx.trees.form import TreeModel
from cpx.trees.library_agreement import near_ties, rounding
from cpx.trees.live import LiveModel

ROWS = 200
"""Changed rows that a live model is asked about, in one call."""

_TOGETHER = 50
"""Rows that are asked about in one call, each with those changed from it."""

TOLERANCE = 1e-6
"""By what a probability may differ, beside what the rounding of sums explains."""

_LISTED = 5

_ADVICE = (
    "what is said of the trees would be false of the model; kind='rule' explains any classifier "
    "by its predict alone"
)
_ROUNDED = "its scores are so close that rounding decides, and no exact sum tells how"


def held_against(model: TreeModel, x: ArrayLike = ()) -> tuple[str, ...]:
    """Return a note that says whether a live model was asked; none for trees of no library."""
    live, source = model.live, model.source
    if live is not None:
        near = live.held.get(_key(model, np.array(x, dtype=np.float64)), 0)
        told = f"{ROWS - near} of {ROWS} rows changed from it" if near else f"{ROWS} rows"
        rest = "; rounding decides the others" if near else " changed from it"
        return (f"checked: {live.name}.predict agrees on x and on {told}{rest}",)
    told = f"not held against predict: the trees ({source}) came without their live model"
    return (told,) if source else ()


def hold(
    model: TreeModel, x: ArrayLike, pools: list[NDArray[np.float64]] | None = None, seed: int = 0
) -> None:
    """Ask the live model about x and rows changed from it; raise where the trees differ from it.

    model: Nothing is asked where it was read from no live model.
    pools: The values that each attribute may change to, by default all that the trees tell apart.
    Raises UnsupportedModel: Saying where they differ.
    Raises ClassifierError: When the live model cannot be asked.
    """
    live = model.live
    row = np.array(x, dtype=np.float64)
    key = _key(model, row)
    if live is None or (pools is None and key in live.held):
        return
    if live.sparse_is_missing:
        _refuse_filled(model, live, row)
    rows = np.vstack([row, changed(model, row, values(model) if pools is None else pools, seed)])
    near, said = _compare(model, rows, must=[0])
    if pools is None:
        live.held[key] = len(near)
        if said is not None:
            live.said[row.tobytes()] = said[0]


def hold_many(asked: Iterable[tuple[TreeModel, Sequence[float]]]) -> None:
    """Ask about many rows, each of a model, what :func:`hold` asks of one, in few calls.

    What does not agree is left for it to say, row by row.
    """
    groups: dict[Any, tuple[TreeModel, dict[bytes, NDArray[np.float64]]]] = {}
    for model, x in asked:
        row = np.array(x, dtype=np.float64)
        live = model.live
        if live is None or live.sparse_is_missing or _key(model, row) in live.held:
            continue
        groups.setdefault((id(live), model.attributes), (model, {}))[1][row.tobytes()] = row
    for model, rows in groups.values():
        known, pools = [*rows.values()], values(model)
        for at in range(0, len(known) if len(known) > 1 else 0, _TOGETHER):
            with suppress(UnsupportedModel, ClassifierError):
                _hold_together(model, known[at : at + _TOGETHER], pools)


def _hold_together(
    model: TreeModel, rows: Sequence[NDArray[np.float64]], pools: list[NDArray[np.float64]]
) -> None:
    live = model.live
    assert live is not None  # who calls asks for it
    table = np.vstack([part for row in rows for part in (row, changed(model, row, pools))])
    own = np.arange(len(rows)) * (1 + ROWS)
    near, said = _compare(model, table, must=own.tolist())
    count = np.bincount(near // (1 + ROWS), minlength=len(rows)).tolist()
    for i, row in enumerate(rows):
        live.held[_key(model, row)] = count[i]
        if said is not None:
            live.said[row.tobytes()] = said[own[i]]


def _key(model: TreeModel, row: NDArray[np.float64]) -> Any:
    return row.tobytes(), model.attributes


def hold_reason(model: TreeModel, x: ArrayLike, attributes: Iterable[int]) -> None:
    """Ask the live model about rows that have the values of x in these attributes; see hold."""
    if model.live is not None:
        pools, kept = values(model), {*attributes}
        hold(model, x, [pool[: 0 if a in kept else None] for a, pool in enumerate(pools)], seed=1)


def hold_change(
    model: TreeModel, x: ArrayLike, cells: Sequence[int], changed: Sequence[float] | None = None
) -> None:
    """Ask the live model about x and the row that differs from it in these cells; see hold.

    changed: That row itself, where it is known.
    """
    if model.live is None:
        return
    row = np.array(x, dtype=np.float64)
    if changed is not None:
        _compare(model, np.vstack([row, np.array(changed, dtype=np.float64)]), must=[0, 1])
        return
    other, pools = row.copy(), values(model)
    for a in np.flatnonzero(model.cells(row) != np.asarray(cells)).tolist():
        pool = np.append(pools[a], np.nan)
        column = np.tile(row, (len(pool), 1))
        column[:, a] = pool
        other[a] = pool[np.flatnonzero(model.cells(column)[:, a] == cells[a])[0]]
    _compare(model, np.vstack([row, other]), must=[0, 1])


def hold_rows(model: TreeModel, rows: ArrayLike, seed: int = 0) -> None:
    """Ask the live model about rows of a background, at most :data:`ROWS` of them; see hold."""
    table = np.asarray(rows, dtype=np.float64)
    refused = [a for a in range(table.shape[1]) if model.refuses_missing(a)]
    table = table[~np.isnan(table[:, refused]).any(axis=1)]
    if len(table) > ROWS:
        table = table[np.sort(np.random.default_rng(seed).choice(len(table), ROWS, False))]
    if len(table):
        _compare(model.covering(table), table, must=[])


def _compare(
    model: TreeModel, rows: NDArray[np.float64], must: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Raise where the live model answers otherwise; return of which rows rounding explains it.

    And what it says of the scores of all, where it does.

    must: The rows, such as x, of which both must say the same; of others unless rounding explains
        it.
    """
    live = model.live
    if live is None:
        return np.zeros(0, dtype=np.int64), None
    words = partial(_words, model, rows, len(must) > 0)
    totals = model.totals(rows)
    ours = model.decide(totals)
    theirs, said = live.predict(rows, model.classes)
    own = ", ".join(shown(label) for label in live.classes[:_LISTED])
    differing = np.flatnonzero(ours != theirs)
    near = near_ties(model, rows[differing]) if differing.size else np.zeros(0, dtype=bool)
    near &= theirs[differing] >= 0
    for i, tied in zip(differing.tolist(), near.tolist()):
        if tied and i not in must:
            continue
        told = shown(model.classes[theirs[i]] if theirs[i] >= 0 else said[i])
        why = _ROUNDED if tied else _ADVICE
        if theirs[i] < 0:
            why = (
                f"if that is what its classes are called, give classes=[...] in their order: {own}"
            )
        count = int((~near).sum())
        more = f"; so they differ on {count} of {len(rows)} rows" if count > 1 else ""
        raise UnsupportedModel(
            f"{live.name}.predict gives {words(i)} the class {told}, its trees give it "
            f"{shown(model.classes[ours[i]])}{more}: {why}"
        )
    return differing[near], _compare_scores(model, live, rows, totals, words)


def _compare_scores(
    model: TreeModel,
    live: LiveModel,
    rows: NDArray[np.float64],
    totals: NDArray[Any],
    words: Callable[[int], str],
) -> NDArray[np.float64] | None:
    theirs = live.scores(rows, len(model.base))
    if theirs is None or live.link == "unknown":
        return theirs
    averaged = 1 if model.prediction is None else model.prediction.trees
    divisor = 2**model.exact.exponent * (len(model.trees) if model.rule == "average" else averaged)
    scores = np.array([[total / divisor for total in row] for row in totals.tolist()]) * live.scale
    ours = linked(scores, live.link)
    slack = TOLERANCE + float(Fraction(rounding(model), divisor)) * abs(live.scale)
    if theirs.shape != ours.shape:
        raise UnsupportedModel(
            f"{live.name}.{live.method} answers with {theirs.shape[1]} columns, its trees have "
            f"{ours.shape[1]} scores; {_ADVICE}"
        )
    wrong = ~(np.abs(ours - theirs) <= slack).all(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        k = int(np.argmax(np.abs(ours[i] - theirs[i])))
        label = model.classes[k if len(model.base) > 1 else 1]
        what = f"the probability {theirs[i, k]:.9g} of the class {shown(label)}"
        if model.prediction is not None:
            what = f"a number {theirs[i, k]:.9g} away from the limit"
        raise UnsupportedModel(
            f"{live.name}.{live.method} gives {words(i)} {what}, its trees {ours[i, k]:.9g} (at "
            f"most {slack:.1g} is rounding): {_ADVICE}"
        )
    return theirs


def linked(scores: NDArray[np.float64], link: str) -> NDArray[np.float64]:
    """Return the probabilities that follow from scores, shape (n, scores)."""
    if link == "average":
        return scores
    with np.errstate(over="ignore"):
        if link == "sigmoid":
            return np.asarray(1 / (1 + np.exp(-scores)))
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def values(model: TreeModel) -> list[NDArray[np.float64]]:
    """Return values in all cells of each attribute: at thresholds and next to them.

    Next to one is the next number of the type that the library compares in, and the next float64,
    which is rounded to the threshold where that type is float32.
    """
    kind = np.float32 if model.cast == "float32" else np.float64
    return [
        _values(attribute, cuts, kind)
        for attribute, cuts in zip(model.attributes, model.thresholds, strict=True)
    ]


def _values(attribute: Any, cuts: NDArray[np.float64], kind: Any) -> NDArray[np.float64]:
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values
    if listed is not None:
        found = np.array(listed, dtype=np.float64)
    elif not len(cuts):
        found = np.array([0.0, 1.0])
    else:
        between = (cuts[1:] + cuts[:-1]) / 2
        with np.errstate(over="ignore"):
            far = 10 * (1 + cuts[-1] - cuts[0])  # where a model may have a rule of its own
            ends = np.array([cuts[0] - far, cuts[0] - 1, cuts[-1] + 1, cuts[-1] + far])
            ends = ends[np.isfinite(ends.astype(kind))]
            above = np.nextafter(cuts.astype(kind), kind(np.inf)).astype(np.float64)
        found = np.concatenate([cuts, above, np.nextafter(cuts, np.inf), between, ends])
        if attribute.kind == "integer":
            found = np.unique(np.concatenate([np.floor(found), np.floor(found) + 1]))
        found = np.append(found, attribute.ends)
        low, high = attribute.interval
        found = found[np.isfinite(found) & (low <= found) & (found <= high)]
        if not len(found):
            found = np.array([low])
    return np.append(found, np.nan) if attribute.missing else found


def changed(
    model: TreeModel, x: NDArray[np.float64], pools: list[NDArray[np.float64]], seed: int = 0
) -> NDArray[np.float64]:
    """Return rows that differ from x, each in a random share of the attributes."""
    rng = np.random.default_rng(seed)
    share = rng.random((ROWS, 1))
    rows = np.tile(x, (ROWS, 1))
    moved = rng.random(rows.shape) < share
    for a in model.used:
        if len(pools[a]):
            rows[moved[:, a], a] = rng.choice(pools[a], int(moved[:, a].sum()))
    return rows


_ONES_ALONE = 2, 2.0001
"""Where XGBoost puts the threshold of a column in which it saw no other value than 1."""


def _refuse_filled(model: TreeModel, live: LiveModel, row: NDArray[np.float64]) -> None:
    """Raise where zeros were filled in that decide: a column of ones and nothing has no zeros."""
    low, high = _ONES_ALONE
    ones = [
        a
        for a, cuts in enumerate(model.thresholds)
        if row[a] == 0 and len(cuts) and low < cuts[0] and cuts[-1] < high
    ]
    if not ones:
        return
    sparse = np.where(row == 0, np.nan, row)
    places, said = live.predict(np.vstack([row, sparse]), model.classes)
    if places[0] != places[1]:
        raise DataError(
            f"x: {shown(model.attributes[ones[0]].name)} is 0, and {live.name} saw no other "
            "number in it than 1, as in sparse rows, of which XGBoost takes what is left out as "
            f"missing: it gives x the class {shown(said[0])}, and {shown(said[1])} if zeros are "
            "left out. Give the row as the model gets it: sparse, or with NaN for what is left out"
        )


def _words(model: TreeModel, rows: NDArray[np.float64], changed: bool, i: int) -> str:
    """Say which row it is: in which columns it differs from x, the first, or of the background."""
    if not changed:
        return "a row of the background"
    row, x = rows[i], rows[0]
    same = (row == x) | (np.isnan(row) & np.isnan(x))
    differing = [a for a in range(len(row)) if not same[a]]
    told = [
        f"{model.attributes[a].name} = {model.attributes[a].called(row[a], '.9g')}"
        for a in differing[:_LISTED]
    ]
    more = f" and {len(differing) - _LISTED} more" if len(differing) > _LISTED else ""
    return f"x with {', '.join(told)}{more}" if told else "x"
