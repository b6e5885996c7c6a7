"""DecisionList: rules "if ..., else if ..., else ..." as a classifier, and as a sum of trees."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpx.errors import ModelError, UnsupportedModel, nearest, shown
from cpx.trees.attribute import Attribute
from cpx.trees.building import ColumnTest, assemble, attribute_list, conjunction
from cpx.trees.categories import Categories, Ranges, outside
from cpx.trees.checks import class_labels, label_list
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel

_LARGEST = 2.0**40
"""Sums of floats up to this are exact."""

_MOST = 2000
"""So many conjunctions may one condition be."""


class Rule(NamedTuple):
    """A rule of a list: the index of the class that it gives where all its tests hold."""

    tests: tuple[ColumnTest, ...]
    gives: int


def list_model(
    rules: Sequence[Rule],
    otherwise: int,
    attributes: Sequence[Attribute],
    *,
    classes: Sequence[Any],
    live: LiveModel,
    named: bool,
) -> TreeModel:
    """Return a decision list as a tree model: a tree for each rule, which adds to its class.

    A rule adds more than all later ones together add to any other class. So the first that holds
    decides, whatever else holds.

    otherwise: The index of the class where no rule holds.
    Raises UnsupportedModel: When the list changes its class so often that sums would be rounded.
    """
    later = np.zeros(len(classes))
    later[otherwise] = 1
    base, trees = tuple(later.tolist()), []
    for rule in reversed(rules):
        worth = 1 + np.delete(later, rule.gives).max(initial=0)
        later[rule.gives] += worth
        trees.append(conjunction(rule.tests, float(worth), rule.gives))
    if later.max() > _LARGEST:
        raise UnsupportedModel(f"the list of {len(rules)} rules changes its class too often")
    return assemble(
        trees[::-1] or [conjunction((), 0.0)],
        attributes,
        classes=classes,
        rule="sum",
        decision="first",
        base=base,
        source=f"decision list {live.name}",
        named=named,
        live=live,
    )


class DecisionList:
    """An ordered list of rules: the first whose condition holds gives the class.

    Parameters
    ----------
    rules : sequence of (str, label)
        Conditions as :meth:`pandas.DataFrame.query` takes them, of columns compared with
        constants, joined by ``and``, ``or``, ``not``; and the class of each.
    otherwise : label
        The class where no condition holds.
    X : DataFrame of shape (n, d)
        The table: which columns there are, the categories of those of texts, and where values
        are missing.

    Attributes
    ----------
    classes_ : list of labels
        In the order in which they are named.
    feature_names_in_ : list of str
        The columns.

    Raises
    ------
    ModelError
        Naming the rule and what is wrong in it.

    Examples
    --------
    >>> import cpx, pandas as pd
    >>> X = pd.DataFrame({"age": [30, 70, 50], "smoker": ["no", "no", "yes"]})
    >>> rules = [("age > 60", "high"), ("smoker == 'yes' and age > 40", "high")]
    >>> model = DecisionList(rules, "low", X)
    >>> model.predict(X).tolist()
    ['low', 'high', 'high']
    >>> print(cpx.explain(model, X, 1, kind="reason").rule)
    age > 60 => high
    """

    def __init__(self, rules: Sequence[tuple[str, Any]], otherwise: Any, X: Any) -> None:
        import pandas as pd

        if not isinstance(X, pd.DataFrame) or not len(X):
            raise ModelError("X must be the table, a DataFrame with rows")
        self.rules, self.otherwise = [*rules], otherwise
        for number, rule in enumerate(self.rules, 1):
            if isinstance(rule, str) or len(rule) != 2 or not isinstance(rule[0], str):
                raise ModelError(
                    f"rule {number} must be a condition and a class, got {shown(rule)}"
                )
        self.classes_ = [*dict.fromkeys([*(label for _, label in self.rules), otherwise])]
        label_list(self.classes_)
        self.feature_names_in_ = [str(name) for name in X.columns]
        self._columns = [_Column(c, name, X.iloc[:, c]) for c, name in enumerate(X.columns)]
        self._cases = [
            _Reader(self._columns, f"rule {number}, {shown(text)}").cases(text)
            for number, (text, _) in enumerate(self.rules, 1)
        ]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of a table, shape (n,)."""
        left = np.ones(len(X), dtype=bool)
        places = np.full(len(X), self.classes_.index(self.otherwise))
        for text, label in self.rules:
            holds = np.asarray(X.eval(text, engine="python"), dtype=bool)
            places[left & holds] = self.classes_.index(label)
            left &= ~holds
        found: NDArray[Any] = np.array(self.classes_)[places]
        return found

    def as_trees(
        self,
        *,
        classes: Sequence[Any] | None = None,
        attributes: Sequence[str | Attribute] | None = None,
    ) -> TreeModel:
        """Return the list as a tree model: what :func:`read_model` reads of it."""
        labels = label_list(self.classes_)
        own = {c.place: c.categories for c in self._columns if c.categories is not None}
        given = attributes or [column.attribute() for column in self._columns]
        rules = [
            Rule(case, self.classes_.index(label))
            for cases, (_, label) in zip(self._cases, self.rules)
            for case in cases
        ]
        return list_model(
            rules,
            self.classes_.index(self.otherwise),
            attribute_list(given, self.feature_names_in_),
            classes=labels if classes is None else class_labels(classes, len(labels)),
            live=LiveModel(self, labels, "unknown", columns=own),
            named=True,
        )


