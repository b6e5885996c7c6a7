"""Minimum reasons of forests and boosted trees by CP-SAT, MaxSAT and MILP, alone and helped.

Two rows of each table and model: forests of 50 trees of depth 6 by vote, whose majoritary reasons
are sought, and gradient boosting of 100 trees of depth 3, whose tree-specific ones are. CPX_DATA
is a folder of ``*.csv.gz`` whose last column is ``target``; CPX_TABLES and CPX_ENGINES name some,
with commas; CPX_LIMIT is the processor time of a solve, CPX_SEED draws rows and models. Alone is
``warm_start=False``, without the reason of a deletion and without an encoding that counts.
"""

from __future__ import annotations

import os
import statistics

import numpy as np

from benchmarks.choice import chosen
from benchmarks.measuring import solve_by_cpu
from benchmarks.rule_sets_unseen import load
from benchmarks.tables import show
from cpx import SufficientReason
from cpx.trees import read_sklearn

TABLES = ("breast_cancer", "cardiotocography_nsp", "covertype_sample", "heart_statlog", "nomao",
          "stock")  # fmt: skip
ENGINES = ("cpsat", "maxsat:rc2", "milp:highs", "milp:cbc")
SEED = int(os.environ.get("CPX_SEED", "41"))
LIMIT = float(os.environ.get("CPX_LIMIT", "20"))
PATIENCE = 30
"""Seconds of a busy machine for each second of the processor, at most."""


def instances(name: str) -> dict[str, SufficientReason]:
    """Return the four questions about a table."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

    X, y = load(name)
    numbers = X.select_dtypes("number").dropna(axis=1)
    rng = np.random.default_rng([SEED, len(y)])
    # As the trees compare them.
    rows = numbers.to_numpy().astype(np.float32).astype(np.float64)
    some = rng.permutation(len(y))[:2000]
    forest = RandomForestClassifier(50, max_depth=6, random_state=SEED).fit(rows[some], y[some])
    boosted = GradientBoostingClassifier(n_estimators=100, random_state=SEED)
    boosted.fit(rows[some], y[some])
    models = {
        "majoritary": read_sklearn(forest, rule="vote"),
        "tree-specific": read_sklearn(boosted),
    }
    return {
        f"{name}, {definition}, row {row}": SufficientReason(
            model, rows[row], definition=definition
        )
        for definition, model in models.items()
        for row in some[:2].tolist()
    }


def main() -> None:
    """Print each solve, and the share proved and the median gap of the others."""
    if "CPX_DATA" not in os.environ:
        print("reason_engines: left out, CPX_DATA names no folder of tables")
        return
    problems = {
        name: problem
        for table in chosen("CPX_TABLES", dict.fromkeys(TABLES))
        for name, problem in instances(table).items()
    }
    lines, rows = [], []
    for engine in chosen("CPX_ENGINES", dict.fromkeys(ENGINES)):
        for helped in (False, True):
            gaps = []
            for name, problem in problems.items():
                found, spent, _ = solve_by_cpu(
                    problem, engine, LIMIT, patience=PATIENCE, warm_start=helped
                )
                gap = 0.0 if found.status == "OPTIMAL" else found.gap
                gaps.append(gap)
                how = found.encoding if helped else f"{found.encoding}, alone"
                lines.append([name, engine, how, found.objective, found.bound, f"{spent:.1f}"])
                print(*lines[-1], flush=True)
            left = [1.0 if gap is None else gap for gap in gaps if gap != 0]
            median = f"{100 * statistics.median(left):.0f} %" if left else ""
            unknown = sum(gap is None for gap in gaps)
            proved = f"{len(gaps) - len(left)} of {len(gaps)}"
            rows.append([engine, "helped" if helped else "alone", proved, median, unknown])
    show("Each solve", ["reason", "engine", "encoding", "value", "bound", "cpu s"], lines)
    head = ["engine", "", "proved", "median gap of the others", "without an answer"]
    show(f"Minimum reasons, {LIMIT:g} s of processor time", head, rows)


if __name__ == "__main__":
    main()
