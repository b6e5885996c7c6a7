"""What a model predicts as one sum: a leaf for each region of rows with the same prediction.

The probability of a sum of trees, and whether a row gets a class, are no sums over the trees. But
each tree cuts the rows into boxes, one for each leaf, and so do all of them together: in such a
region every row has the same scores. A sum over regions has an expectation as a sum over leaves
has, while there are not too many. For the class a region is whole as soon as the trees that are
left cannot change it; what does not get the class adds nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any, Literal, NamedTuple
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from cpx.data.coding import Coding
from cpx.errors import InvalidInstance
from cpx.models.expected_prediction.paths import Paths, leaf_paths
from cpx.models.expected_prediction.state_sets import StateSets, runs_of_rows
from cpx.trees.exact import scaled
from cpx.trees.form import TreeModel

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

Outcome = Literal["probability", "decision"]


class TooManyRegions(InvalidInstance):
    """The trees cut the rows into so many regions that expectations are not computed over them."""


MOST_REGIONS = 2**14
"""Regions that are made: of more, expectations are sampled."""

BITS = 40
"""Probabilities are rounded to multiples of 2**-40."""

_AT_ONCE = 2**24
"""States of pairs of boxes that are compared at once: 16 MB."""

_FAR = 200
"""Log-odds beyond are 0 or 1 for all that is kept of them."""


class Regions(NamedTuple):
    """Leaves as :class:`~cpx.models.expected_prediction.leaves.LeafForm` has them.

    values: Of each leaf; the first one is 0 and tests nothing, as what is left out adds nothing.
    exponent: Values are divided by 2**exponent.
    """

    values: NDArray[Any]
    exponent: int
    leaf: Ints
    attribute: Ints
    mask: Ints
    masks: StateSets


_Key = tuple[int, Outcome]
_LAST: list[tuple[ReferenceType[TreeModel], ReferenceType[Coding], _Key, Regions]] = []
"""What was made last: it is the same for all rows of a class that are explained."""


def regions_of(model: TreeModel, coding: Coding, label: int, outcome: Outcome) -> Regions:
    """Return the regions of a model, and what it predicts there.

    label: Index of the class that is asked about.
    Raises InvalidInstance: Where there are too many regions.
    """
    for own, states, key, made in [*_LAST]:
        if own() is model and states() is coding and key == (label, outcome):
            return made
    made = _made(model, coding, label, outcome)
    _LAST[:] = [(ref(model, lambda gone: _LAST.clear()), ref(coding), (label, outcome), made)]
    return made


def margins_of(scores: Sequence[Any], label: int) -> list[Any]:
    """Return by how much scores are for a class: the score itself, or against each other one."""
    if len(scores) == 1:
        return [scores[0] if label == 1 else -scores[0]]
    return [scores[label] - other for k, other in enumerate(scores) if k != label]


def _made(model: TreeModel, coding: Coding, label: int, outcome: Outcome) -> Regions:
    paths = leaf_paths(model, coding)
    used = np.unique(paths.attribute)
    sizes = [len(coding.states[a]) for a in used.tolist()]
    begin = np.cumsum([0, *sizes], dtype=np.int64)
    margins = _margins(model, paths, label)
    inside, found = _cut(model, paths, used, begin, margins, label, outcome)
    values, exponent = np.array([1] * len(inside), dtype=object), 0
    if outcome == "probability":
        power = 2**model.exact.exponent
        known = {row: probability_units(row, power) for row in {*map(tuple, found.tolist())}}
        values = np.array([known[tuple(row)] for row in found.tolist()], dtype=object)
        inside, values = inside[values > 0], values[values > 0]
        exponent = BITS
    none = np.zeros(0, dtype=np.int64)
    leaf, attribute, mask = [none], [none], [none]
    runs, before = [], 0
    place = {a: i for i, a in enumerate(used.tolist())}
    for a, states in enumerate(coding.states):
        if a not in place:
            runs.append(runs_of_rows(np.zeros((0, len(states)), dtype=np.bool_)))
            continue
        own = inside[:, begin[place[a]] : begin[place[a] + 1]]
        rows = np.flatnonzero(~own.all(axis=1))
        sets, which = np.unique(own[rows], axis=0, return_inverse=True)
        runs.append(runs_of_rows(sets))
        leaf.append(rows + 1)
        attribute.append(np.full(len(rows), a))
        mask.append(which.reshape(-1) + before)
        before += len(sets)
    leaves, attributes = np.concatenate(leaf), np.concatenate(attribute)
    order = np.lexsort((attributes, leaves))
    return Regions(
        np.array([0, *values.tolist()], dtype=object),
        exponent,
        leaves[order],
        attributes[order],
        np.concatenate(mask)[order],
        StateSets(runs),
    )


def probability_units(margins: Sequence[int], power: int) -> int:
    """Return the probability of a class in multiples of 2**-40, rounded to the nearest.

    It is ``1 / (1 + sum_k exp(-margin_k))``: the sigmoid of a score, or the softmax of several.

    margins: By how much scores are for the class, times ``power``.

    >>> probability_units([0], 1) / 2**BITS, probability_units([3, 1], 2) / 2**BITS
    (0.5, 0.5465493872661682)
    """
    with localcontext() as context:
        context.prec = 50
        whole = Decimal(1)
        for margin in margins:
            odds = -Decimal(margin) / power
            whole += min(max(odds, Decimal(-_FAR)), Decimal(_FAR)).exp()
        return int((2**BITS / whole).to_integral_value(ROUND_HALF_EVEN))


def _boxes(paths: Paths, used: Ints, begin: Ints, own: Ints) -> Bools:
    """Return which states lead to each leaf of a tree, those of all tested attributes in a row.

    begin: Where the states of each attribute begin, and their number.
    own: The leaves, which follow each other.
    """
    boxes = np.ones((len(own), int(begin[-1])), dtype=np.bool_)
    first, end = np.searchsorted(paths.leaf, [own[0], own[-1] + 1]) if len(own) else (0, 0)
    places = np.searchsorted(used, paths.attribute[first:end])
    tests = zip(paths.leaf[first:end].tolist(), places.tolist(), paths.mask[first:end].tolist())
    for leaf, at, mask in tests:
        boxes[leaf - own[0], begin[at] : begin[at + 1]] = paths.masks.states(mask)
    return boxes


def _margins(model: TreeModel, paths: Paths, label: int) -> NDArray[Any]:
    """Return by how much each leaf is for a class, times 2**exponent, shape (L, R)."""
    exponent, scores = model.exact.exponent, range(len(model.base))
    parts = []
    for tree in paths.trees:
        own = dict(zip(tree.outputs, scaled(tree.values, exponent).T, strict=True))
        nothing = np.array([0] * tree.n_leaves, dtype=object)
        parts.append(np.stack(margins_of([own.get(k, nothing) for k in scores], label), axis=1))
    return np.asarray(np.concatenate(parts)[paths.reached])


def _cut(
    model: TreeModel,
    paths: Paths,
    used: Ints,
    begin: Ints,
    margins: NDArray[Any],
    label: int,
    outcome: Outcome,
) -> tuple[Bools, NDArray[Any]]:
    """Return the states of each region, and its margins; only those of the class for a decision.

    used: The attributes that are tested.
    begin: Where the states of each of these begin, and their number.
    """
    of = np.repeat(np.arange(len(paths.trees)), [t.n_leaves for t in paths.trees])[paths.reached]
    least = np.array([margins[of == t].min(axis=0) for t in range(len(paths.trees))])
    most = np.array([margins[of == t].max(axis=0) for t in range(len(paths.trees))])
    # What decides most comes first.
    order = sorted(range(len(paths.trees)), key=lambda t: -int((most[t] - least[t]).sum()))
    needed = np.array(_needed(model, label), dtype=object)
    start = margins_of([*model.exact.base_values], label)
    inside, total = np.ones((1, int(begin[-1])), dtype=np.bool_), np.array([start], dtype=object)
    whole: list[tuple[Bools, NDArray[Any]]] = [(inside[:0], total[:0])]
    for place, tree in enumerate([-1, *order]):
        if tree >= 0:
            own = np.flatnonzero(of == tree)
            boxes, made = _boxes(paths, used, begin, own), sum(len(some) for some, _ in whole)
            parent, child = _meeting(inside, boxes, begin[:-1], MOST_REGIONS - made)
            _require_few(made + len(parent), outcome)
            inside = inside[parent] & boxes[child]
            total = total[parent] + margins[own[child]]
        if outcome == "decision":
            rest = order[place:]
            yes = (total + least[rest].sum(axis=0) >= needed).all(axis=1).astype(bool)
            no = (total + most[rest].sum(axis=0) < needed).any(axis=1).astype(bool)
            whole.append((inside[yes], total[yes]))
            inside, total = inside[~yes & ~no], total[~yes & ~no]
    if outcome == "probability":
        return inside, total
    return np.concatenate([some for some, _ in whole]), np.concatenate([t for _, t in whole])


def _needed(model: TreeModel, label: int) -> list[int]:
    """Return the least margins of the class: 1 where a tie is another one's."""
    if model.decision == "first":
        return [int(k < label) for k in range(len(model.base)) if k != label]
    return [int((model.decision == "positive") == (label == 1))]


def _meeting(inside: Bools, boxes: Bools, begin: Ints, most: int) -> tuple[Ints, Ints]:
    """Return the pairs of two lists of boxes that have a row in common; of many, some more."""
    meets = np.ones((len(inside), len(boxes)), dtype=np.bool_)
    step, count = max(1, _AT_ONCE // max(1, boxes.size)), 0
    for first in range(0, len(inside) if len(begin) else 0, step):
        common = inside[first : first + step, None] & boxes
        either = np.logical_or.reduceat(common, begin, axis=2)
        meets[first : first + step] = either.all(axis=2)
        count += int(meets[first : first + step].sum())
        if count > most:
            meets[first + step :] = False
            break
    parent, child = np.nonzero(meets)
    return parent, child


def _require_few(count: int, outcome: Outcome) -> None:
    if count > MOST_REGIONS:
        raise TooManyRegions(
            f"prediction {outcome}: the trees cut the rows into more than {MOST_REGIONS:,} "
            "regions, too many for exact expectations"
        )
