"""Whether an engine can be asked to solve a problem, and in which encoding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cpx.backends.base import Backend
from cpx.errors import InvalidOption, shown
from cpx.models.base import Encoding, Problem, RatioProblem

__all__ = ["encoding_of", "require_kind", "require_oracle"]


def require_kind(engine: Backend, problem: Problem) -> None:
    """Raise InvalidOption when an engine does not solve the problem."""
    if engine.accepts(problem):
        return
    if engine.needs_model or (hasattr(problem, "search_form") and not problem.stated):
        problem.stated_in()  # says why there is no statement
    raise InvalidOption(engine.refusal(problem))


def require_oracle(engine: Backend, problem: Problem) -> None:
    """Raise InvalidOption when an engine asks the classifier and the problem has none."""
    if engine.asks_classifier and problem.oracle is None:
        raise InvalidOption(
            f"backend {shown(engine.name)} asks the classifier, and this problem has only its "
            f"samples: call cpx.explain(..., backend={shown(engine.name)}), or solve a problem "
            "stated by cpx.Explainer"
        )


def encoding_of(engine: Backend, problem: Problem, name: str | None) -> Encoding[Any]:
    """Return the encoding an engine will solve; one without a name if it needs none.

    Without a name it is the engine's own choice among those of the problem, or the problem's
    first; that for a ratio, whose steps are stated one after the other, each with little time.
    """
    if name is None and engine.needs_model and not isinstance(problem, RatioProblem):
        known = {encoding.name for encoding in problem.encodings}
        name = next((own for own in engine.preferred_encodings if own in known), None)
    form = problem.stated_in(name) if engine.needs_model else problem.encoding(name)
    return form if engine.needs_model else replace(form, name="", faithful=True, stand_in=None)
