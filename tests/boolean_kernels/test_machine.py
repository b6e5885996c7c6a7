"""Weights of rules against the feature space itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from cpx.errors import CpxError, DataError, InvalidInstance
from cpx.models.kernel_rule.boolean_kernels import (
    BoundedDNFKernel,
    MonotoneConjunctiveKernel,
    best_rule,
    read_svc,
)

from .formulas import dnfs, holds

RNG = np.random.default_rng(3)
X = RNG.random((60, 5)) < 0.5
Y = np.where((X[:, 0] & X[:, 1]) | X[:, 4], "yes", "no")
KERNEL = BoundedDNFKernel(2, 2)
SVM = SVC(kernel=KERNEL, C=1e6).fit(X, Y)


def test_weights_are_those_of_the_primal() -> None:
    """The decision is the sum of the weights of the rules that are true, over the norms."""
    machine = read_svc(SVM, X)
    formulas = list(dnfs(5, range(1, 3), range(1, 3)))
    true = np.array([[holds(f, row) for f in formulas] for row in X.tolist()])
    assert KERNEL.norm(X) == true.sum(axis=1).tolist()
    weights = np.array([float(machine.weight(f)) for f in formulas])
    least = min(n for n in KERNEL.norm(X[SVM.support_]) if n)
    # Weights are relative to the least norm of a support vector.
    decision = true @ weights / np.sqrt(np.maximum(true.sum(axis=1), 1) * least)
    np.testing.assert_allclose(decision + SVM.intercept_[0], SVM.decision_function(X), atol=1e-9)


def test_weights_are_exact_for_equal_norms() -> None:
    rows = np.eye(6, dtype=bool) | np.eye(6, k=1, dtype=bool)
    rows[5, 0] = True
    y = [0, 1, 1, 0, 1, 0]
    svc = SVC(kernel=BoundedDNFKernel(2, 1), C=3.7).fit(rows, y)
    machine = read_svc(svc, rows)
    exact = dict(zip(svc.support_.tolist(), map(Fraction, svc.dual_coef_[0]), strict=True))
    expected = sum(exact.get(i, 0) for i in range(6) if rows[i, 2] or rows[i, 5])
    assert machine.weight([[2], [5]]) == expected
    assert machine.greatest == sum(w for w in exact.values() if w > 0)
    other = read_svc(svc, rows, positive=0)
    assert other.weight([[2], [5]]) == -expected


def test_precomputed_values_and_clones_give_the_same_machine() -> None:
    other = SVC(kernel="precomputed", C=1e6).fit(KERNEL(X), Y)
    assert read_svc(other, X, KERNEL).weights == read_svc(SVM, X).weights
    assert read_svc(clone(SVM).fit(X, Y), X).weights == read_svc(SVM, X).weights


def test_the_best_rule_is_the_best_of_all() -> None:
    machine = read_svc(SVM, X)
    found = best_rule(SVM, X)
    weights = [machine.weight(f) for f in dnfs(5, range(1, 3), range(1, 3))]
    assert found is not None
    assert found.proved
    assert found.weight == max(weights) == machine.weight(found.rule) == found.bound
    assert found.text == "(x0 and x1) or x4"


def test_a_rule_that_is_not_consistent_has_an_exact_bound() -> None:
    y = np.where(RNG.random(60) < 0.15, Y == "no", Y == "yes")
    svc = SVC(kernel=KERNEL, C=2).fit(X, y)
    machine, found = read_svc(svc, X), best_rule(svc, X, unit="1/1000")
    weights = [machine.weight(f) for f in dnfs(5, range(1, 3), range(1, 3))]
    assert found is not None
    assert found.proved
    assert found.bound is not None
    assert found.weight <= max(weights) <= found.bound < machine.greatest
    assert found.bound - found.weight < Fraction(len(machine.weights), 1000)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: read_svc(SVC(kernel=KERNEL), X), "svc is not fitted"),
        (lambda: read_svc(SVC().fit(X, Y), X), "must have a Boolean kernel, it has 'rbf'"),
        (lambda: read_svc(object(), X), "must be an sklearn.svm.SVC, got object"),
        (lambda: read_svc(SVC(kernel="precomputed").fit(KERNEL(X), Y), X), "kernel must be given"),
        (lambda: read_svc(SVM, X, BoundedDNFKernel(1, 1)), "kernel is .*, and svc has"),
        (lambda: read_svc(SVM, X, "linear"), "kernel must be a Boolean kernel, got 'linear'"),
        (lambda: read_svc(SVM, X[1:]), "X must be the 60 rows of the fit, got 59"),
        (lambda: read_svc(SVM, X, positive="maybe"), "positive must be one of"),
        (
            lambda: read_svc(SVC(kernel=KERNEL).fit(X, np.arange(60) % 3), X),
            "svc must have two classes, it has 3",
        ),
        (lambda: best_rule(SVM, X, 0), "max_clauses must be at least 1, got 0"),
        (
            lambda: best_rule(SVM, X, 1, 0),
            "max_literals must be between 1 and the number of features 5, got 0",
        ),
        (
            lambda: best_rule(SVM, X, 1, 6),
            "max_literals must be between 1 and the number of features 5, got 6",
        ),
        (lambda: best_rule(SVM, X, unit=0), "unit must be a positive fraction, got 0"),
        (lambda: read_svc(SVM, X).weight([[5]]), "indices from 0 to 4"),
        (lambda: read_svc(SVM, X).weight([]), "rule must have a clause"),
        (
            lambda: read_svc(SVC(kernel=MonotoneConjunctiveKernel(1)).fit(X, Y), X).problem(),
            "max_clauses and max_literals must be given for a MonotoneConjunctiveKernel",
        ),
    ],
)
def test_wrong_machines_are_refused(make: object, told: str) -> None:
    with pytest.raises(InvalidInstance, match=told):
        make()


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(DataError, match="X: entries must be 0 or 1"):
        read_svc(SVM, X * 2)
    with pytest.raises(CpxError):
        SVC(kernel=KERNEL).fit(X * 0.5, Y)
    with pytest.raises(ValueError, match="class"):
        SVC(kernel=KERNEL).fit(X, np.zeros(60))
