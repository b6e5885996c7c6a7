"""Reasons of networks for the door: problems stated for rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cpx.answers.explanation import AboutRow
from cpx.errors import InvalidOption
from cpx.explainers.about_row import with_probability
from cpx.explainers.background import fitted_to_rows, in_words
from cpx.explainers.class_names import ClassNames, class_name
from cpx.modelling.row import fitted_to, row_values
from cpx.modelling.side_constraints.parameter import texts_of
from cpx.models.sufficient_reason.features import mapped_weights, several
from cpx.models.sufficient_reason.networks.live import near_ties
from cpx.models.sufficient_reason.networks.network import Network
from cpx.models.sufficient_reason.networks.parameters import NetworkColumns
from cpx.models.sufficient_reason.networks.problem import NetworkReason
from cpx.models.sufficient_reason.networks.read import NetworkReader

__all__ = ["NetworkRows", "about", "network_notes"]


class NetworkRows:
    """A network that was read, and rows of the table.

    model: As it was given.
    X: Rows that say between which numbers columns vary.
    called: What columns are called.
    options: Of the reader.
    """

    def __init__(
        self, model: Any, X: Any, class_names: ClassNames, called: Any, options: Mapping[str, Any]
    ) -> None:
        self.reader, self.class_names, self.X = NetworkReader(model, X, **options), class_names, X
        self.called, self.columns = called, self.reader.columns
        self.rows, self.notes = None, tuple[str, ...]()
        if X is not None:
            self.columns, self.rows, self.notes = fitted_to_rows(self.columns, X)

    def network(self, x: Any) -> tuple[Network, tuple[float, ...], tuple[str, ...]]:
        """Return the network as it fits a row, the values of the row, and notes."""
        columns, told = fitted_to(self.columns, x)
        values = row_values(columns, x)
        attributes = in_words(columns, self.called, self.X).attributes
        network = self.reader.network(attributes, values)
        self.reader.live.hold(network, values)
        days = self.reader.front.days_told()
        return network, values, (*self.notes, *told, self.reader.told(network), *days)

    def problem(
        self,
        x: Any,
        *,
        level: str,
        definition: str,
        weights: Any,
        required: Any,
        forbidden: Any,
        where: Any,
        label: Any,
        name: str,
    ) -> tuple[NetworkReason, tuple[str, ...]]:
        """State the problem of a row, with options of a reason; return notes, too.

        Raises InvalidOption: For a level or definition that is for trees.
        """
        for what, asked, only in (
            ("level", level, "attributes"),
            ("definition", definition, "sufficient"),
        ):
            if asked != only:
                raise InvalidOption(f"{what} {asked} is for tree models, networks have {only}")
        network, values, notes = self.network(x)
        inputs = self.reader.inputs(values)
        stated = NetworkReason(
            network,
            values,
            inputs,
            weights=mapped_weights(NetworkColumns(network), weights),
            required=several(required),
            forbidden=several(forbidden),
            label=label,
            context=self.context(network, network.class_of(inputs)),
            name=name,
        )
        texts = texts_of(where)
        return (stated.where(*texts) if texts else stated), notes

    def context(self, network: Network, own: int) -> dict[str, str]:
        """Return what the class of an index is called, if that is said."""
        if self.class_names is None:
            return {}
        return {"class": class_name(network.classes[own], self.class_names, network.classes)}


def about(problem: NetworkReason, columns: Sequence[int]) -> AboutRow:
    """Return what is known of the row of a problem, with its values in some columns."""
    return about_row(problem.network, problem.x, problem.label_index, columns)


def about_row(network: Network, x: Sequence[float], own: int, columns: Sequence[int]) -> AboutRow:
    """Return what is known of a row of a class, with its values in some columns."""
    named = [network.columns[a].attribute for a in columns]
    values = [(one.title, one.in_words(x[a])) for one, a in zip(named, columns)]
    said = None
    if network.live is not None:
        rows = np.array([x], dtype=np.float64)
        said = network.live.model.probabilities(rows, len(network.classes))
    if said is None or said.shape[1] != len(network.classes):
        return AboutRow(tuple(values))
    places = range(len(network.classes))
    return with_probability(values, [*map(float, said[0])], [k == own for k in places])


def network_notes(problem: NetworkReason) -> tuple[str, ...]:
    """Return notes on how the network was held against its live model."""
    network, notes = problem.network, list[str]()
    if near_ties(network, np.array([problem.inputs]))[0]:
        notes.append(
            "near tie: the scores of x are so close that rounding in the library may decide; "
            f"{problem.label} is the class by exact sums"
        )
    if network.live is not None:
        notes.append(network.live.told(problem.x))
    return tuple(notes)
