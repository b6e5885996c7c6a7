"""Rule-set selection by CP-SAT, MaxSAT and MILP, with and without a bound by cost splitting.

A thousand rows of each table, a label in twenty changed; the candidates are the paths of at most
four tests of a forest of 40 trees, and a rule costs a hundredth of the rows. CPX_DATA is a folder
of ``*.csv.gz`` whose last column is ``target``; CPX_TABLES and CPX_ENGINES name some, with
commas; CPX_LIMIT is the processor time of a solve. Engines begin with the set of a local search.
"""

from __future__ import annotations

import os
import statistics

import numpy as np

from benchmarks.choice import chosen
from benchmarks.measuring import solve_by_cpu
from benchmarks.rule_sets_unseen import load
from benchmarks.tables import show
from cpx import RuleSetSelection
from cpx.models.rule_set.methods.candidates import Literals, forest_paths

TABLES = (
    *("australian", "compas", "covertype_sample", "credit_approval", "diabetes", "heart_statlog"),
    *("hepatitis", "monks2", "nomao", "stock", "tic_tac_toe", "vote"),
)
ENGINES = {
    "cpsat": "bounded",
    "maxsat:rc2": "narrowed",
    "maxsat:stratified": "narrowed",
    "milp:highs": "bounded",
    "milp:cbc": "bounded",
}
"""With the encoding that each one chooses."""

LIMIT = float(os.environ.get("CPX_LIMIT", "20"))
PATIENCE = 30
"""Seconds of a busy machine for each second of the processor, at most."""


def task(name: str, seed: int = 7) -> RuleSetSelection:
    """Return the selection that is asked for a table."""
    X, y = load(name)
    rng = np.random.default_rng([seed, len(y)])
    rows = rng.permutation(len(y))[:1000]
    table, same = X.iloc[rows].reset_index(drop=True), y[rows] == 1
    same ^= rng.random(len(same)) < 0.05
    literals = Literals.of_table(table, n_bins=10)
    rules = forest_paths(literals, same, k=4, trees=40, seed=seed)
    return literals.problem(rules, same, penalty="0.01", context={"class": name})


def main() -> None:
    """Print each solve, and the share proved and the median gap of the others."""
    if "CPX_DATA" not in os.environ:
        print("rule_set_engines: left out, CPX_DATA names no folder of tables")
        return
    problems = {name: task(name) for name in chosen("CPX_TABLES", dict.fromkeys(TABLES))}
    lines, rows = [], []
    for engine in chosen("CPX_ENGINES", dict.fromkeys(ENGINES)):
        for encoding in ("signature", ENGINES[engine]):
            gaps = []
            for name, problem in problems.items():
                found, spent, _ = solve_by_cpu(problem, engine, LIMIT, encoding, PATIENCE)
                gap = 0.0 if found.status == "OPTIMAL" else found.gap
                gaps.append(gap)
                lines.append(
                    [name, engine, encoding, found.objective, found.bound, f"{spent:.1f}"]
                )
                print(*lines[-1], flush=True)
            left = [1.0 if gap is None else gap for gap in gaps if gap != 0]
            median = f"{100 * statistics.median(left):.0f} %" if left else ""
            rows.append([engine, encoding, f"{len(gaps) - len(left)} of {len(gaps)}", median])
    show("Each solve", ["table", "engine", "encoding", "value", "bound", "cpu s"], lines)
    head = ["engine", "encoding", "proved", "median gap of the others"]
    show(f"Rule sets, {LIMIT:g} s of processor time", head, rows)


if __name__ == "__main__":
    main()
