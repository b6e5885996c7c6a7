"""A fitted set of rules as a tree model: a tree for each rule, and the sum says if one holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cpx.data.columns import CategoryColumn, Column, NumberColumn
from cpx.data.date_columns import DateColumn
from cpx.data.terms import Term
from cpx.errors import UnsupportedModel, shown
from cpx.models.rule_set.classifier.table_rules import TableRules
from cpx.trees.attribute import Attribute
from cpx.trees.building import ColumnTest, assemble, attribute_list, conjunction
from cpx.trees.categories import Categories, Ranges, outside
from cpx.trees.checks import class_labels, label_list
from cpx.trees.form import TreeModel
from cpx.trees.live import LiveModel

__all__ = ["as_trees"]


def as_trees(
    model: Any,
    classes: Sequence[Any] | None,
    attributes: Sequence[str | Attribute] | None,
) -> TreeModel:
    """Return a fitted RuleSetClassifier as a tree model; see its ``as_trees``."""
    name, rules = type(model).__name__, model._fitted.model
    if not isinstance(rules, TableRules):
        raise UnsupportedModel(
            f"the {name} learned from a black box: cpx reads rules that were learned from labels"
        )
    columns, named = rules.binarizer.columns_, hasattr(model, "feature_names_in_")
    if dated := [c.source for c in columns if isinstance(c, DateColumn)]:
        raise UnsupportedModel(
            f"the {name} learned from dates in {shown(dated[0])}: reasons and contrasts of dates "
            "are not read; kind='rule' explains it"
        )
    categories = {
        c: Categories.of(column.categories, column.name)
        for c, column in enumerate(columns)
        if isinstance(column, CategoryColumn)
    }
    if categories and not named:
        told = shown(columns[min(categories)].name)
        raise UnsupportedModel(
            f"the {name} learned from an array with categories in {told}: fit it on a frame"
        )
    positive = int(np.flatnonzero(model.classes_ == model.positive_)[0])
    # The second class is given from a sum above 0 on, or from 0 on where rules are for the first.
    worth, decision = (1.0, "positive") if positive else (-1.0, "nonnegative")
    made = [_attribute(c, column, categories) for c, column in enumerate(columns)]
    trees = [conjunction(_tests(terms, categories), worth) for terms in rules.cases]
    labels = label_list(model.classes_)
    return assemble(
        trees or [conjunction((), 0.0)],
        attribute_list(attributes or made, [column.name for column in columns]),
        classes=labels if classes is None else class_labels(classes, 2),
        rule="sum",
        decision=decision,
        base=(0.0,),
        source=f"cpx {name}",
        named=named or attributes is not None,
        live=LiveModel(model, labels, "unknown", columns=categories),
    )


def _attribute(c: int, column: Column, categories: dict[int, Categories]) -> Attribute:
    if c in categories:
        return categories[c].attribute(column.name, column.missing)
    return Attribute(column.name, missing=column.missing)


def _tests(terms: Sequence[Term], categories: dict[int, Categories]) -> list[ColumnTest]:
    return [
        ColumnTest(one.place, _ranges(one, categories.get(one.place)), one.null) for one in terms
    ]


def _ranges(one: Term, own: Categories | None) -> Ranges:
    """Return the values that satisfy a term."""
    column = one.column
    if own is not None:
        found = own.ranges(one.bins)
        return found if one.within else outside(found)
    if isinstance(column, NumberColumn) and not column.thresholds:
        value = float(column.constant)
        same = [(float(np.nextafter(value, -np.inf)), value)] if one.bins else []
        return same if one.within else outside(same)
    return [
        (-np.inf if low is None else float(low), np.inf if high is None else float(high))
        for _, (low, high) in one.parts()
    ]
