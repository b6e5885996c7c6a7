"""Inclusion-minimal reasons by deletion, in one order or the best of many, as backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cpx.answers.result import Termination
from cpx.backends.base import Outcome, Progress
from cpx.errors import InvalidOption, shown
from cpx.methods.reasons.oracle_method import OracleMethod
from cpx.models.minimum_subset.problem import MinimumSubset
from cpx.trees.sufficiency.set_family import places

if TYPE_CHECKING:
    from cpx.methods.reasons.deletion import Deleting
    from cpx.models.base import Problem
    from cpx.options import SolveOptions

__all__ = ["BestOfOrders", "Deletion"]

_ORDERS = 20

# The share of other features that orders after the first begin with, beside the best set, and
# how far they stray from the first order: of those tried on forests of 11 to 50 trees, these
# found the smallest majoritary reasons.
_SHARE, _NOISE = 0.5, 0.5


class Deletion(OracleMethod):
    """Leaves out features while the others are enough; none can be left out of the answer.

    The features that weigh most are tried first, and of these the ones that the fewest tests of
    the model, or leaves of the statement, are about; ties are broken by the seed. Several are
    tried at once while that goes well. A hint that is enough is where the deletion starts.

    A set from which nothing can be left out is seldom a smallest one, and nothing is proved of
    its size.
    """

    name: ClassVar[str] = "deletion"
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "hint"})
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = "deletion: reasons from which nothing can be left out"

    @property
    def orders(self) -> int:
        """How many orders of deletion are tried."""
        return 1

    def accepts(self, problem: Problem) -> bool:
        """Whether a smallest set that is enough is sought, by whatever definition."""
        return isinstance(problem, MinimumSubset)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Delete in one order after the other; see :class:`~cpx.backends.base.Backend`."""
        assert isinstance(problem, MinimumSubset)
        with progress.phase("compile"):
            if not problem.stated:
                self.preload()  # the oracle of the model is asked
            from cpx.methods.reasons.deletion import deleting

            asked = deleting(problem, lambda: progress.should_stop)
        with progress.phase("solve"):
            return _delete_in_orders(problem, asked, options.seed, progress, self.orders)


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
                f"{self.name}:N is for N orders of deletion, a number from 1, got {shown(orders)}"
            )
        self.solver = orders

    @property
    def orders(self) -> int:
        """How many orders of deletion are tried."""
        return int(self.solver)


def _delete_in_orders(
    problem: MinimumSubset, asked: Deleting, seed: int, progress: Progress, orders: int
) -> Outcome:
    """Report the sets that deletion leaves, and say how it ended.

    It begins with the set that is known to the progress, if there is one.
    """
    from cpx.methods.reasons import Stopped

    if {*problem.required} & {*problem.forbidden}:
        return Outcome(False, Termination.COMPLETED, "required and forbidden contradict")
    required, random = asked.bits(problem.required), np.random.default_rng(seed)
    start = asked.everything & ~asked.bits(problem.forbidden)

    best = start

    def report(kept: int) -> None:
        nonlocal best
        features = {*asked.features(kept), *problem.required}
        weight = problem.cost(tuple(sorted(features)))
        if progress.objective is None or weight <= progress.objective:
            best = kept
            if weight != progress.objective:
                progress.found(problem.explanation(features))

    done = 0
    try:
        if progress.explanation is not None:
            # Without features that no tree tests, which have no place.
            report(asked.bits(progress.explanation.features))
        elif asked.enough(start):
            report(start)
        else:
            message = "what is not forbidden is not enough"
            return Outcome(False, Termination.COMPLETED, message)
        for done in range(orders):
            if progress.should_stop:  # an oracle that knows all answers does not ask
                raise Stopped
            kept = best if not done else best | _some(start & ~best, random)
            order = _lightest_last(problem, asked, kept & ~required, random, _NOISE if done else 0)
            asked.shrink(kept, order, report)
    except Stopped:
        return Outcome(False, progress.why_stopped(), f"stopped in order {done + 1} of {orders}")
    return Outcome(False, Termination.COMPLETED, f"{orders} order{'s' * (orders != 1)}")


def _some(elements: int, random: np.random.Generator) -> int:
    """Return a random part of a set of places."""
    return sum(1 << place for place in places(elements) if random.random() < _SHARE)


def _lightest_last(
    problem: MinimumSubset,
    asked: Deleting,
    some: int,
    random: np.random.Generator,
    noise: float,
) -> list[int]:
    """Order places: what weighs most and tells least comes first, with so much noise."""
    order = random.permutation(np.array(places(some), dtype=np.int64))
    features = np.array(asked.feature, dtype=np.int64)[order]
    weights, tells = problem.weight_array[features], asked.tells[features]
    if noise:
        keys = np.log(tells + 0.5) - np.log(weights) + noise * random.standard_normal(len(order))
        ranks = np.argsort(keys)
    else:
        ranks = np.lexsort((tells, -weights))
    first: list[int] = order[ranks].tolist()
    return first
