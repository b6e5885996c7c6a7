"""What a proof about a sufficient reason says in words: the rows that show what must be kept."""

from __future__ import annotations

from collections.abc import Sequence

from cpx.answers.proof import ProofRow, ProofRows
from cpx.answers.values import class_words, plural
from cpx.check.proofs.document import Claim
from cpx.models.sufficient_reason.features import conditions
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.models.sufficient_reason.proof_check import Inequalities
from cpx.trees import MISSING

__all__ = ["rows_of"]


def rows_of(
    problem: SufficientReason, claim: Claim, lines: Sequence[str], reason: Sequence[int]
) -> ProofRows:
    """Return the rows of a proof, and what they show.

    claim: What is proved.
    reason: Features of the reason that was found; none if there is none.
    """
    known, found = Inequalities(problem.to_dict()), dict[tuple[str, ...], ProofRow]()
    for line in lines:
        rule, *words = line.split(" ")
        if rule not in ("hit", "row"):
            break
        numbers = [int(word) for word in words]
        if rule == "row":
            numbers = numbers[2 : 2 + 2 * numbers[1]]
        differs = dict(zip(numbers[::2], numbers[1::2], strict=True))
        given = str(problem.tree_model.classes[known.class_of(differs)])
        changes = {j: _in_words(problem, j, cell) for j, cell in differs.items()}
        key = (given, *changes.values())
        if rule == "hit" or key not in found:
            found[key] = ProofRow(given, changes, rule == "hit")
    rows = sorted(found.values(), key=lambda row: (not row.one, len(row.changes)))
    others = f"{plural(len(rows), 'row')} of another class" if rows else "nothing but that"
    branched = sum(line.startswith("split") for line in lines)
    cases = f", in {branched + 1} cases," if branched else ""
    headline = (
        f"{others}{cases} show{'s' * (len(rows) < 2)} that "
        f"{_fewer(problem, claim)} {class_words(str(problem.label))}"
    )
    names = problem.feature_names
    if problem.level == "intervals":  # rows differ in columns
        model, cells = problem.tree_model, problem.features.cells.tolist()
        names = tuple(str(model.between(a, c, c, problem.x[a])) for a, c in enumerate(cells))
        reason = problem.features.columns(reason)
    return ProofRows(headline, tuple(rows), names, tuple(reason))


def _in_words(problem: SufficientReason, j: int, cell: int) -> str:
    """Say what a row has in a feature, by the cell of the proof."""
    model = problem.tree_model
    if problem.level == "conditions":
        a, at = conditions(model)[j]
        return str(model.condition(a, at, cell == 0))
    place = MISSING if cell > len(model.thresholds[j]) else cell
    return str(model.between(j, place, place, problem.x[j]))


def _fewer(problem: SufficientReason, claim: Claim) -> str:
    """Name the sets that are no reasons."""
    unit = problem.features.unit
    if claim.bound is None:
        return f"all {unit}s that are allowed do not force"
    bound = int(claim.bound)
    if problem.weights is not None:
        return f"no {unit}s of a weight below {bound} force"
    if bound <= 1:
        return f"without an {unit} nothing forces" if bound else "nothing need force"
    return f"no {bound - 1} {unit}s force" if bound > 2 else f"no {unit} alone forces"
