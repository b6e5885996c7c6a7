"""Explanations of tree models: from a model and a row to a sufficient reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from cpx.answers.explanation import Explanation, Reason
from cpx.answers.result import Result, Status
from cpx.errors import EngineError, Infeasible
from cpx.explainers.arguments import READER_OPTIONS, SOLVE_OPTIONS, TIME_LIMIT, ReasonOptions
from cpx.explainers.background import fitted_to_rows
from cpx.explainers.class_names import ClassNames, class_name
from cpx.explainers.preparation import solve_in_time, with_limit
from cpx.modelling.row import fitted_to, refuse_missing_conditions, row_values
from cpx.modelling.side_constraints.parameter import texts_of
from cpx.models.sufficient_reason.features import Features, Level
from cpx.models.sufficient_reason.form import Definition
from cpx.models.sufficient_reason.problem import SufficientReason
from cpx.trees import TreeModel, read_model
from cpx.trees.hold import held_against
from cpx.trees.library_agreement import near_ties


@dataclass(frozen=True)
class ReasonQuestion:
    """Which reason is wanted; the parameters are explained at :func:`cpx.explain`."""

    level: Level = "attributes"
    definition: Definition = "sufficient"
    weights: Sequence[int] | Mapping[Any, int] | None = None
    required: object = ()
    forbidden: object = ()
    where: str | Sequence[str] = ()
    class_names: ClassNames = None
    label: Any = None
    name: str = ""

    def problem(self, trees: TreeModel, x: Any) -> SufficientReason:
        """State the problem for a row of a model."""
        features = Features(trees, row_values(trees, x), self.level)
        stated = SufficientReason(
            trees,
            features.x,
            self.level,
            self.definition,
            weights=_weights(features, self.weights),
            required=several(self.required),
            forbidden=several(self.forbidden),
            label=self.label,
            context=class_context(
                trees, int(trees.predict_index(features.x)[0]), self.class_names
            ),
            name=self.name,
        )
        texts = texts_of(self.where)
        return stated.where(*texts) if texts else stated


def explain_by_reason(model: Any, x: Any, **options: Unpack[ReasonOptions]) -> Reason:
    """Do what :func:`cpx.explain` does with ``kind="sufficient"``."""
    asked: dict[str, Any] = {**options}
    reader = {name: asked.pop(name) for name in READER_OPTIONS if name in asked}
    missing, background = asked.pop("missing", "auto"), asked.pop("background", None)
    refuse_missing_conditions(asked.get("level"), missing)
    trees, notes = read_model(model, **reader), tuple[str, ...]()
    if background is not None:
        trees, _, notes = fitted_to_rows(trees, background)
    known = background is not None or asked.get("level") == "conditions"
    trees, told = fitted_to(trees, x, missing, of_data=known)
    engine: dict[str, Any] = {"time_limit": TIME_LIMIT}
    engine |= {name: asked.pop(name) for name in SOLVE_OPTIONS if name in asked}
    backend, seed = asked.pop("backend", None), engine.pop("seed", 0)
    problem = ReasonQuestion(**asked).problem(trees, x)
    engine["hint"] = _hint(problem, engine.get("hint"))
    result = solve_in_time(problem, backend or engine_for(problem), seed, engine)
    result = with_limit(result, engine["time_limit"])
    notes = (*notes, *told, *_near_tie(problem), *held_against(trees, problem.x))
    return conclude(problem, result, notes)


def engine_for(problem: SufficientReason) -> str:
    """Return the engine that is asked for a reason unless another one is named.

    >>> from cpx.models.sufficient_reason.cases import three_definitions
    >>> for definition in ("sufficient", "majoritary"):
    ...     print(engine_for(SufficientReason(three_definitions(), (1, 1, 1), "attributes",
    ...                                       definition)))
    hitting-sets
    cpsat
    """
    return "hitting-sets" if problem.unstated else "cpsat"


def conclude(problem: SufficientReason, result: Result, told: Sequence[str] = ()) -> Reason:
    """Return the reason that was found, with what is known of it, and further notes.

    Raises EngineError: When there is none, or the engine or the check failed.
    """
    found, weight = result.explanation, result.objective
    words = "".join(f"; {remark}" for remark in result.remarks)
    if result.status is Status.INFEASIBLE:
        told = f"there is no {problem.candidate()}; {result.engine} proved it{words}"
        raise Infeasible(told, result)
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
        result=result,
    )


def _near_tie(problem: SufficientReason) -> tuple[str, ...]:
    """Warn where the library, which adds floats, may give x another class than exact sums."""
    model, x = problem.tree_model, problem.x
    if len(model.trees) == 1 or model.rule == "vote" or not near_ties(model, x)[0]:
        return ()
    return (
        "near tie: the scores of x are so close that rounding in the library may decide; "
        f"{model.classes[int(model.predict_index(x)[0])]} is the class by exact sums",
    )


def several(given: object) -> Any:
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


def _hint(problem: SufficientReason, given: Any) -> Any:
    if given is None or isinstance(given, Explanation):
        return given
    return problem.features.numbers("hint", several(given))


def class_context(model: TreeModel, own: int, names: ClassNames) -> dict[str, str]:
    """Return what the class of index ``own`` is called as context of a problem, if that is said.

    Raises InvalidOption: As for :func:`~cpx.explainers.class_names.class_name`.
    """
    if names is None:
        return {}
    return {"class": class_name(model.classes[own], names, model.classes)}
