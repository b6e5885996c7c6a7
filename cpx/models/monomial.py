"""Monomial problems: choose at most k features at the least weighted cost.

Shared by all problems whose answer is one monomial: the plain arrays that encodings and
the exact search take (:class:`WeightedMonomial`), and the data, constraints, evaluation
and saved form (:class:`MonomialProblem`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cpx.data.bitstrings import bits_of, matrix_of, string_of, strings_of
from cpx.data.samples import Samples
from cpx.errors import InvalidInstance
from cpx.explanation import Evaluation, Explanation
from cpx.models.base import Problem, Statement, Values
from cpx.rules import Rule

__all__ = ["MonomialProblem", "WeightedMonomial"]


@dataclass(frozen=True, eq=False)
class WeightedMonomial:
    """A monomial problem as plain arrays.

    Minimise, over sets S of at most ``k`` features that contain ``required`` and avoid
    ``forbidden`` (and have at most one feature per group when ``groups`` is given)::

        sum of cost_covered[i]   over the samples i with a_ij = 1 for all j in S
      + sum of cost_uncovered[i] over the others

    Attributes
    ----------
    agreement : ndarray of bool, shape (m, d)
        a_ij, sample i agrees with x on feature j.
    cost_covered, cost_uncovered : ndarray of int64, shape (m,)
        Non-negative costs.
    k : int
        Greatest number of features.
    required, forbidden : tuple of int
        Features that must, and must not, be chosen.
    groups : ndarray of int64, shape (d,), or None
        Group of each feature; None when groups do not restrict the choice.
    """

    agreement: NDArray[np.bool_]
    cost_covered: NDArray[np.int64]
    cost_uncovered: NDArray[np.int64]
    k: int
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    groups: NDArray[np.int64] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features, ``(m, d)``."""
        m, d = self.agreement.shape
        return m, d

    def covered(self, features: Iterable[int]) -> NDArray[np.bool_]:
        """Return which samples the monomial covers, shape (m,)."""
        chosen = list(features)
        return np.asarray(self.agreement[:, chosen].all(axis=1), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class MonomialProblem(Problem):
    """A problem whose answer is one monomial of at most k features.

    Parameters
    ----------
    samples : Samples
        Agreement with x, labels and weights.
    k : int
        Greatest number of features, 0 <= k <= d.
    required, forbidden : sequence of int, optional
        Features that must, and must not, be chosen. A contradiction between them is a
        valid problem without a solution.
    one_per_group : bool
        Choose at most one feature of each group of ``samples.groups``.
    name : str
        Name of the instance, free.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.
    """

    samples: Samples
    k: int
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    one_per_group: bool = False
    name: str = ""

    _KEYS: ClassVar[frozenset[str]] = frozenset(
        [
            "format",
            "version",
            "problem",
            "name",
            "parameters",
            "samples",
            "labels",
            "weights",
            "features",
            "groups",
            "context",
        ]
    )
    _PARAMETERS: ClassVar[frozenset[str]] = frozenset(
        ("k", "required", "forbidden", "one_per_group")
    )

    def __post_init__(self) -> None:
        if not isinstance(self.samples, Samples):
            raise InvalidInstance(f"samples must be Samples, got {type(self.samples).__name__}")
        d = self.samples.agreement.shape[1]
        k = _index("k", self.k)
        if not 0 <= k <= d:
            raise InvalidInstance(f"k must be between 0 and the number of features {d}, got {k}")
        object.__setattr__(self, "k", k)
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, _features(name, getattr(self, name), d))
        if not isinstance(self.one_per_group, bool | np.bool_):
            raise InvalidInstance(
                f"one_per_group must be true or false, got {self.one_per_group!r}"
            )
        object.__setattr__(self, "one_per_group", bool(self.one_per_group))
        if self.one_per_group and self.samples.groups is None:
            raise InvalidInstance("one_per_group needs groups, and the samples have none")
        if not isinstance(self.name, str):
            raise InvalidInstance(f"name must be a string, got {self.name!r}")

    # ----------------------------------------------------------- the problem

    @property
    def n_features(self) -> int:
        """Number d of Boolean features."""
        return int(self.samples.agreement.shape[1])

    @abstractmethod
    def costs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the costs of covering, and of not covering, each sample; shape (m,)."""

    @abstractmethod
    def claim(self) -> str:
        """Name what is minimised, for sentences about what was proved."""

    @cached_property
    def _form(self) -> WeightedMonomial:
        covered, uncovered = self.costs()
        groups = np.asarray(self.samples.groups, dtype=np.int64) if self.one_per_group else None
        return WeightedMonomial(
            self.samples.agreement,
            covered,
            uncovered,
            self.k,
            self.required,
            self.forbidden,
            groups,
        )

    def search_form(self) -> WeightedMonomial:
        """Return the problem as plain arrays."""
        return self._form

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``clausal``)."""
        statement: Statement = self.encoding(encoding).build(self._form)
        return statement

    def decode(self, values: Values) -> Explanation:
        """Read the chosen features off the array ``X``."""
        return self.explanation(np.flatnonzero(np.asarray(values["X"]) > 0).tolist())

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the rule of these features with its exact precision and coverage."""
        rule = Rule.of(features, self.samples.features, _conclusion(self.samples.context))
        found = self._measure(rule.features)
        return Explanation(rule, precision=found.precision, coverage=found.coverage)

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the exact figures of an explanation; see :class:`Evaluation`."""
        return self._measure(explanation.features)

    def _measure(self, features: tuple[int, ...]) -> Evaluation:
        form, samples = self._form, self.samples
        covered = form.covered(features)
        weights, same = samples.weights, samples.same
        return Evaluation(
            objective=int(form.cost_covered[covered].sum() + form.cost_uncovered[~covered].sum()),
            covered=int(weights[covered].sum()),
            agreeing_covered=int(weights[covered & same].sum()),
            agreeing=int(weights[same].sum()),
            total=int(weights.sum()),
            feasible=self._allowed(features),
        )

    def _allowed(self, features: tuple[int, ...]) -> bool:
        chosen = set(features)
        if len(chosen) > self.k or not chosen.issuperset(self.required):
            return False
        if not chosen.isdisjoint(self.forbidden):
            return False
        groups = self._form.groups
        return groups is None or len({int(groups[j]) for j in chosen}) == len(chosen)

    def shortened(self, explanation: Explanation) -> Explanation:
        """Drop features, the last first, whose removal leaves the objective as it is.

        Engines return any of several equally good rules, often with conditions that
        decide nothing.
        """
        kept = explanation.features
        value = self._measure(kept).objective
        for feature in reversed(kept):
            rest = tuple(j for j in kept if j != feature)
            found = self._measure(rest)
            if found.feasible and found.objective == value:
                kept = rest
        return explanation if kept == explanation.features else self.explanation(kept)

    def conclude(
        self, explanation: Explanation, proved: bool, objective: int | None, bound: int | None
    ) -> Explanation:
        """Return the explanation with the sentence that says what was proved of it."""
        value = f"{self.claim()} {objective} of {self.samples.total}"
        candidate = f"rule of at most {self.k} condition{'s' * (self.k != 1)}"
        if proved:
            sentence = f"{value} is optimal: no {candidate} has less on these samples"
        elif bound is None:
            sentence = f"{value}, without a bound"
        else:
            sentence = f"{value}, not proved optimal: every {candidate} has at least {bound}"
        return replace(explanation, proved=sentence)

    def notes(self) -> tuple[str, ...]:
        """Return what is degenerate in the data; solved all the same."""
        samples, notes = self.samples, []
        m, d = samples.agreement.shape
        if samples.same.all():
            notes.append("all samples agree with x: the empty rule is right everywhere")
        elif not samples.same.any():
            notes.append("no sample agrees with x: a rule can only avoid covering samples")
        if self.k == 0:
            notes.append("k = 0: the empty rule is the only candidate")
        elif self.k == d:
            notes.append(f"k = d = {d}: the size of the rule is not restricted")
        counts = samples.agreement.sum(axis=0)
        for value, meaning in ((m, "never excludes a sample"), (0, "excludes every sample")):
            constant = np.flatnonzero(counts == value)
            if constant.size:
                listed = ", ".join(samples.features[j] for j in constant[:5])
                more = f" and {constant.size - 5} more" if constant.size > 5 else ""
                notes.append(f"constant feature, {meaning}: {listed}{more}")
        distinct = samples.merged().agreement.shape[0]
        if distinct < m:
            notes.append(f"identical samples: {m} rows, {distinct} distinct")
        return tuple(notes)

    # -------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the saved form, version 1."""
        samples = self.samples
        parameters: dict[str, Any] = {"k": self.k}
        if self.required:
            parameters["required"] = list(self.required)
        if self.forbidden:
            parameters["forbidden"] = list(self.forbidden)
        if self.one_per_group:
            parameters["one_per_group"] = True
        data: dict[str, Any] = {"format": "cpx-instance", "version": 1, "problem": self.kind}
        if self.name:
            data["name"] = self.name
        data["parameters"] = parameters
        data["samples"] = strings_of(samples.agreement)
        data["labels"] = string_of(samples.same)
        if (samples.weights != 1).any():
            data["weights"] = samples.weights.tolist()
        data["features"] = list(samples.features)
        if samples.groups is not None:
            data["groups"] = list(samples.groups)
        if samples.context:
            data["context"] = dict(samples.context)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the saved form; unknown keys and parameters are refused by name."""
        _refuse_unknown("key", data, cls._KEYS)
        parameters = data.get("parameters")
        if not isinstance(parameters, Mapping):
            raise InvalidInstance(f"parameters must be an object, got {parameters!r}")
        _refuse_unknown("parameter", parameters, cls._PARAMETERS)
        for key, holder in (("k", parameters), ("samples", data), ("labels", data)):
            if key not in holder:
                raise InvalidInstance(f"the key {key!r} is missing")
        optional = {
            key: data[key]
            for key in ("weights", "groups", "context", "features")
            if data.get(key) is not None
        }
        for key in ("weights", "groups", "features"):
            if not isinstance(optional.get(key, []), list):
                raise InvalidInstance(f"{key} must be a list, got {optional[key]!r}")
        if not isinstance(optional.get("context", {}), dict):
            raise InvalidInstance(f"context must be an object, got {optional['context']!r}")
        samples = Samples(
            matrix_of(data["samples"]), bits_of(data["labels"], "labels"), **optional
        )
        return cls(samples=samples, name=data.get("name", ""), **parameters)


def _conclusion(context: Mapping[str, Any]) -> str:
    name = str(context.get("class", "same class as x"))
    # "=> 1" reads like a value; "=> class 1" does not.
    return f"class {name}" if name.lstrip("-").replace(".", "", 1).isdigit() else name


def _refuse_unknown(what: str, data: Mapping[str, Any], known: frozenset[str]) -> None:
    from cpx.errors import nearest

    for key in data:
        if key not in known:
            raise InvalidInstance(
                f"unknown {what} {key!r}{nearest(str(key), known)}; known: "
                + ", ".join(sorted(known))
            )


def _index(name: str, value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidInstance(f"{name} must be an integer, got {value!r}")
    return int(value.__index__())


def _features(name: str, value: object, d: int) -> tuple[int, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInstance(f"{name} must be a list of feature indices, got {value!r}")
    indices = [_index(name, j) for j in value]
    for j in indices:
        if not 0 <= j < d:
            raise InvalidInstance(f"{name} has the feature {j}, indices go from 0 to {d - 1}")
    if len(set(indices)) < len(indices):
        raise InvalidInstance(f"{name} names a feature twice: {indices}")
    return tuple(sorted(indices))
