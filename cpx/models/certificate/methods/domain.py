"""All rows of a distribution with their probabilities, as samples: nothing is drawn."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cpx.data.distributions import Empirical, Product
from cpx.data.oracle import Oracle, classifier_name
from cpx.data.samples import Samples
from cpx.data.uniform import Uniform
from cpx.errors import InvalidOption
from cpx.models.certificate.methods.complexity import cube

MOST_ROWS = 2**18
"""Rows of a domain, at most: the classifier is asked about all of them."""

MOST_WEIGHT = 2**40
"""Weight of a row of a domain, at most: that of a sample."""


_PARTS = 2**30
"""Of the whole domain: what rounded weights are counted in."""


def domain_samples(oracle: Oracle, rounded: Literal["up", "down"] | None = None) -> Samples:
    """Return all rows that a distribution can give, weighed by their probabilities.

    With them, :class:`cpx.models.PreciseCertificate` is C(f, x, epsilon) and precisions are exact.

    Parameters
    ----------
    oracle : Oracle
        The classifier, x and the distribution: ``uniform`` over at most 18 bits, ``product``
        whose columns have at most 262,144 combinations of values, or ``empirical``.
    rounded : {"up", "down"}, optional
        Of ``product`` with probabilities too fine for weights: count them in parts of 2**-30, so
        that errors are never less than they are (``"up"``: each certificate is one of the domain),
        or never more (``"down"``: no certificate of the domain is smaller than the smallest).

    Returns
    -------
    Samples
        Equal rows are merged. Weights are probabilities in units of the least that divides all.

    Raises
    ------
    InvalidOption
        For another distribution, and for more rows.

    References
    ----------
    Blanc, Lange, Tan (NeurIPS 2021), Definition 3.

    Examples
    --------
    >>> samples = domain_samples(Oracle(lambda z: z[:, 0] & z[:, 1], [0, 1], Uniform(2)))
    >>> samples.m, samples.total, samples.agreeing
    (4, 4, 3)
    """
    distribution = oracle.distribution
    if isinstance(distribution, Empirical):
        return Samples.ask(oracle, None, seed=0)
    if isinstance(distribution, Uniform):
        _few(2**distribution.n_features)
        rows: Any = cube(distribution.n_features)
        bits, weights = rows.astype(bool), np.ones(len(rows), dtype=np.int64)
    elif isinstance(distribution, Product):
        rows, bits, weights = _product(distribution, rounded is not None)
    else:
        raise InvalidOption(
            "the whole domain is that of the distributions uniform, product and empirical, got "
            f"{distribution.name}"
        )
    context = {
        "classifier": classifier_name(oracle.classifier),
        "distribution": {"name": distribution.name, **distribution.parameters()},
        "domain": len(bits),
        "class": str(oracle.label),
    }
    agreement, same = bits == oracle.bits, oracle.same(rows)
    if rounded is not None and isinstance(distribution, Product):
        context["rounded"] = rounded
        whole = sum(weights.tolist())
        raised = (same != (rounded == "up")).astype(object)
        parts = weights * _PARTS + raised * (whole - 1)
        weights = (parts // whole).astype(np.int64)
        kept = weights > 0
        agreement, same, weights = agreement[kept], same[kept], weights[kept]
    samples = Samples(
        agreement=agreement,
        same=same,
        weights=weights,
        features=oracle.literals,
        groups=distribution.groups,
        context=context,
    )
    return samples.merged()


def _product(
    distribution: Product, fine: bool
) -> tuple[Any, npt.NDArray[np.bool_], npt.NDArray[Any]]:
    """Return all combinations of values, their features and their weights.

    fine: Whether weights may be whole numbers of any length.
    """
    values = distribution.background.distinct_values()
    _few(math.prod(len(rows) for rows, _ in values))
    counts = [count // np.gcd.reduce(count) for _, count in values]
    heaviest = math.prod(int(count.max()) for count in counts)
    if heaviest >= MOST_WEIGHT and not fine:
        raise InvalidOption(
            f"a row of the whole domain weighs {heaviest}, at most 2**40 is counted: the "
            f"distribution product of {distribution.background.n_rows} rows has too fine "
            "probabilities: take fewer rows or columns, or errors rounded 'up' or 'down'"
        )
    places = np.indices([len(rows) for rows, _ in values]).reshape(len(values), -1)
    index = np.column_stack([rows[place] for (rows, _), place in zip(values, places, strict=True)])
    weights: npt.NDArray[Any] = np.ones(len(index), dtype=object if fine else np.int64)
    for count, place in zip(counts, places, strict=True):
        weights = weights * count[place].astype(weights.dtype)
    rows, bits = distribution.background.assemble(index)
    return rows, bits, weights


def _few(n: int) -> None:
    if n > MOST_ROWS:
        raise InvalidOption(
            f"the whole domain has {n} rows, at most {MOST_ROWS} are gone through: take fewer "
            "columns or bins"
        )
