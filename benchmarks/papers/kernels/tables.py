"""Tables of the experiment with kernel machines, with the paper's figures for comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.papers.grids import Grid
from benchmarks.papers.kernels.experiment import PUBLISHED
from benchmarks.papers.kernels.records import Found, Protocol, Run
from cpx.models.kernel_rule.methods.genetic import Genetic

__all__ = ["grids", "notes"]

_Column = tuple[str, Callable[[Run], float], str]
"""Its head, its figure of a run, and the name of the published figure."""


def grids(runs: Sequence[Run], noisy: bool) -> list[Grid]:
    """Return the tables of runs: accuracies as in the paper, and how the rules were found."""
    named: dict[str, list[Run]] = {}
    for run in runs:
        named.setdefault(run.task.name, []).append(run)
    tables = [_accuracies(named, noisy), _noisy(named) if noisy else _search(named)]
    if any(run.genetic is not None for run in runs):
        tables.append(_genetic_rules(named, noisy))
    return tables


def notes(protocol: Protocol) -> list[str]:
    """Say what was done and what the columns are."""
    limit = "none" if protocol.time_limit is None else f"{protocol.time_limit:g} s"
    splits = f"{protocol.runs} split{'s' * (protocol.runs != 1)} of 70 and 30 %"
    if protocol.noise:
        splits += f", {100 * protocol.noise:g} % of the training labels turned around"
    lines = [
        f"{splits}, kernel of at most {protocol.max_clauses} clauses of at most "
        f"{protocol.max_literals} literals, hard margin, limit of the exact search {limit}, "
        f"seed {protocol.seed}.",
        "paper: Polato, Aiolli (ESANN 2018), Table 2, 5 splits, without noise; its rules are "
        "those of its genetic algorithm.",
        "seconds: processor time after kernel and machine. weight: as a share of the positive "
        "weight, which no rule exceeds.",
    ]
    if protocol.genetic:
        lines.append(
            f"Genetic algorithm: {Genetic.generations} generations at most, "
            f"operators {protocol.operators or 'of the paper'}; generations: mean over the splits "
            "where it found a rule of the greatest weight."
        )
    else:
        lines.append("The genetic algorithm was left out.")
    return lines


def _accuracies(named: dict[str, list[Run]], noisy: bool) -> Grid:
    columns: list[_Column] = [
        ("SVM train", lambda run: run.svm_train, "svm_train"),
        ("SVM test", lambda run: run.svm_test, "svm_test"),
        ("rule train", lambda run: run.exact.train, "rule_train"),
        ("rule test", lambda run: run.exact.test, "rule_test"),
        ("fidelity train", lambda run: run.exact.fidelity_train, "fidelity_train"),
        ("fidelity test", lambda run: run.exact.fidelity_test, "fidelity_test"),
    ]
    title = "Accuracy and fidelity in percent: the machine, and the rule of the exact search"
    return _beside_the_paper(title, named, columns, noisy)


def _genetic_rules(named: dict[str, list[Run]], noisy: bool) -> Grid:
    columns: list[_Column] = [
        ("rule train", lambda run: _bred(run).train, "rule_train"),
        ("rule test", lambda run: _bred(run).test, "rule_test"),
        ("fidelity train", lambda run: _bred(run).fidelity_train, "fidelity_train"),
        ("fidelity test", lambda run: _bred(run).fidelity_test, "fidelity_test"),
    ]
    title = "Accuracy and fidelity in percent: the rule of the genetic algorithm"
    return _beside_the_paper(title, named, columns, noisy)


def _bred(run: Run) -> Found:
    assert run.genetic is not None  # runs of one protocol have it, or none does
    return run.genetic


def _beside_the_paper(
    title: str, named: dict[str, list[Run]], columns: Sequence[_Column], noisy: bool
) -> Grid:
    """Return a table of shares, each with the published figure after it."""
    header = ["data set"]
    for name, _, _ in columns:
        header += [name] if noisy else [name, "paper"]
    rows = []
    for dataset, runs in named.items():
        row = [dataset]
        for _, value, published in columns:
            row.append(_percent([value(run) for run in runs]))
            if not noisy:
                row.append(f"{getattr(PUBLISHED[dataset], published):.2f}")
        rows.append(tuple(row))
    return Grid(title, tuple(header), tuple(rows))


def _search(named: dict[str, list[Run]]) -> Grid:
    header = ("data set", "proved", "known rule", "equal weight", "seconds", "most", "GA found",
              "generations", "paper", "seconds")  # fmt: skip
    rows = []
    for name, runs in named.items():
        exact = [run.exact for run in runs]
        same = sum(run.exact.rule == run.known_rule for run in runs)
        equal = sum(run.exact.weight == run.known for run in runs)
        rows.append(
            (
                name,
                _of(sum(found.proved for found in exact), len(runs)),
                _of(same, len(runs)),
                _of(equal, len(runs)),
                *_seconds(exact),
                *_genetic(runs, name),
            )
        )
    return Grid(
        "Rules of greatest weight: exact search, and genetic algorithm", header, tuple(rows)
    )


def _genetic(runs: Sequence[Run], name: str) -> tuple[str, str, str, str]:
    found = [(run, run.genetic) for run in runs if run.genetic is not None]
    paper = f"{PUBLISHED[name].generations:g}"
    if not found:
        return "-", "-", paper, "-"
    best = [genetic for run, genetic in found if genetic.weight >= run.exact.weight]
    generations = [genetic.generations or 0 for genetic in best]
    return (
        _of(len(best), len(found)),
        f"{np.mean(generations):.0f}" if best else "-",
        paper,
        _seconds([genetic for _, genetic in found])[0],
    )


def _noisy(named: dict[str, list[Run]]) -> Grid:
    header = ("data set", "known rule", "exact", "bound", "proved", "seconds", "GA", "GA as good",
              "generations", "seconds")  # fmt: skip
    rows = []
    for name, runs in named.items():
        exact = [run.exact for run in runs]
        genetic = [run.genetic.share for run in runs if run.genetic is not None]
        as_good, generations, _, seconds = _genetic(runs, name)
        rows.append(
            (
                name,
                _percent([run.known_share for run in runs]),
                _percent([found.share for found in exact]),
                _percent([found.bound for found in exact if found.bound is not None]),
                _of(sum(found.proved for found in exact), len(runs)),
                _seconds(exact)[0],
                _percent(genetic) if genetic else "-",
                as_good,
                generations,
                seconds,
            )
        )
    return Grid("Weight in percent of the positive weight, with noise", header, tuple(rows))


def _percent(values: Sequence[float]) -> str:
    spread = f" ±{100 * np.std(values):.2f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.2f}{spread}"


def _seconds(found: Sequence[Found]) -> tuple[str, str]:
    times = [one.seconds for one in found]
    mean, most = (f"{t:.3f}" if t < 1 else f"{t:.1f}" for t in (np.mean(times), max(times)))
    return mean, most


def _of(count: int, total: int) -> str:
    return f"{count} of {total}"
