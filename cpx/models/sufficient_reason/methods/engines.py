"""The engines ``deletion``, ``best-of-orders`` and ``hitting-sets`` for smallest sufficient sets.

What decides whether a set is enough is the form of a problem that is stated as plain arrays, or
else the sufficiency oracle of a tree model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress, StartWith
from cpx.backends.search.branch_on_violations import branch_on_violations
from cpx.errors import InvalidOption, shown
from cpx.models.sufficient_reason.form import ChangeForm
from cpx.models.sufficient_reason.methods.deletion import delete_from_reason
from cpx.models.sufficient_reason.methods.orders import (
    ByForm,
    SubsetOracle,
    few_by_statement,
    in_orders,
)
from cpx.models.sufficient_reason.minimum_subset.form import SubsetForm
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.models.sufficient_reason.sufficiency.row_oracle import RowOracle
    from cpx.options import SolveOptions

__all__ = ["BestOfOrders", "Deletion", "HittingSets"]

_ORDERS = 20

_FEW = 100
"""Leaves that a set must exclude: with fewer, engines end before a start would help."""


class _OracleMethod(Backend):
    """A method that may ask
    :class:`~cpx.models.sufficient_reason.sufficiency.oracle.SufficiencyOracle`.
    """

    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    _needs_kernels: ClassVar[bool] = True
    needs_model: ClassVar[bool] = False


class Deletion(_OracleMethod):
    """Leaves out features while the others are enough; none can be left out of the answer.

    The features that weigh most are tried first, and of these the ones that the fewest tests of
    the model, or leaves of the statement, are about; ties are broken by the seed. A run of
    them is tried at once while that goes well. A hint that is enough is where the deletion starts;
    of votes of several trees, without one, a majoritary reason.

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
        """Whether a smallest set that is enough is asked for, by whatever definition."""
        return isinstance(problem.form(), SubsetForm)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Delete in one order after the other; see :class:`~cpx.backends.base.Backend`."""
        form = problem.form()
        assert isinstance(form, SubsetForm)  # accepts() says so
        with progress.phase("compile"):
            if form.arrays is None:
                self._preload()  # the oracle of the model is asked
            oracle = _subset_oracle(form, lambda: progress.should_stop)
        with progress.phase("solve"):
            return _delete_in_orders(form, oracle, options.seed, progress, self.orders)


class BestOfOrders(Deletion):
    """Deletes in many random orders and keeps the lightest answer: ``best-of-orders:50``.

    The first order is that of :class:`Deletion`.

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
    form: SubsetForm, oracle: SubsetOracle, seed: int, progress: Progress, orders: int
) -> Outcome:
    """Report the sets that deletion leaves, and say how it ended.

    It begins with the set that is known to the progress, if there is one.
    """
    if form.contradicts:
        return Outcome(False, Termination.COMPLETED, "required and forbidden contradict")
    required = oracle.bits(form.required)
    start = oracle.everything & ~oracle.bits(form.forbidden)

    best = start

    def report(kept: int) -> None:
        nonlocal best
        features = {*oracle.features(kept), *form.required}
        weight = int(form.weights[list(features)].sum())
        if progress.objective is None or weight <= progress.objective:
            best = kept
            if weight != progress.objective:
                progress.found(progress.problem.explanation(features))

    done = 0
    try:
        few = few_by_statement(form, seed, lambda: progress.should_stop)
        if progress.explanation is not None:
            # Without features that no tree tests, which have no place.
            report(oracle.bits(progress.explanation.features))
        elif few is not None and oracle.enough(oracle.bits(few)):
            report(oracle.bits(few))
        elif oracle.enough(start):
            report(start)
        else:
            message = "what is not forbidden is not enough"
            return Outcome(False, Termination.COMPLETED, message)
        tried = in_orders(oracle, form.weights, start, required, seed, orders, lambda: best)
        for kept, order in tried:
            if progress.should_stop:  # an oracle that knows all answers does not ask
                raise Stopped
            oracle.shrink(kept, order, report)
            done += 1
    except Stopped:
        return Outcome(False, progress.why_stopped(), f"stopped in order {done + 1} of {orders}")
    return Outcome(False, Termination.COMPLETED, f"{orders} order{'s' * (orders != 1)}")


