"""Distributions of states: mixtures of trees and circuits, and their saved forms."""

from __future__ import annotations

import os
from collections.abc import Mapping

from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.psdd import read_psdd
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.errors import DataError
from cpx.support.files import parse_json, read_text

StateDistribution = TreeMixture | Circuit


def distribution_from_dict(data: object) -> StateDistribution:
    """Read what ``to_dict`` of a mixture of trees or of a circuit wrote.

    Raises DataError: Naming the key or value that is wrong.
    """
    circuit = isinstance(data, Mapping) and data.get("format") == Circuit.format
    return Circuit.from_dict(data) if circuit else TreeMixture.from_dict(data)


def read_distribution(path: str | os.PathLike[str]) -> StateDistribution:
    """Read a distribution from a file, plain or gzipped.

    Parameters
    ----------
    path : path
        Of JSON, as ``to_dict`` of a circuit or of a mixture of trees makes it, or of a PSDD
        (:func:`~cpx.data.fitted.psdd.read_psdd`).

    Raises
    ------
    DataError
        With the path, naming the node, line, key or number that is wrong.
    """
    text = read_text(path, DataError)
    try:
        if text.lstrip()[:1] == "{":
            return distribution_from_dict(parse_json(text, DataError))
        return read_psdd(text.splitlines())
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def as_mixture(distribution: StateDistribution) -> TreeMixture:
    """Return a distribution that is known to be a mixture of trees."""
    assert isinstance(distribution, TreeMixture)
    return distribution
