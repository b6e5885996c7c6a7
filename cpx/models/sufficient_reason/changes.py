"""What columns may change to: ranges that a person gives, and values that a table has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.answers.values import listed
from cpx.errors import InvalidOption, shown
from cpx.models.sufficient_reason.new_values import can_be
from cpx.support.validation import real
from cpx.trees import Attribute, TreeModel
from cpx.trees.attribute import label_of
from cpx.trees.categories import value_of
from cpx.trees.hold import values

__all__ = ["allowed", "knowing", "restricted", "within", "within_domains"]


def restricted(
    model: TreeModel,
    x: Sequence[float],
    ranges: Mapping[int, Any],
    seen: NDArray[np.float64] | None = None,
) -> TreeModel:
    """Return the model whose attributes have the value of x, or one that they may change to.

    ranges: By attribute: the least and the greatest value, None for no limit; or a list of values
        or labels.
    seen: Rows whose values are all there are, where it is given.

    >>> from cpx.trees import Attribute, Tree
    >>> tree = Tree([0, -1, -1], [0] * 3, [0] * 3, [[-1.0], [0.5]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[2.5]], "sum", "positive", [0])
    >>> restricted(model, [1.0], {0: (0, 2)}).possible[0].tolist()
    [True, False]
    """
    pools = values(model)
    attributes = list(model.attributes)
    for a, attribute in enumerate(model.attributes):
        if a not in ranges and seen is None:
            continue
        own, may = float(x[a]), allowed(attribute, ranges.get(a))
        free = attribute.values is None and attribute.kind in ("real", "integer")
        if seen is None and free and isinstance(may, tuple) and within([own], may)[0]:
            low, high = (v if math.isfinite(v) else None for v in may)
            lows = [v for v in (low, attribute.lower) if v is not None]
            highs = [v for v in (high, attribute.upper) if v is not None]
            attributes[a] = replace(
                attribute,
                lower=max(lows, default=None),
                upper=min(highs, default=None),
                missing=False,
            )
            continue
        absent, pool = math.isnan(own), pools[a]
        if seen is not None:
            pool = can_be(attribute, seen[:, a])
            absent |= a not in ranges and attribute.missing and bool(np.isnan(pool).any())
        elif isinstance(may, tuple) and free:
            pool = np.append(pool, [v for v in may if math.isfinite(v)])
        pool = np.append(pool[within(pool, may)], own)
        kept = np.unique(pool[~np.isnan(pool)]).tolist()
        if attribute.kind == "integer":
            kept = [v for v in kept if v == math.floor(v)]
        if not kept:
            continue  # x has no value, and there is none to change to
        labels = None
        if attribute.labels is not None:
            labels = tuple(attribute.called(v) for v in kept)
        attributes[a] = replace(
            attribute,
            kind="integer" if attribute.kind == "boolean" else attribute.kind,
            lower=None,
            upper=None,
            values=tuple(kept),
            labels=labels,
            missing=absent,
        )
    return model.with_attributes(attributes)


def knowing(
    model: TreeModel,
    x: Sequence[float],
    ranges: Mapping[int, Any],
    seen: NDArray[np.float64] | None,
) -> TreeModel:
    """Return the model with what columns may change to among the values of its attributes."""
    asked = {
        a: [float(v) for v in given if isinstance(v, int | float) and math.isfinite(v)]
        for a, given in ranges.items()
        if isinstance(given, Iterable) and not isinstance(given, str)
    }
    rows = np.tile(
        np.array(x, dtype=np.float64), (1 + max(map(len, asked.values()), default=0), 1)
    )
    for a, own in asked.items():
        rows[: len(own), a] = own
    return model.covering(rows if seen is None else np.vstack([rows, seen]))


def allowed(attribute: Attribute, given: Any) -> tuple[float, float] | set[float]:
    """Return what a column may change to: two limits, or values."""
    if given is None:
        return -math.inf, math.inf
    told = f"ranges: {shown(attribute.name)} must have (least, greatest) or a list of values"
    if isinstance(given, tuple):
        if len(given) != 2:
            raise InvalidOption(f"{told}, got {shown(given)}")
        ends = [None if v is None else real(v) for v in given]
        if any(g is not None and (v is None or math.isnan(v)) for v, g in zip(ends, given)):
            raise InvalidOption(f"{told}, got {shown(given)}")
        low, high = (
            (-math.inf if ends[0] is None else float(ends[0])),
            (math.inf if ends[1] is None else float(ends[1])),
        )
        if low > high:
            raise InvalidOption(f"ranges: {shown(attribute.name)}: {low:g} is more than {high:g}")
        return low, high
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidOption(f"{told}, got {shown(given)}")
    found = set()
    for value in given:
        named = attribute.labels is not None and attribute.values is not None
        number = real(value)
        if named and label_of(value) in (attribute.labels or ()):
            number = value_of(attribute, label_of(value))
        if number is None:
            known = f", of {listed([*attribute.labels])}" if attribute.labels else ""
            raise InvalidOption(f"{told}{known}, got {shown(value)}")
        found.add(float(number))
    return found


def within(values: ArrayLike, may: tuple[float, float] | set[float]) -> NDArray[np.bool_]:
    """Say which values lie between two limits, or are among some."""
    given = np.asarray(values, dtype=np.float64)
    if isinstance(may, tuple):
        return np.asarray((may[0] <= given) & (given <= may[1]))
    return np.isin(given, [*may])


def within_domains(
    model: TreeModel, x: Sequence[float], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a table with the values of x in place of those that attributes cannot have."""
    found = np.tile(np.array(x, dtype=np.float64), (len(table), 1))
    for a, attribute in enumerate(model.attributes):
        fine = np.isin(table[:, a], can_be(attribute, table[:, a]))
        fine |= np.isnan(table[:, a]) & attribute.missing
        found[fine, a] = table[fine, a]
    return found
