"""The command ``cpx explain``: what :class:`cpx.Explainer` answers, for a row of a table.

The options are those that the kinds of explanations declare; see :mod:`cpx.explainers.doors`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import given, grouped
from cpx.cli.reading import require_two_classes
from cpx.errors import DataError, InvalidOption, UnknownName, shown
from cpx.explainers.doors import Kind, kind, kinds
from cpx.explainers.options import BACKEND, Engine, Option
from cpx.support.validation import valid_seed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["explain"]

KINDS = tuple(one.name for one in kinds())


@dataclass(frozen=True)
class Asked:
    """The prediction to explain, and how."""

    title: ClassVar[str] = "Table and model"

    table: opt.Table
    row: opt.Row
    target: opt.OptionalTarget = None
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="Classifier trained on the table: mlp, forest, tree, boosting, logistic. Or the "
            "file of a tree model, which 'cpx make' reads, too.",
            autocompletion=opt.choices(opt.CLASSIFIERS),
        ),
    ] = "mlp"
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="; ".join(f"{one.name}: {one.door.about}" for one in kinds()) + ".",
            autocompletion=opt.choices(KINDS),
        ),
    ] = "rule"
    missing: opt.Missing = None
    time_limit: opt.TimeLimit = 10.0
    isolate: opt.Isolate = True

    @property
    def named(self) -> bool:
        """Whether the model is trained, by its name; else it is a file."""
        return self.model in opt.CLASSIFIERS

    def check(self) -> None:
        """Raise for what can be told without the table."""
        if self.named:
            if self.target is None:
                raise InvalidOption(f"--target is missing: --model {self.model} is trained on it")
        elif not Path(self.model).is_file():
            known = [*opt.CLASSIFIERS, "the path of a file"]
            raise UnknownName("model", self.model, known)

    def read(self, categorical: list[str]) -> tuple[pd.DataFrame, Any]:
        """Return the columns of the table without the target, and the target."""
        from cpx.cli.progress import phase
        from cpx.data import read_table
        from cpx.data.tables import read_rows

        missing = opt.words(self.missing)
        with phase(f"reading {self.table}"):
            if not self.named:
                return read_rows(self.table, self.target, missing=missing), None
            X, y = read_table(self.table, str(self.target), categorical, missing=missing)
        require_two_classes(self.table, y)
        return X, y


@dataclass(frozen=True)
class Shared:
    """An option of one kind or several: its name in Python, its title in help, what it means."""

    name: str
    title: str
    default: Any
    option: Option


def _shared() -> Mapping[str, Shared]:
    """Return the options of all kinds by their names in the shell."""
    found: dict[str, Shared] = {}
    for one in kinds():
        for name, declared in one.options.items():
            option = declared.option
            if option is None or option.shell is None:
                continue
            called = option.shell or name.replace("_", "-")
            if called in found:
                title = "Several kinds"
                option, default = found[called].option, found[called].default
            else:
                title, default = one.name.capitalize(), declared.default
            if name in Engine.__annotations__:
                title = "Engine"
            found[called] = Shared(name, title, default, option)
    return found


def _parameter(called: str, shared: Shared) -> inspect.Parameter:
    """Return an option of the command; None is what was not given."""
    option, name = shared.option, shared.name
    told = option.about
    if shared.default not in (None, (), "", False):
        told += f"  [default: {shared.default}]"
    complete = opt.choices(option.choices) if option.choices else None
    if name in ("backend", "encoding"):
        complete = getattr(opt, f"complete_{name}s")
    info = typer.Option(
        *_flags(called),
        metavar=option.metavar or None,
        help=told,
        autocompletion=complete,
        rich_help_panel=shared.title,
        show_default=False,
    )
    flag = option.kind is bool
    kind_: Any = list[str] if option.many else option.kind
    return inspect.Parameter(
        called.replace("-", "_"),
        inspect.Parameter.KEYWORD_ONLY,
        default=False if flag else None,
        annotation=Annotated[kind_ if flag else kind_ | None, info],
    )


def _flags(called: str) -> tuple[str, ...]:
    if called == "backend":
        return "--backend", "-b"
    return (f"-{called}" if len(called) == 1 else f"--{called}",)


def _refuse(one: Kind, asked: Mapping[str, Any], file: ModelFile, source: Asked) -> None:
    """Raise for options that the kind does not have, and for what it cannot take."""
    for called, shared in _SHARED.items():
        if shared.name in asked and not _has(one, shared.name):
            have = " or ".join(other.name for other in kinds() if _has(other, shared.name))
            raise InvalidOption(f"{_flags(called)[0]} is for --kind {have}")
    if source.named and (wrong := given(file)):
        raise InvalidOption(f"{wrong[0]} is for the model of a file, --model is {source.model}")


def _has(one: Kind, name: str) -> bool:
    return name in one.options and one.options[name].option is not None


_SHARED = _shared()


class OptionsOfKinds:
    """The options of all kinds, which the command gets as one mapping; see Options."""

    title: str | None = None

    def parameters(self) -> list[inspect.Parameter]:
        """Return them as parameters of a command."""
        return [_parameter(called, shared) for called, shared in _SHARED.items()]

    def read(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what was given, as Python takes it and by its names there."""
        found = {}
        for called, shared in _SHARED.items():
            value, read = values[called.replace("-", "_")], shared.option.read
            if value is not None and value is not False and value != []:
                found[shared.name] = value if read is None else read(value)
        return found


