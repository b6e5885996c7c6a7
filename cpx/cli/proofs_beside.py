"""Saved problems, results and proofs of many rows, in a folder beside their page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
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
    from cpx.answers.explanations_page import Beside
    from cpx.cli.output import note, write_result
    from cpx.data import row as row_of
    from cpx.explainers.options import Engine
    from cpx.modelling.instances import save

    folder = path.with_name(f"{path.stem}-proofs")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error
    question = {n: v for n, v in asked.items() if n not in {f.name for f in fields(Engine)}}
    out, lacking = {}, []
    for place, (label, one) in enumerate(zip(found.labels, found)):
        if one.why or one.result is None:
            continue
        problem = explainer.problem(row_of(X, place), kind=kind, **question)
        result = _proved(problem, one.result, asked.get("time_limit"))
        if result is None:
            lacking.append(str(label))
            continue
        names = [f"{folder.name}/row-{place}{end}" for end in (".json.gz", "-result.json")]
        save(problem, path.with_name(folder.name) / Path(names[0]).name)
        write_result(replace(result, proof=None), folder / Path(names[1]).name)
        links, check = [("problem", names[0]), ("result", names[1])], ["cpx", "check", *names]
        if result.proof is not None:
            name = f"{folder.name}/row-{place}-proof.gz"
            result.proof.save(folder / Path(name).name)
            links.append(("proof", name))
            check += ["--proof", name]
        out[place] = Beside(links, shlex.join(check))
    proofs = sum(len(one.links) == 3 for one in out.values())
    note(f"wrote {folder}: {len(out)} problems and results, {proofs} proofs")
    if lacking:
        note(f"without files, as they do not confirm the answer: rows {', '.join(lacking)}")
    return out


def _proved(problem: Any, result: Result, seconds: float | None) -> Result | None:
    """Return a result, with its proof where there is one; None where the problem is another."""
    from cpx.check import UNDECIDED, violations
    from cpx.solving.proofs import with_proof

    if [one for one in violations(problem.to_dict(), result.to_dict()) if one != UNDECIDED]:
        return None
    return result if result.proof is not None else with_proof(problem, result, seconds)
