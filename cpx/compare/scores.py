"""Scores of configurations; the documentation's page on scores has each with its source."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpx.compare.cases import Cases

FloatArray = NDArray[np.float64]

_MEANS = ("par2", "par2_cpu", "quality", "gap", "primal_integral", "dual_integral")
_MEDIANS = ("to_best", "to_target", "to_proof")


def scores(cases: Cases, par: float = 2) -> pd.DataFrame:
    """Return a row of scores for each configuration, the best one first.

    With another factor ``par``, such as 10, there are columns ``par10`` and ``par10_cpu``, too.

    A configuration with a refuted claim stands last, without rank, points and contributions.
    """
    frame, names, ranked = cases.frame, cases.configurations, cases.ranked
    groups = frame.groupby("configuration")
    table = pd.DataFrame({"runs": groups.size()}).reindex(names)
    for name in ("solved", "proved", "wrong", "failed"):
        table[name] = groups[name].sum().astype(int)
    has_best = frame["solved"] & (frame["place"] == 0)
    table["best"] = has_best.groupby(frame["configuration"]).sum()
    table["rank"] = pd.Series(_mean(ranks(cases)), ranked)
    table["points"] = pd.Series(np.nansum(points(cases), axis=0), ranked)
    for name in _MEANS:
        # Instances count alike, however many seeds each was run with.
        table[name] = _mean(cases.per_problem(name, names))
    # Without a limit there is no penalty, and no mean that would not hide it.
    for name in ("par2", "par2_cpu"):
        table.loc[frame[name].isna().groupby(frame["configuration"]).any(), name] = np.nan
    if par != 2:
        table = table.join(_penalised(cases, par))
    for name in _MEDIANS:
        table[name] = groups[name].median()
    alone, contribution = _contributions(cases)
    table["proved_alone"] = pd.Series(alone, ranked)
    table["contribution"] = pd.Series(contribution, ranked)
    open_share = 1 - table["proved"] / table["runs"]
    order = table.assign(open=open_share).sort_values(["rank", "open", "par2"], kind="stable")
    return table.loc[order.index].rename_axis("configuration")


def _penalised(cases: Cases, par: float) -> pd.DataFrame:
    """Return the mean seconds and processor seconds with so many times the limit for no proof."""
    frame, own = cases.frame, pd.DataFrame(index=cases.configurations)
    for column, limit, name in (
        ("seconds", "limit", f"par{par:g}"),
        ("cpu", "cpu_limit", f"par{par:g}_cpu"),
    ):
        penalty = par * frame[limit].where(np.isfinite(frame[limit]))
        given = frame[column].where(frame["proved"], penalty)
        groups = [frame["problem"], frame["configuration"]]
        means = given.groupby(groups).agg(lambda v: v.mean(skipna=False)).unstack()
        own[name] = means.mean(skipna=False).reindex(cases.configurations)
    return own


def standings(cases: Cases) -> FloatArray:
    """Return how good each answer is, cases by ranked configurations; the less, the better.

    An answer is better than none, a proved one better than one that is not, a better value better
    than a worse one, and of two proofs the faster one.
    """
    answer, proved, seconds = (
        cases.per_case(name, cases.ranked) for name in ("answer", "proved", "seconds")
    )
    return np.where(proved == 1, seconds / (1 + seconds), answer)


def ranks(cases: Cases) -> FloatArray:
    """Return the mean rank of each ranked configuration on each instance, 1 for the best.

    Only cases count that all have; equal answers share their ranks.
    """
    standing = pd.DataFrame(standings(cases))
    complete = standing.notna().all(axis=1)
    return cases.by_problem(standing.where(complete).rank(axis=1).to_numpy())


def points(cases: Cases) -> FloatArray:
    """Return points by the complete scoring of the MiniZinc Challenge, cases by ranked."""
    names = cases.ranked
    answer, solved, seconds, horizon = (
        cases.per_case(name, names) for name in ("answer", "solved", "seconds", "horizon")
    )
    seconds = np.minimum(seconds, horizon)
    given = np.where(np.isnan(answer), np.nan, 0.0)
    for i in range(len(names)):
        for j in range(len(names)):
            if i == j:
                continue
            total = seconds[:, i] + seconds[:, j]
            share = np.divide(seconds[:, j], total, out=np.full_like(total, 0.5), where=total > 0)
            point = np.select(
                [answer[:, i] < answer[:, j], answer[:, i] == answer[:, j]], [1.0, share], 0.0
            )
            given[:, i] += np.where(solved[:, i] == 1, point, 0.0)
    return given


def virtual_best(cases: Cases) -> pd.DataFrame:
    """Return the best answer in each case, and the configuration that gave it."""
    standing = standings(cases)
    some = np.flatnonzero(~np.isnan(standing).all(axis=1))
    winners = np.nanargmin(standing[some], axis=1) if len(some) else []
    position = {
        key: i for i, key in enumerate(zip(cases.frame["case"], cases.frame["configuration"]))
    }
    chosen = [position[case, cases.ranked[w]] for case, w in zip(some, winners, strict=True)]
    rows, runs = cases.frame.iloc[chosen], [cases.runs[i] for i in chosen]
    return pd.DataFrame(
        {
            "instance": [run.instance for run in runs],
            "seed": [run.seed for run in runs],
            "limit": rows["limit"].to_numpy(),
            "configuration": rows["configuration"].where(rows["solved"], "").to_numpy(),
            "value": [run.result.objective for run in runs],
            "solved": rows["solved"].to_numpy(),
            "proved": rows["proved"].to_numpy(),
            "par2": rows["par2"].to_numpy(),
        }
    )


def _contributions(cases: Cases) -> tuple[FloatArray, FloatArray]:
    """Return what each adds to the virtual best: cases it alone proves, and seconds of PAR-2."""
    proved, par2 = (cases.per_case(name, cases.ranked) for name in ("proved", "par2"))
    proved = proved == 1
    alone = (proved & (proved.sum(axis=1, keepdims=True) == 1)).sum(axis=0)
    together = _least(par2)
    without = [
        _mean(cases.by_problem((_least(np.delete(par2, i, axis=1)) - together)[:, None]))[0]
        for i in range(par2.shape[1])
    ]
    return alone.astype(np.float64), np.array(without)


def _least(seconds: FloatArray) -> FloatArray:
    """Return the least of each row; NaN where there is none."""
    return np.asarray(pd.DataFrame(seconds).min(axis=1), dtype=np.float64)


def _mean(values: FloatArray) -> FloatArray:
    """Return the mean of each column over the rows that it has; NaN where it has none."""
    return np.asarray(pd.DataFrame(values).mean(), dtype=np.float64)
