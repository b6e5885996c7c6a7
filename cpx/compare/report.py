"""One page of HTML about a comparison, with its figures and tables, that needs no network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.answers.pages import filled_page, trusted
from cpx.answers.values import Value, decimal, digits
from cpx.compare.cases import Cases
from cpx.compare.plots import COLOURS, anytime, cactus, profile
from cpx.compare.report_tables import DEFINITIONS, grids
from cpx.compare.scores import scores as scores_of
from cpx.compare.summary import findings
from cpx.compare.table import cautions, outcome
from cpx.errors import EngineMissing, printable
from cpx.support.shares import share_text

if TYPE_CHECKING:
    from cpx.compare.comparison import Comparison
    from cpx.compare.records import Run

_MOST_VISIBLE = 8  # configurations that figures show before a reader asks for more
_TABLES = ("scores", "settings", "pairs", "intervals", "explanations", "errors")
_LIMITS = ("time_limit", "cpu_limit", "threads", "seed", "gap")
_PER_RUN = ("load", "started")  # of which each run has its own
_POINTS, _FEWEST_POINTS = 120_000, 10  # of all traces together, and of each run


def require_report() -> None:
    """Raise EngineMissing with the pip line unless the packages of reports are installed."""
    missing = [name for name in ("jinja2", "plotly") if find_spec(name) is None]
    if missing:
        raise EngineMissing(
            f"reports need {' and '.join(missing)}: pip install {' '.join(missing)}"
        )


def as_html(comparison: Comparison, title: str = "") -> str:
    """Return a comparison as one page that opens without a network.

    Parameters
    ----------
    comparison : Comparison
    title : str
        Heading of the page; says how many engines and instances when not given.
    """
    require_report()
    from plotly.offline import get_plotlyjs

    cases = comparison.cases()
    scores = scores_of(cases)
    order = [str(name) for name in scores.index]
    tables = grids(cases, scores)
    instances, runs = len(cases.problems), int((~cases.frame["again"]).sum())
    told = title or f"{_count(len(order), 'configuration')} on {_count(instances, 'instance')}"
    return filled_page(
        "cpx.compare",
        "page",
        _data(cases, order),
        plotly=trusted(get_plotlyjs()),
        title=printable(told),
        lead=_lead(comparison, runs),
        refuted=[
            (printable(cases.runs[i].instance), printable(text))
            for i, text in cases.refuted.items()
            if not cases.frame["again"].iloc[i]
        ],
        findings=[
            {"text": printable(fact.text), "tone": fact.tone} for fact in findings(cases, scores)
        ],
        skipped=[
            (printable(text) for text in (pair.instance, pair.configuration, pair.reason))
            for pair in comparison.skipped
        ],
        tables={**dict.fromkeys(_TABLES), **tables},
        sized=any(run.result.sizes for run in cases.runs),
        many=len(order) > _MOST_VISIBLE,
        most=_MOST_VISIBLE,
        sections=_sections({*tables, *(["errors"] if comparison.skipped else [])}),
        scores_note=_scores_note(cases),
        precision_note=_precision_note(cases),
        record=_record(comparison),
        cautions=[printable(text) for text in cautions(comparison.runs)],
        definitions=DEFINITIONS.items(),
    )


# --------------------------------------------------------------------- words


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _lead(comparison: Comparison, runs: int) -> str:
    told = [_count(runs, "run")]
    limits = {run.result.options.get("time_limit") for run in comparison.runs}
    known = sorted(limit for limit in limits if limit is not None)
    if known:
        told.append(f"at most {' or '.join(f'{limit:g}' for limit in known)} s each")
    threads = sorted({run.result.options.get("threads", 1) for run in comparison.runs})
    told.append(f"{' or '.join(map(str, threads))} thread{'s' * (threads != [1])}")
    if not comparison.complete:
        told.append("interrupted: not all runs were made")
    return ", ".join(told) + "."


def _sections(tables: set[str]) -> list[tuple[str, str]]:
    names = ["summary", "figures", "pairs", "explanations", "runs", "errors", "record"]
    there = [n for n in names if n not in ("pairs", "errors") or n in tables]
    return [(name, name.capitalize()) for name in (*there, "definitions")]


def _scores_note(cases: Cases) -> str:
    seeds = cases.frame["case"].nunique() > len(cases.problems)
    unit = "Cases are instances with a seed and limits; means are over instances." if seeds else ""
    if cases.frame["again"].any():
        unit += " The run of an engine that ignores the seed stands for each seed."
    return f"The best configuration comes first, by rank. {unit}".strip()


def _precision_note(cases: Cases) -> str:
    found = [run.result.explanation for run in cases.runs]
    if not any(f is not None and f.precision is not None for f in found):
        return "They have no precision: what they say holds for all rows."
    if any(f is not None and f.fresh is not None for f in found):
        return "Precision and coverage are on the samples; fresh: on samples drawn afterwards."
    if any(f is not None and f.unseen is not None for f in found):
        return "Precision and coverage are on the samples; unseen: on samples no engine saw."
    return (
        "Precision and coverage are on the samples of the instance. These instances have no "
        "unseen samples, so there are no figures outside the sample."
    )


def _record(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what a reader has to know of machines, versions and options to trust the times."""
    told: dict[str, dict[str, None]] = {}
    for run in comparison.runs:
        loads = run.machine.get("load")
        own = {name: value for name, value in run.machine.items() if name not in _PER_RUN}
        memory = own.pop("memory", None)
        own["memory"] = None if memory is None else f"{memory / 1e9:.0f} GB"
        own["load"] = None if loads is None else f"{loads:.0f}"
        options = {name.replace("_", " "): run.result.options.get(name) for name in _LIMITS}
        for name, value in (own | options | dict(run.result.versions)).items():
            if value is not None:
                told.setdefault(name, {})[str(value)] = None
    record = [(name, ", ".join(sorted(values))) for name, values in told.items()]
    record += [(name, str(v)) for name, v in comparison.options.items() if v is not None]
    return [(printable(name), printable(value)) for name, value in record]


