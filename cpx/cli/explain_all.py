"""The command ``cpx explain --kind all``: a row by all kinds, as text, a page or a figure."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from cpx.cli import options as opt
from cpx.cli.kind_options import flags
from cpx.cli.model_file import ModelFile
from cpx.cli.output import note, print_blocks, say
from cpx.cli.progress import phase, training
from cpx.cli.reading import read_columns
from cpx.errors import InvalidOption, UnsupportedModel
from cpx.explainers.doors import loaded
from cpx.trees.networks import NetworkModel

ALL = "all"
"""What ``--kind`` has for all of them."""

_ASKED = "k", "min_coverage", "target", "frozen"


def explain_all(
    source: Any,
    file: ModelFile,
    asked: dict[str, Any],
    called: Mapping[str, Any],
    as_json: bool,
    path: Path | None,
) -> int:
    """Ask a row by all kinds, print and write the answer, and return the exit code.

    source: Table, row and model, as :mod:`cpx.cli.explain` has them.
    asked: The options of kinds that were given, by their names in Python.
    called: These options by their names in the shell.
    path: Where to write it: a page, a figure or JSON, by its ending.
    """
    from cpx.answers.pages import require_form
    from cpx.answers.result import Status
    from cpx.answers.text import Paragraph
    from cpx.data import named_classifier
    from cpx.data import row as row_of
    from cpx.data.targets import target_of
    from cpx.explainers import Explainer
    from cpx.processes.interrupts import noted
    from cpx.support.files import write_atomic

    if path is not None:
        require_form(path)
    if source.proofs and (path is None or path.suffix != ".html"):
        raise InvalidOption("--proofs is for a page: -o page.html")
    declared = [pair for one in loaded() for pair in one.options.items()]
    common = {name for name, one in declared if one.prepared and one.option is not None}
    for name, shared in called.items():
        if shared.name in asked and shared.name not in {*common, *_ASKED}:
            raise InvalidOption(f"{flags(name)[0]} is not for --kind {ALL}")
    if source.rows is not None:
        raise InvalidOption(f"--kind {ALL} is for one row: --row")
    source.check()
    prepared = {name: asked.pop(name) for name in [*asked] if name in common}
    limits = {name: prepared.get(name) for name in ("above", "below", "between")}
    numbers = target_of(**limits) is not None
    missing, categorical = opt.words(source.missing), prepared.get("categorical")
    X, y = read_columns(source.table, source.target, missing, categorical, source.named, numbers)
    assert source.row is not None  # check has seen to it
    x, seed = row_of(X, source.row), prepared.get("seed", 0)
    if source.model in opt.TREES:
        from cpx.cli.tree_row import trained

        model: Any = trained(source.model, seed, X, y, numbers)
    elif source.named:
        with training(source.model, len(X)):
            model = named_classifier(source.model, seed, numbers).fit(X, y)
    else:
        given = {name: prepared.pop(name) for name in limits if name in prepared}
        try:
            model = file.read(Path(source.model), {"rows": X, **given})
        except UnsupportedModel as error:
            model, prepared = file.opened(Path(source.model), error), {**prepared, **given}
            if not isinstance(error, NetworkModel):
                note(f"not read as trees, asked by predict alone: {error}")
    explainer = Explainer(model, X, **prepared)
    with phase("explaining the row by all kinds", long=True):
        found = explainer.all_kinds(x, **asked, time_limit=opt.limit(source.time_limit))
    title = f"{source.table} row {source.row} by {source.model}"
    with noted(threading.Event()):  # Ctrl-C comes too late: the answer is there
        heading = f"{title}: {found.headline()}"
        if path is not None and source.proofs:
            files = _proofs(found, path, opt.limit(source.time_limit))
            write_atomic(path, found.to_page(heading, files).encode())
        elif path is not None:
            found.save(path, heading)
        if path is not None:
            note(f"wrote {path}")
        if as_json:
            import json

            typer.echo(json.dumps(found.to_dict(), indent=1))
        else:
            say(title)
            print_blocks([Paragraph(found.counts()), *found.blocks()])
    return {Status.OPTIMAL: 0, Status.FEASIBLE: 3}.get(found.status, 4)


def _proofs(found: Any, path: Path, seconds: float | None) -> dict[str, Any]:
    """Write problem, result and proof of each kind beside the page, and return what it links."""
    from cpx.cli.proofs_beside import counted_files, folder_beside, write_proof

    folder, files = folder_beside(path), dict[str, Any]()
    for one in found.kinds:
        if one.problem is not None and one.found.result is not None:
            try:
                problem = one.problem()
            except InvalidOption:  # a search on rows is no problem that engines solve
                continue
            beside = write_proof(problem, one.found.result, folder, one.kind, seconds)
            if beside is None:
                note(f"without files, as they do not confirm the answer: {one.kind}")
            else:
                files[one.kind] = beside
    note(f"wrote {folder}: {counted_files(files.values())}")
    return files
