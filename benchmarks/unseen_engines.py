"""Every engine on fifty instances of real tables that none was tuned on: proofs, gaps, seconds.

1000 samples, 60 to 180 features, k = 5; tables, bins, distributions and rows x are drawn with a
seed, again where the exact search needs fewer than 2000 nodes, which is easy for all. The tables
are read from the directory that CPX_DATA names, and never copied. Each engine has 20 s of
processor time and one thread, and is asked twice: as it is by default, and *alone*, without a
warm start, so that the search contributes nothing.

CPX_UNSEEN_STORE names a file of JSON lines: finished runs are kept there, and a second start makes
what is missing. CPX_UNSEEN_ENGINES, CPX_UNSEEN_COLUMNS (``default``, ``alone``) and
CPX_UNSEEN_NUMBERS (as in ``0-11,30``) choose a part. CPX_UNSEEN_CPU is the limit, CPX_UNSEEN_SEED
the seed.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.papers.datasets import Dataset, Published
from benchmarks.papers.sources import Directory, Table
from benchmarks.tables import show
from cpx import KMonomial, solve
from cpx.answers.result import Result
from cpx.backends import backend
from cpx.options import SolveOptions
from cpx.solving.run import run

INSTANCES = 50
SEED = int(os.environ.get("CPX_UNSEEN_SEED", "20261128"))
SAMPLES, CONDITIONS = 1000, 5
FEWEST, MOST, NODES = 60, 180, 2000
ROWS = 2000
"""Of a table, at most, drawn anew for each instance."""
DISTRIBUTIONS = ("uniform", "uniform", "uniform", "product", "empirical")
TABLES = (
    *("ada_prior", "adult", "australian", "bank_marketing", "baseball", "california_housing"),
    *("cardiotocography_nsp", "compas_full", "covertype_sample", "credit_approval"),
    *("dermatology", "diabetes", "digits_3v5", "heart_cleveland", "heart_statlog", "hepatitis"),
    *("higgs_sample", "lymph", "mushroom", "primary_tumor", "stock", "vote"),
)
ENGINES = (
    *("cpsat", "maxsat:rc2", "maxsat:lsu", "maxsat:stratified"),
    *("milp:highs", "milp:cbc", "milp:scip"),
)
COLUMNS: dict[str, dict[str, Any]] = {
    "default": {},
    "alone": {"warm_start": False},
}
SECONDS = float(os.environ.get("CPX_UNSEEN_CPU", "20"))

Key = tuple[int, str, str]


class Drawn(NamedTuple):
    """What an instance is made of."""

    table: str
    bins: int
    distribution: str
    seed: int


def drawn(number: int, source: Directory) -> tuple[Drawn, KMonomial, Result]:
    """Draw until the number of features, and of nodes of the search, are those of the kind."""
    random = np.random.default_rng([SEED, number])
    while True:
        of = Drawn(
            str(random.choice(TABLES)),
            int(random.integers(3, 13)),
            str(random.choice(DISTRIBUTIONS)),
            int(random.integers(2**31)),
        )
        if FEWEST <= len(_binarizer(of, _rows(of, source)).groups_) <= MOST:
            asked = problem(of, source)
            best = solve(asked, "search", time_limit=60)
            if best.statistics.get("nodes", 0) >= NODES:
                return of, asked, best


@cache
def _whole(name: str, source: Directory) -> Table:
    none = Published(0.0, 0.0)
    return source.load(Dataset(name, 0, name, none, none, none))


def _rows(of: Drawn, source: Directory) -> Table:
    X, y, categorical = vars(_whole(of.table, source)).values()
    order = np.random.default_rng(of.seed).permutation(len(y))[:ROWS]
    return Table(X.iloc[order].reset_index(drop=True), y.iloc[order], categorical)


def _binarizer(of: Drawn, table: Table) -> Any:
    from cpx.data import Binarizer

    return Binarizer(of.bins, "uniform", table.categorical, dates=True).fit(table.X)


def problem(of: Drawn, source: Directory) -> KMonomial:
    """Train a perceptron on the binary features, and explain its prediction for a row."""
    from cpx.data.perceptron import MLPClassifier
    from cpx.models.monomial.explainers.rule import RuleExplainer

    table = _rows(of, source)
    binarizer = _binarizer(of, table)
    bits = binarizer.transform(table.X).astype(np.int8)
    classifier = MLPClassifier(random_state=0).fit(bits, np.asarray(table.y).astype(str))

    def predict(rows: Any) -> Any:
        return classifier.predict(binarizer.transform(rows).astype(np.int8))

    explainer = RuleExplainer(
        classifier if of.distribution == "uniform" else predict,
        table.X,
        n_bins=of.bins,
        strategy="uniform",
        distribution=of.distribution,
        categorical=table.categorical,
        seed=of.seed,
    )
    x = table.X.iloc[[int(np.random.default_rng(of.seed + 1).integers(len(table.y)))]]
    return KMonomial(explainer.samples(x, SAMPLES), CONDITIONS)


def _cell(asked: KMonomial, engine: str, column: str) -> dict[str, Any]:
    options = SolveOptions(cpu_limit=SECONDS, **COLUMNS[column])
    result = run(asked, engine, options, isolate=True)
    return {
        "status": str(result.status),
        "value": None if result.objective is None else int(result.objective),
        "bound": None if result.bound is None else int(result.bound),
        "gap": result.gap,
        "cpu": result.times.cpu,
        "encoding": result.encoding,
        "state": result.times.state,
    }


def _numbers() -> list[int]:
    found: list[int] = []
    for part in os.environ.get("CPX_UNSEEN_NUMBERS", f"0-{INSTANCES - 1}").split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _kept(store: str | None) -> dict[Key, dict[str, Any]]:
    if store is None or not Path(store).exists():
        return {}
    lines = [json.loads(line) for line in Path(store).read_text("utf-8").splitlines()]
    return {(line["number"], line["engine"], line["column"]): line for line in lines}


def _of_engine(cells: list[dict[str, Any]]) -> Iterator[object]:
    proved = [cell for cell in cells if cell["status"] == "OPTIMAL"]
    gaps = [1.0 if cell["gap"] is None else cell["gap"] for cell in cells if cell not in proved]
    yield len(cells)
    yield f"{100 * len(proved) / len(cells):.0f} %"
    yield statistics.median(cell["cpu"] for cell in proved) if proved else None
    yield f"{100 * statistics.median(gaps):.0f} %" if gaps else None
    yield sum(cell["value"] is None for cell in cells)
    yield sum(cell["value"] == cell["optimum"] for cell in cells)


def main() -> None:
    """Print a line for each engine and column."""
    place = os.environ.get("CPX_DATA")
    if place is None or not Path(place, "index.json").exists():
        print("unseen-engines: skipped, CPX_DATA names no directory of tables", file=sys.stderr)
        return
    source, store = Directory(Path(place)), os.environ.get("CPX_UNSEEN_STORE")
    wanted = os.environ.get("CPX_UNSEEN_ENGINES", ",".join(ENGINES)).split(",")
    engines = [name for name in wanted if backend(name).available()]
    columns = os.environ.get("CPX_UNSEEN_COLUMNS", ",".join(COLUMNS)).split(",")
    cells = _kept(store)
    for number in _numbers():
        missing = [
            (number, engine, column)
            for column in columns
            for engine in engines
            if (number, engine, column) not in cells
        ]
        if not missing:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            of, asked, best = drawn(number, source)
        about = {
            "table": of.table,
            "distribution": of.distribution,
            "d": asked.n_features,
            "optimum": int(best.objective) if best.proved and best.objective is not None else None,
            "search": best.times.cpu,
        }
        for key in missing:
            cell = {**dict(zip(("number", "engine", "column"), key, strict=True)), **about}
            cells[key] = cell = {**cell, **_cell(asked, key[1], key[2])}
            if store is not None:
                with open(store, "a", encoding="utf-8") as file:
                    file.write(json.dumps(cell) + "\n")
            print(json.dumps(cell), file=sys.stderr, flush=True)
    rows = []
    for engine in engines:
        for column in columns:
            of_both = [cells[n, engine, column] for n in _numbers()]
            rows.append([engine, column, *_of_engine(of_both)])
    show(
        f"{SAMPLES} samples, {FEWEST} to {MOST} features, {SECONDS:g} s of processor time",
        [
            *("engine", "column", "instances", "proved", "median s of a proof"),
            *("median gap of the others", "without a value", "with the optimum"),
        ],
        rows,
    )


if __name__ == "__main__":
    main()
