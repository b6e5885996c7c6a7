"""SP-Anchor: anchors of some rows, and of these the few that cover most rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.ads.synthetic import texts
from benchmarks.papers.anchor_package import AnchorsSettings, find_anchor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AnchorRules", "greedy_cover"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class _Codes:
    """States of rows: quartiles of numbers, categories as they are."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._cuts: dict[str, Any] = {}
        for c in rows.columns:
            if rows[c].dtype.kind in "iuf":
                self._cuts[c] = np.unique(np.nanquantile(rows[c], [0.25, 0.5, 0.75]))
            else:
                self._cuts[c] = {k: i for i, k in enumerate(sorted(set(texts(rows[c]))))}

    def __call__(self, rows: pd.DataFrame) -> IntArray:
        columns: list[Any] = []
        for c, cuts in self._cuts.items():
            if isinstance(cuts, dict):
                columns.append([cuts.get(text, -1) for text in texts(rows[c])])
            else:
                columns.append(np.searchsorted(cuts, rows[c].to_numpy(np.float64)))
        return np.column_stack(columns).astype(np.int64)


@dataclass(frozen=True)
class _Rule:
    columns: tuple[int, ...]
    states: tuple[int, ...]

    def covers(self, codes: IntArray) -> BoolArray:
        return np.asarray((codes[:, self.columns] == self.states).all(axis=1))


class AnchorRules:
    """A decision set made of anchors of positive rows.

    Anchors are those of the package, over quartiles and categories. A sample is a real row in
    which the attributes of the candidate have values of the states of x, numbers those of real
    rows in the same quartile. The rules are picked greedily by the rows they cover, as in the
    submodular pick of the paper on Anchors.

    Parameters
    ----------
    most : int
        Rules.
    explained : int
        Positive rows that anchors are found for, drawn at random.
    seed : int
    settings : AnchorsSettings, optional

    References
    ----------
    M. T. Ribeiro, S. Singh, C. Guestrin: Anchors: High-Precision Model-Agnostic Explanations,
    AAAI 2018.
    """

    def __init__(
        self,
        most: int,
        explained: int,
        seed: int = 0,
        settings: AnchorsSettings | None = None,
    ) -> None:
        self.most, self.explained, self.seed = most, explained, seed
        self.settings = AnchorsSettings() if settings is None else settings
        self.queries = 0
        self.rules: list[_Rule] = []

    def fit(self, rows: pd.DataFrame, labels: Callable[[IntArray], BoolArray]) -> AnchorRules:
        """Explain some positive rows.

        Parameters
        ----------
        rows : data frame
        labels : callable
            Which mixtures of these rows are positive, as
            :class:`~benchmarks.papers.ads.mixtures.Mixtures`.
        """
        rng = np.random.default_rng(self.seed)
        self._states = _Codes(rows)
        codes = self._states(rows)
        positive = np.flatnonzero(labels(_whole(np.arange(len(rows)), codes.shape[1])))
        chosen = rng.choice(positive, min(self.explained, len(positive)), replace=False)
        found = []
        for i in chosen.tolist():
            draw = self._draw(codes, i, labels, rng)
            columns = find_anchor(draw, self.settings, codes.shape[1], self.seed)
            found.append(_Rule(columns, tuple(codes[i, list(columns)].tolist())))
        found = list(dict.fromkeys(found))
        covers = np.array([rule.covers(codes) for rule in found]).reshape(len(found), len(rows))
        self.rules = [found[i] for i in greedy_cover(covers, self.most)]
        return self

    def predict(self, rows: pd.DataFrame) -> BoolArray:
        """Return which rows a rule covers."""
        codes = self._states(rows)
        found = np.zeros(len(rows), dtype=bool)
        for rule in self.rules:
            found |= rule.covers(codes)
        return found

    @property
    def lengths(self) -> list[int]:
        """Numbers of conditions of the rules."""
        return [len(rule.columns) for rule in self.rules]

    def _draw(
        self,
        codes: IntArray,
        i: int,
        labels: Callable[[IntArray], BoolArray],
        rng: np.random.Generator,
    ) -> Any:
        m_rows, n_columns = codes.shape
        alike = [np.flatnonzero(codes[:, c] == codes[i, c]) for c in range(n_columns)]

        def draw(present: Sequence[int], m: int, label: bool) -> tuple[BoolArray, BoolArray]:
            taken = rng.integers(m_rows, size=m)
            states = codes[taken]
            states[:, list(present)] = codes[i, list(present)]
            agreement = states == codes[i]
            if not label:
                return agreement, np.zeros(m, dtype=np.bool_)
            cells = _whole(taken, n_columns)
            for c in present:
                cells[:, c] = rng.choice(alike[c], m)
            self.queries += m
            return agreement, labels(cells)

        return draw


def _whole(taken: IntArray, n_columns: int) -> IntArray:
    """Return the cells of mixtures that are one real row each."""
    return np.repeat(taken[:, None], n_columns, axis=1)


def greedy_cover(covers: BoolArray, most: int) -> list[int]:
    """Return at most so many rules, each time the one that covers most rows not covered yet.

    Examples
    --------
    >>> covers = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]], bool)
    >>> greedy_cover(covers, 3)
    [1, 2]
    """
    left = np.ones(covers.shape[1], dtype=bool)
    chosen: list[int] = []
    while len(chosen) < most and len(covers):
        gains = (covers & left).sum(axis=1)
        best = int(gains.argmax())
        if not gains[best]:
            break
        chosen.append(best)
        left &= ~covers[best]
    return chosen
