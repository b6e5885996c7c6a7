"""What forces a prediction of a tree model: from a model and a row to a sufficient reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cpx.answers.explanation import Explanation, Reason
from cpx.answers.result import Result, Status
from cpx.backends import Event
from cpx.backends import backend as find_backend
from cpx.errors import EngineError, InvalidOption, shown
from cpx.models.sufficient_reason.column_names import fitted_to
from cpx.models.sufficient_reason.features import Features, Level
from cpx.models.sufficient_reason.form import Definition
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.models.sufficient_reason.row import row_values
from cpx.solving import solve
from cpx.trees import read_model
from cpx.trees.agreeing import near_ties

__all__ = ["conclude", "engine_for", "explain_by_reason"]


def explain_by_reason(
    model: Any,
    x: Any,
    *,
    level: Level = "attributes",
    definition: Definition = "sufficient",
    weights: Sequence[int] | Mapping[Any, int] | None = None,
    required: object = (),
    forbidden: object = (),
    class_names: Sequence[str] | Mapping[Any, str] | None = None,
    label: Any = None,
    trusted: bool | Iterable[str] = False,
    backend: str | None = None,
    time_limit: float | None = 10.0,
    seed: int = 0,
    hint: Explanation | Sequence[int | str] | None = None,
    gap: float | None = None,
    threads: int = 1,
    encoding: str | None = None,
    isolate: bool = False,
    listen: Callable[[Event], None] | None = None,
) -> Reason:
    """Do what :func:`cpx.explain` does with ``kind="sufficient"``."""
    trees, notes = fitted_to(read_model(model, trusted=trusted), x)
    features = Features(trees, row_values(trees, x), level)
    problem = SufficientReason(
        trees,
        features.x,
        level,
        definition,
        weights=_weights(features, weights),
        required=_several(required),
        forbidden=_several(forbidden),
        label=label,
        context=_context(features, class_names),
    )
    name = engine_for(problem) if backend is None else backend
    engine = find_backend(name)
    engine.require()
    if not isolate:
        # Loading an engine, or compiling it at its first use, is no part of the limit.
        engine.preload()
    result = solve(
        problem,
        name,
        time_limit=time_limit,
        encoding=encoding,
        threads=threads,
        seed=seed if "seed" in engine.supported_options else 0,
        gap=gap,
        hint=_hint(features, hint),
        isolate=isolate,
        listen=listen,
    )
    return conclude(problem, result, (*notes, *_near_tie(features)))


def engine_for(problem: SufficientReason) -> str:
    """Return the engine that is asked for a reason unless another one is named.

    Examples
    --------
    >>> from cpx.testing.smallest import three_definitions
    >>> for definition in ("sufficient", "majoritary"):
    ...     print(engine_for(SufficientReason(three_definitions(), (1, 1, 1), "attributes",
    ...                                       definition)))
    hitting-sets
    cpsat
    """
    return "cpsat" if problem.stated else "hitting-sets"


def conclude(problem: SufficientReason, result: Result, told: Sequence[str] = ()) -> Reason:
    """Return the reason that was found, with what is known of it, and further notes.

    Raises
    ------
    EngineError
        When there is none, or the engine or the check failed.
    """
    found, weight = result.explanation, result.objective
    words = "".join(f"; {warning}" for warning in result.warnings)
    if result.status is Status.INFEASIBLE:
        raise EngineError(f"there is no {problem.candidate()}; {result.engine} proved it{words}")
    if found is None or not isinstance(weight, int) or result.status is Status.ERROR:
        what = "no reason" if found is None else "a reason that is wrong"
        raise EngineError(
            f"{result.engine} found {what}: {result.status}, {result.termination}, "
            f"{result.raw_status}{words}"
        )
    checked = "checked: code that no engine uses confirms that the class is forced"
    notes = list(dict.fromkeys((*found.notes, *told, *result.warnings)))
    bound = result.bound
    return Reason(
        found.rule,
        proved=found.proved,
        guarantee=found.guarantee,
        notes=(*notes, checked) if result.verified else tuple(notes),
        weight=weight,
        least=bound if isinstance(bound, int) else None,
        verified=result.verified,
    )


def _near_tie(features: Features) -> tuple[str, ...]:
    """Warn where the library, which adds floats, may give x another class than exact sums."""
    model = features.tree_model
    if len(model.trees) == 1 or model.rule == "vote" or not near_ties(model, features.x)[0]:
        return ()
    return (
        "near tie: the scores of x are so close that rounding in the library may decide; "
        f"{model.classes[int(model.predict_index(features.x)[0])]} is the class by exact sums",
    )


def _several(given: object) -> Any:
    """Return one feature as a list of one."""
    return [given] if isinstance(given, str | int) else given


def _weights(features: Features, given: Any) -> Any:
    """Return weights given by feature as a list; 1 where nothing is given."""
    if not isinstance(given, Mapping):
        return given
    weights: list[Any] = [1] * len(features)
    for feature, weight in given.items():
        (j,) = features.numbers("weights", [feature])
        weights[j] = weight
    return weights


def _hint(features: Features, given: Any) -> Any:
    if given is None or isinstance(given, Explanation):
        return given
    return features.numbers("hint", _several(given))


def _context(
    features: Features, names: Sequence[str] | Mapping[Any, str] | None
) -> dict[str, str]:
    """Return what the class of x is called, if that is said."""
    if names is None:
        return {}
    model = features.tree_model
    own, classes = int(model.predict_index(features.x)[0]), model.classes
    if isinstance(names, Mapping):
        called = {str(key): str(name) for key, name in names.items()}
        return {"class": called.get(str(classes[own]), str(classes[own]))}
    if isinstance(names, str) or len(names) != len(classes):
        raise InvalidOption(
            f"class_names must name the {len(classes)} classes of the model "
            f"({', '.join(map(str, classes[:5]))}), got {shown(names)}"
        )
    return {"class": str(names[own])}