class _Column:
    """A column of the table: numbers, or the categories that it has."""

    def __init__(self, place: int, name: Any, values: Any) -> None:
        import pandas as pd

        self.place, self.name = place, str(name)
        self.missing = bool(values.isna().any())
        self.categories: Categories | None = None
        if isinstance(values.dtype, pd.CategoricalDtype):
            self.categories = Categories.of(values.cat.categories, self.name)
        elif pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
            known = values.dropna().unique().tolist()
            if not all(isinstance(v, str | bool) for v in known):
                raise ModelError(f"the column {shown(self.name)} has neither numbers nor texts")
            self.categories = Categories.of(sorted(known), self.name)

    def attribute(self) -> Attribute:
        if self.categories is None:
            return Attribute(self.name, missing=self.missing)
        return self.categories.attribute(self.name, self.missing)


_SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

_Case = tuple[ColumnTest, ...]


class _Reader:
    """Reads a condition as conjunctions of tests, any of which is enough."""

    def __init__(self, columns: Sequence[_Column], what: str) -> None:
        self._columns = {column.name: column for column in columns}
        self._what = what

    def cases(self, text: str) -> list[_Case]:
        quoted: dict[str, str] = {}

        def plain(found: re.Match[str]) -> str:
            return quoted.setdefault(found[1], f"_quoted_{len(quoted)}")

        try:
            parsed = ast.parse(re.sub("`([^`]+)`", plain, text).strip(), mode="eval")
        except SyntaxError:
            raise self._error("cannot be read: compare columns as DataFrame.query does") from None
        self._names = {made: name for name, made in quoted.items()}
        return self._read(parsed.body, True)

    def _error(self, told: str) -> ModelError:
        return ModelError(f"{self._what}: {told}")

    def _read(self, node: ast.expr, true: bool) -> list[_Case]:
        """Return where an expression is true, or false."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._read(inner, not true)
            case ast.BoolOp(op=op, values=parts):
                found = [self._read(part, true) for part in parts]
                return self._all(found) if isinstance(op, ast.And) == true else _any(found)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                pairs = zip(itertools.pairwise([left, *rights]), ops)
                found = [[(self._test(a, op, b, true),)] for (a, b), op in pairs]
                return self._all(found) if true else _any(found)
        raise self._error(
            f"{ast.unparse(node)!r} is no comparison of a column with a constant; join "
            "comparisons by and, or, not"
        )

    def _all(self, parts: Sequence[list[_Case]]) -> list[_Case]:
        if np.prod([float(len(part)) for part in parts]) > _MOST:
            raise self._error(f"it is more than {_MOST} conjunctions: write it as several rules")
        return [tuple(sum(case, ())) for case in itertools.product(*parts)]

    def _test(self, left: ast.expr, op: ast.cmpop, right: ast.expr, true: bool) -> ColumnTest:
        sign = _SIGNS.get(type(op), "")
        column, values = self._column(left), self._constant(right)
        if column is None and sign in _MIRRORED:
            sign, column, values = _MIRRORED[sign], self._column(right), self._constant(left)
        if column is None or not sign or values is None:
            told = ast.unparse(ast.Compare(left, [op], [right]))
            raise self._error(f"{told!r} does not compare a column with a constant")
        many = isinstance(values, tuple)
        if many != (sign in ("in", "not in")):
            raise self._error(f"{sign} takes {'one constant' if many else 'a list'}")
        ranges = self._ranges(column, sign, values if many else (values,))
        negative = sign in ("!=", "not in")
        if negative != (not true):
            ranges = outside(ranges)
        return ColumnTest(column.place, ranges, negative == true)

    def _column(self, node: ast.expr) -> _Column | None:
        if not isinstance(node, ast.Name):
            return None
        name = self._names.get(node.id, node.id)
        if name not in self._columns:
            raise self._error(f"there is no column {shown(name)}{nearest(name, self._columns)}")
        return self._columns[name]

    def _constant(self, node: ast.expr) -> Any:
        """Return the value of a constant, a tuple of those of a list, or None."""
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return None
        found = tuple(value) if isinstance(value, list | tuple | set) else value
        return found if all(isinstance(v, int | float | str) for v in _each(found)) else None

    def _ranges(self, column: _Column, sign: str, values: tuple[Any, ...]) -> Ranges:
        """Return what satisfies a sign, of ``!=`` and ``not in`` what does not."""
        known = column.categories
        if known is None:
            for value in values:
                if isinstance(value, str):
                    raise self._error(f"{column.name} has numbers, {shown(value)} is a text")
            return self._numbers(sign, sorted({float(v) for v in values}))
        if sign in ("<", "<=", ">", ">="):
            raise self._error(f"{column.name} has categories, without an order: use == or in")
        for value in values:
            if value not in known.objects:
                near = nearest(str(value), known.labels)
                raise self._error(f"{column.name} has no category {shown(value)}{near}")
        return known.ranges({known.objects.index(value) for value in values})

    @staticmethod
    def _numbers(sign: str, values: Sequence[float]) -> Ranges:
        below = [float(np.nextafter(value, -np.inf)) for value in values]
        match sign:
            case "<":
                return [(-np.inf, below[0])]
            case "<=":
                return [(-np.inf, values[0])]
            case ">":
                return [(values[0], np.inf)]
            case ">=":
                return [(below[0], np.inf)]
        return [*zip(below, values)]


def _any(parts: Iterable[list[_Case]]) -> list[_Case]:
    return [case for part in parts for case in part]


def _each(value: Any) -> Iterable[Any]:
    return value if isinstance(value, tuple) else (value,)
