"""The command ``cpx explain``: what :class:`cpx.Explainer` answers, for a row of a table.

The options are those that the kinds of explanations declare; see :mod:`cpx.explainers.doors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.explain_all import ALL, explain_all
from cpx.cli.explain_rows import bounds
from cpx.cli.kind_options import KindOptions, check_values, flags
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import given, grouped
from cpx.cli.reading import read_columns
from cpx.errors import InvalidOption, UnknownName, UnsupportedModel, shown
from cpx.explainers.doors import Kind, called_elsewhere, kind, loaded
from cpx.options import TIME_LIMIT
from cpx.support.validation import valid_seed
from cpx.trees.networks import NetworkModel

__all__ = ["explain"]

KINDS = tuple(one.name for one in loaded())
OPTIONS = KindOptions()


@dataclass(frozen=True)
class Asked:
    """The prediction to explain, and how."""

    title: ClassVar[str] = "Table and model"

    table: opt.Table
    row: Annotated[int | None, opt._ROW] = None
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="A:B",
            help="Rows to explain, in place of one: 0:100 for the first hundred, : for all.",
        ),
    ] = None
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
            help="; ".join(f"{one.name}: {one.door.about}" for one in loaded())
            + f"; {ALL}: each of them, and how they relate.",
            autocompletion=opt.choices((*KINDS, ALL)),
        ),
    ] = "rule"
    missing: opt.Missing = None
    time_limit: opt.TimeLimit = TIME_LIMIT
    isolate: opt.Isolate = True
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Of --rows: processes, -1 for all cores.")
    ] = None
    proofs: Annotated[
        bool,
        typer.Option(
            "--proofs",
            help="Of a page: write problem, result and proof of each row, or of each kind, beside "
            "it, linked.",
        ),
    ] = False

    @property
    def named(self) -> bool:
        """Whether the model is trained, by its name; else it is a file."""
        return self.model in opt.CLASSIFIERS

    def check(self) -> None:
        """Raise for what can be told without the table."""
        if (self.row is None) == (self.rows is None):
            which = "one of --row and --rows is needed"
            raise InvalidOption(which + ("" if self.row is None else ", not both"))
        if self.rows is None and self.jobs is not None:
            raise InvalidOption("--jobs is for --rows")
        if self.rows is not None:
            bounds(self.rows)
        if self.named:
            if self.target is None:
                raise InvalidOption(f"--target is missing: --model {self.model} is trained on it")
        elif not Path(self.model).is_file():
            known = [*opt.CLASSIFIERS, "the path of a file"]
            raise UnknownName("model", self.model, known)


def _refuse(one: Kind, asked: Mapping[str, Any], file: ModelFile, source: Asked) -> None:
    """Raise for options that the kind does not have, and for what it cannot take."""
    for called, shared in OPTIONS.shared.items():
        if shared.name in asked and not _has(one, shared.name):
            have = " or ".join(other.name for other in loaded() if _has(other, shared.name))
            raise InvalidOption(f"{flags(called)[0]} is for --kind {have}")
    if source.named and (wrong := given(file)):
        raise InvalidOption(f"{wrong[0]} is for the model of a file, --model is {source.model}")


def _has(one: Kind, name: str) -> bool:
    return name in one.options and one.options[name].option is not None


@grouped(options=OPTIONS)
def explain(
    *,
    source: Asked,
    file: ModelFile,
    options: dict[str, Any],
    as_json: opt.Json = False,
    output: opt.ResultFile = None,
) -> None:
    r"""Explain the predictions of a model for a row of a table, or for many.

    Trains the model on the table, or reads it from a file, and asks cpx.Explainer. The best rule
    is the most precise one of at most k conditions that covers 1/20 of the rows, unless
    --objective says otherwise. The other kinds are for tree models; of any other classifier
    of a file a contrast is searched for on the rows of the table, without proof.

    \b
    Examples:
      cpx explain table.csv --target y --row 17
      cpx explain table.csv --target y --row 17 -k 3 --min-coverage 0.2
      cpx explain table.csv --target y --row 17 --model forest --kind reason
      cpx explain table.csv --target y --row 17 --model tree --kind contrast
      cpx explain table.csv --target y --row 17 --model tree --kind expectation
      cpx explain table.csv --target y --row 17 --model model.json --kind reason
      cpx explain table.csv --row 17 --model any.joblib --trust --kind contrast
      cpx explain table.csv --target y --row 17 --required "age > 40" --json
      cpx explain table.csv --target y --rows 0:100 --model forest --jobs 2 -o page.html
      cpx explain table.csv --target y --row 17 --model forest --kind all -o page.html

    With --kind all, -o writes a page (.html), a figure (.svg, .pdf, .png) or .json. With --rows,
    -o writes a page (.html) or a table (.csv); Ctrl-C keeps what was answered. With
    --proofs the page links what 'cpx check' checks each answer by.

    Exit codes: 0 an answer proved optimal, or proved that there is none; 3 an answer without
    proof; 4 none within the limits; 2 wrong input; 1 anything else.
    """
    from cpx.cli.explain_rows import chosen, deliver_many, require_output
    from cpx.cli.output import deliver, note
    from cpx.cli.progress import solve_progress, training
    from cpx.cli.proofs_beside import require_proofs, write_proofs
    from cpx.cli.reading import output_path
    from cpx.data import row as row_of
    from cpx.data.targets import target_of
    from cpx.explainers import Explainer

    path = output_path(output, source.table)
    if source.kind == ALL:
        raise typer.Exit(explain_all(source, file, options, OPTIONS.shared, as_json, path))
    if source.kind not in KINDS:
        raise UnknownName("kind", source.kind, (*KINDS, ALL), called_elsewhere())
    if source.rows is not None:
        require_output(path, as_json)
    one, asked = kind(source.kind), options
    if source.proofs:
        require_proofs(one.explainer, source.kind, path if source.rows is not None else None)
    _refuse(one, asked, file, source)
    source.check()
    seed = valid_seed(asked.get("seed", 0))
    asked["time_limit"] = opt.limit(source.time_limit)
    if "isolate" in one.options:
        # A worker for each of many rows would take longer than most answers.
        asked["isolate"] = source.isolate and source.rows is None
    backend = asked.get("backend")
    _check(one, asked, backend)
    if one.door.trees and source.named and source.model not in opt.TREES:
        raise InvalidOption(
            f"--kind {one.name} is for tree models: --model {', '.join(opt.TREES)} or a file, "
            f"got {shown(source.model)}"
        )
    named, missing = asked.get("categorical"), opt.words(source.missing)
    limits = {name: asked.get(name) for name in ("above", "below", "between")}
    about_numbers = target_of(**limits) is not None
    X, y = read_columns(source.table, source.target, missing, named, source.named, about_numbers)
    x = None if source.row is None else row_of(X, source.row)
    prepared = {name: asked.pop(name) for name in [*asked] if one.options[name].prepared}
    if asked.get("isolate") and (backend or not one.door.trees):
        _start(backend or "search")
    if not source.named:
        given = {name: prepared.pop(name) for name in limits if name in prepared}
        path_of_model = Path(source.model)
        try:
            model = file.read(path_of_model, {"rows": X, **given})
            explainer = Explainer(model, X, **prepared)
        except UnsupportedModel as error:
            explainer = Explainer(file.opened(path_of_model, error), X, **given, **prepared)
            try:
                explainer.of(one.name)
            except UnsupportedModel:
                raise error from None
            if not (one.door.trees and isinstance(error, NetworkModel)):
                note(f"not read as trees, asked by predict alone: {error}")
    elif one.door.trees:
        from cpx.cli.tree_row import trained

        model = trained(source.model, seed, X, y, about_numbers)
        explainer = Explainer(model, X, **prepared)
    else:
        from cpx.data import named_classifier

        explainer = Explainer(named_classifier(source.model, seed, about_numbers), X, **prepared)
        by = explainer.of(one.name)
        by.check(X.iloc[[0]] if x is None else x, **asked)
        with training(source.model, len(X)):
            by.fit(X, y)
    by = explainer.of(one.name)
    for text in getattr(by, "notes", ()):
        note(text)
    if source.rows is not None:
        rows = chosen(X, source.rows)
        told = f"{source.table} rows {source.rows}, {one.door.plural} by {source.model}"
        found = explainer.explain_many(rows, kind=one.name, n_jobs=source.jobs, **asked)
        files = None
        if source.proofs and path is not None:
            files = write_proofs(explainer, found, rows, one.name, asked, path)
        raise typer.Exit(deliver_many(found, path, told, files))
    with solve_progress(backend or one.name, asked["time_limit"]) as listen:
        if "listen" in one.options:
            asked["listen"] = listen
        if "name" in one.options:
            asked.setdefault("name", f"{source.table.name.partition('.')[0]}-{source.row}")
        answer = by.answer(x, **asked)
    title = f"{source.table} row {source.row}, class {answer.label} by {source.model}: "
    raise typer.Exit(deliver(answer.result, as_json, path, title + ", ".join(answer.brief)))


def _check(one: Kind, asked: Mapping[str, Any], backend: str | None) -> None:
    """Raise for what is wrong without data, and for an engine that is not there."""
    check_values(one, asked)
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
