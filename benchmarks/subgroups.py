"""The best subgroup by weighted relative accuracy: the exact search compared with pysubgroup.

A subgroup S of n samples, p of them positive, in N samples with P positive has the weighted
relative accuracy n/N (p/n - P/N), the sum over its samples of (y_i N - P) / N^2: a weighted
monomial. Breast cancer, three quantiles of each column as thresholds, both signs.
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec

import numpy as np

from benchmarks.measuring import in_own_process
from benchmarks.tables import show

SIZES = (2, 3, 4, 5)
REPEATS = 3


def literals() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the table of literals, the target, and the names of the literals."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    columns, names = [], []
    for name, column in zip(data.feature_names, data.data.T, strict=True):
        for threshold in np.quantile(column, (0.25, 0.5, 0.75)):
            columns += [column <= threshold, column > threshold]
            names += [f"{name} <= {threshold:.6g}", f"{name} > {threshold:.6g}"]
    return np.column_stack(columns), data.target == 1, names


def searched(k: int) -> dict[str, object]:
    """Solve by the exact search."""
    from cpx.models.monomial.search.max_weight import max_weight_monomials

    table, target, names = literals()
    total, positive = target.size, int(target.sum())
    weights = target * total - positive
    max_weight_monomials(table[:50, :8], weights[:50], 3)  # loads the kernels
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        found = max_weight_monomials(table, weights, k)
        seconds.append(time.process_time() - start)
    return {
        "value": float(found.weights[0]) / total**2,
        "bound": float(found.bound) / total**2,
        "seconds": min(seconds),
        "rule": " and ".join(names[j] for j in found.features[0]),
    }


def subgrouped(k: int) -> dict[str, object]:
    """Solve by pysubgroup: depth first on bitsets, with its optimistic estimates."""
    import pandas as pd
    import pysubgroup as ps

    table, target, names = literals()
    frame = pd.DataFrame(table, columns=names)
    frame["target"] = target
    space = [ps.EqualitySelector(name, True) for name in names]
    task = ps.SubgroupDiscoveryTask(
        frame,
        ps.BinaryTarget("target", True),
        space,
        result_set_size=1,
        depth=k,
        qf=ps.StandardQF(1),
    )
    start = time.process_time()
    found = ps.DFS(ps.BitSetRepresentation).execute(task)
    seconds = time.process_time() - start
    quality, subgroup, _ = found.results[0]
    return {"value": quality, "bound": quality, "seconds": seconds, "rule": str(subgroup)}


def main() -> None:
    """Print the table."""
    with_pysubgroup = find_spec("pysubgroup") is not None
    if not with_pysubgroup:
        print("subgroups: pysubgroup is not installed, its column stays empty", file=sys.stderr)
    rows = []
    for k in SIZES:
        ours = in_own_process(searched, k)["value"]
        theirs = in_own_process(subgrouped, k)["value"] if with_pysubgroup else {}
        seconds, slow = ours["seconds"], theirs.get("seconds")
        rows.append(
            [
                k,
                f"{ours['value']:.6f}",
                f"{ours['bound']:.6f}",
                f"{theirs['value']:.6f}" if theirs else None,
                seconds,
                slow,
                slow / seconds if slow else None,
            ]
        )
    show(
        "best subgroup of breast cancer, 180 literals, one thread",
        ["k", "value", "bound", "pysubgroup's", "search, CPU s", "pysubgroup, CPU s", "ratio"],
        rows,
    )


if __name__ == "__main__":
    main()
