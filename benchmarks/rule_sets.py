"""Rule-set selection: engines with and without the warm start of local search, by encoding.

The task: 1000 points between two rows of the breast cancer table each, labelled by a neural
network that was trained on the table, one label in twenty flipped. Candidates are the paths of
at most 4 tests of a random forest over thresholds of the columns. A rule costs a hundredth of
the samples.
"""

from __future__ import annotations

import os
import statistics
import time
import warnings

import numpy as np
import pandas as pd

from benchmarks.tables import show
from cpx import RuleSetSelection, solve
from cpx.backends import backend
from cpx.backends.base import Progress
from cpx.data import named_classifier
from cpx.models.rule_set.methods.candidates import Literals, forest_paths
from cpx.models.rule_set.presolve import presolve
from cpx.options import SolveOptions

M = int(os.environ.get("CPX_RULE_SETS_M", "1000"))
LIMIT = float(os.environ.get("CPX_RULE_SETS_LIMIT", "20"))
ENGINES = ("search", "cpsat", "milp:highs", "milp:cbc", "maxsat:rc2", "maxsat:lsu")
ENCODINGS = ("signature", "channelling", "hamming")
REPEATS = 3


def task(m: int = M, trees: int = 40, noise: float = 0.05, seed: int = 0) -> RuleSetSelection:
    """Return the task with so many samples."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        black_box = named_classifier("mlp", 0).fit(X, y)
    rng = np.random.default_rng(seed)
    first, second = (X.to_numpy()[rng.integers(len(X), size=m)] for _ in range(2))
    share = rng.random((m, 1))
    rows = pd.DataFrame(share * first + (1 - share) * second, columns=X.columns)
    same = (np.asarray(black_box.predict(rows)) == 0) ^ (rng.random(m) < noise)
    literals = Literals.of_table(rows, n_bins=10)
    rules = forest_paths(literals, same, k=4, trees=trees, seed=seed)
    return literals.problem(rules, same, penalty="0.01", context={"class": "malignant"})


def cold(problem: RuleSetSelection, engine: str, limit: float = LIMIT) -> Progress:
    """Let an engine solve the problem without a start."""
    progress = Progress(problem, SolveOptions(time_limit=limit))
    backend(engine).solve(problem, progress.options, progress)
    return progress


def main() -> None:
    """Print the task, the engines and the encodings."""
    problem = task()
    form = presolve(problem.selection_form)
    rows = int(np.count_nonzero(form.form.weights))
    title = f"{problem.n_features} candidates, {len(form.kept)} after the presolve, "
    title += f"{problem.samples.total} samples, {rows} signatures"
    start = solve(problem, "local-search")
    solve(problem, "search", time_limit=0.5)  # loads the kernels
    table: list[list[object]] = [
        ["local-search", start.objective, None, None, None, start.times.cpu]
    ]
    for engine in ENGINES:
        alone, warm = cold(problem, engine), solve(problem, engine, time_limit=LIMIT)
        figures = [alone.objective, alone.best_bound, warm.objective, warm.bound]
        table.append([engine, *figures, warm.times.cpu])
    head = ["engine", "cold", "its bound", "from the start", "its bound", "cpu s"]
    show(f"{title}; limit {LIMIT:g} s", head, table)

    table = []
    for encoding in ENCODINGS:
        result = solve(problem, "cpsat", encoding=encoding, time_limit=LIMIT)
        sizes = [result.sizes[key] for key in ("variables", "constraints")]
        spent = [result.times.state, result.times.compile]
        table.append([encoding, *sizes, *spent, result.objective, result.bound])
    head = ["encoding", "variables", "constraints", "state s", "compile s", "value", "bound"]
    show(f"encodings by CP-SAT, limit {LIMIT:g} s", head, table)

    spent = []
    for _ in range(REPEATS):
        begun = time.process_time()
        found = solve(problem, "search")
        spent.append(time.process_time() - begun)
    proof = f"{found.status} {found.objective}, {found.raw_status}"
    print(f"\nsearch to the end: {proof}, {statistics.median(spent):.2f} s of processor time")


if __name__ == "__main__":
    main()
