"""The base class of problems to find a minimum subset of features that is enough."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.modelling.base import Problem
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import Indices, Weights, parameter
from cpx.modelling.side_constraints.statement import constrained
from cpx.modelling.statement import Encoding, Statement
from cpx.models.sufficient_reason.minimum_subset.encodings import direct, order
from cpx.models.sufficient_reason.minimum_subset.form import LossForm, SubsetForm

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.sufficiency.row_oracle import RowOracle

SUBSET_ENCODINGS: tuple[Encoding[LossForm], ...] = (
    Encoding("order", order),
    Encoding("direct", direct),
)

# Parameters of all these problems; what follows their own in files.
REQUIRED = parameter(Indices(), "features that must be chosen", place=1)
FORBIDDEN = parameter(Indices(), "features that must not be chosen", place=1)
WEIGHTS = parameter(Weights(), "one per feature; absent: all 1", place=2)


class MinimumSubset(Problem):
    """A problem to choose features of least weight that are enough.

    Enough is monotone: with every set that is enough, so are those that contain it.
    """

    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    weights: tuple[int, ...] | None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number n of features."""

    @property
    @abstractmethod
    def losses(self) -> LossForm:
        """What a set must exclude and may lose, where the problem has a statement."""

    @abstractmethod
    def enough(self, features: tuple[int, ...]) -> bool:
        """Say whether a set of features is enough, apart from required and forbidden ones."""

    def form(self) -> SubsetForm:
        """Return the problem by what decides sets, as plain arrays where it has a statement."""
        arrays = None if self._unstated else self.losses
        return SubsetForm(
            self.weight_array,
            self.required,
            self.forbidden,
            arrays,
            self._row_oracle,
            self._stricter,
        )

    @property
    def _row_oracle(self) -> Callable[[], RowOracle] | None:
        """Makes what decides sets by all rows of a model; None where these do not decide."""
        return None

    @property
    def _stricter(self) -> Callable[[], LossForm] | None:
        """Makes plain arrays by which less is enough than by all rows, where there are some."""
        return None

    @abstractmethod
    def units(self, size: int) -> str:
        """Name so many features, such as ``"1 attribute"``."""

    @cached_property
    def weight_array(self) -> NDArray[np.int64]:
        """Weight of each feature, 1 unless given; shape (n,)."""
        given = (1,) * self.n_features if self.weights is None else self.weights
        return np.array(given, dtype=np.int64)

    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: ``order``)."""
        statement: Statement = stated_in(self, encoding).build(self.losses.essential)
        return constrained(statement, self.side_constraints)

    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return the weight of the features, and whether they are enough."""
        features = explanation.features
        return Evaluation(self.cost(features), feasible=self._allows(features))

    def cost(self, features: tuple[int, ...]) -> int:
        """Return the weight of a set of features."""
        return int(self.weight_array[list(features)].sum())

    def _trivial_bound(self) -> int:
        """Return the weight of the required features."""
        return self.cost(self.required)

    def _allows(self, features: tuple[int, ...]) -> bool:
        chosen = set(features)
        if not chosen.issuperset(self.required) or not chosen.isdisjoint(self.forbidden):
            return False
        return self.side_constraints.allow(features) and self.enough(features)

    @abstractmethod
    def candidate(self) -> str:
        """Name what competes: the same, with what is required and nothing forbidden."""

    def choice_facts(self) -> dict[str, str]:
        """Return what is required and forbidden, and whether there are weights."""
        facts = {}
        for which in ("required", "forbidden"):
            if features := getattr(self, which):
                facts[which] = "{" + ", ".join(map(str, features)) + "}"
        if self.weights is not None:
            facts["weights"] = ", ".join(map(str, self.weights))
        return facts

    def base_notes(self) -> list[str]:
        """Return the warnings that all these problems share."""
        if both := sorted({*self.required} & {*self.forbidden}):
            return [f"required and forbidden contradict: features {both} are in both"]
        return []
