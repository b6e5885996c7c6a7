"""Cells of the columns of a table: where what transformers make of them changes for a tree model.

No formula of a transformer is used. Between two values that the model treats differently, the
float halfway is transformed, and so on, until two floats are left that are next to each other.
Where a column seems to be scaled, floats near the thresholds are tried first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cpx.errors import UnsupportedModel, shown
from cpx.trees.floats import distinct, float_key, float_keys, key_float, key_floats
from cpx.trees.form import TreeModel
from cpx.trees.front import NOT_TAKEN, Front
from cpx.trees.tree import MISSING, REFUSED

Cells = NDArray[np.int32]
Keys = NDArray[np.int64]
"""Floats by their numbers."""

_SIZES = (float(np.finfo(np.float64).max), *(10.0**e for e in (300, 150, 75, 38, 37, 30, 20, 9)))
"""How large a number may be: the first of these that the transformers and the model take."""

_NEAR = 32
"""Floats on either side of a cut that are asked one by one: rounding may go to and fro there."""

_WITHIN = 3
"""Floats in each cell that are asked, beside its ends, whether they are treated alike."""

_AROUND = (0, 1, 2**4, 2**9, 2**16, 2**28)
"""How many floats from the place of a threshold, if a column is scaled, are tried first."""

_AT_ONCE = 2**15
"""Rows that are transformed at once, for the sake of memory."""

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
        found: dict[int, list[Cells]] = {c: [] for c in values}
        for given, made in self._made(values):
            cells = self._cells(made)
            for c, count in given.items():
                parts = [cells[:count, self._made_of[c]]]
                for members, off in self._bins.get(c, ()):
                    on = made[:count, members] != off
                    place = np.where(on.any(axis=1), on.argmax(axis=1), _NOT_TAKEN)
                    parts.append(place[:, None].astype(np.int32))
                found[c].append(np.hstack(parts))
        return {c: np.concatenate(parts) for c, parts in found.items() if parts}

    def _made(
        self, values: Mapping[int, NDArray[np.float64]]
    ) -> Iterator[tuple[dict[int, int], NDArray[np.float64]]]:
        """Yield what is made of some values of each column, and how many of each those are."""
        most = max(map(len, values.values()), default=0)
        for begin in range(0, most, _AT_ONCE):
            parts = {c: v[begin : begin + _AT_ONCE] for c, v in values.items() if len(v) > begin}
            rows = np.tile(self._front.reference, (max(map(len, parts.values())), 1))
            for c, given in parts.items():
                rows[: len(given), c] = given
            yield {c: len(given) for c, given in parts.items()}, self._front.made(rows)

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
        ends = {c: float_keys(np.array(self._ends[c])) for c in self._numbers}
        keys = self._narrowed(ends)
        # A number that counts as missing is one float among others that do not.
        points = {c: float_keys(np.array([*own])) for c, own in self._front.walk.points.items()}
        copied, near = self._copied(keys), {}
        for c, own in keys.items():
            steps = np.arange(0, 2) if c in copied else np.arange(-_NEAR, _NEAR + 2)
            own = np.concatenate([own, points.get(c, own[:0])])
            asked = distinct(np.append(own[:, None] + steps, ends[c]))
            near[c] = asked[(asked >= ends[c][0]) & (asked <= ends[c][1])]
        seen = self._asked(near)
        found = {}
        for c in self._numbers:
            changes = np.flatnonzero((np.diff(seen[c], axis=0) != 0).any(axis=1))
            cuts, images = near[c][changes], seen[c][[*changes.tolist(), len(near[c]) - 1]]
            edges = [int(ends[c][0]) - 1, *cuts.tolist(), int(ends[c][1])]
            self._refuse_other_cells(c, edges, images)
            found[c] = self._column(c, cuts, images[:, : len(self._made_of[c])], missing[c])
        return found

    def _copied(self, keys: Mapping[int, Keys]) -> set[int]:
        """Return the columns that are handed on as they are: nothing is rounded near their cuts.

        Those whose features are the number itself on both sides of each cut.
        """
        values = {c: key_floats(np.append(own, own + 1)) for c, own in keys.items()}
        found, begin = (
            {c for c in keys if c not in self._front.walk.points},
            dict.fromkeys(keys, 0),
        )
        for given, made in self._made(values):
            for c, count in given.items():
                asked = values[c][begin[c] : begin[c] + count, None]
                begin[c] += count
                if not (made[:count, self._made_of[c]] == asked).all():
                    found.discard(c)
        return found

    def _column(self, c: int, cuts: Keys, images: Cells, missing: Cells | None) -> Column:
        """Return the column with cells that the model tells apart."""
        changed = np.flatnonzero((np.diff(images, axis=0) != 0).any(axis=1)).tolist()
        images = images[[*changed, len(images) - 1]]
        low, high = self._ends[c]
        return Column(
            key_floats(cuts[changed]),
            images,
            missing,
            lower=low if abs(low) < _SIZES[-1] else None,
            upper=high if abs(high) < _SIZES[-1] else None,
        )

    def _narrowed(self, ends: Mapping[int, Keys]) -> dict[int, Keys]:
        """Return the floats, by their numbers, after which the features of a column change."""
        found: dict[int, list[Keys]] = {c: [] for c in ends}
        # From 0 on, so that no difference of two neighbours is too large an integer.
        first = self._guessed(ends)
        for c, own in ends.items():
            first[c] = distinct(np.concatenate([own, first[c], np.clip([0], *own)]))
        edges = {c: own[None, :] for c, own in first.items()}
        seen = {c: images[None] for c, images in self._asked(first).items()}
        while edges:
            open_: dict[int, tuple[Keys, Keys, Cells, Cells]] = {}
            for c, keys in edges.items():
                changed = (np.diff(seen[c], axis=1) != 0).any(axis=2)
                low, high = keys[:, :-1][changed], keys[:, 1:][changed]
                found[c].append(low[high - low == 1])
                wide = high - low > 1
                if len(low) > self._most_changes(c):
                    self._refuse(c, int(low[0]))
                if wide.any():
                    before, after = seen[c][:, :-1][changed], seen[c][:, 1:][changed]
                    open_[c] = low[wide], high[wide], before[wide], after[wide]
            count = sum(len(low) for low, *_ in open_.values())
            parts = max(2, min(_PARTS, _ROWS // max(count, 1)))
            inner = {c: _inside(low, high, parts) for c, (low, high, *_) in open_.items()}
            asked = self._asked({c: keys.ravel() for c, keys in inner.items()})
            edges, seen = {}, {}
            for c, (low, high, before, after) in open_.items():
                edges[c] = np.hstack([low[:, None], inner[c], high[:, None]])
                within = asked[c].reshape(*inner[c].shape, -1)
                seen[c] = np.hstack([before[:, None], within, after[:, None]])
        return {c: distinct(np.concatenate(own)) for c, own in found.items()}

    def _guessed(self, ends: Mapping[int, Keys]) -> dict[int, Keys]:
        """Return floats next to which the features change, if these are a column times a factor.

        They save most questions where a column has thousands of thresholds, and decide nothing.
        """
        found, places = {c: [np.empty(0, dtype=np.int64)] for c in ends}, self._places
        few = {c: np.clip([0.0, 1.0], *key_floats(own)) for c, own in ends.items()}
        for _ in range(2):
            made = next(self._made(few))[1]
            lines = {
                f: (c, (made[1, f] - made[0, f]) / (few[c][1] - few[c][0]), made[0, f], few[c][0])
                for c in few
                for f in self._made_of[c]
                if f in places and few[c][1] > few[c][0] and made[1, f] != made[0, f]
            }
            turned = {c for c, slope, at, begin in lines.values() if slope != 1 or at != begin}
            guesses: dict[int, list[NDArray[np.float64]]] = {}
            for f, (c, slope, at, begin) in lines.items():
                with np.errstate(all="ignore"):
                    guesses.setdefault(c, []).append(begin + (places[f] - at) / slope)
            # Once more from the first to the last of them, where the factor is rounded less.
            few = {}
            for c, own in guesses.items():
                all_ = np.clip(np.concatenate(own), *key_floats(ends[c]))
                found[c] = [float_keys(all_)]
                few[c] = np.array([all_.min(), all_.max()])
            if not few:
                break
        around = np.array([*(-s for s in _AROUND[:0:-1]), *_AROUND])
        # Of a column that is handed on as it is, the place itself is known.
        steps = {c: around if c in turned else around[abs(around) <= 1] for c in found}
        return {
            c: np.clip((np.concatenate(own)[:, None] + steps[c]).ravel(), *ends[c])
            for c, own in found.items()
        }

    @cached_property
    def _places(self) -> dict[int, NDArray[np.float64]]:
        """The thresholds of each feature; of floats of 32 bits, where these are rounded up."""
        found = {}
        for f in self._model.used:
            cuts = np.asarray(self._model.thresholds[f], dtype=np.float64)
            if self._model.cast == "float32":
                with np.errstate(over="ignore"):
                    low = cuts.astype(np.float32)
                low = np.where(low > cuts, np.nextafter(low, np.float32(-np.inf)), low)
                high = np.nextafter(low, np.float32(np.inf)).astype(np.float64)
                cuts = (low.astype(np.float64) + high) / 2
            cuts = cuts[np.isfinite(cuts)]
            if len(cuts):
                found[f] = cuts
        return found

    def _asked(self, keys: Mapping[int, Keys]) -> dict[int, Cells]:
        return self._ask({c: key_floats(own) for c, own in keys.items()})

    def _refuse_other_cells(self, c: int, cuts: list[int], images: Cells) -> None:
        """Raise where values within a cell are not treated alike: a function to and fro."""
        rng = np.random.default_rng(0)
        spans = [*itertools.pairwise(cuts)]
        keys = [
            low + 1 + int(share * (high - low - 1))
            for low, high in spans
            for share in rng.random(_WITHIN)
        ]
        seen = self._asked({c: np.array(keys)})[c]
        wrong = np.flatnonzero((seen != np.repeat(images, _WITHIN, axis=0)).any(axis=1))
        if len(wrong):
            self._refuse(c, keys[wrong[0]])

    def _most_changes(self, c: int) -> int:
        """Return more places than there are where features of a column that rises can change."""
        tests = sum(len(self._model.thresholds[f]) + 2 for f in self._made_of[c])
        return 4 * tests + 256

    def _refuse(self, c: int, key: int) -> NoReturn:
        raise UnsupportedModel(
            f"what the transformers make of {shown(self._front.title(c))} goes up and down, at "
            f"{key_float(key):g}: cpx reads functions that only rise or only fall"
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
            dates = c in self._front.dates  # all days that there can be are known
            other = not dates and bool(self._taken({c: float(len(values))}))
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


def _inside(low: Keys, high: Keys, parts: int) -> Keys:
    """Return integers that divide each span between two others into so many parts, or fewer."""
    step, rest = np.divmod((high - low)[:, None], parts)
    at = np.arange(1, parts)
    return np.asarray(low[:, None] + step * at + rest * at // parts)
