"""Base class of the learned decision sets: fit, predict, score."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from cpx.answers.rule import Literal, RuleFigures, RuleSet
from cpx.data.binarizer import NotFitted
from cpx.data.oracle import labels
from cpx.errors import DataError, printable
from cpx.models.decision_set.black_box import BlackBox
from cpx.models.decision_set.input_space import Domain
from cpx.models.decision_set.state import Evidence
from cpx.support.shares import share_text
from cpx.support.validation import integer_in, valid_seed
from cpx.support.warnings import warn

BoolArray = npt.NDArray[np.bool_]


def parameter(default: Any, check: Callable[[str, Any], object]) -> Any:
    """Declare a parameter of an estimator: its default, and what refuses wrong values by name."""
    return field(default=default, metadata={"check": check})


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionSet(BaseEstimator, ABC):
    """A decision set over the attributes of a table, once it is fitted.

    The parameters are the fields, and the checks of their values come with them.

    Parameters
    ----------
    n_cells : int
        Cells that a continuous attribute is cut into, at least 2; intervals begin and end
        between them.
    categorical : sequence of column names, optional
        Numeric columns to treat as categories.
    positive : label, optional
        Class that the rules describe; the greater of the two labels when not given.
    seed : int
    max_categories : int
        A column with more categories is refused.

    Attributes
    ----------
    rules_ : tuple of SetRule
    rule_set_ : RuleSet
        The same rules with coverage, precision and marginal contribution, on the real
        instances; ``rule_set_.table()`` prints them.
    classes_ : (2,) array
        The negative and the positive label.
    labels_ : (n,) array
        What the black box called the real instances.
    fidelity_ : float
        Share of the real instances that get the label of the black box.
    queries_ : int
        Synthetic instances that were asked.
    rechecked_, changed_ : int
        Rows of the table that were asked again, and how many got another label.
    n_features_in_ : int
    """

    n_cells: int = parameter(64, partial(integer_in, least=2))
    categorical: Sequence[str | int] | None = None
    positive: Any = None
    seed: int = parameter(0, lambda name, value: valid_seed(value))
    max_categories: int = 100

    def fit(self, X: Any, black_box: Any, *, stop: threading.Event | None = None) -> Self:
        """Learn a decision set that mimics the black box.

        Parameters
        ----------
        X : data frame or (n, columns) array
            Real instances. The black box labels all of them first.
        black_box : object with ``predict``, or callable
            f. It gets tables like X, and answers with two labels.
        stop : threading.Event, optional
            Ends the learning when another thread, or what handles Ctrl-C, sets it: the rules are
            those found by then.

        Returns
        -------
        DecisionSet
            Itself.

        Raises
        ------
        InvalidOption
            For a parameter out of its range, by name.
        DataError
            For a table that cannot be used, or labels that are not of two classes.
        ClassifierError
            When the black box fails.
        """
        for declared in fields(self):
            if "check" in declared.metadata:
                declared.metadata["check"](declared.name, getattr(self, declared.name))
        rng = np.random.default_rng(self.seed)
        domain = Domain(X, int(self.n_cells), self.categorical, self.max_categories)
        cells = domain.cells(domain.values(X))
        if (cells == cells[:1]).all():
            raise DataError(
                f"all columns of the table are constant ({domain.n_attributes} of them): there is "
                "nothing for rules to tell apart"
            )
        box = BlackBox(black_box, X, domain, self.positive, rng)
        evidence = Evidence(domain, domain.values(X), box.labels, self._most_queries())
        masks = self._learn(evidence, box, rng, stop or threading.Event())
        box.recheck()
        return self._keep(masks, evidence, box)

    @abstractmethod
    def _most_queries(self) -> int:
        """Return how many instances may be asked about."""

    @abstractmethod
    def _learn(
        self, evidence: Evidence, box: BlackBox, rng: np.random.Generator, stop: threading.Event
    ) -> Sequence[BoolArray]:
        """Return the rules, and set the attributes that only this learner has."""

    def covers(self, X: Any) -> BoolArray:
        """Return which rules cover which instances, shape (rules, n).

        Raises
        ------
        DataError
            When X does not have the columns seen in fit, or fit was not called.
        """
        if not hasattr(self, "rules_"):
            raise NotFitted(
                f"this {type(self).__name__} is not fitted yet: call fit with a table and a "
                "black box first"
            )
        return self._covers(self._domain.cells(self._domain.values(X)).T)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label that the decision set gives to each instance, shape (n,).

        Raises
        ------
        DataError
            When X does not have the columns seen in fit, or fit was not called.
        """
        covered = self.covers(X).any(axis=0)
        found: npt.NDArray[Any] = self.classes_[covered.astype(int)]
        return found

    def score(self, X: Any, black_box: Any) -> float:
        """Return the fidelity: the share of instances that get the same label.

        Parameters
        ----------
        X : data frame or (n, columns) array
        black_box : object with ``predict``, callable, or array of n labels
        """
        ours = self.predict(X)
        asked = hasattr(black_box, "predict") or callable(black_box)
        theirs = labels(black_box, X) if asked else np.asarray(black_box)
        if theirs.shape != ours.shape:
            raise DataError(f"{len(ours)} labels expected, got shape {theirs.shape}")
        return float((ours == theirs).mean())

    def __str__(self) -> str:
        if not hasattr(self, "rules_"):
            return repr(self)
        n = len(self.rules_)
        head = (
            f"{n} rule{'s' * (n != 1)} for the class {self.classes_[1]}, otherwise "
            f"{self.classes_[0]}; fidelity {share_text(self.fidelity_)} on "
            f"{self.rule_set_.total} real instances, {self.queries_} queries"
        )
        head = printable(head)
        return f"{head}\n{self.rule_set_.table()}" if n else head

    def _keep(self, masks: Sequence[BoolArray], evidence: Evidence, box: BlackBox) -> Self:
        """Set all fitted attributes, and warn when the black box changed its mind."""
        domain = evidence.domain
        self._domain, self._masks = domain, tuple(masks)
        self.classes_ = np.array(box.classes)
        self.labels_ = self.classes_[box.labels.astype(int)]
        self.rules_ = tuple(domain.rule(mask) for mask in masks)
        covers = self._covers(evidence.cells[:, : evidence.n_real])
        self.fidelity_ = float((covers.any(axis=0) == box.labels).mean())
        alone = covers.sum(axis=0) == 1
        sign = np.where(box.labels, 1, -1)
        self.rule_set_ = RuleSet(
            tuple(Literal(i, str(rule)) for i, rule in enumerate(self.rules_)),
            str(self.classes_[1]),
            figures=tuple(
                RuleFigures(
                    len(rule),
                    int(own.sum()),
                    int((own & box.labels).sum()),
                    int(sign[own & alone].sum()),
                )
                for rule, own in zip(self.rules_, covers, strict=True)
            ),
            total=evidence.n_real,
        )
        self.queries_ = box.queries
        self.rechecked_, self.changed_ = box.rechecked, box.changed
        self.n_features_in_ = domain.n_attributes
        if box.remark:
            warn(box.remark)
        return self

    def _covers(self, cells: npt.NDArray[np.intp]) -> BoolArray:
        covers = np.zeros((len(self._masks), cells.shape[1]), dtype=bool)
        for i, mask in enumerate(self._masks):
            covers[i] = mask[cells].all(axis=0)
        return covers
