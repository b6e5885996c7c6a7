"""TreeModel, the exact form of all tree models: trees over one grid of thresholds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.data.condition import Bounds, ColumnCondition, OneOf
from cpx.errors import DataError, InvalidOption, nearest, shown
from cpx.support.validation import entries
from cpx.trees import saved
from cpx.trees.attribute import Attribute
from cpx.trees.checks import checked, numbers
from cpx.trees.conditions import between_cells, in_cells
from cpx.trees.descent import Descent
from cpx.trees.exact import ExactSums
from cpx.trees.tree import MISSING, REFUSED, Boxes, Tree

if TYPE_CHECKING:
    from cpx.data.targets import Prediction
    from cpx.trees.live import LiveModel

Label = int | float | str | bool
Rule = Literal["vote", "average", "sum"]
Decision = Literal["first", "positive", "nonnegative"]
Precision = Literal["float32", "float64"]
Missing = Literal["auto", "never", "always"] | Sequence[str]
"""Which values may be missing; see :meth:`TreeModel.with_missing`."""

MISSING_WORDS = ("auto", "never", "always")


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree or an ensemble of trees that gives each row one of several classes.

    Each attribute has its thresholds in the whole model, ``thresholds[a]``, t of them, and they
    cut its values into t + 1 cells: cell i has the values v with
    ``thresholds[a][i-1] < v <= thresholds[a][i]``. Every test of a tree is "the cell of a is at
    most j" or, where the attribute has sets, "the cell of a is in set k": categories are cells,
    and a categorical split is a set test. Every leaf is a box of cells. A missing value (NaN) is
    in cell -1.

    Values are first rounded to ``cast``, as the library does. The thresholds are such numbers:
    a test ``v < t`` of the library is kept as ``v <= t'`` where t' is the largest number below
    t, and a test ``v <= t`` with a t that is none as the largest number up to t. Both are the
    same test on all rows.

    What is exact, and what is not: leaves and base are floats, that is, exact fractions, and
    they are added as such. Libraries add in ``sums`` and round after each addition, so they can
    answer otherwise on rows where the best two scores differ by no more than that rounding;
    :func:`cpx.trees.agreement` tells such rows.

    Parameters
    ----------
    attributes : sequence of d Attribute
    classes : sequence of labels
        Integers, floats, strings or truth values, in the order of the scores.
    trees : sequence of Tree
    thresholds : sequence of d arrays of float64
        Increasing and finite.
    rule : {"vote", "average", "sum"}
        What the numbers at the leaves are: votes (1 for the class the tree votes for, 0 for the
        others), probabilities whose average is taken, or scores that are added. All three
        add up; they differ in what :meth:`scores` returns and what may be asked of the trees.
    decision : {"first", "positive", "nonnegative"}
        The class with the highest score, the first of those with equal scores; or, with two
        classes and one score, the second class when the score is > 0, or >= 0.
    base : sequence of float
        What each score starts from.
    cast, sums : {"float32", "float64"}
        What the library compares in, and what it adds in.
    strict : bool
        Whether tests are printed as ``v < t``, as the library has them, or as ``v <= t``.
    source : str
        Where the model comes from, free; equal models may differ in it.
    named : bool, optional
        Whether the names of the attributes are those of the columns that the model was trained
        on. Where it was trained without names they are numbers of its columns, as in ``x0``, and
        rows are read by position. None where that is not known. Equal models may differ in it.
    sets : sequence of d arrays of bool, shapes (m_a, t_a + 1), optional
        For each attribute the cells that its set tests send left, by the number of the set. None
        by default.
    live : LiveModel, optional
        The live model it was read from: what is said of the trees is held against its
        ``predict``. Neither saved nor pickled; equal models may differ in it.
    prediction : Prediction, optional
        Where the model predicts numbers, and the classes say on which side of limits they are: how
        the number follows from the scores. Not saved; equal models may differ in it.

    Raises
    ------
    ModelError
        Naming the argument, and the tree or attribute, that does not fit.

    Examples
    --------
    >>> stump = Tree([0, -1, -1], [0, 0, 0], [1, 1, 1], [[-1.0], [0.5]], (0,))
    >>> size, classes = Attribute("size"), ["small", "big"]
    >>> model = TreeModel([size], classes, [stump] * 2, [[2.5]], "sum", "positive", [0.25])
    >>> model.predict([[2.5], [2.6], [np.nan]]).tolist()
    ['small', 'big', 'big']
    >>> model.scores([2.6])
    (Fraction(5, 4),)
    >>> str(model.condition(0, 0)), model.cells([2.6]).tolist()
    ('size <= 2.5', [1])
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[Label, ...]
    trees: tuple[Tree, ...]
    thresholds: tuple[NDArray[np.float64], ...]
    rule: Rule
    decision: Decision
    base: tuple[float, ...]
    cast: Precision = "float64"
    sums: Precision = "float64"
    strict: bool = False
    source: str = field(default="", repr=False)
    named: bool | None = field(default=None, repr=False)
    sets: tuple[NDArray[np.bool_], ...] = field(default=(), repr=False)
    live: LiveModel | None = field(default=None, repr=False)
    prediction: Prediction | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, value in checked(vars(self)).items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        aside = ("live", "saved_form")
        return {key: value for key, value in vars(self).items() if key not in aside}

    # ----------------------------------------------------------- its measure

    @property
    def n_attributes(self) -> int:
        """Number d of attributes."""
        return len(self.attributes)

    @cached_property
    def sizes(self) -> NDArray[np.int32]:
        """Number of thresholds of each attribute, shape (d,)."""
        return np.array([len(t) for t in self.thresholds], dtype=np.int32)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The attributes that some tree tests."""
        return tuple(np.flatnonzero(self.tests).tolist())

    @cached_property
    def tests(self) -> NDArray[np.int64]:
        """How many nodes test each attribute, shape (d,)."""
        tested = np.concatenate([tree.attribute[tree.attribute >= 0] for tree in self.trees])
        return np.bincount(tested, minlength=self.n_attributes)

    @cached_property
    def boxes(self) -> tuple[Boxes, ...]:
        """The leaves of each tree as boxes of cells."""
        return tuple(tree.boxes(self.sizes, self.sets) for tree in self.trees)

    @cached_property
    def possible(self) -> tuple[NDArray[np.bool_], ...]:
        """For each attribute, the cells that have a value of it; see :class:`Attribute`."""
        return tuple(a.possible(t, self._dtype) for a, t in zip(self.attributes, self.thresholds))

    def lefts(self, attribute: int, j: int) -> NDArray[np.bool_]:
        """Say of each cell of an attribute whether test j sends it left, shape (t + 1,).

        Up to j = t, the number of thresholds, that is "the cell is at most j"; test t + 1 + k is
        the set k of the attribute.
        """
        t = int(self.sizes[attribute])
        return np.arange(t + 1) <= j if j <= t else self.sets[attribute][j - t - 1]

    def has_sets(self, attribute: int) -> bool:
        """Say whether some test of an attribute is of a set, so that its cells have no order."""
        return bool(self.sets) and len(self.sets[attribute]) > 0

    def condition(self, attribute: int, j: int, holds: bool = True) -> Bounds | OneOf:
        """Return the test j of an attribute, see :meth:`lefts`, or its negation.

        A threshold is printed as the library has it.
        """
        return self.within(attribute, self.lefts(attribute, j) == holds)

    def within(self, attribute: int, cells: NDArray[np.bool_]) -> Bounds | OneOf:
        """Return what it means to be in some cells, shape (t + 1,), neither all nor none."""
        cuts = self.thresholds[attribute]
        return in_cells(self.attributes[attribute], cells, cuts, self.strict, self._dtype)

    def between(
        self, a: int, low: int, high: int, value: float, cuts: NDArray[np.float64] | None = None
    ) -> ColumnCondition:
        """Return what the cells ``low .. high`` of an attribute mean.

        Parameters
        ----------
        a : int
            The attribute.
        low, high : int
            First and last cell; -1 for a missing value.
        value : float
            The value of x, for where the cells tell nothing else; NaN for none.
        cuts : (t,) array of float64, optional
            What cells are between, by default the thresholds of an attribute that is tested.
        """
        if cuts is None:
            cuts = self.thresholds[a] if a in self.used else np.zeros(0)
        asked = self.attributes[a], (low, high), value, cuts, self.strict, self._dtype
        return between_cells(*asked)

    @cached_property
    def exact(self) -> ExactSums:
        """Leaves and base as integers after a common scaling."""
        return ExactSums(self.trees, self.base)

    # ----------------------------------------------------------------- rows

    @property
    def _dtype(self) -> type[np.floating[Any]]:
        return np.float32 if self.cast == "float32" else np.float64

    def cells(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the cell of each value: its number, -1 when it is missing.

        Parameters
        ----------
        X : (n, d) or (d,) array of numbers

        Returns
        -------
        array of int32, of the shape of X

        Raises
        ------
        DataError
            When X has another number of columns, or something that is no number.
        """
        rows = numbers(X)
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.n_attributes:
            raise DataError(
                f"rows must have {self.n_attributes} values, the attributes of the model; "
                f"got an array of shape {rows.shape}"
            )
        with np.errstate(over="ignore"):  # beyond float32 is infinity, in the last cell
            values = rows.astype(self._dtype)
        cells = np.zeros(values.shape, dtype=np.int32)
        for a in self.used:
            cells[..., a] = np.searchsorted(self.thresholds[a], values[..., a], side="left")
        cells[np.isnan(values)] = MISSING
        return cells

    def leaves(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each tree that each row reaches; (n, T) array of int32.

        Raises
        ------
        DataError
            See :meth:`cells`; and when a value is missing where the library refuses that,
            naming the row, the attribute and the tree.
        """
        return self.leaves_of(np.atleast_2d(self.cells(X)))

    def leaves_of(self, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the leaf of each tree for rows given by their cells, shape (n, d)."""
        reached = self._descent.nodes(cells)
        result = np.empty(reached.shape, dtype=np.int32)
        for i, tree in enumerate(self.trees):
            result[:, i] = tree.leaf.take(reached[:, i])
        if (result < 0).any():
            i = int(np.argmax((result < 0).any(axis=0)))
            row = int(np.argmax(result[:, i] < 0))
            node = int(reached[row, i])
            name = self.attributes[self.trees[i].attribute[node]].name
            raise DataError(
                f"row {row}: {name} is missing, and tree {i} has no branch for missing "
                f"values at its node {node}"
            )
        return result

    @cached_property
    def _descent(self) -> Descent:
        return Descent(self.trees, self.sets)

    def totals(self, X: ArrayLike) -> NDArray[Any]:
        """Return the scores times 2**exact.exponent, not divided by the number of trees.

        Returns
        -------
        (n, S) array of Python int
        """
        return self.totals_of(np.atleast_2d(self.cells(X)))

    def totals_of(self, cells: NDArray[np.int32]) -> NDArray[Any]:
        """Return the same as :meth:`totals` for rows given by their cells, shape (n, d)."""
        return self.exact.add(self.leaves_of(cells))

    def decide(self, totals: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the class for each row of totals; shape (n, S) to (n,)."""
        if self.decision == "first":
            return np.asarray(np.argmax(totals, axis=1), dtype=np.int64)
        score = totals[:, 0]
        return np.asarray(score > 0 if self.decision == "positive" else score >= 0).astype(int)

    def predict_index(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the class of each row, shape (n,)."""
        return self.decide(self.totals(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : (n, d) array of numbers
            One row of shape (d,) counts as a table of one row.

        Returns
        -------
        (n,) array of labels
        """
        return self._labels[self.predict_index(X)]

    @cached_property
    def _labels(self) -> NDArray[Any]:
        if len({type(label) for label in self.classes}) == 1:
            return np.array(self.classes)
        return np.array([*self.classes, None], dtype=object)[:-1]

    def scores(self, x: ArrayLike) -> tuple[Fraction, ...]:
        """Return the exact scores of one row, shape (d,): an average, a sum or votes."""
        divisor = 2**self.exact.exponent * (len(self.trees) if self.rule == "average" else 1)
        return tuple(Fraction(total, divisor) for total in self.totals(x)[0].tolist())

    def predicted(self, x: ArrayLike) -> Fraction | None:
        """Return the number that is predicted of one row, exactly; None of a classifier."""
        return None if self.prediction is None else self.prediction.value(self.scores(x))

    # ----------------------------------------------------------- other forms

    def with_attributes(self, attributes: Sequence[Attribute]) -> Self:
        """Return the model with other names and values of its attributes.

        Raises
        ------
        ModelError
            When their number differs, or one may be missing where a tree refuses that.
        """
        own, new = ([a.name for a in them] for them in (self.attributes, attributes))
        named = self.named if own == new else True
        return replace(self, attributes=tuple(attributes), named=named)

    def covering(self, rows: ArrayLike) -> TreeModel:
        """Return the model with the values of some rows among those that attributes can have.

        It is another one than this only where it was made of a sum of functions of columns, as
        linear models are; see :func:`cpx.trees.read_additive`.
        """
        if self.live is None or self.live.sums is None:
            return self
        found: TreeModel = self.live.sums.covering(self, np.asarray(rows, dtype=np.float64))
        return found

    def with_missing(self, missing: Missing) -> Self:
        """Return the model with another statement of which values may be missing.

        Parameters
        ----------
        missing : {"auto", "never", "always"} or sequence of str
            ``"auto"`` changes nothing: readers have set what the model shows that it saw. Else
            none may be missing, or all but those of which the model takes no missing value, or
            those of these names.

        Raises
        ------
        InvalidOption
            When it is none of these, or names an attribute that is not there, or of which a tree
            takes no missing value.

        Examples
        --------
        >>> stump = Tree([0, -1, -1], [0] * 3, [1] * 3, [[-1.0], [0.5]], (0,))
        >>> model = TreeModel([Attribute("a")], [0, 1], [stump], [[2.5]], "sum", "positive", [0])
        >>> model.with_missing("always").attributes[0].missing
        True
        """
        names = [a.name for a in self.attributes]
        if isinstance(missing, str):
            if missing not in MISSING_WORDS:
                raise InvalidOption(
                    f"missing must be one of {', '.join(MISSING_WORDS)}, or a list of names, "
                    f"got {shown(missing)}"
                )
            if missing == "auto":
                return self
            always = missing == "always"
            may = [always and not self.refuses_missing(a) for a in range(len(names))]
        else:
            chosen = entries("missing", missing, "names of attributes", error=InvalidOption)
            for name in chosen:
                if name not in names:
                    near = nearest(str(name), names)
                    raise InvalidOption(f"missing: {shown(name)} is no attribute{near}")
                if self.refuses_missing(names.index(name)):
                    raise InvalidOption(
                        f"missing: the model has no branch for missing values of {shown(name)}"
                    )
            may = [name in chosen for name in names]
        pairs = zip(self.attributes, may, strict=True)
        return replace(self, attributes=tuple(replace(a, missing=some) for a, some in pairs))

    def refuses_missing(self, attribute: int) -> bool:
        """Say whether a tree has a node that takes no missing value of the attribute."""
        return any(
            bool(((tree.attribute == attribute) & (tree.missing == REFUSED)).any())
            for tree in self.trees
        )

    # -------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON values, version 1, with exact numbers."""
        return saved.written(vars(self))

    @cached_property
    def saved_form(self) -> dict[str, Any]:
        """The same, written once, for who only reads it."""
        return self.to_dict()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        ModelError
            Naming the key or value that is wrong.
        """
        return cls(**saved.read(data))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides predictions; with the names, without where all is from."""
        aside = ("source", "named")
        data = {key: value for key, value in self.to_dict().items() if key not in aside}
        canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeModel):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"<TreeModel: {len(self.trees)} trees over {self.n_attributes} attributes, "
            f"{len(self.classes)} classes, rule {self.rule}>"
        )
