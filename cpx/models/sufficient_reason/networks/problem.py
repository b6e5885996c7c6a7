"""Minimum sufficient reasons of networks: the fewest columns whose values force the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.answers.values import Value
from cpx.data.condition import ColumnCondition, Equals, OneOf
from cpx.modelling.claims import asked, claimed
from cpx.modelling.parameters import CONTEXT, NAME, parameter
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.statement import Encoding
from cpx.models.sufficient_reason.minimum_subset.form import LossForm
from cpx.models.sufficient_reason.minimum_subset.problem import (
    SUBSET_ENCODINGS,
    WEIGHTS,
    MinimumSubset,
)
from cpx.models.sufficient_reason.networks import parameters as declared
from cpx.models.sufficient_reason.networks.network import Network
from cpx.models.sufficient_reason.networks.text import candidate, ties
from cpx.models.sufficient_reason.parameters import LabelOfRow
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped
from cpx.trees import Attribute
from cpx.trees.form import Label

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.networks.oracle import NetworkOracle

__all__ = ["NetworkReason"]

_oracles: WeakKeyDictionary[NetworkReason, NetworkOracle] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class NetworkReason(MinimumSubset):
    """Find a smallest sufficient reason of a network's class for x.

    A reason is a set S of columns such that the network gives its class to every row that agrees
    with x on S, whatever the other columns are: numbers anything between the ends of their column,
    others one of its values. Sums are those of the stored weights, without rounding; ties are
    decided as the model decides them.

    The search is over the signs of the ReLU neurons [1]_, with bounds that are sound whatever
    floats round; where it does not end in time, an interval of sizes is known. ``deletion``,
    ``best-of-orders`` and ``hitting-sets`` solve it; there is no statement for other engines.

    Parameters
    ----------
    network : Network
    x : sequence of d numbers
        The values of the columns, as they are printed.
    inputs : sequence of float, optional
        What the row gives to the network. By default the values of its columns themselves, and the
        points of those whose values are listed.
    weights : sequence of int, optional
        A positive weight per column; the weight of the reason is minimised. Default: all 1.
    required, forbidden : sequence of int or str
        Columns that must, and must not, be in S, by number or name.
    label : label of a class, optional
        The class that is to be explained, to be sure of it.
    name : str
    context : mapping
        Where the instance comes from, free; ``class`` is what the class is called.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.

    References
    ----------
    .. [1] S. Wang and others: Beta-CROWN: Efficient Bound Propagation with Per-neuron Split
       Constraints for Neural Network Robustness Verification, NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from cpx import solve
    >>> from cpx.models.sufficient_reason.networks.network import Column, Layer
    >>> from cpx.trees import Attribute
    >>> columns = [Column(Attribute(name, lower=0, upper=1), (i,), (0.0, 1.0))
    ...            for i, name in enumerate("ab")]
    >>> layers = [Layer(np.array([[2.0, -1.0]]), np.zeros(1)),
    ...           Layer(np.ones((1, 1)), np.array([-0.5]))]
    >>> network = Network(layers, columns, ["no", "yes"], "positive")
    >>> print(solve(NetworkReason(network, (1.0, 0.5))).explanation.guarantee)
    a = 1 forces yes, whatever the other column is, within its range, not missing
    """

    network: Network = field(
        metadata=parameter(declared.SavedNetwork(), "the network", key="network", place=1)
    )
    x: tuple[float, ...] = field(
        metadata=parameter(declared.NetworkRow(), "the values of the columns", key="x")
    )
    inputs: tuple[float, ...] | None = field(
        default=None,
        metadata=parameter(
            declared.Inputs(), "what the row gives to the network", key="inputs", needed=True
        ),
    )
    weights: tuple[int, ...] | None = field(default=None, metadata=WEIGHTS)
    required: tuple[Any, ...] = field(
        default=(),
        metadata=parameter(declared.Columns(), "columns that must be chosen", place=1),
    )
    forbidden: tuple[Any, ...] = field(
        default=(),
        metadata=parameter(declared.Columns(), "columns that must not be chosen", place=1),
    )
    label: Label | None = field(
        default=None,
        metadata=parameter(
            LabelOfRow("network"), "the class of the row", key="class", needed=True
        ),
    )
    name: str = field(default="", metadata=NAME)
    context: Mapping[str, Any] = field(default_factory=dict, metadata=CONTEXT)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "network-reason"
    encodings: ClassVar[tuple[Encoding[LossForm], ...]] = SUBSET_ENCODINGS
    _features_are: ClassVar[str] = "Columns j, with the value of x"

    @property
    def _unstated(self) -> str:
        return (
            "a network has no statement for engines: ask one that needs none, such as hitting-sets"
        )

    @property
    def features(self) -> declared.NetworkColumns:
        """The columns, by number or name."""
        return declared.NetworkColumns(self.network)

    @property
    def losses(self) -> LossForm:
        """A network has no losses of leaves."""
        raise NotImplementedError(self._unstated)

    @property
    def n_features(self) -> int:
        """Number n of columns."""
        return len(self.network.columns)

    @cached_property
    def label_index(self) -> int:
        """Index of the class of x."""
        assert self.inputs is not None  # checked before
        return self.network.class_of(self.inputs)

    @cached_property
    def conditions(self) -> tuple[ColumnCondition, ...]:
        """What each column has in x."""
        return tuple(map(valued, self.network.attributes, self.x))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each column has in x, in words."""
        return tuple(map(str, self.conditions))

    # ------------------------------------------------------------ sufficiency

    @property
    def _row_oracle(self) -> Callable[[], NetworkOracle]:
        return partial(self.row_oracle, new=True)

    def row_oracle(self, new: bool = False) -> NetworkOracle:
        """Return what decides sets of columns, and remembers its answers."""
        from cpx.models.sufficient_reason.networks.oracle import NetworkOracle

        if new or self not in _oracles:
            assert self.inputs is not None
            _oracles[self] = NetworkOracle(self.network, self.inputs)
        return _oracles[self]

    def enough(self, features: tuple[int, ...]) -> bool:
        """Say whether the columns are a reason; what rounding leaves open is taken for none."""
        oracle = self.row_oracle()
        free = oracle.everything & ~oracle.bits(features)
        try:
            return not free or oracle.change(free) is None
        except Stopped:
            return False

    def _hold(self, explanation: Explanation) -> None:
        """Ask the live model of the network, if there is one, about rows that keep the reason."""
        if self.network.live is not None:
            self.network.live.hold(self.network, self.x, explanation.rule.features)

    # -------------------------------------------------------------- sentences

    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the reason with the values of x in words."""
        called = str(self.context.get("class", self.label))
        return Explanation(Rule.of(features, self.conditions, called))

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        figures: dict[str, Any] = {
            "features": self.n_features,
            "decision": self.network.decision,
            "missing": [],
        }
        columns = self.network.columns
        rest = {*range(self.n_features)} - {*explanation.features}
        if any(columns[a].ends is not None and columns[a].varies for a in rest):
            figures["ranged"] = True
        if self.network.decision != "first":
            figures["second"] = str(self.network.classes[1])
        return claimed(self, explanation, proved, objective, bound, **figures)

    def candidate(self) -> str:
        """Name what competes: the same, with what is required and nothing forbidden."""
        return candidate(asked(self))

    def units(self, size: int) -> str:
        """Count columns."""
        return f"{size} column{'s' * (size != 1)}"

    def _sizes(self) -> str:
        return "-".join(str(len(layer.biases)) for layer in self.network.layers[:-1]) or "no"

    def _brief(self) -> list[str]:
        """Return neurons and columns."""
        return [f"{self._sizes()} neurons", self.units(self.n_features)]

    def _facts(self) -> dict[str, str]:
        """Return the network, its class of x and ties."""
        network = self.network
        return {
            "network": f"{self._sizes()} hidden neurons ({network.activation}), "
            f"{network.n_inputs} inputs, {len(network.classes)} classes",
            "class": str(self.label),
            "columns": str(self.n_features),
            "ties": ties(network.decision, str(network.classes[1])),
            **self.choice_facts(),
        }

    def _notes(self) -> tuple[str, ...]:
        """Return what is degenerate; solved all the same."""
        found = self.base_notes()
        varying = {a for a, column in enumerate(self.network.columns) if column.varies}
        idle = [self.network.attributes[a].name for a in {*self.required} - varying]
        if idle:
            found.append(f"required, and of one value only: {', '.join(sorted(idle))}")
        return tuple(found)


def valued(attribute: Attribute, value: float) -> ColumnCondition:
    """Return the condition that a column has a value."""
    if attribute.labels is not None:
        return OneOf(attribute.name, (attribute.called(value),), **attribute.words)
    return Equals(attribute.name, value, **attribute.words)
