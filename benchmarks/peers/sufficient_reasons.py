"""Sufficient reasons of forests that vote, by cpx and by PyXAI: sizes, bounds, seconds, validity.

PyXAI is asked if CPX_PYXAI names a Python that has it; see :mod:`benchmarks.peers.pyxai`.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.forests import DATA, forest, table
from benchmarks.judging import needs_all, share, valid
from benchmarks.measuring import solve_by_cpu
from benchmarks.peers import pyxai as pyxai_peer
from benchmarks.tables import show
from cpx import SufficientReason
from cpx.models.sufficient_reason.methods.deletion import delete_from_reason, lightest_last
from cpx.models.sufficient_reason.methods.orders import few_by_statement
from cpx.trees import TreeModel, read_sklearn

ROWS = int(os.environ.get("CPX_PEERS_ROWS", "20"))
LIMIT = float(os.environ.get("CPX_PEERS_LIMIT", "5"))
CAP = 2 * LIMIT
FEW = 5  # rows for the calls that end at a limit every time
FORESTS = (
    (DATA[0], 11, 4),
    (DATA[0], 25, 8),
    (DATA[0], 50, 6),
    (DATA[1], 25, 8),
    (DATA[2], 25, 8),
)
LEVELS = ("conditions", "attributes")
HEAD = ["method", "rows", "answers", "mean size", "mean bound", "conditions", "valid, %",
        "subset-minimal, %", "median CPU s", "worst CPU s", "worst wall s",
        "limit kept, %"]  # fmt: skip


@dataclass
class Answer:
    """What a method said of one row, and its seconds."""

    features: tuple[int, ...] | None
    bound: int | None
    cpu: float
    wall: float
    conditions: int | None = None
    valid: bool | None = None
    minimal: bool | None = None
    judge: str = ""


# ------------------------------------------------------------------------- cpx


def deleted(problem: SufficientReason) -> tuple[int, ...]:
    """Delete as the engine ``deletion`` does, without check."""
    form = problem.form()
    assert form.oracle is not None
    oracle = form.oracle()
    oracle.restores = False
    few = few_by_statement(form, 0, lambda: False)
    reason = oracle.everything if few is None else oracle.bits(few)
    assert oracle.change(oracle.everything & ~reason) is None
    order = lightest_last(form.weights, oracle, reason, np.random.default_rng(0))
    reason, _ = delete_from_reason(oracle, reason, order, lambda _: None)
    return tuple(sorted(oracle.features(reason)))


def _deleting(problem: SufficientReason) -> Answer:
    start, cpu = time.perf_counter(), time.process_time()
    found = deleted(problem)
    return Answer(found, None, time.process_time() - cpu, time.perf_counter() - start)


def _solving(problem: SufficientReason, engine: str, definition: str) -> Answer:
    cpu = time.process_time()
    stated = replace(problem, definition=definition)
    stating = time.process_time() - cpu
    result, cpu, wall = solve_by_cpu(stated, engine, LIMIT)
    features = None if result.explanation is None else result.explanation.features
    return Answer(features, result.bound, stating + cpu, wall)


OURS = {
    "cpx deletion": _deleting,
    "cpx hitting-sets": lambda p: _solving(p, "hitting-sets", "sufficient"),
    "cpx best-of-orders:50, majoritary": lambda p: _solving(p, "best-of-orders:50", "majoritary"),
    "cpx cpsat, majoritary": lambda p: _solving(p, "cpsat", "majoritary"),
    "cpx maxsat, majoritary": lambda p: _solving(p, "maxsat", "majoritary"),
    "cpx milp, majoritary": lambda p: _solving(p, "milp", "majoritary"),
}


def ours(model: TreeModel, rows: np.ndarray, level: str) -> dict[str, list[Answer]]:
    """Ask cpx, and check what it says."""
    out: dict[str, list[Answer]] = {name: [] for name in OURS}
    for number, x in enumerate(rows):
        problem = SufficientReason(model, x, level=level)
        for name, method in OURS.items():
            answer = method(problem)
            if answer.features is not None:
                answer.valid, answer.judge = valid(problem, answer.features)
                definition = "majoritary" if "majoritary" in name else "sufficient"
                answer.minimal = needs_all(
                    replace(problem, definition=definition), answer.features
                )
            out[name].append(answer)
        print(f"  {level}: row {number + 1} of {len(rows)}", file=sys.stderr)
    return out


# ----------------------------------------------------------------------- PyXAI


def _calls() -> list[pyxai_peer.Call]:
    limited: dict[str, Any] = {"time_limit": LIMIT}
    few = min(ROWS, FEW)
    calls = []
    for theory in (False, True):
        calls += [
            pyxai_peer.Call("sufficient_reason", theory, limited, ROWS),
            pyxai_peer.Call("majoritary_reason", theory, {"n_iterations": 50, "seed": 1}, ROWS),
            pyxai_peer.Call("minimal_majoritary_reason", theory, limited, few if theory else ROWS),
        ]
    return [*calls, pyxai_peer.Call("minimal_sufficient_reason", False, limited, few)]


def theirs(
    model: TreeModel, rows: np.ndarray, told: dict[str, Any]
) -> dict[str, dict[str, list[Answer]]]:
    """Read and check what PyXAI said: by level, then by method."""
    out: dict[str, dict[str, list[Answer]]] = {level: {} for level in LEVELS}
    for one in told["found"]:
        answer = Answer(None, None, one["cpu"], one["wall"])
        theory = one["name"].endswith("theory")
        if one["reason"]:
            answer.conditions = len(one["reason"])
            _judge(answer, model, rows[one["row"]], one["reason"], theory, "major" in one["name"])
        level = "attributes" if theory else "conditions"
        out[level].setdefault(f"PyXAI {one['name']}", []).append(answer)
    return out


def _judge(
    answer: Answer,
    model: TreeModel,
    x: np.ndarray,
    reason: list[list[Any]],
    theory: bool,
    majoritary: bool,
) -> None:
    definition = "majoritary" if majoritary else "sufficient"
    if not theory:
        problem = SufficientReason(model, x, level="conditions")
        answer.features = pyxai_peer.as_conditions(model, reason)
        answer.valid, answer.judge = valid(problem, answer.features)
        answer.minimal = needs_all(replace(problem, definition=definition), answer.features)
        return
    answer.features = pyxai_peer.as_columns(reason)
    problem = SufficientReason(pyxai_peer.within(model, reason), x)
    answer.valid, answer.judge = valid(problem, ())
    answer.minimal = not any(
        SufficientReason(pyxai_peer.within(model, rest), x, definition=definition).enough(())
        for rest in ([v for v in reason if v is not left] for left in reason)
    )


# ---------------------------------------------------------------------- tables


def _line(name: str, answers: list[Answer]) -> list[Any]:
    found = [a for a in answers if a.features is not None]
    bounds = [float(a.bound) for a in answers if a.bound is not None]
    counted = [a.conditions for a in found if a.conditions is not None]
    cpu = [a.cpu for a in answers]
    kept = [t <= 1.05 * LIMIT + 1 for t in cpu]
    return [
        name,
        len(answers),
        len(found),
        statistics.mean(len(a.features or ()) for a in found) if found else None,
        statistics.mean(bounds) if bounds else None,
        statistics.mean(counted) if counted else None,
        share([a.valid for a in found]),
        share([a.minimal for a in found]),
        statistics.median(cpu),
        max(cpu),
        max(a.wall for a in answers),
        share(kept),
    ]


def compare(name: str, trees: int, depth: int) -> None:
    """Print the tables of one forest."""
    data, fitted = table(name), forest(name, trees, depth)
    rows = data.rows(ROWS)
    model = read_sklearn(fitted, rule="vote", attributes=data.names)
    voted = model.predict(rows)
    differ = int((voted != fitted.predict(rows)).sum())
    of_all = int((model.predict(data.X) != fitted.predict(data.X)).sum())
    peer: dict[str, dict[str, list[Answer]]] = {level: {} for level in LEVELS}
    said = "PyXAI skipped: CPX_PYXAI names no Python that has it"
    if pyxai_peer.interpreter() is not None:
        told = pyxai_peer.ask(fitted, rows, data.names, _calls(), CAP)
        peer = theirs(model, rows, told)
        other = {f["row"] for f in told["found"] if f["class"] != voted[f["row"]]}
        failed = sorted({f["error"] for f in told["found"] if f["error"]})
        versions = ", ".join(f"{k} {v}" for k, v in told["versions"].items())
        ready = statistics.median(f["preparing"] for f in told["found"])
        said = (
            f"{versions}; another class on {len(other)} rows; setting a row takes {ready:.3g} s "
            f"more; errors: {failed or 'none'}"
        )
    sizes = f"{trees} trees, depth {depth}, {int(model.sizes.sum())} thresholds"
    print(f"\n## {name}, {sizes}, {len(rows)} rows, limit {LIMIT:g} CPU s\n")
    print(
        f"votes and averages differ on {differ} rows of these, {of_all} of {len(data.X)}; {said}"
    )
    for level in LEVELS:
        answers = {**peer[level], **ours(model, rows, level)}
        show(f"level {level}", HEAD, [_line(*item) for item in answers.items()])
        by_oracle = sum(a.judge == "oracle" for item in answers.values() for a in item)
        print(f"\ndecided by the oracle, where the checker gave up: {by_oracle}")


def main() -> None:
    """Print the tables of all forests."""
    _deleting(SufficientReason(read_sklearn(forest(DATA[2], 2, 2)), table(DATA[2]).X[0]))  # loads
    for setting in FORESTS:
        compare(*setting)


if __name__ == "__main__":
    main()
