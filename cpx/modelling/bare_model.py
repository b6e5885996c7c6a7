"""A bare CPMpy model, or a statement, as a problem that every engine takes.

Nothing is known of it but the model itself: solutions are evaluated by CPMpy, and no independent
checker has a say. Choices are variables with their values: of Booleans those that are true, of
integers all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from cpx.answers.claim import Claim
from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Literal as Words
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.errors import InvalidInstance, InvalidOption, shown
from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding
from cpx.modelling.statement import Encoding, Statement, Values

_MOST = 2**62


def _as_given(statement: Statement) -> Statement:
    """As it was given."""
    return statement


@dataclass(frozen=True, eq=False)
class BareModel(Problem):
    """A statement without anything around it.

    statement: What is solved.
    """

    statement: Statement

    kind: ClassVar[str] = "model"
    encodings: ClassVar[tuple[Encoding[Any], ...]] = (Encoding("as-given", _as_given),)
    _features_are: ClassVar[str] = "Variables"

    def __post_init__(self) -> None:
        """Number the values of all variables, one after the other."""
        variables = [v for array in self.statement.variables.values() for v in array]
        # A Boolean is one choice, an integer one for each of its values.
        widths = [
            0 if isinstance(v, int) else 1 if v.is_bool() else v.ub - v.lb + 1 for v in variables
        ]
        starts = np.cumsum([0, *widths], dtype=object).tolist()
        if starts[-1] > _MOST:
            raise InvalidInstance("the variables of the model have too many values")
        object.__setattr__(self, "_variables", variables)
        object.__setattr__(self, "_starts", starts)

    def __getstate__(self) -> dict[str, Any]:
        # Not the function that completes a hint, which is made again.
        state = super().__getstate__()
        return {**state, "statement": _without_function(state["statement"])}

    def model(self, encoding: str | None = None) -> Statement:
        """Return the statement; hints are completed from the values that they choose."""
        find_encoding(self, encoding)
        given = self.statement
        return Statement(given.model, given.variables, self._values, given.sense, given.offset)

    def _values(self, features: Sequence[int]) -> Values:
        """Return the values that these choices stand for; of the rest the least."""
        variables, starts = self._of("_variables"), self._of("_starts")
        flat = [int(getattr(v, "lb", v)) for v in variables]
        for feature in features:
            if not 0 <= feature < starts[-1]:
                raise InvalidOption(f"hint: no variable has the value of number {feature}")
            place = bisect_right(starts, feature) - 1
            shift = feature - starts[place]
            flat[place] = 1 if variables[place].is_bool() else flat[place] + shift
        found, start = {}, 0
        for name, array in self.statement.variables.items():
            size = len(list(array))
            found[name] = np.array(flat[start : start + size], dtype=np.int64)
            start += size
        return found

    def _of(self, name: str) -> Any:
        return vars(self)[name]

    def decode(self, values: Values) -> Explanation:
        """Turn values into the choices that stand for them."""
        variables, starts = self._of("_variables"), self._of("_starts")
        flat = [int(value) for name in self.statement.variables for value in values[name]]
        features = []
        for place, (variable, value) in enumerate(zip(variables, flat, strict=True)):
            if isinstance(variable, int):
                continue
            if not variable.is_bool():
                features.append(starts[place] + value - variable.lb)
            elif value:
                features.append(starts[place])
        return self.explanation(features)

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the choices in words: ``x[0] = 4``."""
        variables, starts = self._of("_variables"), self._of("_starts")
        words = []
        for feature in sorted(set(features)):
            if not 0 <= feature < starts[-1]:
                raise InvalidOption(f"no variable has the value of number {feature}")
            place = bisect_right(starts, feature) - 1
            variable = variables[place]
            value = feature - starts[place] + variable.lb
            text = str(variable) if variable.is_bool() else f"{variable} = {value}"
            words.append(Words(feature, text))
        return Explanation(Rule(tuple(words), "a solution"))

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Ask CPMpy for the objective and for each constraint at these values."""
        from cpmpy.expressions.variables import NegBoolView
        from cpmpy.transformations.normalize import toplevel_list

        values = self._values(explanation.features)
        for name, array in self.statement.variables.items():
            for variable, value in zip(array, values[name], strict=True):
                if isinstance(variable, NegBoolView):
                    variable._bv._value = not value
                elif not isinstance(variable, int):
                    variable._value = bool(value) if variable.is_bool() else int(value)
        given = self.statement
        feasible = all(bool(c.value()) for c in toplevel_list(given.model.constraints))
        objective = 0 if given.model.objective_ is None else given.model.objective_.value()
        if objective != int(objective):
            raise InvalidInstance(f"the objective must be an integer, got {shown(objective)}")
        return Evaluation(int(objective) + given.offset, feasible=feasible)

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Leave the values of the answer in the variables of the model."""
        self.evaluate(explanation)
        claim = Claim(self.kind, optimal=proved, value=objective, bound=bound)
        return replace(explanation, claim=claim)

    def _facts(self) -> dict[str, str]:
        """Say how large the model is."""
        return {
            "variables": str(len(self._of("_variables"))),
            "constraints": str(len(self.statement.model.constraints)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Raise InvalidOption: a bare model has no saved form."""
        raise InvalidOption("a bare model cannot be saved as an instance")

    def _to_check(self) -> dict[str, Any]:
        """Return what tells the checker that it knows nothing of this."""
        return {"format": "cpx-instance", "version": 1, "problem": self.kind, "parameters": {}}


@dataclass(frozen=True, eq=False)
class _Maximised(BareModel):
    """A bare model whose objective is maximised."""

    sense: ClassVar[Literal["min", "max"]] = "max"


def problem_of(given: object) -> Problem | None:
    """Return a statement or a CPMpy model as a problem; None for anything else.

    >>> import cpmpy as cp
    >>> x = cp.intvar(0, 9, shape=2, name="x")
    >>> problem = problem_of(cp.Model(x[0] + x[1] <= 8, maximize=2 * x[0] + x[1]))
    >>> problem.sense, str(problem.decode({"v": [8, 0]}))
    ('max', 'x[0] = 8 and x[1] = 0 => a solution')
    """
    if isinstance(given, Statement):
        return (_Maximised if given.sense == "max" else BareModel)(given)
    if type(given).__module__.partition(".")[0] != "cpmpy":
        return None
    import cpmpy
    from cpmpy.transformations.get_variables import get_variables_model

    if not isinstance(given, cpmpy.Model):
        return None
    variables = sorted(get_variables_model(given), key=lambda v: v.name)
    sense: Literal["min", "max"] = "min"
    if given.objective_ is not None and not given.objective_is_min:
        sense = "max"
    return problem_of(Statement(given, {"v": variables}, _no_hint, sense))


def _no_hint(features: Sequence[int]) -> Values:
    raise InvalidOption("a bare model completes no hint by itself")


def _without_function(statement: Statement) -> Statement:
    return Statement(
        statement.model, statement.variables, _no_hint, statement.sense, statement.offset
    )
