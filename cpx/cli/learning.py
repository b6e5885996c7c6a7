"""The command ``cpx learn``: from a table to a few rules for a class."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.errors import DataError, InvalidOption, UnknownName

if TYPE_CHECKING:
    import pandas as pd

    from cpx.classifier import RuleSetClassifier

__all__ = ["learn"]

_LOOPS = ("active", "exact")
_FORMS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class _Task:
    """Rows to learn from, their labels as texts, those kept aside, and the class."""

    X: pd.DataFrame
    y: Any
    fresh: tuple[pd.DataFrame, Any] | None
    label: str


def learn(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV file with a header; .csv.gz is fine.")
    ],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column with the classes.", show_default=False)
    ],
    label: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Class that the rules describe; needed where there are more than two.  "
            "[default: the last one]",
            show_default=False,
        ),
    ] = None,
    k: opt.K = 4,
    penalty: Annotated[
        str, typer.Option(metavar="SHARE", help="Price of a rule, as a share of the rows.")
    ] = "0.01",
    bins: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Bins of a numeric column.  [default: 10, and 64 with --model]",
            show_default=False,
        ),
    ] = None,
    categorical: Annotated[
        str | None,
        typer.Option(
            metavar="COL,COL", help="Numeric columns that are categories.", show_default=False
        ),
    ] = None,
    test: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the rows to keep aside, and to measure the rules on.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Imitate a classifier trained on the rows instead: mlp, forest, tree, boosting, "
            "logistic.",
            autocompletion=opt.choices(opt.CLASSIFIERS),
            show_default=False,
        ),
    ] = None,
    loop: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --model, how it is asked: active or exact.  [default: active]",
            autocompletion=opt.choices(_LOOPS),
            show_default=False,
        ),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --model, instances it is asked about beside the rows, at most.  "
            "[default: 1000]",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            "-t",
            metavar="SECONDS",
            parser=opt.seconds,
            help="For learning; 'none' goes on until no rule is left.",
        ),
    ] = 10.0,
    threads: opt.Threads = 1,
    seed: opt.Seed = 0,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw rules against rows: .svg, .png or .pdf."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one object as JSON, with all rules.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write that object here."),
    ] = None,
) -> None:
    r"""Learn a few rules that tell a class from the others.

    Errors and prices of rules are minimised by column generation, with a bound by the Hamming
    loss. With --model the rules imitate a classifier, which is asked on the way.

    \b
    Examples:
      cpx learn table.csv --target y
      cpx learn table.csv --target y -k 2 --penalty 1/50 --test 0.25 --plot rules.svg
      cpx learn table.csv --target y --model forest --queries 200
      cpx learn table.csv --target y --json | jq -r '.rules.literals[][1]'

    \b
    Exit codes: 0 no rules have a lower Hamming loss, or with --loop exact a greater quality,
    proved; 3 rules without that proof; 2 wrong input; 1 anything else.
    """
    from cpx.classifier import RuleSetClassifier
    from cpx.cli.output import note
    from cpx.cli.progress import phase
    from cpx.data.scalars import open_unit
    from cpx.files import write_atomic

    _check(model, loop, queries)
    _check_files(output, plot)
    with phase(f"reading {table}"):
        share = None if test is None else open_unit("test", test)
        task = _read(table, target, label, opt.split(categorical), share, seed)
    box = None
    if model is not None:
        with phase(f"training {model} on {len(task.X)} rows"):
            box = _trained(model, task, seed)
    learner = RuleSetClassifier(
        k,
        penalty,
        bins,
        opt.split(categorical),
        task.label,
        black_box=box,
        loop="exact" if loop == "exact" else "active",
        max_queries=1000 if queries is None else queries,
        time_limit=opt.limit(time_limit),
        threads=threads,
        seed=seed,
    )
    with phase("learning rules"):
        learner.fit(task.X, task.y)
    told = json.dumps(_as_json(learner, task), indent=1, allow_nan=False)
    if as_json:
        typer.echo(told)
    else:
        typer.echo(str(learner))
        if task.fresh is not None:
            accuracy = learner.score(*task.fresh)
            typer.echo(f"fresh      accuracy {accuracy:.3f} on {len(task.fresh[0])} rows")
    if output is not None:
        write_atomic(output, told.encode() + b"\n")
        note(f"wrote {output}")
    if plot is not None:
        _draw(learner, plot)
        note(f"wrote {plot}")
    raise typer.Exit(0 if learner.report_.proved else 3)


def _check(model: str | None, loop: str | None, queries: int | None) -> None:
    for what, name, known in (("model", model, opt.CLASSIFIERS), ("loop", loop, _LOOPS)):
        if name is not None and name not in known:
            raise UnknownName(what, name, known)
    for option, given in (("--loop", loop), ("--queries", queries)):
        if model is None and given is not None:
            raise InvalidOption(f"{option} is for --model, which is not given")


def _check_files(output: Path | None, plot: Path | None) -> None:
    from cpx.files import ensure_writable

    for path in (output, plot):
        if path is not None:
            ensure_writable(path)
    if plot is not None:
        from cpx.plots.require import require_matplotlib

        require_matplotlib()
        if plot.suffix not in _FORMS:
            raise InvalidOption(f"plot must be a file {', '.join(_FORMS)}, got {plot}")


def _read(
    table: Path,
    target: str,
    label: str | None,
    categorical: list[str] | None,
    test: float | None,
    seed: int,
) -> _Task:
    """Read the table; labels become texts, and two of them."""
    import numpy as np

    from cpx.data import read_table

    X, y = read_table(table, target, categorical)
    texts = y.astype(str).to_numpy(dtype=object)
    # In the order of the values, so that 10 comes after 9.
    known = [str(v) for v in sorted(y.unique().tolist(), key=lambda v: (str(type(v)), v))]
    if label is None and len(known) > 2:
        raise InvalidOption(
            f"--label is missing: the target {target!r} has {len(known)} classes, "
            f"{', '.join(known[:5])}{' ...' * (len(known) > 5)}"
        )
    if label is not None and label not in known:
        raise UnknownName("class", label, known)
    wanted = label or known[-1]
    if len(known) > 2:
        texts = np.where(texts == wanted, wanted, f"not {wanted}")
    if test is None:
        return _Task(X, texts, None, wanted)
    from sklearn.model_selection import train_test_split

    try:
        rows, fresh, own, aside = train_test_split(
            X, texts, test_size=test, random_state=seed, stratify=texts
        )
    except ValueError as error:
        raise DataError(f"{table}: rows cannot be kept aside: {error}") from error
    return _Task(rows, own, (fresh, aside), wanted)


def _trained(name: str, task: _Task, seed: int) -> Any:
    from cpx.data import named_classifier

    if len(set(task.y)) < 2:
        raise DataError(f"the target has one class only, {task.y[0]!r}")
    return named_classifier(name, seed).fit(task.X, task.y)


def _as_json(learner: RuleSetClassifier, task: _Task) -> dict[str, Any]:
    report = {
        name: str(value) if isinstance(value, Fraction) else value
        for name, value in asdict(learner.report_).items()
    }
    told = {
        "rules": learner.rule_set_.to_dict(),
        "conditions": [list(rule) for rule in learner.rules_],
        "otherwise": next(c for c in learner.classes_.tolist() if c != learner.positive_),
        "report": report,
    }
    if task.fresh is not None:
        X, y = task.fresh
        told["fresh"] = {
            "rows": len(X),
            "accuracy": learner.score(X, y),
            "rules": learner.measure(X, y).to_dict(),
        }
    return told


def _draw(learner: RuleSetClassifier, path: Path) -> None:
    import io

    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cpx.files import write_atomic

    # Files need no window, and there may be no screen.
    mpl.use("Agg")
    figure = learner.plot().figure
    assert isinstance(figure, Figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=150)
    write_atomic(path, drawn.getvalue())
