"""Rules of a kernel machine that is trained on a table: one, or several in turn."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.answers.values import plural
from cpx.data.binarizer import Binarizer, as_table
from cpx.errors import DataError, InvalidOption, printable, shown
from cpx.models.kernel_rule.boolean_kernels.extraction import extract
from cpx.models.kernel_rule.boolean_kernels.kernels import BoundedDNFKernel
from cpx.models.kernel_rule.boolean_kernels.machine import KernelMachine, read_svc
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.options import TIME_LIMIT
from cpx.processes.interrupts import interruptible
from cpx.support.shares import share_text
from cpx.support.validation import finite_number, positive_integer, seconds

if TYPE_CHECKING:
    from sklearn.svm import SVC

    from cpx.models.kernel_rule.boolean_kernels.extraction import ExtractedRule

Bools = npt.NDArray[np.bool_]

MOST_ROWS = 10_000
"""Rows of a table; the machine has a number for each pair of them."""


@dataclass(frozen=True)
class ClassRule:
    """A rule of a machine for one of its two classes.

    Attributes
    ----------
    label : object
        The class.
    found : ExtractedRule
        The rule, its weight and what was proved, among the support vectors of which no rule
        before it is true.
    greatest : Fraction
        The weight of those of its class among them: what no rule exceeds.
    covered, agreeing : int
        Rows of the table that it covers and no rule before it does, and those of them that the
        machine gives the class.
    """

    label: Any
    found: ExtractedRule
    greatest: Fraction
    covered: int
    agreeing: int

    @property
    def share(self) -> float:
        """Its weight as a share of the greatest that a rule can have."""
        return float(self.found.weight / self.greatest)

    def __str__(self) -> str:
        said = "proved" if self.found.proved else self._bound()
        text = (
            f"{self.found.text} => {self.label}: {share_text(self.share)} of the weight, {said}; "
            f"{self.agreeing} of {plural(self.covered, 'row')}"
        )
        return printable(text)

    def _bound(self) -> str:
        if self.found.bound is None:
            return "no bound"
        return f"no rule above {share_text(float(self.found.bound / self.greatest))}"


@dataclass(frozen=True, eq=False)
class MachineRules:
    """The rules of a kernel machine of a table; :func:`extract_rules` finds them.

    Attributes
    ----------
    rules : tuple of ClassRule
        In their order: the first that is true of a row gives it its class.
    otherwise : object
        The class of the other rows.
    machine : KernelMachine
        The support vectors over the literals of the columns.
    features : tuple of str
        These literals.
    svc : SVC
        The machine itself, over the same literals.
    """

    rules: tuple[ClassRule, ...]
    otherwise: Any
    machine: KernelMachine
    features: tuple[str, ...]
    svc: SVC
    _binarizer: Binarizer = field(repr=False)

    @property
    def proved(self) -> bool:
        """Whether each rule has the maximum weight at its turn, up to the rounding of weights."""
        return bool(self.rules) and all(rule.found.proved for rule in self.rules)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class that the rules give each row, shape (n,)."""
        return _given(self.rules, self.otherwise, self._bits(X))

    def machine_predicts(self, X: Any) -> npt.NDArray[Any]:
        """Return the class that the machine gives each row, shape (n,)."""
        return np.asarray(self.svc.predict(self._bits(X)))

    def fidelity(self, X: Any) -> float:
        """Return the share of rows that get the class of the machine."""
        return float((self.predict(X) == self.machine_predicts(X)).mean())

    def _bits(self, X: Any) -> Bools:
        return Literals.of_bits(self._binarizer.transform(X), self._binarizer).matrix

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rules), printable(f"otherwise {self.otherwise}")])


