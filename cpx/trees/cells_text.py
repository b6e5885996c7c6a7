"""What a set of cells of an attribute means, in words: categories, or intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cpx.trees.attribute import Attribute


def cells_text(
    attribute: Attribute,
    cells: NDArray[np.bool_],
    cell_of: Callable[[float], int],
    side: Callable[[int, bool], str],
) -> str:
    """Return what it means that the value of an attribute is in some cells.

    cells: Those, shape (t + 1,); neither all nor none.
    cell_of: The cell of a value.
    side: The words of "the cell is at most j", or of its negation.
    """
    if attribute.labels is not None:
        pairs = zip(attribute.values or (), attribute.labels)
        return labels_text(attribute.name, [label for v, label in pairs if cells[cell_of(v)]])
    last, parts = len(cells) - 1, []
    for first, end in runs(cells):
        above = side(first - 1, False) if first else ""
        parts.append(between(attribute.name, above, side(end, True) if end < last else ""))
    return " or ".join(parts)


def labels_text(name: str, labels: Sequence[str]) -> str:
    """Return that a value is one of some categories.

    >>> labels_text("city", ["Lens"]), labels_text("city", ["Lens", "Lille"])
    ('city = Lens', 'city is one of 2 (Lens, Lille)')
    """
    if len(labels) == 1:
        return f"{name} = {labels[0]}"
    if not labels:  # what a test tells from categories that are no values of the attribute
        return f"{name} is of another category"
    return f"{name} is one of {len(labels)} ({', '.join(labels)})"


def runs(cells: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last cell of each run of cells.

    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    steps = np.diff(np.concatenate([[False], cells, [False]]).astype(np.int8))
    return [*zip(np.flatnonzero(steps > 0).tolist(), (np.flatnonzero(steps < 0) - 1).tolist())]


def between(name: str, above: str, upto: str) -> str:
    """Return two sides of an interval as one condition; a side may be empty.

    >>> between("a", "a > 1", "a <= 2"), between("a", "a > 1", "")
    ('1 < a <= 2', 'a > 1')
    """
    if not above or not upto:
        return above or upto
    sign, number = above.removeprefix(name).split()
    return f"{number} {sign.replace('>', '<')} {upto}"
