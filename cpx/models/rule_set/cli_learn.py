"""The command ``cpx learn``: a rule set that describes a class, or imitates a classifier."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.option_groups import given, grouped
from cpx.data.words import words_file
from cpx.errors import DataError, InvalidOption, UnknownName, shown
from cpx.options import TIME_LIMIT
from cpx.processes.interrupts import noted
from cpx.support.shares import share_text
from cpx.support.validation import open_unit

if TYPE_CHECKING:
    import pandas as pd

    from cpx.models.rule_set.classifier import RuleSetClassifier
    from cpx.models.rule_set.learning import RuleSetLearning

_LOOPS = ("active", "exact", "learned")
_FORMS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Rows:
    """The rows to learn from."""

    title: ClassVar[str] = "Table"

    table: opt.Table
    target: opt.Target
    categorical: opt.Categorical = None
    missing: opt.Missing = None
    test: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the rows to hold out, and to measure the rules on.",
        ),
    ] = None
    words: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What columns are called: of each a label, or label, unit, cuts; JSON or TOML.",
        ),
    ] = None


@dataclass(frozen=True)
class Rules:
    """What rules are learned, of what class."""

    title: ClassVar[str] = "Rules"

    label: opt.Label = None
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="N",
            help="Maximum number of conditions.  [default: 3 or 6, chosen with the penalty; 4 "
            "where that is given, and with --model]",
        ),
    ] = None
    penalty: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Price of a rule, as a share of the rows; 'auto' is 0.02, with errors that weigh "
            "by how surely rows have their label, unless others are clearly more accurate on "
            "rows held out of learning.",
        ),
    ] = "auto"
    n_bins: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Bins of a numeric column.  [default: 20 where the penalty is chosen, 10 where "
            "it is given, fewer in more than 2000 columns; 64 with --model]",
        ),
    ] = None


@dataclass(frozen=True)
class Imitated:
    """The classifier that is imitated, and how it is asked."""

    title: ClassVar[str] = "Classifier to imitate"

    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Imitate a classifier trained on the rows instead: mlp, forest, tree, boosting, "
            "logistic.",
            autocompletion=opt.choices(opt.CLASSIFIERS),
        ),
    ] = None
    loop: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --model, how it is asked: active (Algorithm 1 of Lu and Ester), exact or "
            "learned; parameters in braces, as in 'active{beta=0.02}'.  [default: active]",
            autocompletion=opt.choices(_LOOPS),
        ),
    ] = None
    queries: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --model, maximum number of queries in addition to the rows.  "
            "[default: 1000]",
        ),
    ] = None

    def check(self) -> None:
        """Raise for what is not known, and for how it is asked where there is none."""
        from cpx.models.rule_set.classifier.learning import check_loop

        if self.model is not None and self.model not in opt.CLASSIFIERS:
            raise UnknownName("model", self.model, opt.CLASSIFIERS)
        if self.loop is not None:
            check_loop(self.loop)
        for option in given(self, "model"):
            if self.model is None:
                raise InvalidOption(f"{option} is for --model, which is not given")


@dataclass(frozen=True)
class Files:
    """What is written beside the answer."""

    title: ClassVar[str] = "Files"

    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Plot which rules cover which rows: .svg, .png or .pdf."
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write that object here."),
    ] = None
    instance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also save the problem, for 'cpx solve' and others; gzipped if it ends in .gz.",
        ),
    ] = None
    result: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the rules as its Result, for 'cpx check'."),
    ] = None

    def check(self, table: Path, model: str | None) -> None:
        """Raise for files that cannot be written, and for two that are one."""
        from cpx.answers.axes import require_matplotlib
        from cpx.cli.reading import output_path

        for option in given(self, "plot", "output"):
            if model is not None:
                raise InvalidOption(
                    f"{option} is not for --model: its rules are chosen on rows and queries, "
                    "for which there is no instance"
                )
        paths = [path for path in (self.plot, self.output, self.instance, self.result) if path]
        for path in paths:
            output_path(path, table)
            if paths.count(path) > 1:
                raise InvalidOption(f"{path} is given for two files")
        if self.plot is not None:
            require_matplotlib()
            if self.plot.suffix not in _FORMS:
                raise InvalidOption(f"plot must be a file {', '.join(_FORMS)}, got {self.plot}")


@grouped
def learn(
    *,
    rows: Rows,
    rules: Rules,
    imitated: Imitated,
    time_limit: Annotated[
        float,
        opt.seconds_option(
            "For learning from labels, each selection of the loop exact, and column generation of "
            "the loop learned; 'none' for no limit."
        ),
    ] = TIME_LIMIT,
    threads: opt.Threads = 1,
    seed: opt.Seed = 0,
    files: Files,
    as_json: opt.RulesAsJson = False,
) -> None:
    r"""Learn a few rules that tell a class from the others.

    Errors and prices of rules are minimised by column generation, with a bound by the Hamming
    loss. With --model the rules imitate a classifier, which is asked on the way. Ctrl-C ends the
    learning with the rules found so far.

    \b
    Examples:
      cpx learn table.csv --target y
      cpx learn table.csv --target y -k 2 --test 0.25 --plot rules.svg
      cpx learn table.csv --target y --model forest --queries 200
      cpx learn table.csv --target y --model mlp --loop "active{beta=0.02, max_iterations=100}"
      cpx learn table.csv --target y --json | jq -r '.rules.literals[][1] | join(" and ")'
      cpx learn table.csv --target y --instance inst.json --result result.json

    Exit codes: 0 no rules have a lower Hamming loss, or with --loop exact a greater quality,
    proved; 3 rules without that proof; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import warn
    from cpx.cli.progress import phase, training
    from cpx.data import read_table
    from cpx.models.rule_set.classifier import RuleSetClassifier

    imitated.check()
    files.check(rows.table, imitated.model)
    categorical = opt.split(rows.categorical)
    with phase(f"reading {rows.table}"):
        share = None if rows.test is None else open_unit("test", rows.test)
        missing = opt.words(rows.missing)
        read = read_table(rows.table, rows.target, categorical, missing=missing)
        task = task_of(rows.table, read, rules.label, share, seed)
    box = None
    if imitated.model is not None:
        with training(imitated.model, len(task.X)):
            box = _trained(imitated.model, task, seed)
    learner = RuleSetClassifier(
        rules.k,
        rules.penalty,
        rules.n_bins,
        categorical,
        task.label,
        black_box=box,
        loop=imitated.loop or "active",
        max_queries=1000 if imitated.queries is None else imitated.queries,
        time_limit=opt.limit(time_limit),
        threads=threads,
        seed=seed,
        words=None if rows.words is None else words_file(rows.words),
        prove=box is None,
    )
    # From here on, Ctrl-C and SIGTERM end the learning, and what there is gets written.
    with noted(stop := threading.Event()):
        with phase("learning rules"):
            learner.fit(task.X, task.y, stop=stop)
        if stop.is_set() and not learner.report_.proved:
            warn("interrupted: these are the rules found by then")
        _tell(learner, task, as_json)
        _write(learner, task, files.output, files.plot)
        if files.instance is not None or files.result is not None:
            name = f"{rows.table.name.partition('.')[0]}-rules"
            problem = learner.problem(task.X, task.y, name)
            _save(learner, problem, files.instance, files.result)
    raise typer.Exit(0 if learner.report_.proved else 3)


