"""Construction of exact trees from the nodes of a library, and errors for damaged files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import CpxError, ModelError, shortened, shown
from cpx.trees.attribute import Attribute
from cpx.trees.categories import Categories, Ranges
from cpx.trees.form import Precision, TreeModel
from cpx.trees.tree import LEFT, REFUSED, RIGHT, Tree


class Node(NamedTuple):
    """A node of a tree, a leaf by default; see :class:`Nodes`."""

    attribute: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1
    missing: int = REFUSED
    values: tuple[float, ...] = ()
    saw_missing: bool = False


@dataclass(frozen=True)
class Nodes:
    """The nodes of one tree in the order of a library, the root being node 0.

    attribute: -1 at a leaf.
    threshold: A value goes left when it is at most this; see :func:`highest_below`. Infinity sends
        all values left. Ignored at leaves.
    missing: See :class:`cpx.trees.Tree`.
    values: What each leaf adds to the scores ``outputs``; ignored at other nodes.
    saw_missing: Whether the node shows that values of its attribute were missing in training.
    sets: For nodes that test something else than a threshold, what goes left: the values v with
        low < v <= high, for pairs of numbers or infinities that do not overlap, increasing.
    """

    attribute: NDArray[Any]
    threshold: NDArray[np.float64]
    left: NDArray[Any]
    right: NDArray[Any]
    missing: NDArray[Any]
    values: NDArray[np.float64]
    outputs: tuple[int, ...]
    saw_missing: NDArray[np.bool_] | None = None
    sets: Mapping[int, Sequence[tuple[float, float]]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Sequence[Node], outputs: tuple[int, ...] | None = None) -> Nodes:
        """Return nodes given one by one, leaves with a value for each output; all by default."""
        width = max(len(node.values) for node in nodes)
        attribute, threshold, left, right, missing = (
            np.array(column) for column in zip(*(node[:5] for node in nodes))
        )
        values = [node.values or (0.0,) * width for node in nodes]
        return cls(
            attribute,
            threshold,
            left,
            right,
            missing,
            np.array(values, dtype=np.float64).reshape(len(nodes), width),
            tuple(range(width)) if outputs is None else outputs,
            np.array([node.saw_missing for node in nodes]),
        )

    def preorder(self) -> NDArray[np.int64]:
        """Return the nodes in preorder, those that are not reached left out."""
        n = len(self.attribute)
        inners, times = [], np.zeros(n, dtype=np.int64)
        nodes = np.arange(min(n, 1))
        # All nodes of a depth at once.
        while len(nodes):
            inside = (nodes >= 0) & (nodes < n)
            np.add.at(times, nodes[inside], 1)
            if not inside.all() or times.max() > 1:
                node = int(times.argmax()) if inside.all() else int(nodes[inside.argmin()])
                raise ModelError(
                    f"its nodes make no tree: node {node} of {n} is reached twice or not there"
                )
            inners.append(inner := nodes[self.attribute[nodes] >= 0])
            nodes = np.concatenate([self.left[inner], self.right[inner]]).astype(np.int64)
        size, place = np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for inner in reversed(inners):
            size[inner] += size[self.left[inner]] + size[self.right[inner]]
        for inner in inners:
            place[self.left[inner]] = place[inner] + 1
            place[self.right[inner]] = place[inner] + 1 + size[self.left[inner]]
        order = np.empty(times.sum(), dtype=np.int64)
        order[place[times > 0]] = np.flatnonzero(times)
        return order


class ColumnTest(NamedTuple):
    """What one column must be: in some ranges of values, or missing where ``null`` is true."""

    attribute: int
    ranges: Ranges
    null: bool


def conjunction(tests: Sequence[ColumnTest], worth: float, output: int = 0) -> Nodes:
    """Return a tree that adds ``worth`` to a score where all tests hold, and nothing elsewhere.

    It is a chain of the tests: a leaf where all hold, and one beside each.
    """
    m = len(tests)
    inner = np.arange(2 * m + 1) < m
    place = np.arange(2 * m + 1)
    values = np.zeros((2 * m + 1, 1))
    values[m] = worth
    missing = [LEFT if one.null else RIGHT for one in tests]
    return Nodes(
        attribute=np.array([*(one.attribute for one in tests), *[-1] * (m + 1)]),
        threshold=np.zeros(2 * m + 1),
        left=np.where(inner, place + 1, -1),
        right=np.where(inner, place + m + 1, -1),
        missing=np.array([*missing, *[RIGHT] * (m + 1)]),
        values=values,
        outputs=(output,),
        sets={i: one.ranges for i, one in enumerate(tests)},
    )


def highest_upto(threshold: ArrayLike, cast: Precision) -> NDArray[np.float64]:
    """Return the largest numbers of the type that are at most the thresholds.

    >>> float(highest_upto(0.1, "float32")), float(highest_upto(0.5, "float32"))
    (0.09999999403953552, 0.5)
    """
    exact = np.asarray(threshold, dtype=np.float64)
    if cast == "float64":
        return exact
    with np.errstate(over="ignore"):
        near = exact.astype(np.float32)
    lower = np.nextafter(near, np.float32(-np.inf))
    return np.where(near > exact, lower, near).astype(np.float64)


def highest_below(threshold: ArrayLike) -> NDArray[np.float64]:
    """Return the largest float32 numbers below float32 thresholds.

    >>> float(highest_below(np.float32(0.5)))
    0.4999999701976776
    """
    near = np.asarray(threshold, dtype=np.float32)
    return np.nextafter(near, np.float32(-np.inf)).astype(np.float64)


def attribute_list(
    given: Sequence[str | Attribute] | None,
    default: Sequence[str],
    trees: Sequence[Nodes] = (),
    columns: Mapping[int, Categories] | None = None,
) -> tuple[Attribute, ...]:
    """Return the attributes of a model.

    given: What the user says of them: names, or all there is to say.
    default: The names that the model has.
    trees: They show which values were missing in training, and so may be.
    columns: Those of categories, by position.
    Raises ModelError: When the model has another number of them.
    """
    given = default if given is None else given
    if isinstance(given, str | Set | Mapping) or not hasattr(given, "__len__"):
        raise ModelError(f"attributes must be a list of names or Attributes, got {shown(given)}")
    if len(given) != len(default):
        raise ModelError(f"the model has {len(default)} attributes, {len(given)} are given")
    seen = {
        int(a)
        for tree in trees
        if tree.saw_missing is not None
        for a in tree.attribute[(tree.attribute >= 0) & tree.saw_missing]
    }
    known = columns or {}
    return tuple(
        a
        if isinstance(a, Attribute)
        else known[i].attribute(a, i in seen)
        if i in known
        else Attribute(a, missing=i in seen)
        for i, a in enumerate(given)
    )


def assemble(trees: Sequence[Nodes], attributes: Sequence[Attribute], **fields: Any) -> TreeModel:
    """Return the model of these trees; ``fields`` are the other fields of TreeModel.

    Raises ModelError: Naming the tree that does not fit.
    """
    ordered = []
    for i, tree in enumerate(trees):
        try:
            ordered.append(tree.preorder())
        except ModelError as error:
            raise ModelError(f"tree {i}: {error}") from error
    cuts: list[list[NDArray[np.float64]]] = [[] for _ in attributes]
    for i, (tree, order) in enumerate(zip(trees, ordered)):
        tested = tree.attribute[order]
        for a in np.flatnonzero(np.bincount(tested + 1)[1:]).tolist():
            if a >= len(attributes):
                raise ModelError(f"tree {i} tests the attribute {a}, there are {len(attributes)}")
            own = order[tested == a]
            in_sets = [node for node in own.tolist() if node in tree.sets] if tree.sets else []
            plain = own[~np.isin(own, in_sets)] if in_sets else own
            found = tree.threshold[plain] + 0.0
            if np.isnan(found).any() or (found == -np.inf).any():
                raise ModelError(f"tree {i} has a threshold that is no number")
            ends = np.array([end for node in in_sets for end in np.ravel(tree.sets[node])])
            cuts[a] += [found[np.isfinite(found)], ends[np.isfinite(ends)] + 0.0]
    thresholds = [np.unique(np.concatenate([np.empty(0), *found])) for found in cuts]
    sets: list[dict[bytes, int]] = [{} for _ in attributes]
    made = [_numbered(tree, order, thresholds, sets) for tree, order in zip(trees, ordered)]
    masks = [
        np.frombuffer(b"".join(own), dtype=np.bool_).reshape(len(own), len(t) + 1)
        for own, t in zip(sets, thresholds)
    ]
    fields |= {"trees": tuple(made), "thresholds": tuple(thresholds), "sets": tuple(masks)}
    return TreeModel(tuple(attributes), **fields)


def _numbered(
    tree: Nodes,
    order: NDArray[np.int64],
    thresholds: Sequence[NDArray[np.float64]],
    sets: Sequence[dict[bytes, int]],
) -> Tree:
    attribute, threshold = tree.attribute[order], tree.threshold[order] + 0.0
    split = np.zeros(len(order), dtype=np.int32)
    for a in np.flatnonzero(np.bincount(attribute + 1)[1:]).tolist():
        # Infinity is above all thresholds: its number is their count, which sends all left.
        split[attribute == a] = np.searchsorted(thresholds[a], threshold[attribute == a])
    if tree.sets:
        known = dict[tuple[int, tuple[tuple[float, float], ...]], int]()
        for i in np.flatnonzero((attribute >= 0) & np.isin(order, [*tree.sets])).tolist():
            a, pairs = (
                int(attribute[i]),
                tuple((low, high) for low, high in tree.sets[int(order[i])]),
            )
            if (a, pairs) not in known:
                known[a, pairs] = _test(pairs, thresholds[a], sets[a])
            split[i] = known[a, pairs]
    leaves = attribute < 0
    return Tree(attribute, split, tree.missing[order], tree.values[order][leaves], tree.outputs)


def _test(
    pairs: Sequence[tuple[float, float]], cuts: NDArray[np.float64], known: dict[bytes, int]
) -> int:
    """Return the number of a test: of cells up to one, or of a set, which is then known."""
    lefts = np.zeros(len(cuts) + 1, dtype=np.bool_)
    for low, high in pairs:  # their ends are among the cuts: infinities are before and after
        first = np.searchsorted(cuts, low) + (low > -np.inf)
        lefts[first : np.searchsorted(cuts, high) + 1] = True
    count = int(lefts.sum())
    if lefts[:count].all():
        return count - 1
    return len(cuts) + 1 + known.setdefault(lefts.tobytes(), len(known))


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn what is raised by content of wrong keys, types or lengths into a ModelError.

    >>> with reading("XGBoost model"):
    ...     {}["learner"]
    Traceback (most recent call last):
    cpx.errors.ModelError: no XGBoost model: the key 'learner' is missing
    """
    try:
        yield
    except CpxError:
        raise
    except KeyError as error:
        raise ModelError(f"no {what}: the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelError(f"no {what}: {shortened(error)}") from error