# ------------------------------------------------------------------- figures


def _data(cases: Cases, order: Sequence[str]) -> dict[str, Any]:
    """Return what the page's script draws and tabulates, as plain JSON values."""
    frame, runs = cases.frame, cases.runs
    outcomes = [outcome(run, i in cases.refuted) for i, run in enumerate(runs)]
    founds = [run.result.explanation for run in runs]
    rules = ["" if found is None else str(found) for found in founds]
    places = _places(cases)
    bounds = [None if i in cases.refuted else run.result.bound for i, run in enumerate(runs)]
    gaps = [None if i in cases.refuted else run.result.gap for i, run in enumerate(runs)]
    columns: list[tuple[str, str, str, list[Any]]] = [
        ("instance", "text", "", [int(p) for p in frame["problem"]]),
        ("configuration", "text", "", [order.index(c) for c in frame["configuration"]]),
        ("seed", "number", "plain", [run.seed for run in runs]),
        ("limit", "number", "seconds", [_finite(limit) for limit in frame["limit"]]),
        ("outcome", "text", "", outcomes),
        ("value", "number", "plain", _numbers([r.result.objective for r in runs], places)),
        ("bound", "number", "plain", _numbers(bounds, places)),
        ("gap", "number", "share", [_digits(gap) for gap in gaps]),
        ("best at", "number", "seconds", [_digits(run.seconds_to_best) for run in runs]),
        ("seconds", "number", "seconds", [_digits(run.result.times.total) for run in runs]),
        ("MB", "number", "plain", [m and round(m / 1e6) for m in (r.result.memory for r in runs)]),
        ("cpu", "number", "seconds", [_digits(run.result.times.cpu) for run in runs]),
        ("value by", "text", "", ["the start" if run.from_start else "" for run in runs]),
        ("precision", "number", "plain", [_four_digits(f, "precision") for f in founds]),
        ("coverage", "number", "plain", [_four_digits(f, "coverage") for f in founds]),
        *_unseen_columns(runs),
        ("explanation", "text rule", "", rules),
    ]
    lists: list[list[str] | None] = [None] * len(columns)
    lists[0] = [printable(name) for name, _ in cases.problems]
    lists[1] = [printable(cases.labels[name]) for name in order]
    texts = [c for c, column in enumerate(columns) if column[1].startswith("text")]
    for c in texts[2:]:
        known = list(dict.fromkeys(columns[c][3]))
        place = {text: i for i, text in enumerate(known)}
        lists[c] = [printable(text) for text in known]
        columns[c][3][:] = [place[text] for text in columns[c][3]]
    ratios, curves = profile(cases), anytime(cases)
    hardest = frame.groupby("problem")["primal_integral"].mean()
    sizes = dict.fromkeys(size for run in runs for size in run.result.sizes)
    return {
        "configurations": lists[1],
        "instances": lists[0],
        "central": int(np.argmax(hardest)) if len(hardest) else 0,
        "colours": COLOURS,
        "most": _MOST_VISIBLE,
        "columns": [column[:3] for column in columns],
        "runs": [column[3] for column in columns],
        "lists": lists,
        "case": [int(case) for case in frame["case"]],
        "cases": int(frame["case"].nunique()),
        "cactus": [_rounded(cactus(cases)[name]) for name in order],
        "profile": [_rounded(ratios[name]) if name in ratios else None for name in order],
        "last": max([2.0, *(found[-1] for found in ratios.values() if len(found))]),
        "anytime": {
            "seconds": _rounded(curves.seconds),
            "value": [_rounded(curves.value[name]) for name in order],
            "bound": [_rounded(curves.bound[name]) for name in order],
        },
        "sizes": {size: [run.result.sizes.get(size, 0) for run in runs] for size in sizes},
        "traces": _traces(cases, places),
    }


