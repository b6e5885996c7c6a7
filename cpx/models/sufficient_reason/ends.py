"""Ends of intervals, what reasons are made of at the level of intervals: sides of cells of x."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cpx.trees.form import TreeModel
from cpx.trees.tree import MISSING, Boxes

__all__ = ["LOWER", "UPPER", "WHOLE", "Ends"]

LOWER, WHOLE, UPPER = -1, 0, 1


class Ends:
    """The ends that an interval of a column can have around the cell of x.

    A tested column has a lower end where values below the cell of x are possible, and an upper
    one where values above are. With an end kept, the column has no values beyond it, and is not
    missing. A column without an order (a categorical one, or one that is missing in x) is one
    feature, and so is one of which x has the only possible cell and that may be missing.

    pairs: Column and side of each end, by column, the lower one first.

    >>> from cpx.trees import Attribute, Tree
    >>> tree = Tree([0, 0, -1, -1, -1], [1, 0, 0, 0, 0], [0] * 5, [[0.0], [1.0], [2.0]], (0,))
    >>> model = TreeModel([Attribute("a")], [0, 1], [tree], [[1, 2]], "sum", "positive", [-1])
    >>> Ends(model, [0]).pairs, Ends(model, [1]).pairs
    (((0, 1),), ((0, -1), (0, 1)))
    """

    def __init__(self, model: TreeModel, cells: Iterable[int]) -> None:
        self._model, self._cells = model, [*cells]
        self.pairs = tuple((a, side) for a in model.used for side in self._sides(a))

    def _sides(self, a: int) -> list[int]:
        attribute, cell = self._model.attributes[a], self._cells[a]
        ordered = attribute.kind != "categorical" and not self._model.has_sets(a)
        if cell == MISSING or not ordered:
            return [WHOLE]
        possible = self._model.possible[a]
        sides = [LOWER] * bool(possible[:cell].any()) + [UPPER] * bool(possible[cell + 1 :].any())
        return sides or [WHOLE] * attribute.missing

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def of_column(self) -> dict[int, tuple[int, ...]]:
        """The ends of each column that has some."""
        found: dict[int, tuple[int, ...]] = {}
        for j, (a, _) in enumerate(self.pairs):
            found[a] = (*found.get(a, ()), j)
        return found

    def columns(self, S: Iterable[int]) -> tuple[int, ...]:
        """Return the columns of some ends, increasing."""
        return tuple(sorted({self.pairs[j][0] for j in S}))

    @cached_property
    def tests(self) -> NDArray[np.int64]:
        """How many tests of the model are on the side of each end, or of the column; (n,)."""
        trees = self._model.trees
        tested, split = (np.concatenate(p) for p in zip(*((t.attribute, t.split) for t in trees)))
        tested, split = tested[tested >= 0], split[tested >= 0]
        above = split >= np.array(self._cells)[tested]
        below, upto = (
            np.bincount(tested[some], minlength=len(self._cells)) for some in (~above, above)
        )
        counts = {LOWER: below, UPPER: upto, WHOLE: below + upto}
        return np.array([counts[side][a] for a, side in self.pairs], dtype=np.int64)

    def spans(self, S: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the first and last cell that ends leave to their columns; -1 for missing."""
        found = {a: (0, int(self._model.sizes[a])) for a in self.columns(S)}
        for a, side in (self.pairs[j] for j in S):
            (low, high), cell = found[a], self._cells[a]
            found[a] = cell if side <= 0 else low, cell if side >= 0 else high
        return found

    def excludes(self, boxes: Boxes) -> NDArray[np.bool_]:
        """Say whether rows that keep an end do not reach a leaf, shape (N, n).

        A leaf that is reached with each of some ends kept is reached with all of them: of one
        column, where x is in the box of the leaf or beyond it on neither side.
        """
        out = np.empty((len(boxes.low), len(self)), dtype=np.bool_)
        own = ~boxes.having(np.array(self._cells, dtype=np.int32))
        for j, (a, side) in enumerate(self.pairs):
            out[:, j] = own[:, a]
            if side == WHOLE:
                continue
            ((low, high),) = self.spans([j]).values()
            before = np.concatenate(([0], np.cumsum(self._model.possible[a])))
            first = np.maximum(boxes.low[:, a], low)
            last = np.minimum(boxes.high[:, a], high)
            out[:, j] = (first > last) | (before[last + 1] <= before[np.minimum(first, last + 1)])
        return out