def _tell(learner: RuleSetClassifier, task: Task, as_json: bool) -> None:
    if as_json:
        typer.echo(_as_json(learner, task))
        return
    typer.echo(str(learner))
    if task.fresh is not None:
        accuracy = learner.score(*task.fresh)
        typer.echo(f"fresh      accuracy {share_text(accuracy)} on {len(task.fresh[0])} rows")


def _write(learner: RuleSetClassifier, task: Task, output: Path | None, plot: Path | None) -> None:
    from cpx.cli.output import note
    from cpx.support.files import write_atomic

    if output is not None:
        write_atomic(output, _as_json(learner, task).encode() + b"\n")
        note(f"wrote {output}")
    if plot is not None:
        _draw(learner, plot)
        note(f"wrote {plot}")


def _as_json(learner: RuleSetClassifier, task: Task) -> str:
    report = {
        name: str(value) if isinstance(value, Fraction) else value
        for name, value in asdict(learner.report_).items()
    }
    data: dict[str, Any] = {
        "rules": learner.rule_set_.to_dict(),
        "conditions": [list(rule) for rule in learner.rules_],
        "otherwise": next(c for c in learner.classes_.tolist() if c != learner.positive_),
        "penalty": str(learner.penalty_),
        "k": learner.k_,
        "self_confidence": hasattr(learner, "choice_") and learner.choice_.self_confidence,
        "report": report,
    }
    if task.fresh is not None:
        X, y = task.fresh
        data["fresh"] = {
            "rows": len(X),
            "accuracy": learner.score(X, y),
            "rules": learner.measure(X, y).to_dict(),
        }
    return json.dumps(data, indent=1, allow_nan=False)


def _save(
    learner: RuleSetClassifier,
    problem: RuleSetLearning,
    instance: Path | None,
    result: Path | None,
) -> None:
    from cpx.cli.output import note, write_result
    from cpx.modelling.instances import save

    if instance is not None:
        save(problem, instance)
        note(f"wrote {instance}: {', '.join([problem.kind, *problem._brief()])}")
    if result is not None:
        write_result(learner.answer(problem), result)
        note(f"wrote {result}")


def _draw(learner: RuleSetClassifier, path: Path) -> None:
    import io

    import matplotlib as mpl
    from matplotlib.figure import Figure

    from cpx.support.files import write_atomic

    # Files need no window, and there may be no screen.
    mpl.use("Agg")
    figure = learner.plot().figure
    assert isinstance(figure, Figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=150)
    write_atomic(path, drawn.getvalue())


@dataclass(frozen=True)
class Task:
    """Rows to learn from, their labels as texts, those kept aside, and the class."""

    X: pd.DataFrame
    y: Any
    fresh: tuple[pd.DataFrame, Any] | None
    label: str


def task_of(
    path: Path,
    table: tuple[pd.DataFrame, pd.Series[Any]],
    label: str | None,
    test: float | None,
    seed: int,
) -> Task:
    """Return the rows of a table; labels become texts, and two of them."""
    import numpy as np

    from cpx.cli.reading import class_of

    X, y = table
    texts = y.astype(str).to_numpy(dtype=object)
    wanted = class_of(y, label)
    if y.nunique() > 2:
        texts = np.where(texts == wanted, wanted, f"not {wanted}")
    if test is None:
        return Task(X, texts, None, wanted)
    from sklearn.model_selection import train_test_split

    try:
        rows, fresh, own, aside = train_test_split(
            X, texts, test_size=test, random_state=seed, stratify=texts
        )
    except ValueError as error:
        raise DataError(f"{path}: rows cannot be kept aside: {error}") from error
    return Task(rows, own, (fresh, aside), wanted)


def _trained(name: str, task: Task, seed: int) -> Any:
    from cpx.data import named_classifier

    if len(set(task.y)) < 2:
        raise DataError(f"the target has one class only, {shown(task.y[0])}")
    return named_classifier(name, seed).fit(task.X, task.y)
