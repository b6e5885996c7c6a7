"""Saved problems, results and proofs of answers, in a folder beside their page."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpx.errors import InvalidOption, OutputError

if TYPE_CHECKING:
    import pandas as pd

    from cpx.answers.explanations import Explanations
    from cpx.answers.explanations_page import Beside
    from cpx.answers.result import Result
    from cpx.explainers import Explainer


def require_proofs(explainer_class: type, kind: str, path: Path | None) -> None:
    """Raise before anything runs where there is no page, or nothing to be proved."""
    if path is None or path.suffix != ".html":
        raise InvalidOption("--proofs is for a page of many rows: --rows A:B -o page.html")
    if not hasattr(explainer_class, "problem"):
        raise InvalidOption(f"--proofs is for kinds that engines solve, --kind {kind} is none")


def write_proofs(
    explainer: Explainer,
    found: Explanations,
    X: pd.DataFrame,
    kind: str,
    asked: Mapping[str, Any],
    path: Path,
) -> dict[int, Beside]:
    """Write what a proof of each answer needs, and return what the page links, by place.

    X: The rows.
    path: That of the page.
    Raises OutputError: Where a file cannot be written.
    """
    from cpx.cli.output import note
    from cpx.data import row as row_of
    from cpx.explainers.options import Engine

    folder = folder_beside(path)
    question = {n: v for n, v in asked.items() if n not in {f.name for f in fields(Engine)}}
    out, lacking = {}, []
    for place, (label, one) in enumerate(zip(found.labels, found)):
        if one.why or one.result is None:
            continue
        problem = explainer.problem(row_of(X, place), kind=kind, **question)
        beside = write_proof(problem, one.result, folder, f"row-{place}", asked.get("time_limit"))
        if beside is None:
            lacking.append(str(label))
        else:
            out[place] = beside
    note(f"wrote {folder}: {counted_files(out.values())}")
    if lacking:
        note(f"without files, as they do not confirm the answer: rows {', '.join(lacking)}")
    return out


def folder_beside(path: Path) -> Path:
    """Make the folder beside a page.

    Raises OutputError: Where it cannot be written.
    """
    folder = path.with_name(f"{path.stem}-proofs")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error
    return folder


def counted_files(written: Iterable[Beside]) -> str:
    """Say how many problems, results and proofs were written."""
    links = [one.links for one in written]
    return f"{len(links)} problems and results, {sum(len(one) == 3 for one in links)} proofs"


def write_proof(
    problem: Any, result: Result, folder: Path, stem: str, seconds: float | None
) -> Beside | None:
    """Write problem, result and proof of an answer; None where the problem is another."""
    from cpx.answers.explanations_page import Beside
    from cpx.cli.output import write_result
    from cpx.modelling.instances import save

    proved = _proved(problem, result, seconds)
    if proved is None:
        return None
    names = [f"{folder.name}/{stem}{end}" for end in (".json.gz", "-result.json")]
    save(problem, folder / Path(names[0]).name)
    write_result(replace(proved, proof=None), folder / Path(names[1]).name)
    links, check = [("problem", names[0]), ("result", names[1])], ["cpx", "check", *names]
    if proved.proof is not None:
        name = f"{folder.name}/{stem}-proof.gz"
        proved.proof.save(folder / Path(name).name)
        links.append(("proof", name))
        check += ["--proof", name]
    return Beside(links, shlex.join(check))


def _proved(problem: Any, result: Result, seconds: float | None) -> Result | None:
    """Return a result, with its proof where there is one; None where the problem is another."""
    from cpx.check import UNDECIDED, violations
    from cpx.solving.proofs import with_proof

    if [one for one in violations(problem.to_dict(), result.to_dict()) if one != UNDECIDED]:
        return None
    return result if result.proof is not None else with_proof(problem, result, seconds)
