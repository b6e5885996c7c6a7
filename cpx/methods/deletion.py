"""Subset-minimal reasons by deletion, and the best of many orders, as backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cpx.backends.base import Outcome, Progress
from cpx.errors import InvalidOption
from cpx.methods.oracles import AskingOracle
from cpx.models.smallest import SmallestSet
from cpx.models.sufficient_reason import SufficientReason
from cpx.result import Termination

if TYPE_CHECKING:
    from cpx.models.base import Problem
    from cpx.options import SolveOptions
    from cpx.reasons.shrink import Decides

__all__ = ["BestOfOrders", "Deletion"]

_ORDERS = 20


class Deletion(AskingOracle):
    """Leaves out features while the others are enough; none can be left out of the answer.

    The features that weigh most are tried first, and of these the ones that the fewest tests of
    the model, or leaves of the statement, are about; ties are broken by the seed. Several are
    tried at once while that goes well. A hint that is enough is where the deletion starts.

    A set from which nothing can be left out is seldom a smallest one, and nothing is proved of
    its size.
    """

    name: ClassVar[str] = "deletion"
    honours: ClassVar[frozenset[str]] = frozenset({"seed", "hint"})
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = "deletion: reasons from which nothing can be left out"

    @property
    def orders(self) -> int:
        """How many orders of deletion are tried."""
        return 1

    def accepts(self, problem: Problem) -> bool:
        """Whether a smallest set that is enough is sought, by whatever definition."""
        return isinstance(problem, SmallestSet)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Delete in one order after the other; see :class:`~cpx.backends.base.Backend`."""
        assert isinstance(problem, SmallestSet)
        with progress.phase("compile"):
            self.preload()
            asked = _deciding(problem)
            asked.stop = lambda: progress.should_stop
        try:
            with progress.phase("solve"):
                return _search(problem, asked, options.seed, progress, self.orders)
        finally:
            asked.stop = None


class BestOfOrders(Deletion):
    """Deletes in many random orders and keeps the lightest answer: ``best-of-orders:50``.

    The first order is that of :class:`Deletion`.

    Examples
    --------
    >>> BestOfOrders("50").orders, BestOfOrders().orders
    (50, 20)
    """

    name: ClassVar[str] = "best-of-orders"
    summary: ClassVar[str] = "deletion in N random orders, the best answer; best-of-orders:N"

    def __init__(self, solver: str | None = None) -> None:
        orders = str(_ORDERS) if solver is None else solver
        if not orders.isdecimal() or int(orders) < 1:
            raise InvalidOption(
                f"{self.name}:N is for N orders of deletion, a number from 1, got {orders!r}"
            )
        self.solver = orders

    @property
    def orders(self) -> int:
        """How many orders of deletion are tried."""
        return int(self.solver)


class _Statement:
    """Decides by the plain arrays of a problem; places are its features."""

    def __init__(self, problem: SmallestSet) -> None:
        self._problem = problem
        self.everything = self.core = (1 << problem.n_features) - 1
        self.stop: Callable[[], bool] | None = None

    def change(self, free: int) -> int | None:
        """Return None when the features that are not free are enough, else the free ones."""
        from cpx.reasons import Stopped

        if self.stop is not None and self.stop():
            raise Stopped
        self.core = self.everything & ~free
        kept = self.attributes(self.core)
        return None if self._problem.enough(tuple(sorted(kept))) else free

    def bits(self, features: Iterable[int]) -> int:
        return sum(1 << j for j in features)

    def attributes(self, bits: int) -> frozenset[int]:
        return frozenset(j for j in range(bits.bit_length()) if bits >> j & 1)


def _deciding(problem: SmallestSet) -> Decides:
    if isinstance(problem, SufficientReason) and not problem.stated:
        return problem.oracle_of_rows()
    return _Statement(problem)


def _search(
    problem: SmallestSet, asked: Decides, seed: int, progress: Progress, orders: int
) -> Outcome:
    from cpx.reasons import Stopped
    from cpx.reasons.known import shuffled
    from cpx.reasons.shrink import shrunk_reason

    if {*problem.required} & {*problem.forbidden}:
        return Outcome(False, Termination.COMPLETED, "required and forbidden contradict")
    required, random = asked.bits(problem.required), Random(seed)
    start = asked.everything & ~asked.bits(problem.forbidden)

    def report(kept: int) -> None:
        features = {*asked.attributes(kept), *problem.required}
        weight = problem.cost(tuple(sorted(features)))
        if progress.objective is None or weight < progress.objective:
            progress.found(problem.explanation(features))

    done = 0
    try:
        if progress.explanation is None:
            if asked.change(asked.everything & ~start) is not None:
                told = "what is not forbidden is not enough"
                return Outcome(False, Termination.COMPLETED, told)
            report(start)
            first = start
        else:
            first = asked.bits(progress.explanation.features)
        for done in range(orders):
            if progress.should_stop:  # an oracle that knows all answers does not ask
                raise Stopped
            order = shuffled(start & ~required, random)
            if not done:
                _lightest_last(problem, asked, order)
            shrunk_reason(asked, start if done else first, order, report)
    except Stopped:
        return Outcome(False, progress.why_stopped(), f"stopped in order {done + 1} of {orders}")
    return Outcome(False, Termination.COMPLETED, f"{orders} order{'s' * (orders != 1)}")


def _lightest_last(problem: SmallestSet, asked: Decides, order: list[int]) -> None:
    """Sort places: what weighs most and tells least comes first."""
    if isinstance(asked, _Statement):
        tells = problem.form.excludes.sum(axis=0)
    else:
        assert isinstance(problem, SufficientReason)
        trees = problem.features.model.trees
        tested = np.concatenate([tree.attribute[tree.attribute >= 0] for tree in trees])
        tells = np.bincount(tested, minlength=problem.n_features)
    feature = {place: min(asked.attributes(1 << place)) for place in order}
    weights = problem.weight_array
    order.sort(key=lambda place: (-weights[feature[place]], tells[feature[place]]))
