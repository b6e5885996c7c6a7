"""What learning asks of a problem, whom it tells, and the sets of rules that it finds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cpx.models.rule_set.methods.column_generation.table import Features

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cpx.answers.explanation import Explanation
    from cpx.data.samples import Samples
    from cpx.modelling.base import Problem
    from cpx.modelling.side_constraints.form import LinearConstraint, SideConstraints
    from cpx.models.rule_set.problem import Loss

__all__ = ["Chosen", "Learnable", "Listener"]


@dataclass(frozen=True)
class Listener:
    """Who hears of sets and bounds while they are found, and may end the learning.

    found: Told each set of rules.
    bound: Told each better bound of the Hamming objective, in units of weight.
    stop: True ends the learning.
    cancel: Ends the solves within.
    """

    found: Callable[[Sequence[Features]], None] = lambda rules: None
    bound: Callable[[Fraction], None] = lambda value: None
    stop: Callable[[], bool] = lambda: False
    cancel: threading.Event | None = None


@dataclass(frozen=True)
class Chosen:
    """A set of rules, its objective in units of weight, and whether no set of these has less.

    Where none is ``known``, no set of interest has more than the value.
    """

    rules: tuple[Features, ...] = ()
    value: Fraction = Fraction(0)
    proved: bool = False
    known: bool = True


@runtime_checkable
class Learnable(Protocol):
    """What a problem has whose answers are any rules of at most so many literals."""

    @property
    def samples(self) -> Samples:
        """Which literals are true of each sample, and which are of the class."""

    @property
    def max_literals(self) -> int:
        """Maximum number of literals of a rule."""

    @property
    def loss(self) -> Loss:
        """What counts as an error."""

    @property
    def error_weights(self) -> NDArray[np.int64]:
        """What an error on each sample weighs."""

    @property
    def scale(self) -> int:
        """The objective is counted in units of 1 / ``scale``."""

    @property
    def price(self) -> int:
        """What a rule costs, in these units."""

    @property
    def side_constraints(self) -> SideConstraints:
        """Further constraints on a set of rules."""

    @property
    def literal_constraints(self) -> tuple[LinearConstraint, ...]:
        """Those of them that are about the literals of all rules together, in these terms."""

    def merged(self) -> Learnable:
        """Return the same problem on samples that all differ."""

    def literals(self, rule: int, /) -> Features:
        """Return the literals of the rule of a number."""

    def explanation_of(self, rules: Iterable[Sequence[int]], /) -> Explanation:
        """Return the explanation with these rules."""

    def select_from(self, rules: Iterable[Sequence[int]], loss: Loss, /) -> Problem:
        """Return the problem to choose of these rules, with this loss and the constraints."""
