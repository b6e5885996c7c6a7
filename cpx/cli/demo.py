"""The command ``cpx demo``: one prediction on real data, explained by every engine."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.cli.compare import print_comparison
from cpx.support.validation import positive_integer

if TYPE_CHECKING:
    import pandas as pd

    from cpx.compare import Comparison, Run
    from cpx.explainers import Explainer
    from cpx.models.monomial.problem import MonomialProblem

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
    r"""Explain a real prediction with all engines, and compare them.

    A neural network is trained on scikit-learn's breast cancer data. One of its
    predictions is explained by the most precise rule of at most 4 of 90 conditions that
    covers at least half of 1000 samples. Every engine answers the same question, and every
    answer is checked. Not all of them prove theirs in the time that they have here.

    \b
    Examples:
      cpx demo
      cpx demo --backends cpsat,milp --time-limit 5

    \b
    Exit codes: 0 the rule is proved optimal; 3 it is not; 4 no rule within the limits;
    2 wrong input; 1 a run failed or engines contradict each other.
    """
    from cpx.answers.text import Fact, Facts
    from cpx.cli.output import print_blocks
    from cpx.cli.progress import CompareProgress, phase
    from cpx.compare import compare, engine_names

    limit = opt.solve_options(time_limit, 1, 0, None, None).time_limit
    if jobs is None:
        jobs = min(2, os.cpu_count() or 1)
    positive_integer("jobs", jobs)
    engine_names(backends)  # a wrong name is an error before anything is trained
    with phase("training a neural network on the breast cancer data"):
        explainer, problem, x = _question()
    _introduce(problem)
    problems = {"breast cancer": problem}
    with CompareProgress() as progress:
        comparison = compare(
            problems,
            backends,
            time_limit=limit,
            jobs=jobs,
            on_begin=progress.begin,
            on_result=lambda run, _: progress.finished(run),
            listen=progress.listen,
        )
    run = _best(comparison)
    if run is not None and run.result.explanation is not None:
        found = explainer.measure(run.result.explanation, x)
        engine = Fact("engine", f"{run.engine}; the data confirm its answer")
        print_blocks([*found.headline(), Facts.of([*found.facts(), engine])])
        typer.echo()
    print_comparison(comparison)
    typer.echo("\nYour own table:  cpx explain table.csv --target COLUMN --row N")
    raise typer.Exit(_code(comparison))


def _question() -> tuple[Explainer, MonomialProblem, pd.DataFrame]:
    from sklearn.datasets import load_breast_cancer

    from cpx.explainers import Explainer

    data = load_breast_cancer(as_frame=True)
    classes = data.target.map(dict(enumerate(data.target_names)))
    # Samples are real rows: the rule speaks about tumours as they come.
    explainer = Explainer.train("mlp", data.data, classes)
    x = data.data.iloc[[_ROW]]
    name = "breast cancer"
    return explainer, explainer.problem(x, _K, m=_M, min_coverage=_COVERAGE, name=name), x


def _introduce(problem: MonomialProblem) -> None:
    from cpx.answers.text import Paragraph
    from cpx.cli.output import print_blocks

    samples = problem.samples
    text = (
        "A multilayer perceptron, trained on 569 tumours (scikit-learn's breast cancer data), "
        f"says that tumour {_ROW} is {samples.context['class']}. Why? The most precise "
        f"rule of at most {_K} of {samples.d} conditions that covers at least half of "
        f"{samples.total} samples:"
    )
    print_blocks([Paragraph(text)])
    typer.echo()


def _best(comparison: Comparison) -> Run | None:
    """Return the run with the best value, a proved and fast one if there is one."""
    from cpx.compare.records import contradictions

    wrong = contradictions(comparison.runs)
    runs = [
        run
        for i, run in enumerate(comparison.runs)
        if i not in wrong and run.result.verified and run.result.objective is not None
    ]

    def rank(run: Run) -> tuple[float, bool, float]:
        value = run.result.objective
        assert value is not None
        return -float(value), not run.result.proved, run.result.times.total

    return min(runs, key=rank, default=None)


def _code(comparison: Comparison) -> int:
    if comparison.failed:
        return 1
    if not comparison.runs:
        return 4
    best = comparison.best(comparison.runs[0].instance)
    return 0 if best.proved else 4 if best.objective is None else 3
