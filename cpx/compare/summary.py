"""The summary of a comparison over all instances: sentences, and a row per configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from cpx.answers.explanation import Explanation
from cpx.answers.text import Block, Fact, Facts, Table, Tone
from cpx.compare.cases import Cases
from cpx.compare.scores import virtual_best
from cpx.support.shares import share_text

_MOST = 8  # configurations that get a sentence
_SHOWN = {
    "proved": "proved",
    "solved": "solved",
    "best": "best value",
    "par2": "PAR-2",
    "par2_cpu": "PAR-2, cpu",
    "to_proof": "to proof",
    "gap": "gap",
    "quality": "quality",
    "points": "points",
    "rank": "rank",
}


def summary(cases: Cases, scores: pd.DataFrame) -> list[Block]:
    """Return the table of scores and what is found, for the screen and for notebooks."""
    facts, last = [], ""
    for fact in findings(cases, scores):
        facts.append(fact._replace(name="" if fact.name == last else fact.name))
        last = fact.name
    return [scores_table(scores, cases.labels), Facts(tuple(facts))]


def scores_table(scores: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Return the scores that fit on a screen."""
    rows: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for name, row in scores.iterrows():
        counts = [f"{row[c]:.0f} of {row['runs']:.0f}" for c in ("proved", "solved", "best")]
        seconds = [in_seconds(row[c], "") for c in ("par2", "par2_cpu", "to_proof")]
        rest = [_number(row["gap"] * 100, 1, " %"), floored(row["quality"])]
        last = [_number(row["points"], 1), _number(row["rank"], 2)]
        if row["wrong"]:
            last[-1] = "WRONG"
        rows.append((labels[str(name)], *counts, *seconds, *rest, *last))
        tones.append("bad" if row["wrong"] else "")
    return Table(("engine", *_SHOWN.values()), tuple(rows), (0,), tuple(tones), "all instances")


def findings(cases: Cases, scores: pd.DataFrame) -> Iterator[Fact]:
    """Yield what there is to say as sentences, the most important first.

    What is refuted is not among them: it is said where its instance is.
    """
    ranked = scores.loc[scores["wrong"] == 0]
    for name, row in ranked.head(_MOST).iterrows():
        yield Fact("proved", _record(cases, str(name), row), _tone(row))
    if len(ranked) > _MOST:
        yield Fact("proved", f"{len(ranked) - _MOST} more are in the table.")
    if len(ranked) > 1:
        yield Fact("best", _together(cases, ranked))
    yield from _on_unseen(cases)
    once = cases.frame.loc[cases.frame["failed"] & ~cases.frame["again"], "configuration"]
    failed = once.value_counts().reindex(scores.index).dropna().astype(int)
    if len(failed):
        each = ", ".join(f"{cases.labels[str(name)]} {count}" for name, count in failed.items())
        runs = "1 run" if failed.sum() == 1 else f"{failed.sum()} runs"
        yield Fact("failed", f"{runs} failed: {each}", "bad")
    common = int((~np.isnan(cases.per_case("answer", cases.ranked)).any(axis=1)).sum())
    total = cases.frame["case"].nunique()
    if common < total:
        yield Fact("ranked", f"ranks are on the {common} of {total} cases that all have run")


def _record(cases: Cases, name: str, row: pd.Series[float]) -> str:
    """Say how many cases a configuration proves, in what time, and how it does on the others."""
    runs, proved = int(row["runs"]), int(row["proved"])
    told = f"{cases.labels[name]} proves {proved} of {runs}"
    own = cases.frame.loc[cases.frame["configuration"] == name]
    seconds = own.loc[own["proved"], "seconds"]
    if proved > 1:
        told += f", in {in_seconds(seconds.median())} at the median"
        told += f" and {in_seconds(seconds.max())} at most"
    elif proved:
        told += f", in {in_seconds(seconds.max())}"
    others = own.loc[~own["proved"]]
    best = int((others["solved"] & (others["place"] == 0)).sum())
    told += f"; has the best known value in {best} more" if best else ""
    given = int((own["from_start"] & (own["place"] == 0)).sum())
    return told + (f"; {given} of its best values are those of its start" if given else "")


def _together(cases: Cases, ranked: pd.DataFrame) -> str:
    """Say what the virtual best engine gains over the single best one."""
    best = virtual_best(cases)
    proved, first = int(best["proved"].sum()), str(ranked["proved"].idxmax())
    gain = proved - int(ranked["proved"].max())
    told = f"the virtual best engine proves {proved} of {len(best)}, "
    label = cases.labels[first]
    told += f"{gain} more than {label} alone" if gain else f"no more than {label} alone"
    alone = ranked.loc[ranked["proved_alone"] > 0, "proved_alone"]
    if len(alone):
        each = ", ".join(f"{cases.labels[str(name)]} {count:.0f}" for name, count in alone.items())
        told += f"; proved by one only: {each}"
    return told


def _on_unseen(cases: Cases) -> Iterator[Fact]:
    """Say what the best rules are worth on samples that no engine saw."""
    best: dict[int, Explanation] = {}
    columns = (cases.frame[name] for name in ("problem", "place", "solved"))
    for run, problem, place, solved in zip(cases.runs, *columns, strict=True):
        found = run.result.explanation
        if solved and place == 0 and found is not None and found.unseen is not None:
            best.setdefault(problem, found)
    # Rules that cover something on both sides can be compared.
    both = [(f, f.unseen) for f in best.values() if f.unseen and f.unseen.covered and f.precision]
    if both:
        seen, unseen = zip(*both, strict=True)
        told = [
            f"{what} {share_text(float(np.mean([getattr(f, what) for f in seen], dtype=float)))} "
            f"on the samples and "
            f"{share_text(float(np.mean([getattr(f, what) for f in unseen], dtype=float)))} on "
            "unseen ones"
            for what in ("precision", "coverage")
        ]
        one = len(both) == 1
        rules = (
            "the best rule has" if one else f"the best rules of {len(both)} instances have mean"
        )
        yield Fact("unseen", f"{rules} {', '.join(told)}")


def _tone(row: pd.Series[float]) -> Tone:
    return "good" if row["proved"] == row["runs"] else ""


def in_seconds(seconds: float, unit: str = " s") -> str:
    """Return a time with two or three digits that count.

    >>> in_seconds(0.00423), in_seconds(12.345), in_seconds(1234.5), in_seconds(math.inf)
    ('0.0042 s', '12.3 s', '1234 s', '-')
    """
    if not math.isfinite(seconds) or seconds < 0.0001:
        return f"0{unit}" if seconds < 1 else "-"
    power = math.floor(math.log10(seconds))
    return f"{seconds:.{max(0, 2 - power if power >= 0 else 1 - power)}f}{unit}"


def floored(share: float) -> str:
    """Return a share, rounded down: one that is only near the best value is not the best."""
    if math.isnan(share):
        return "-"
    count = 3
    while 0 < share < 1 and math.floor(10**count * share + 1e-9) == 0:
        count += 1
    return f"{math.floor(10**count * share + 1e-9) / 10**count:.{count}f}"


def _number(value: float, places: int, unit: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:.{places}f}{unit}"
