"""The command ``cpx demo``: one prediction on real data, explained and asked of every engine."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.answers.values import decimal
from cpx.cli import options as opt
from cpx.support.validation import positive_integer

if TYPE_CHECKING:
    import pandas as pd

    from cpx.answers.result import Result
    from cpx.compare import Comparison, Run
    from cpx.explainers import Explainer
    from cpx.modelling.base import Problem

_ROW, _K, _M, _COVERAGE = 19, 4, 1000, Fraction(1, 2)


def demo(
    time_limit: Annotated[
        float, opt.seconds_option("Hard limit of each engine; 'none' for no limit.")
    ] = 3.0,
    backends: Annotated[
        str,
        typer.Option(
            "--backends",
            "-b",
            metavar="A,B",
            help="Engines, as for 'cpx compare'; 'all' is all exact ones installed.",
            autocompletion=opt.complete_backends,
        ),
    ] = "all",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", help="Runs at a time.  [default: 2, or 1 core]"),
    ] = None,
) -> None:
    r"""Explain a real prediction, and let all engines answer the same question.

    A neural network is trained on scikit-learn's breast cancer data. The exact search
    explains one of its predictions by the most precise rule of at most 4 of 90 conditions
    that covers at least half of 1000 samples. Then every engine answers the same question,
    and each answer is checked. Not all of them prove theirs in the time that they have here.

    \b
    Examples:
      cpx demo
      cpx demo --backends cpsat,milp --time-limit 5

    Exit codes: 0 the rule is proved optimal; 3 it is not; 4 no rule within the limits;
    2 wrong input; 1 a run failed or engines contradict each other.
    """
    from cpx.answers.text import Facts
    from cpx.cli.output import print_blocks
    from cpx.cli.progress import phase
    from cpx.compare import compare, engine_names
    from cpx.solving import solve

    limit = opt.solve_options(time_limit, 1, 0, None, None).time_limit
    if jobs is None:
        jobs = min(2, os.cpu_count() or 1)
    positive_integer("jobs", jobs)
    engines = engine_names(backends)  # a wrong name is an error before anything is trained
    with phase("training a neural network on the breast cancer data"):
        explainer, problem, x = _question()
    typer.echo(_introduction(problem))
    answer = solve(problem, "search", time_limit=limit)
    if answer.explanation is not None:
        found = explainer.of("rule").measure(answer.explanation, x)
        print_blocks([*found.headline(), Facts.of(found.facts())])
    each = "" if limit is None else f", each for at most {limit:g} s"
    typer.echo(f"\nThe same question, answered by every engine{each}:\n")
    rows = _Rows(max(map(len, engines)), answer)
    typer.echo(rows.head)
    comparison = compare(
        {"breast cancer": problem},
        backends,
        time_limit=limit,
        jobs=jobs,
        on_result=lambda run, _: typer.echo(rows.row(run)),
    )
    for sentence in chain.from_iterable(comparison.contradictions.values()):
        typer.echo(f"CONTRADICTION: {sentence}")
    typer.echo("\nYour own table:  cpx explain table.csv --target COLUMN --row N")
    raise typer.Exit(_code(comparison))


def _question() -> tuple[Explainer, Problem, pd.DataFrame]:
    from sklearn.datasets import load_breast_cancer

    from cpx.explainers import Explainer

    data = load_breast_cancer(as_frame=True)
    classes = data.target.map(dict(enumerate(data.target_names)))
    # Samples are real rows: the rule speaks about tumours as they come.
    explainer = Explainer.train("mlp", data.data, classes)
    x = data.data.iloc[[_ROW]]
    name = "breast cancer"
    return explainer, explainer.problem(x, _K, m=_M, min_coverage=_COVERAGE, name=name), x


def _introduction(problem: Any) -> str:
    """Return what is asked, in three lines."""
    samples = problem.samples
    said = f"A neural network, trained on 569 tumours, says that tumour {_ROW} is"
    return (
        f"{said} {samples.context['class']}. Why?\n"
        f"Asked is the most precise rule of at most {_K} of {samples.d} conditions\n"
        f"that covers at least half of {samples.total} tumours drawn from the data.\n"
    )


class _Rows:
    """A table that grows: one row for each engine, printed when its run ends."""

    def __init__(self, width: int, answer: Result) -> None:
        self._form = f"{{:<{width}}}  {{:<12}}  {{:>9}}  {{:>9}}  {{:>8}}"
        self._answer = answer
        self.head = self._form.format("engine", "outcome", "precision", "bound", "seconds")

    def row(self, run: Run) -> str:
        """Return the row of a run; a star is at the value that was proved optimal above."""
        from cpx.compare.table import outcome

        result = run.result
        value, bound = (
            "-" if one is None else decimal(one, 4) for one in (result.objective, result.bound)
        )
        best = self._answer.proved and result.objective == self._answer.objective
        seconds = f"{result.times.total:.2f}"
        line = self._form.format(run.engine, outcome(run, False), value, bound, seconds)
        return line + (" *" if best and result.verified else "")


def _code(comparison: Comparison) -> int:
    if comparison.failed:
        return 1
    if not comparison.runs:
        return 4
    best = comparison.best(comparison.runs[0].instance)
    return 0 if best.proved else 4 if best.objective is None else 3