def _places(cases: Cases) -> list[int]:
    """Return for each run how many digits keep the values on its instance apart."""
    values: dict[int, list[Value | None]] = {}
    for problem, run in zip(cases.frame["problem"], cases.runs, strict=True):
        values.setdefault(problem, []).extend((run.result.objective, run.result.bound))
    by_problem = {problem: digits(found) for problem, found in values.items()}
    return [by_problem[problem] for problem in cases.frame["problem"]]


def _traces(cases: Cases, places: Sequence[int]) -> list[list[list[Any]]]:
    """Return seconds, values and bounds of each run, thinned where there are very many."""
    most = max(_FEWEST_POINTS, _POINTS // max(1, len(cases.runs)))
    traces = []
    for run, count in zip(cases.runs, places, strict=True):
        points = run.result.trace
        if len(points) > most:
            kept = np.unique(np.linspace(0, len(points) - 1, most).round().astype(int))
            points = tuple(points[i] for i in kept)
        counts = [count] * len(points)
        values = _numbers([point.objective for point in points], counts)
        bounds = _numbers([point.bound for point in points], counts)
        seconds = [float(f"{max(point.seconds, 0.001):.4g}") for point in points]
        traces.append([seconds, values, bounds])
    return traces


def _unseen_columns(runs: Sequence[Run]) -> list[tuple[str, str, str, list[Any]]]:
    """Return what rules are worth on samples that no engine saw; nothing without such."""
    founds = [getattr(run.result.explanation, "unseen", None) for run in runs]
    if not any(found is not None for found in founds):
        return []
    return [
        (f"{name}, unseen", "number", "plain", [_four_digits(found, name) for found in founds])
        for name in ("precision", "coverage")
    ]


def _four_digits(found: Any, name: str) -> float | None:
    share = None if found is None else getattr(found, name)
    return None if share is None else float(share_text(share, 4))


def _numbers(values: Sequence[Value | None], places: Sequence[int]) -> list[Any]:
    return [
        v if v is None or isinstance(v, int) else float(decimal(v, count))
        for v, count in zip(values, places, strict=True)
    ]


def _digits(value: float | None) -> float | None:
    """Return a number with five digits, which is what a page has room for."""
    return None if value is None else float(f"{value:.5g}")


def _rounded(values: np.ndarray[Any, Any]) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