@grouped(options=OptionsOfKinds())
def explain(
    *,
    source: Asked,
    file: ModelFile,
    options: dict[str, Any],
    as_json: opt.Json = False,
    output: opt.ResultFile = None,
) -> None:
    r"""Explain the prediction of a model for one row of a table.

    Trains the model on the table, or reads it from a file, and asks cpx.Explainer. The best rule
    is the most precise one of at most k conditions that covers 1/20 of the rows, unless
    --objective says otherwise. The other kinds are for tree models.

    \b
    Examples:
      cpx explain table.csv --target y --row 17
      cpx explain table.csv --target y --row 17 --model forest -k 3 --min-coverage 0.2
      cpx explain table.csv --target y --row 17 --model forest --kind reason
      cpx explain table.csv --target y --row 17 --model forest --kind contrast --frozen age
      cpx explain table.csv --target y --row 17 --model boosting --kind expectation -k 3
      cpx explain table.csv --target y --row 17 --model model.json --kind reason
      cpx explain table.csv --target y --row 17 --required "age > 40" --one-per-group --json

    \b
    Exit codes: 0 an answer proved optimal, or proved that there is none; 3 an answer without
    proof; 4 none within the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import deliver, note
    from cpx.cli.progress import phase, solve_progress
    from cpx.cli.reading import output_path
    from cpx.data import row as row_of

    path = output_path(output, source.table)
    one, asked = kind(source.kind), options
    _refuse(one, asked, file, source)
    source.check()
    seed = valid_seed(asked.get("seed", 0))
    asked["time_limit"] = opt.limit(source.time_limit)
    if "isolate" in one.options:
        asked["isolate"] = source.isolate
    backend = asked.get("backend")
    _check(one, asked, backend)
    if one.door.trees and source.named and source.model not in opt.TREES:
        raise InvalidOption(
            f"--kind {one.name} is for tree models: --model {', '.join(opt.TREES)} or a file, "
            f"got {shown(source.model)}"
        )
    X, y = source.read(asked.get("categorical") or [])
    x = row_of(X, source.row)
    prepared = {name: asked.pop(name) for name in [*asked] if one.options[name].prepared}
    if source.isolate and (backend or not one.door.trees):
        _start(backend or BACKEND)
    training = phase(f"training {source.model} on {len(X)} rows", long=True)
    if not source.named:
        by = _made(one, file.read(Path(source.model)), X, prepared)
    elif one.door.trees:
        from cpx.cli.tree_row import encoded
        from cpx.data.classifiers import tree_classifier

        if "groups" in one.options:
            X, prepared["groups"] = encoded(X)
            x = X.iloc[[source.row]]
        _require_numbers(source.table, X, one)
        with training:
            model = tree_classifier(source.model, seed).fit(X, y)
        by = _made(one, model, X, prepared)
    else:
        from cpx.data import named_classifier

        by = _made(one, named_classifier(source.model, seed), X, prepared)
        by.check(x, **asked)
        with training:
            by.fit(X, y)
    for text in getattr(by, "notes", ()):
        note(text)
    name = backend or BACKEND if "backend" in one.options else one.name
    with solve_progress(name, asked["time_limit"]) as listen:
        if "listen" in one.options:
            asked["listen"] = listen
        if "name" in one.options:
            asked.setdefault("name", f"{source.table.name.partition('.')[0]}-{source.row}")
        answer = by.answer(x, **asked)
    title = f"{source.table} row {source.row}, class {answer.label} by {source.model}: "
    raise typer.Exit(deliver(answer.result, as_json, path, title + ", ".join(answer.brief)))


def _made(one: Kind, model: Any, X: Any, prepared: dict[str, Any]) -> Any:
    from cpx.explainers import Explainer

    return Explainer(model, X, **prepared).of(one.name)


def _check(one: Kind, asked: Mapping[str, Any], backend: str | None) -> None:
    """Raise for what is wrong without data, and for an engine that is not there."""
    for name, value in asked.items():
        option = one.options[name].option
        # Options of a value may follow it in braces.
        if option and option.choices and str(value).partition("{")[0] not in option.choices:
            raise UnknownName(name, value, option.choices)
    for cls in one.explainer.asks:
        cls(**{f.name: asked[f.name] for f in fields(cls) if f.name in asked})
    if backend is not None:
        opt.require_engine(backend, None, None)
    opt.solve_options(
        asked["time_limit"] or float("inf"),
        asked.get("threads", 1),
        asked.get("seed", 0),
        asked.get("gap"),
        asked.get("encoding"),
    )


def _start(backend: str) -> None:
    """Let a worker load the engine while the model is trained."""
    from cpx.backends import backend as find
    from cpx.solving.servers import prepare

    prepare(*find(backend)._engines)


def _require_numbers(table: Path, X: pd.DataFrame, one: Kind) -> None:
    from pandas.api.types import is_numeric_dtype

    for name, dtype in X.dtypes.items():
        if not is_numeric_dtype(dtype):
            raise DataError(
                f"{table}: column {shown(name)} has no numbers, which a tree model of --kind "
                f"{one.name} needs; encode it, or train a model of your own: --model FILE"
            )
