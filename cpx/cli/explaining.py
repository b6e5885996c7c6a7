"""The commands ``cpx explain`` and ``cpx make``: from a table to a rule, or to an instance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.errors import DataError, InvalidOption, UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from cpx.explainer import Explainer
    from cpx.models import Problem

__all__ = ["explain", "make"]


def explain(
    table: opt.Table,
    target: opt.Target,
    row: opt.Row,
    k: opt.K = 5,
    m: opt.M = 1000,
    model: opt.Model = "mlp",
    distribution: opt.Distribution = "empirical",
    bins: opt.Bins = 3,
    strategy: opt.Strategy = "quantile",
    categorical: opt.Categorical = None,
    kind: opt.Kind = "k-monomial",
    seed: opt.Seed = 0,
    fresh: Annotated[
        int, typer.Option(metavar="N", help="Fresh samples the precision is measured on.")
    ] = 1000,
    backend: opt.Backend = "cpsat",
    encoding: opt.Encoding = None,
    time_limit: opt.TimeLimit = 10.0,
    threads: opt.Threads = 1,
    gap: opt.Gap = None,
    as_json: opt.Json = False,
    output: opt.ResultFile = None,
    isolate: opt.Isolate = True,
) -> None:
    r"""Explain the prediction of a model for one row of a table by a short rule.

    Trains the model on the table, draws samples, finds the rule of at most k conditions
    with the fewest errors on them, and measures its precision on fresh samples.

    \b
    Examples:
      cpx explain table.csv --target y --row 17
      cpx explain table.csv --target y --row 17 --model forest -k 3 --backend maxsat
      cpx explain table.csv --target y --row 17 --categorical zip,code --json

    \b
    Exit codes: 0 a rule proved optimal; 3 a rule without proof; 4 no rule within the
    limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import deliver
    from cpx.cli.progress import phase
    from cpx.cli.reading import output_path
    from cpx.cli.solving import run_solve

    path = output_path(output, table)
    chosen = opt.solve_options(time_limit, threads, seed, gap, encoding)
    opt.require_engine(backend, None, None)
    _at_least("fresh", fresh, 1)
    asked = _Question(table, target, row, k, m, model, distribution, bins, strategy, kind, seed)
    explainer, problem, x = asked.answer(opt.split(categorical), backend, encoding)
    result = run_solve(problem, backend, chosen, isolate)
    if result.explanation is not None:
        with phase("measuring the rule on fresh samples"):
            result = replace(result, explanation=explainer.measure(result.explanation, x, fresh))
    raise typer.Exit(deliver(result, as_json, path, f"{table} row {row}, {asked.words(problem)}"))


def make(
    table: opt.Table,
    target: opt.Target,
    row: opt.Row,
    k: opt.K = 5,
    m: opt.M = 1000,
    model: opt.Model = "mlp",
    distribution: opt.Distribution = "empirical",
    bins: opt.Bins = 3,
    strategy: opt.Strategy = "quantile",
    categorical: opt.Categorical = None,
    kind: opt.Kind = "k-monomial",
    seed: opt.Seed = 0,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the instance.  [default: TABLE-ROW-kK]"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; gzipped if it ends in .gz. Default: standard output.",
        ),
    ] = None,
) -> None:
    r"""Make an instance from a table: train a model, draw samples, save the problem.

    The instance is solved later or elsewhere, by 'cpx solve' or 'cpx compare'.

    \b
    Examples:
      cpx make table.csv --target y --row 17 -k 5 -m 1000 -o inst.json
      cpx make table.csv --target y --row 17 --distribution uniform -o inst.json.gz

    \b
    Exit codes: 0 written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.reading import output_path
    from cpx.instances import dumps, save

    path = output_path(output, table)
    asked = _Question(table, target, row, k, m, model, distribution, bins, strategy, kind, seed)
    _, problem, _ = asked.answer(opt.split(categorical), None, None)
    problem = _named(problem, name or f"{table.name.partition('.')[0]}-{row}-k{k}")
    if path is None:
        typer.echo(dumps(problem), nl=False)
        return
    save(problem, path)
    typer.echo(f"wrote {path}: {asked.words(problem)}")


@dataclass
class _Question:
    """What ``explain`` and ``make`` are asked, in the words of the command line."""

    table: Path
    target: str
    row: int
    k: int
    m: int
    model: str
    distribution: str
    bins: int
    strategy: str
    kind: str
    seed: int

    def answer(
        self, categorical: list[str] | None, backend: str | None, encoding: str | None
    ) -> tuple[Explainer, Problem, pd.DataFrame]:
        """Train the model and state the problem; all wrong input is found before."""
        self._check_names()
        from cpx.cli.progress import phase
        from cpx.data import read_table
        from cpx.data import row as row_of
        from cpx.models import problem_class

        form = problem_class(self.kind)
        if backend is not None:
            form.encoding(encoding)
        with phase(f"reading {self.table}"):
            X, y = read_table(self.table, self.target, categorical)
            x = row_of(X, self.row)
            self._check_classes(y)
            self._check_k(X)
        from cpx.explainer import Explainer

        with phase(f"training {self.model} on {len(X)} rows"):
            train: Any = Explainer.train
            explainer: Explainer = train(
                self.model,
                X,
                y,
                n_bins=self.bins,
                strategy=self.strategy,
                distribution=self.distribution,
                seed=self.seed,
            )
        with phase(f"drawing {self.m} samples"):
            problem = explainer.problem(x, self.k, m=self.m, kind=self.kind)
        return explainer, problem, x

    def words(self, problem: Any) -> str:
        """Say what is explained, in one line."""
        samples = problem.samples
        return (
            f"class {samples.context.get('class')!s} by {self.model}: {problem.kind}, "
            f"{samples.total} samples ({self.distribution}, {samples.m} distinct), "
            f"{samples.d} features, k = {problem.k}"
        )

    def _check_names(self) -> None:
        for what, name, known in (
            ("model", self.model, opt.CLASSIFIERS),
            ("distribution", self.distribution, opt.DISTRIBUTIONS),
            ("strategy", self.strategy, opt.STRATEGIES),
            ("problem", self.kind, opt.KINDS),
        ):
            if name not in known:
                raise UnknownName(what, name, known)
        _at_least("k", self.k, 0)
        _at_least("m", self.m, 1)
        _at_least("bins", self.bins, 2)
        _at_least("seed", self.seed, 0)

    def _check_classes(self, y: Any) -> None:
        if y.nunique() < 2:
            raise DataError(
                f"{self.table}: the target column {self.target!r} has a single class, "
                f"{y.iloc[0]!r}: there is nothing to explain"
            )

    def _check_k(self, X: pd.DataFrame) -> None:
        from cpx.data import Binarizer

        binarizer: Any = Binarizer(n_bins=self.bins, strategy=self.strategy)  # type: ignore[arg-type]
        d = len(binarizer.fit(X).get_feature_names_out())
        if self.k > d:
            raise InvalidOption(
                f"k must be between 0 and the number of features {d}, got {self.k}"
            )


def _named(problem: Any, name: str) -> Problem:
    named: Problem = replace(problem, name=name)
    return named


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise InvalidOption(f"{name} must be at least {least}, got {value}")