def extract_rules(
    X: Any,
    y: Any,
    *,
    n_rules: int = 1,
    max_clauses: int = 3,
    max_literals: int = 3,
    cost: float = 1.0,
    positive: Any = None,
    n_bins: int = 3,
    backend: str | None = None,
    time_limit: float | None = TIME_LIMIT,
    seed: int = 0,
    **binarizer: Any,
) -> MachineRules:
    """Train a kernel machine on a table, and find the rules that weigh the most in it.

    Columns become literals: both sides of each threshold of a numeric column, each value of
    another one, and its negation. So every row has as many true literals as another one, as the
    paper asks for [1]_. The kernel has all rules of so many clauses and literals.

    One rule is the formula of maximum weight for the positive class. Of a machine of noisy rows
    it leaves much weight, so that several can be asked for: the next is that of maximum weight,
    for either class, on the support vectors of which no rule before it is true. One counts only
    where the machine gives its class to most of the rows that it is the first to cover. The paper
    names several rules as future work; this order is ours.

    Parameters
    ----------
    X : data frame or (n, columns) array
        At most 10,000 rows: the machine has a number for each pair.
    y : (n,) array
        Labels of two classes.
    n_rules : int
        Most rules. There are fewer where no other rule weighs more than 0 and counts.
    max_clauses, max_literals : int
        Most clauses of a rule, and literals of a clause.
    cost : float
        What an error costs the machine: C of scikit-learn's SVC.
    positive : label, optional
        The class of the first rule; the second one by default.
    n_bins : int
        One more than the thresholds of a numeric column.
    backend, seed
        As in :func:`cpx.solve`.
    time_limit : float or None
        Seconds for all rules together, the training of the machine aside; each rule gets its
        share of what is left.
    **binarizer
        Other options of :class:`~cpx.data.Binarizer`.

    Returns
    -------
    MachineRules

    Raises
    ------
    InvalidOption, InvalidInstance, DataError
        Naming what is wrong.

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN 2018,
       sections 4 to 6.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 10, (200, 3))
    >>> y = np.where((X[:, 0] >= 7) | ((X[:, 1] < 4) & (X[:, 2] >= 7)), "in", "out")
    >>> found = extract_rules(X, y, positive="in", cost=1e3)
    >>> print(found)
    x0 > 6.5 or (x1 <= 3.5 and x2 > 6.5) => in: 1.000 of the weight, proved; 76 of 76 rows
    otherwise out
    >>> found.fidelity(X)
    1.0
    """
    from sklearn.svm import SVC

    positive_integer("n_rules", n_rules)
    if not finite_number("cost", cost):
        raise InvalidOption("cost must be greater than 0, got 0")
    limit = seconds(time_limit)
    kernel = BoundedDNFKernel(max_clauses, max_literals)
    table, labels = as_table(X), np.asarray(y)
    if labels.shape != (len(table),):
        raise DataError(f"y must have {len(table)} labels, got shape {labels.shape}")
    classes = np.unique(labels).tolist()
    if len(classes) != 2:
        raise DataError(f"y must have two classes, it has {len(classes)}")
    if positive is None:
        positive = classes[1]
    elif positive not in classes:
        raise InvalidOption(f"positive must be one of {classes}, got {shown(positive)}")
    if len(table) > MOST_ROWS:
        raise DataError(
            f"X has {len(table)} rows: a kernel machine has a number for each pair of them, take "
            f"at most {MOST_ROWS} rows"
        )
    fitted = Binarizer(n_bins=n_bins, **binarizer).fit(X)
    literals = Literals.of_bits(fitted.transform(X), fitted)
    bits = literals.matrix
    with interruptible():
        svc = SVC(kernel=kernel, C=float(cost)).fit(bits, labels)
        called = np.asarray(svc.predict(bits))
    machine = read_svc(svc, bits, positive=positive)
    other = classes[1 - classes.index(positive)]
    rules: list[ClassRule] = []
    left, uncovered = np.ones(len(machine.rows), dtype=bool), np.ones(len(bits), dtype=bool)
    ends = None if limit is None else time.monotonic() + limit
    while len(rules) < n_rules:
        # Both classes may be asked for each rule that is still to come.
        asked = 1 if n_rules == 1 else 2 * (n_rules - len(rules))
        best: ClassRule | None = None
        for label in (positive, other)[: 1 if n_rules == 1 else 2]:
            own = _for(machine, left, label, positive)
            share = None if ends is None else (ends - time.monotonic()) / asked
            if not own.greatest or (share is not None and share <= 0):
                continue
            found = extract(
                own,
                max_clauses,
                max_literals,
                features=literals.names,
                backend=backend,
                time_limit=share,
                seed=seed,
            )
            if found is None or found.weight <= 0:
                continue
            own_rows = called[_true(found, bits) & uncovered] == label
            rule = ClassRule(label, found, own.greatest, len(own_rows), int(own_rows.sum()))
            # What is true of the support vectors left may be of few rows, or of the wrong ones.
            misleads = bool(rules) and 2 * rule.agreeing <= rule.covered
            if not misleads and (best is None or found.weight > best.found.weight):
                best = rule
        if best is None:
            break
        rules.append(best)
        left &= ~_true(best.found, machine.rows)
        uncovered &= ~_true(best.found, bits)
    otherwise = other
    if len(rules) != 1 and 2 * int((called[uncovered] == positive).sum()) > int(uncovered.sum()):
        otherwise = positive
    return MachineRules(tuple(rules), otherwise, machine, literals.names, svc, fitted)


def _for(machine: KernelMachine, left: Bools, label: Any, positive: Any) -> KernelMachine:
    """Return the machine of some of its support vectors, for one of the classes."""
    sign = 1 if label == positive else -1
    weights = tuple(sign * machine.weights[i] for i in np.flatnonzero(left))
    return KernelMachine(machine.rows[left], weights, machine.kernel, label)


def _true(found: ExtractedRule, bits: Bools) -> Bools:
    """Return which rows a rule is true of."""
    clauses = [bits[:, list(clause)].all(axis=1) for clause in found.rule]
    return np.asarray(np.logical_or.reduce(clauses), dtype=bool)


def _given(rules: tuple[ClassRule, ...], otherwise: Any, bits: Bools) -> npt.NDArray[Any]:
    """Return the class of each row by the first rule that is true of it."""
    kind = np.array([otherwise, *(rule.label for rule in rules)])
    chosen = np.zeros(len(bits), dtype=int)
    for i, rule in reversed(list(enumerate(rules, 1))):
        chosen[_true(rule.found, bits)] = i
    return np.asarray(kind[chosen])
