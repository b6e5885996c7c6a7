"""Whether differences between configurations are more than chance: tests and intervals.

Instances are the units: the seeds of one are not independent of each other, and are averaged.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from cpx.compare.cases import Cases
from cpx.compare.scores import standings

FloatArray = NDArray[np.float64]

_FEW = 13  # of so many differences at most, all assignments of signs are tried


def pairs(cases: Cases, score: str = "par2") -> pd.DataFrame:
    """Return a row for each two ranked configurations: wins, ties, and a test of a score."""
    names, standing = cases.ranked, standings(cases)
    values = cases.per_problem(score, names)
    rows = []
    for i, j in combinations(range(len(names)), 2):
        first, second = standing[:, i], standing[:, j]
        difference = values[:, i] - values[:, j]
        difference = difference[np.isfinite(difference)]
        rows.append(
            {
                "first": names[i],
                "second": names[j],
                "cases": int((~np.isnan(first) & ~np.isnan(second)).sum()),
                "wins": int((first < second).sum()),
                "ties": int((first == second).sum()),
                "losses": int((first > second).sum()),
                "instances": len(difference),
                "difference": float(np.median(difference)) if len(difference) else np.nan,
                "p": signed_rank(difference),
            }
        )
    columns = ["first", "second", "cases", "wins", "ties", "losses", "instances", "difference"]
    table = pd.DataFrame(rows, columns=[*columns, "p"])
    return table.assign(p_holm=holm(table["p"].to_numpy(np.float64)))


def signed_rank(differences: FloatArray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test, by Pratt's rule for zeros.

    Of few differences all assignments of signs are tried, so that ties and zeros do no harm.

    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    0.0625
    >>> signed_rank(np.zeros(3))
    1.0
    """
    differences = np.asarray(differences, dtype=np.float64)
    if not differences.any():
        return 1.0 if len(differences) else np.nan
    if len(differences) > _FEW:
        return float(stats.wilcoxon(differences, zero_method="pratt").pvalue)
    signed = np.sign(differences) * stats.rankdata(np.abs(differences))
    signed = signed[signed != 0]
    if len(signed) == 1:
        return 1.0  # which scipy takes for no sample
    found = stats.permutation_test((signed,), np.sum, permutation_type="samples", vectorized=True)
    return float(found.pvalue)


def holm(p: FloatArray) -> FloatArray:
    """Return p-values corrected for their number by Holm's method; NaN stays NaN.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps * p[order]))
    return corrected


def intervals(
    cases: Cases,
    names: tuple[str, ...] = ("proved", "par2", "quality"),
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Return bootstrap intervals of mean scores, by drawing instances with replacement."""
    rows = []
    for name in names:
        values = cases.per_problem(name, cases.configurations)
        for c, configuration in enumerate(cases.configurations):
            column = values[:, c]
            column = column[~np.isnan(column)]
            low, high = _interval(column, confidence, resamples, seed)
            mean = float(column.mean()) if len(column) else np.nan
            rows.append((name, configuration, len(column), mean, low, high))
    columns = ["score", "configuration", "instances", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns).set_index(["score", "configuration"])


def _interval(
    values: FloatArray, confidence: float, resamples: int, seed: int
) -> tuple[float, float]:
    if len(values) < 2:
        return np.nan, np.nan  # one instance says nothing of others
    found = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        method="percentile",
        batch=max(1, 10**7 // len(values)),
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