class _ByModel:
    """Asks the oracle of a tree model; places are the attributes that the model tests."""

    def __init__(self, oracle: RowOracle, stop: Callable[[], bool]) -> None:
        self._oracle, self._stop = oracle, stop
        oracle.restores = False  # what is left out once is not asked about again
        self.everything = self._oracle.everything
        self.feature: Sequence[int] = self._oracle.feature
        self.bits, self.features = self._oracle.bits, self._oracle.features
        self.tells = oracle.tells

    def enough(self, kept: int) -> bool:
        with self._stopping():
            return self._oracle.change(self.everything & ~kept) is None

    def shrink(self, kept: int, order: list[int], note: Callable[[int], None]) -> None:
        with self._stopping():
            delete_from_reason(self._oracle, kept, order, note)

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        self._oracle.stop = self._stop
        try:
            yield
        finally:
            self._oracle.stop = None


def _subset_oracle(form: SubsetForm, stop: Callable[[], bool]) -> SubsetOracle:
    """Return what decides the sets of a problem; it raises ``Stopped`` when told to stop."""
    if form.arrays is not None:
        return ByForm(form.arrays, stop)
    assert form.oracle is not None
    return _ByModel(form.oracle(), stop)


class HittingSets(_OracleMethod):
    """Solves the sufficient reason in the full sense, for which there is no statement.

    A lower bound from minimum hitting sets of counterexamples, which an exact oracle of our own
    finds, and an upper bound from reasons that were made subset-minimal, come closer until
    they meet.
    """

    name: ClassVar[str] = "hitting-sets"
    requires: ClassVar[dict[str, str]] = {
        **_OracleMethod.requires,
        "pysat": "python-sat[pb]>=1.9.dev2,<2",
    }
    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "gap", "hint"})
    summary: ClassVar[str] = "implicit hitting sets: sufficient reasons, exact, anytime"

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem is a sufficient reason in the full sense, or a change."""
        form = problem.form()
        whole = isinstance(form, SubsetForm) and form.oracle is not None
        return whole or isinstance(form, ChangeForm)

    def _keeps_side_constraints(self, problem: Problem) -> bool:
        """All of them, by branching on what they are about."""
        return True

    def _refusal(self, problem: Problem) -> str:
        """Say that the problem is no such reason."""
        definition = getattr(problem, "definition", None)
        if definition is None:
            return super()._refusal(problem)
        return (
            f"backend {self.name!r} is for the definition sufficient, the problem has {definition}"
        )

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Search for a minimum reason, or change; see :class:`~cpx.backends.base.Backend`."""
        if problem.side_constraints:
            return branch_on_violations(problem, options, progress, self.solve)
        form = problem.form()
        if isinstance(form, ChangeForm):
            with progress.phase("compile"):
                self._preload()
                from cpx.models.sufficient_reason.methods.lightest_change import solve_change
            return solve_change(problem, form, options, progress)
        assert isinstance(form, SubsetForm)  # accepts() says so
        assert form.oracle is not None
        with progress.phase("compile"):
            self._preload()
            from cpx.models.sufficient_reason.methods.minimum import minimum_of_oracle

            oracle = form.oracle()
        if form.contradicts:
            return Outcome(True, Termination.COMPLETED, "required and forbidden contradict")

        few = None
        with suppress(Stopped):
            few = few_by_statement(form, options.seed, lambda: progress.should_stop)
        left = progress.remaining
        if left == 0:
            return Outcome(False, progress.why_stopped(), "stopped before the search")

        def hear(lower: int, upper: int, attributes: tuple[int, ...]) -> None:
            progress.bound(lower)
            if progress.objective is None or upper < progress.objective:
                progress.found(problem.explanation(attributes))

        oracle.stop = lambda: progress.should_stop
        try:
            with progress.phase("solve"):
                found = minimum_of_oracle(
                    oracle,
                    weights=form.weights.tolist(),
                    must_keep=form.required,
                    must_avoid=form.forbidden,
                    start=few,
                    time_limit=left,
                    seed=options.seed,
                    listen=hear,
                    record=progress.record,
                )
        finally:
            # The problem keeps its oracle, which has to decide again whatever it is asked.
            oracle.stop = oracle.deadline = oracle.patience = None
        if found.attributes is not None:
            # A stop may fall into the report of a reason, which measures it: nothing is claimed
            # of a reason that is not reported. The oracle knows by now that it is one.
            progress.found(problem.explanation(found.attributes))
        progress.count(calls=found.calls)
        message = f"{found.rounds} hitting sets, {found.changes} changes, {found.calls} calls"
        if found.lower is not None:
            progress.bound(found.lower)
        return Outcome(
            found.proved,
            Termination.COMPLETED if found.proved else progress.why_stopped(),
            message,
            found.upper,
        )


def start(engine: Backend, form: SubsetForm) -> StartWith | None:
    """Name deletion where there are many leaves: by cores there is no set before the optimum."""
    enough = form.arrays is not None and len(form.arrays.tree) > _FEW
    return StartWith("best-of-orders", "deletion") if engine.needs_model and enough else None
