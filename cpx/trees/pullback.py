"""Cells of the columns of a table: where what transformers make of them changes for a tree model.

No formula of a transformer is used. Between two values that the model treats differently, the
float halfway is transformed, and so on, until two floats are left that are next to each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.errors import UnsupportedModel, shown
from cpx.trees.floats import float_key, key_float
from cpx.trees.form import TreeModel
from cpx.trees.front import NOT_TAKEN, Front
from cpx.trees.tree import MISSING, REFUSED

Cells = NDArray[np.int32]

_SIZES = (float(np.finfo(np.float64).max), *(10.0**e for e in (300, 150, 75, 38, 37, 30, 20, 9)))
"""How large a number may be: the first of these that the transformers and the model take."""

_NEAR = 32
"""Floats on either side of a cut that are asked one by one: rounding may go to and fro there."""

_WITHIN = 3
"""Floats in each cell that are asked, beside its ends, whether they are treated alike."""

_PARTS, _ROWS = 16, 4096
"""Into how many parts a span is divided at once, unless that makes more rows: each question to
transformers takes milliseconds, for one row as for many."""

_NOT_TAKEN = -2
"""The cell of what the model does not take, such as infinity."""


@dataclass(frozen=True)
class Column:
    """How a column reaches the model.

    cuts: Increasing numbers: cell i has the values v with cuts[i-1] < v <= cuts[i].
    images (cells, features): The cell of each feature that is made of the column.
    missing (features,): Those of a missing value, None where it is not taken.
    lower, upper: Bounds of the numbers that are taken, None without any.
    other: Whether categories are taken that no encoder knows.
    """

    cuts: NDArray[np.floating[Any]]
    images: Cells
    missing: Cells | None
    lower: float | None = None
    upper: float | None = None
    other: bool = False


class Pullback:
    """The columns of a table as a tree model sees them through transformers.

    front: The transformers.
    model: Over the columns that they make.
    """

    def __init__(self, front: Front, model: TreeModel) -> None:
        self._front, self._model = front, model
        self._made_of = front.made_of
        self._numbers = [
            c for c, own in enumerate(self._made_of) if own and front.categories(c) is None
        ]
        for c in self._numbers:
            if c in front.walk.special:
                raise UnsupportedModel(
                    f"{front.walk.special[c]} fills in what is no number of the table: cpx reads "
                    "imputers of NaN, and of a number that stands in the table as it is"
                )
        self._refuses = any(
            bool((tree.missing == REFUSED)[tree.attribute >= 0].any()) for tree in model.trees
        )
        self._finite = not model.source.startswith("lightgbm")
        if len(self._taken(dict(enumerate(front.reference.tolist())))) < front.width:
            raise UnsupportedModel(
                "the transformers or the model take no row of ones, where cpx begins to look"
            )

    def columns(self) -> list[Column]:
        """Return how each column reaches the model."""
        missing = self._missing()
        cuts = self._cuts(missing)
        return [
            cuts[c] if c in cuts else self._categories(c, missing[c])
            for c in range(self._front.width)
        ]

    def orders(self) -> dict[int, list[int]]:
        """Return orders of categories in which those are together that the model sees alike."""
        found = {}
        for c in range(self._front.width):
            if self._front.is_text(c):
                codes = np.array(self._front.listed(c))
                seen = self._ask({c: codes})[c].tolist()
                found[c] = sorted(range(len(codes)), key=seen.__getitem__)
        return found

    # ------------------------------------------------------------- asking rows

    def _ask(self, values: Mapping[int, NDArray[np.float64]]) -> dict[int, Cells]:
        """Return the cells of the features of each column for some of its values.

        Bins have a further one: the number of the bin.
        """
        count = max((len(v) for v in values.values()), default=0)
        if not count:
            return {}
        rows = np.tile(self._front.reference, (count, 1))
        for c, given in values.items():
            rows[: len(given), c] = given
        made = self._front.made(rows)
        cells = self._cells(made)
        found = {}
        for c, given in values.items():
            parts = [cells[: len(given), self._made_of[c]]]
            for members, off in self._bins.get(c, ()):
                on = made[: len(given), members] != off
                place = np.where(on.any(axis=1), on.argmax(axis=1), _NOT_TAKEN)
                parts.append(place[:, None].astype(np.int32))
            found[c] = np.hstack(parts)
        return found

    def _cells(self, made: NDArray[np.float64]) -> Cells:
        cells = self._model.cells(made)
        with np.errstate(over="ignore"):
            cast = made.astype(np.float32 if self._model.cast == "float32" else np.float64)
        not_taken = np.isinf(cast) & self._finite
        if self._refuses:
            not_taken |= cells == MISSING
        cells[not_taken] = _NOT_TAKEN
        return cells

    def _taken(self, values: Mapping[int, float]) -> set[int]:
        """Return the columns whose value is taken, the others being as in the reference."""
        row = self._front.reference.copy()
        row[[*values]] = [*values.values()]
        try:
            cells = self._cells(self._front.made(row[None]))[0]
        except NOT_TAKEN:  # which of them is not told: halve them
            names = [*values]
            halves = (names[: len(names) // 2], names[len(names) // 2 :])
            if len(names) < 2:
                return set()
            return {c for half in halves for c in self._taken({c: values[c] for c in half})}
        # What is made NaN of a number, as a logarithm is, is no value that a row should have.
        sparse = np.isnan(self._front.absent)
        least = {c: MISSING if sparse or np.isnan(value) else 0 for c, value in values.items()}
        return {c for c in values if (cells[self._made_of[c]] >= least[c]).all()}

    @cached_property
    def _bins(self) -> dict[int, list[tuple[list[int], NDArray[np.float64]]]]:
        """For each column the features that bins were made, and what these are in other bins."""
        groups: dict[int, dict[int, list[int]]] = {}
        for i, feature in enumerate(self._front.features):
            if feature.group is not None:
                groups.setdefault(feature.column, {}).setdefault(feature.group[0], []).append(i)
        if not groups:
            return {}
        rows = np.tile(self._front.reference, (2, 1))
        for c in groups:
            rows[:, c] = self._ends[c]
        first, last = self._front.made(rows)
        found: dict[int, list[tuple[list[int], NDArray[np.float64]]]] = {}
        for c, own in groups.items():
            for members in own.values():
                off = first[members]
                off[0] = last[members[0]]
                found.setdefault(c, []).append((members, off))
        return found

    # ------------------------------------------------------ columns of numbers

    @cached_property
    def _ends(self) -> dict[int, tuple[float, float]]:
        """The least and the greatest number of each column that are known to be taken."""
        found: dict[tuple[int, int], float] = {}
        for sign in (-1, 1):
            for size in _SIZES:
                open_ = [c for c in self._numbers if (c, sign) not in found]
                for c in self._taken(dict.fromkeys(open_, sign * size)):
                    found[c, sign] = sign * size
            open_ = [c for c in self._numbers if (c, sign) not in found]
            bounds = self._bounds(open_, sign)
            found.update(((c, sign), bound) for c, bound in bounds.items())
        return {c: (found[c, -1], found[c, 1]) for c in self._numbers}

    def _bounds(self, columns: Iterable[int], sign: int) -> dict[int, float]:
        """Return the last number of each column that is taken, on the way from 1 outwards."""
        inside = {c: float_key(1.0) for c in columns}
        outside = {c: float_key(sign * _SIZES[-1]) for c in columns}
        while wide := [c for c in inside if abs(outside[c] - inside[c]) > 1]:
            middle = {c: (inside[c] + outside[c]) // 2 for c in wide}
            taken = self._taken({c: key_float(key) for c, key in middle.items()})
            for c in wide:
                (inside if c in taken else outside)[c] = middle[c]
        return {c: key_float(key) for c, key in inside.items()}

    def _cuts(self, missing: Sequence[Cells | None]) -> dict[int, Column]:
        """Return how each column of numbers reaches the model."""
        if not self._numbers:
            return {}
        ends = {c: [float_key(v) for v in self._ends[c]] for c in self._numbers}
        keys = self._narrowed(ends)
        # A number that counts as missing is one float among others that do not.
        points = {c: [*map(float_key, own)] for c, own in self._front.walk.points.items()}
        steps = range(-_NEAR, _NEAR + 2)
        near = {
            c: sorted({k + s for k in (*own, *points.get(c, ())) for s in steps} | {*ends[c]})
            for c, own in keys.items()
        }
        near = {c: [k for k in own if ends[c][0] <= k <= ends[c][1]] for c, own in near.items()}
        seen = self._asked(near)
        found = {}
        for c in self._numbers:
            changes = [
                (near[c][i], i)
                for i in np.flatnonzero((np.diff(seen[c], axis=0) != 0).any(axis=1)).tolist()
            ]
            cuts = [key for key, _ in changes]
            images = seen[c][[*(i for _, i in changes), len(near[c]) - 1]]
            self._refuse_other_cells(c, [ends[c][0] - 1, *cuts, ends[c][1]], images)
            found[c] = self._column(c, cuts, images[:, : len(self._made_of[c])], missing[c])
        return found

    def _column(self, c: int, cuts: list[int], images: Cells, missing: Cells | None) -> Column:
        """Return the column with cells that the model tells apart."""
        changed = np.flatnonzero((np.diff(images, axis=0) != 0).any(axis=1)).tolist()
        images = images[[*changed, len(images) - 1]]
        low, high = self._ends[c]
        return Column(
            np.array([key_float(cuts[i]) for i in changed]),
            images,
            missing,
            lower=low if abs(low) < _SIZES[-1] else None,
            upper=high if abs(high) < _SIZES[-1] else None,
        )

    def _narrowed(self, ends: Mapping[int, list[int]]) -> dict[int, list[int]]:
        """Return the floats, by their numbers, after which the features of a column change."""
        found: dict[int, list[int]] = {c: [] for c in ends}
        at_ends = self._asked(ends)
        open_ = {c: [(low, high, *at_ends[c])] for c, (low, high) in ends.items()}
        while True:
            for c, spans in open_.items():
                spans[:] = [span for span in spans if (span[2] != span[3]).any()]
                found[c] += [low for low, high, *_ in spans if high - low == 1]
                spans[:] = [span for span in spans if span[1] - span[0] > 1]
            count = sum(map(len, open_.values()))
            if not count:
                return found
            parts = max(2, min(_PARTS, _ROWS // count))
            inner = {
                c: [_inside(low, high, parts) for low, high, *_ in s]
                for c, s in open_.items()
                if s
            }
            seen = self._asked({c: [*itertools.chain(*own)] for c, own in inner.items()})
            for c, of_spans in inner.items():
                rows, narrower = iter(seen[c]), []
                for (low, high, first, last), keys in zip(open_[c], of_spans, strict=True):
                    edges = [(low, first), *zip(keys, rows), (high, last)]
                    narrower += [(a, b, x, y) for (a, x), (b, y) in itertools.pairwise(edges)]
                open_[c] = narrower

    def _asked(self, keys: Mapping[int, list[int]]) -> dict[int, Cells]:
        return self._ask({c: np.array([key_float(k) for k in own]) for c, own in keys.items()})

    def _refuse_other_cells(self, c: int, cuts: list[int], images: Cells) -> None:
        """Raise where values within a cell are not treated alike: a function to and fro."""
        rng = np.random.default_rng(0)
        spans = [*itertools.pairwise(cuts)]
        keys = [
            low + 1 + int(share * (high - low - 1))
            for low, high in spans
            for share in rng.random(_WITHIN)
        ]
        seen = self._asked({c: keys})[c]
        wrong = np.flatnonzero((seen != np.repeat(images, _WITHIN, axis=0)).any(axis=1))
        if len(wrong):
            name = self._front.title(c)
            raise UnsupportedModel(
                f"what the transformers make of {shown(name)} goes up and down, at "
                f"{key_float(keys[wrong[0]]):g}: cpx reads functions that only rise or only fall"
            )

    # ----------------------------------------------- missing values, categories

    def _missing(self) -> list[Cells | None]:
        """Return the cells of a missing value of each column, None where it is not taken."""
        width = range(self._front.width)
        taken = self._taken(dict.fromkeys(width, np.nan))
        seen = self._ask({c: np.array([np.nan]) for c in taken})
        return [seen[c][0, : len(self._made_of[c])] if c in taken else None for c in width]

    def _categories(self, c: int, missing: Cells | None) -> Column:
        """Return how a column of categories, or one that is not read, reaches the model."""
        known = self._front.listed(c)
        if known is None:
            return Column(np.empty(0), np.zeros((1, 0), dtype=np.int32), missing)
        values = np.array(known, dtype=np.float64)
        if self._front.is_text(c):
            other = bool(self._taken({c: float(len(values))}))
            images = self._ask({c: np.append(values, len(values)) if other else values})[c]
            return Column(np.arange(len(images) - 1) + 0.5, images, missing, other=other)
        if not self._taken({c: values[-1] + 1}):
            return Column(values[:-1], self._ask({c: values})[c], missing)
        # Numbers that no encoder knows are between those that it knows.
        below = np.nextafter(values, -np.inf)
        gaps = np.concatenate([[values[0] - 1], (values[1:] + values[:-1]) / 2, [values[-1] + 1]])
        cuts = np.column_stack([below, values]).ravel()
        probes = np.concatenate([np.column_stack([gaps[:-1], values]).ravel(), gaps[-1:]])
        return Column(cuts, self._ask({c: probes})[c], missing, other=True)


def _inside(low: int, high: int, parts: int) -> list[int]:
    """Return integers between two others that divide a span into so many parts, or fewer."""
    parts = min(parts, high - low)
    return [low + (high - low) * i // parts for i in range(1, parts)]
