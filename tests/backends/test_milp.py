"""The backend milp beyond the conformance suite: bounds, limits, stops, starts, gaps."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest

from cpx.answers.evaluation import SampleEvaluation
from cpx.answers.explanation import Explanation
from cpx.answers.result import Status, Termination
from cpx.answers.rule import Rule
from cpx.backends.base import Event, Outcome, Progress
from cpx.backends.milp import Milp
from cpx.data.samples import Samples
from cpx.errors import UnknownName
from cpx.modelling.statement import Statement
from cpx.models.kernel_rule.problem import KernelRule
from cpx.models.monomial.draw import KINDS, random_problem
from cpx.models.monomial.precision_coverage import MaxPrecision
from cpx.models.monomial.weighted import KMonomial
from cpx.options import SolveOptions
from cpx.processes.console import Console
from cpx.solving import solve
from tests.engines import solve_alone
from tests.processor_time import processor_seconds

ENGINES = ("highs", "cbc")


def instance(m: int, d: int, k: int, seed: int = 0, heaviest: int = 1) -> KMonomial:
    rng = np.random.default_rng(seed)
    agreement = rng.random((m, d)) < 0.5
    same = agreement[:, : min(3, d)].all(axis=1) ^ (rng.random(m) < 0.2)
    return KMonomial(Samples(agreement, same, rng.integers(1, heaviest + 1, m)), k=k)


def optimum(problem: KMonomial) -> int:
    d = problem.samples.agreement.shape[1]
    return min(
        problem.evaluate(problem.explanation(chosen)).objective
        for size in range(problem.k + 1)
        for chosen in itertools.combinations(range(d), size)
    )


HARD = instance(600, 50, 5)


def run(engine, problem, listen=None, stop_after=None, **options):
    progress = Progress(problem, SolveOptions(**options), listen)
    if stop_after is not None:
        threading.Timer(stop_after, progress.stop).start()
    return progress, solve_alone(Milp(engine), problem, progress)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("encoding", ["clausal", "channelling", "reified"])
@pytest.mark.parametrize("heaviest", [1, 9, 10**6, 2**32])
def test_optimum_bound_and_claim_agree(engine, encoding, heaviest):
    problem = instance(25, 6, 2, seed=heaviest % 97, heaviest=heaviest)
    progress, outcome = run(engine, problem, encoding=encoding)
    best = optimum(problem)
    assert progress.objective == best
    # Bounds are checked on the way, too: none may exceed the optimum.
    assert all(point.bound is None or point.bound <= best for point in progress.trace)
    assert outcome.termination is Termination.COMPLETED
    assert outcome.claimed == best
    # Sums beyond 10**9 lose units within the tolerances of the engines; then it says so.
    assert outcome.proved or (heaviest == 2**32 and outcome.warnings)
    assert outcome.proved == (progress.best_bound == best)
    assert set(outcome.sizes) == {"variables", "constraints", "nonzeros"}
    assert min(outcome.sizes.values()) > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_big_weights_are_proved(engine):
    rng = np.random.default_rng(1)
    samples = Samples(rng.random((20, 5)) < 0.5, rng.random(20) < 0.5, np.full(20, 2**35))
    problem = KMonomial(samples, k=2)
    progress, outcome = run(engine, problem)
    assert outcome.proved
    assert progress.objective == progress.best_bound == optimum(problem)


@pytest.mark.parametrize("engine", ENGINES)
def test_infeasible(engine):
    samples = HARD.samples
    problem = KMonomial(samples, k=2, required=(1,), forbidden=(1,))
    progress, outcome = run(engine, problem)
    assert (outcome.proved, outcome.claimed, progress.objective) == (True, None, None)


@pytest.mark.parametrize("engine", ENGINES)
def test_time_limit(engine):
    # On a busy machine the first limit may be over before there is a bound.
    for limit in (1.2, 5, 20):
        events: list[Event] = []
        spent = processor_seconds()
        progress, outcome = run(engine, HARD, events.append, time_limit=limit)
        assert processor_seconds() - spent < limit + 20
        if progress.best_bound is not None:
            break
    assert outcome.termination is Termination.TIME_LIMIT
    assert not outcome.proved
    assert progress.best_bound is not None
    assert [event.point for event in events] == progress.trace
    if engine == "highs":
        assert progress.objective is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_interrupt(engine):
    spent = processor_seconds()
    _, outcome = run(engine, HARD, stop_after=0.6)
    assert processor_seconds() - spent < 20
    assert outcome.termination is Termination.INTERRUPTED
    assert not outcome.proved


@pytest.mark.parametrize("engine", ENGINES)
def test_stop_before_the_search(engine):
    problem = instance(20, 4, 2)
    options = SolveOptions()
    progress = Progress(problem, options)
    progress.stop()
    outcome = solve_alone(Milp(engine), problem, progress)
    assert (outcome.proved, outcome.termination) == (False, Termination.INTERRUPTED)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("encoding", ["clausal", "channelling"])
def test_hint(engine, encoding):
    problem = instance(60, 10, 3)
    hint = (0, 1, 2)
    value = problem.evaluate(problem.explanation(hint)).objective
    progress, outcome = run(engine, problem, time_limit=60, hint=hint, encoding=encoding)
    assert progress.objective is not None
    assert progress.objective <= value
    assert outcome.claimed is None or outcome.claimed <= value


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("encoding", ["clausal", "reified"])
def test_gap_is_that_of_the_whole_objective(engine, encoding):
    progress, outcome = run(engine, instance(60, 10, 3), gap=0.5, time_limit=60, encoding=encoding)
    assert outcome.termination is Termination.COMPLETED
    assert progress.gap_reached


@pytest.mark.parametrize("engine", ENGINES)
def test_gap_is_that_to_the_value_where_the_bound_is_greater(engine):
    # CBC takes the greater of the two: any bound is within twice itself.
    problem = KernelRule([[0, 0, 0], [0, 1, 0]], [7, -1], max_clauses=1, max_literals=2)
    result = solve(problem, f"milp:{engine}", gap=2.0)
    assert result.gap is not None
    assert result.gap <= 2.0


@pytest.mark.parametrize("engine", ENGINES)
def test_seed_and_threads_are_taken(engine):
    problem = instance(40, 8, 2)
    found = {run(engine, problem, seed=s, threads=t)[0].objective for s in (0, 7) for t in (2, 1)}
    assert found == {optimum(problem)}


# ----------------------------------------------------------------- maximisation


class Knapsack:
    """As much of a problem as a backend needs, with an objective to maximise."""

    sense = "max"
    weights, profits = (2, 3, 4, 5), (3, 4, 5, 6)

    def model(self, encoding: str | None = None) -> Statement:
        import cpmpy as cp

        X = cp.boolvar(shape=4, name="X")

        def complete(features):
            return {"X": np.isin(np.arange(4), features).astype(np.int64)}

        return Statement(
            cp.Model(cp.sum(self.weights * X) <= 5, maximize=cp.sum(self.profits * X)),
            {"X": X},
            complete,
            sense="max",
            offset=-100,
        )

    def _trivial_bound(self) -> None:
        return None

    def decode(self, values) -> Explanation:
        return Explanation(Rule.of(np.flatnonzero(values["X"]), "abcd", ""))

    def evaluate(self, explanation: Explanation) -> SampleEvaluation:
        chosen = explanation.features
        return SampleEvaluation(
            objective=sum(self.profits[j] for j in chosen) - 100,
            covered=0,
            agreeing_covered=0,
            agreeing=0,
            total=1,
            feasible=sum(self.weights[j] for j in chosen) <= 5,
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_maximisation_with_an_offset(engine):
    progress, outcome = run(engine, Knapsack())
    assert outcome.proved
    assert (progress.objective, progress.best_bound, outcome.claimed) == (-93, -93, -93)
    assert all(point.bound is None or point.bound >= -93 for point in progress.trace)


# ------------------------------------------------------------------- the parts


def test_cbc_prints_too_few_digits_for_a_bound():
    from cpx.backends.milp.cbc import CbcSolver
    from cpx.backends.milp.watch import Watch

    bounds: list[float] = []
    solver = CbcSolver(Watch(bound=bounds.append))
    lines = [
        b"Continuous objective value is 8.21857e+06 - 0.00 seconds\n",  # of 8218567
        b"Cbc0010I After 0 nodes, 1 on tree, 1e+50 best solution, best possible 8218567.1 (0 s)\n",
        b"Cbc0010I After 9 nodes, 1 on tree, 1e+50 best solution, best possible 1e+50 (0 s)\n",
        b"Cbc0038I Heuristic says best possible 9000000\n",
    ]
    solver._follow(lines)
    assert len(bounds) == 2
    assert bounds[0] < 8218567
    assert bounds[0] < bounds[1] < 8218567


def test_console_gives_whole_lines_and_leaves_no_process(tmp_path):
    code = "import sys, time; sys.stdout.write('best possible 12'); sys.stdout.flush();"
    code += "time.sleep(0.3); print('34'); time.sleep(60)"
    with Console([sys.executable, "-c", code], tmp_path) as console:
        lines: list[bytes] = []
        while not lines and console.running():
            lines += console.lines()
    assert lines == [b"best possible 1234"]
    assert console.exit_status != 0
    with pytest.raises(FileNotFoundError):
        Console(["no-such-program"], tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        b"Cbc0005I Partial search - best objective 72 (best possible 73.103448), took 338",
        b"Cbc0010I After 5 nodes, 1 on tree, 72 best solution, best possible 73.103448 (0 s)",
    ],
)
def test_cbc_stopped_says_nothing_of_solutions_that_are_no_better(line):
    """It looks for solutions of less than 71.1; 73.1 is their bound."""
    from cpx.backends.milp.cbc import CbcSolver
    from cpx.backends.milp.watch import Watch

    bounds: list[float] = []
    solver = CbcSolver(Watch(bound=bounds.append), gapAbs=0.9)
    solver._follow([line])
    assert bounds == [pytest.approx(71.1, abs=1e-3)]


def test_cbc_claims_no_more_than_its_search_ended_with():
    # The linear programme after the search, from which the solution is written, ends infeasible.
    rows = np.array([13, 12, 2, 9, 14, 9, 11, 12, 14, 15, 1, 14, 13])
    samples = Samples(
        rows[:, None] // [8, 4, 2, 1] % 2,
        [0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1],
        [13, 1, 1, 1, 123437983, 81120, 12621, 87, 15701291, 3977117, 115786545, 88, 1974],
    )
    problem = MaxPrecision(samples, k=3, min_coverage="1/20")
    best = solve(problem, "search")
    result = solve(problem, "milp:cbc")
    assert result.objective == best.objective
    assert result.bound >= best.objective
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE)


def test_cbc_is_not_seeded_by_the_time_of_day(monkeypatch):
    from cpx.backends.milp.cbc import CbcSolver

    told = []
    follow = CbcSolver._follow

    def listening(self, lines):
        heard = list(lines)
        told.extend(heard)
        follow(self, heard)

    monkeypatch.setattr(CbcSolver, "_follow", listening)
    for seed in (0, 7):
        solve(instance(30, 6, 2), "milp:cbc", seed=seed)
    text = b"\n".join(told)
    assert b"randomSeed was changed" in text
    assert b"time of day" not in text


def test_cbc_without_the_preprocessing_that_loses_the_optimum():
    # CBC 2.10.3 calls 5276 optimal here unless preprocessing is off.
    problem = random_problem(8, kinds=KINDS[:2], limited=False)
    progress, outcome = run("cbc", problem, encoding="channelling")
    assert outcome.proved
    assert progress.objective == progress.best_bound == 5204


def test_cbc_is_told_of_threads_where_there_are_several():
    # With "threads 1" it starts a second one, and waits for it: now and then for 10 seconds.
    from cpx.backends.milp.cbc import CbcSolver

    assert "threads" not in " ".join(CbcSolver(threads=1).getOptions())
    assert "threads 2" in CbcSolver(threads=2).getOptions()


def test_cbc_leaves_no_files_and_no_process(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    start = processor_seconds()
    run("cbc", HARD, time_limit=0.8)
    assert processor_seconds() - start < 20
    assert list(tmp_path.iterdir()) == []


def test_unknown_solver():
    with pytest.raises(UnknownName, match="highs"):
        Milp("higs")


def test_no_engine_at_import():
    code = (
        "import sys; from cpx.backends.milp import Milp; Milp.available();"
        "print([m for m in ('cpmpy', 'pulp', 'highspy', 'ortools') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.strip() == "[]", printed.stderr


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_the_root_of_the_core_comes_first(solver, monkeypatch):
    rng = np.random.default_rng(3)
    agreement = rng.random((30, 6)) < 0.6
    problem = KMonomial(Samples(agreement, rng.random(30) < 0.5), k=3)
    optimum = solve(problem, "search").objective
    calls, found = [], []
    whole = Milp._solve

    def spy(self, statement, options, progress, share=None):
        calls.append((share, set(statement.variables), options.hint_features))
        if share is None or not found:
            return whole(self, statement, options, progress, share)
        progress.found(problem.explanation(found))
        return Outcome(False, Termination.COMPLETED)

    monkeypatch.setattr(Milp, "_solve", spy)
    core, every = {"X", "C", "U", "Z"}, {"X", "C", "U", "Z", "W", "Y"}
    nodes = {"highs": "mip_max_nodes", "cbc": "maxNodes"}[solver]
    for at_root, options, expected in (
        # What the root found is where the rest starts.
        ([4], {}, [(0.25, core, None), (None, every, (4,))]),
        ([], {"hint": [0]}, [(0.1, core, (0,))]),
        ([], {"engine": {nodes: 10**6}}, [(None, every, None)]),
        ([], {"encoding": "clausal"}, [(None, {"X", "C", "U"}, None)]),
    ):
        calls[:], found[:] = [], at_root
        result = solve(problem, f"milp:{solver}", warm_start=False, **options)
        assert (result.status, result.objective, result.bound) == ("OPTIMAL", optimum, optimum)
        assert calls == expected
