"""Samples: labelled rows as agreement with x, in bits and integer weights."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.data.bits import bit_array, packed_columns, packed_rows, surely_distinct
from cpx.data.packed import Packed
from cpx.data.weights import require_length, weight_array
from cpx.errors import DataError, InvalidInstance, shown
from cpx.support.validation import group_list, name_list, positive_integer, valid_seed
from cpx.support.warnings import warn

if TYPE_CHECKING:
    from cpx.data.base import Distribution
    from cpx.data.oracle import Oracle

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_CONTRARY = 1000
"""Rows with the features of x and another class that are compared with it."""

_DEFAULT: Any = None
"""Stands for what follows from m and d; it never outlives __post_init__."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Labelled samples seen from the explained instance x.

    Sample i is a row z_i drawn from a distribution D and labelled by the classifier f
    (the example oracle EX(f, D)); only its agreement with x is kept.

    Parameters
    ----------
    agreement : (m, d) array of bool or 0/1
        ``a[i, j]`` says whether sample i has the value of x in feature j.
    same : (m,) array of bool or 0/1
        ``same[i]`` says whether f(z_i) = f(x): of more than two classes, "the class of
        x or another one".
    weights : (m,) array of integers, optional
        Positive, 1 each when not given; their sum is at most 2**40.
    features : sequence of d strings, optional
        The literal true of x in each feature; ``x0, x1, ...`` when not given. Equal
        names are allowed.
    groups : sequence of d non-negative integers, optional
        The attribute each feature comes from.
    context : mapping, optional
        Where the samples come from, as JSON values: classifier, distribution, seed,
        and the predicted class of x as ``context["class"]``. With ``"population": True``
        they are all rows of the distribution, and nothing was drawn.

    Raises
    ------
    InvalidInstance
        Naming the argument and the value that does not fit.

    Notes
    -----
    The arrays are copies and read-only, the sequences become tuples.

    Examples
    --------
    >>> samples = Samples([[1, 0], [1, 1], [1, 0]], [1, 0, 1], features=("a <= 1", "b = red"))
    >>> samples.m, samples.d, samples.total, samples.agreeing
    (3, 2, 3, 2)
    >>> samples.merged().weights.tolist()
    [2, 1]
    """

    agreement: BoolArray
    same: BoolArray
    weights: IntArray = _DEFAULT
    features: tuple[str, ...] = _DEFAULT
    groups: tuple[int, ...] | None = None
    context: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        agreement = bit_array("agreement", self.agreement, 2, error=InvalidInstance)
        m, d = agreement.shape
        same = bit_array("same", self.same, 1, error=InvalidInstance)
        require_length("same", same, m)
        checked = {
            "agreement": agreement,
            "same": same,
            "weights": weight_array(self.weights, m),
            "features": name_list("features", self.features, d),
            "groups": None if self.groups is None else group_list("groups", self.groups, d),
            "context": _json_context(self.context),
        }
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def m(self) -> int:
        """Number of samples (rows)."""
        return int(self.agreement.shape[0])

    @property
    def d(self) -> int:
        """Number of features (columns)."""
        return int(self.agreement.shape[1])

    @cached_property
    def total(self) -> int:
        """Weight of all samples."""
        return int(self.weights.sum())

    @cached_property
    def agreeing(self) -> int:
        """Weight of the samples with the class of x."""
        return int(self.weights[self.same].sum())

    @property
    def population(self) -> bool:
        """Whether these are all rows of the distribution: then every share is exact."""
        return self.context.get("population") is True

    def covered(self, features: Iterable[int]) -> BoolArray:
        """Return which samples have the values of x in all of these features, shape (m,)."""
        chosen = self.columns[list(features)]
        covered = np.unpackbits(
            np.bitwise_and.reduce(chosen, axis=0), count=self.m, bitorder="little"
        )
        return covered.view(np.bool_)

    @cached_property
    def columns(self) -> npt.NDArray[np.uint8]:
        """The features one after the other in memory, eight samples to a byte."""
        return packed_columns(self.agreement)

    def pack(self) -> Packed | None:
        """Return the samples packed for the exact search; None where some are equal."""
        return self._packed if self.distinct == self.m else None

    @cached_property
    def _packed(self) -> Packed:
        return Packed.of(self.agreement, self.same, self.weights)

    def merged(self) -> Samples:
        """Return the samples with identical rows (bits and label) merged into weights.

        Rows keep the order of their first occurrence, so the result depends on nothing
        but the samples; every weighted count of covered samples stays what it was.

        Returns
        -------
        Samples
            With at most as many rows; names, groups and context are the same.

        Examples
        --------
        >>> merged = Samples([[0], [1], [0], [0]], [1, 1, 1, 0], [5, 1, 2, 9]).merged()
        >>> merged.agreement.tolist(), merged.same.tolist(), merged.weights.tolist()
        ([[False], [True], [False]], [True, True, False], [7, 1, 9])
        """
        if self.distinct == self.m:
            return self
        order, starts = self._runs
        weights = np.add.reduceat(self.weights[order], starts)
        first = order[starts]
        by_occurrence = np.argsort(first)
        rows = first[by_occurrence]
        merged = Samples(
            self.agreement[rows],
            self.same[rows],
            weights[by_occurrence],
            self.features,
            self.groups,
            self.context,
        )
        merged.__dict__["distinct"] = merged.m
        return merged

    @cached_property
    def distinct(self) -> int:
        """Number of distinct rows (bits and label)."""
        if surely_distinct(self._words):
            return self.m
        return int(self._runs[1].size)

    @cached_property
    def constant(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The features that all samples have, and those that none has."""
        having = np.bitwise_count(self.columns).sum(axis=1, dtype=np.int64)
        return np.flatnonzero(having == self.m), np.flatnonzero(having == 0)

    @cached_property
    def _words(self) -> npt.NDArray[np.uint64]:
        """The rows (bits and label) as words."""
        return packed_rows(self.agreement, self.same)

    @cached_property
    def _runs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """An order of the rows in which equal ones are neighbours, and where each run begins."""
        # Each row becomes a few 64-bit words, and the words are sorted: stable, so the
        # first of each run of equal rows is its first occurrence.
        words = self._words
        order = np.lexsort(words.T)
        ordered = words[order]
        new = np.ones(self.m, dtype=bool)
        new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        return order, np.flatnonzero(new)

    @classmethod
    def draw(
        cls,
        f: Any,
        x: Any,
        D: Distribution,
        m: int,
        seed: int,
        *,
        merge: bool = True,
    ) -> Samples:
        """Draw m samples from D and label them by the classifier.

        Parameters
        ----------
        f : object with ``predict``, or callable
            Maps a table of rows, as D makes them, to one label per row.
        x : one row
            The explained instance, in any form that ``D.encode`` takes.
        D : Distribution
            See :mod:`cpx.data.distributions`.
        m : int
            Number of draws, at least 1.
        seed : int
            Non-negative; the same seed gives the same samples.
        merge : bool
            Merge identical samples into weights, the default.

        Returns
        -------
        Samples
            Features are the literals true of x. ``context`` holds the names of the
            classifier and of the distribution with its parameters, the seed, m, and the
            predicted class as text.

        Raises
        ------
        ClassifierError
            When f raises or does not answer with one label per row.
        DataError
            When x does not fit D.
        InvalidOption
            When m or the seed is out of range.

        References
        ----------
        Koriche, Lagniez, Mengel, Tran: Learning Model Agnostic Explanations via
        Constraint Programming (ECML PKDD 2024), for the example oracle EX(f, D).

        Examples
        --------
        >>> from cpx.data import Uniform
        >>> samples = Samples.draw(lambda z: z[:, 0], [1, 0, 1], Uniform(3), m=500, seed=0)
        >>> samples.total, samples.features, samples.context["class"]
        (500, ('x0', 'not x1', 'x2'), '1')
        >>> bool((samples.same == samples.agreement[:, 0]).all())
        True
        """
        from cpx.data.oracle import Oracle

        return cls.ask(Oracle(f, x, D), m, seed, merge=merge)

    @classmethod
    def ask(
        cls,
        oracle: Oracle,
        m: int | None,
        seed: int,
        *,
        merge: bool = True,
        called: str | None = None,
    ) -> Samples:
        """Do what :meth:`draw` does, or take all rows of the distribution.

        Parameters
        ----------
        oracle : Oracle
        m : int or None
            None for all rows, where the distribution has a list of them: nothing is drawn then,
            no seed is used, and every share of the samples is exact.
        seed, merge
            As for :meth:`draw`.
        called : str, optional
            The name of the class of x.

        Examples
        --------
        >>> from cpx.data import Background, Empirical, Oracle
        >>> rows = Empirical(Background(np.array([[0, 0], [1, 1], [1, 1]])))
        >>> samples = Samples.ask(Oracle(lambda z: z[:, 0], [1, 1], rows), None, seed=0)
        >>> samples.weights.tolist(), samples.population
        ([1, 2], True)
        """
        from cpx.data.oracle import classifier_name, contrary

        D = oracle.distribution
        origin: dict[str, Any]
        seen, more = None, dict[str, Any]()
        if m is None:
            rows = oracle.said or Labelled.of(oracle.classifier, D)
            if rows is None:
                raise DataError(f"the distribution {D.name!r} has no list of all its rows: give m")
            seen = rows.seen_from(oracle.label, merge)
            agreement, same = seen.agreement == oracle.bits, seen.same
            if (agreement.all(axis=1) & ~same).any() and rows.contradict(oracle):
                warn(contrary(oracle.classifier, "x"))
            origin, more["weights"] = {"population": True, "m": len(rows.said)}, seen.weights
        else:
            m = positive_integer("m", m)
            rng = np.random.default_rng(valid_seed(seed))
            drawn, agreement = oracle.draw(m, (), rng)
            same, origin = oracle.same(drawn), {"seed": int(seed), "m": m}
        context = {
            "classifier": classifier_name(oracle.classifier),
            "distribution": {"name": D.name, **D.parameters()},
            **origin,
            "class": str(oracle.label) if called is None else called,
        }
        samples = cls(
            agreement=agreement,
            same=same,
            features=oracle.literals,
            groups=D.groups,
            context=context,
            **more,
        )
        if not merge:
            return samples
        if seen is None:
            return samples.merged()
        # Rows that are equal, or packed, are so whatever x they are seen from.
        samples.__dict__.update(distinct=samples.m, _packed=seen._packed.flipped(~oracle.bits))
        return samples

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Samples):
            return NotImplemented
        return (
            np.array_equal(self.agreement, other.agreement)
            and np.array_equal(self.same, other.same)
            and np.array_equal(self.weights, other.weights)
            and (self.features, self.groups, self.context)
            == (other.features, other.groups, other.context)
        )

    def __reduce__(self) -> tuple[type[Samples], tuple[Any, ...]]:
        # Unpickled arrays would be writeable; building anew keeps them read-only.
        fields = (self.agreement, self.same, self.weights, self.features, self.groups)
        return type(self), (*fields, self.context)

    def __repr__(self) -> str:
        return (
            f"Samples(m={self.m}, d={self.d}, total weight {self.total}, "
            f"{self.agreeing} with the class of x)"
        )


@dataclass(frozen=True, eq=False)
class Labelled:
    """All rows of a distribution by their features, and what a classifier says of them.

    bits (n, d): Their features.
    said (n,): Their labels.
    """

    bits: BoolArray
    said: npt.NDArray[Any]
    _merged: dict[Any, Samples] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, classifier: Any, distribution: Distribution) -> Labelled | None:
        """Ask the classifier about all rows; None where the distribution has no list of them."""
        from cpx.data.oracle import labels

        rows = distribution.population()
        return None if rows is None else cls(rows.bits, labels(classifier, rows.rows))

    def contradict(self, oracle: Oracle) -> bool:
        """Whether some row has the values of x, and another class than x when asked alone."""
        from pandas import isna

        population = oracle.distribution.population()
        other = (self.bits == oracle.bits).all(axis=1) & (self.said != oracle.label)
        if population is None:
            return False
        rows, places = population.rows, np.flatnonzero(other)[:_CONTRARY]
        few = rows.iloc[places] if hasattr(rows, "iloc") else rows[places]
        cells = np.array(few, dtype=object)
        own = np.broadcast_to(np.array(oracle.row, dtype=object), cells.shape)
        equal, known = isna(cells) & isna(own), ~(isna(cells) | isna(own))
        equal[known] = cells[known] == own[known]  # pd.NA is not comparable
        return bool(equal.all(axis=1).any())

    def seen_from(self, label: Any, merge: bool = True) -> Samples:
        """Return the rows and which of them have the label; equal ones merged into weights."""
        if merge and label in self._merged:
            return self._merged[label]
        seen = Samples(self.bits, np.asarray(self.said == label, dtype=bool))
        if merge:
            seen = self._merged[label] = seen.merged()
        return seen


def _json_context(value: object) -> dict[str, Any]:
    """Return a deep copy of a mapping that JSON can hold."""
    if not isinstance(value, Mapping):
        raise InvalidInstance(f"context: a mapping expected, got {shown(value)}")
    context = copy.deepcopy(dict(value))
    for key in context:
        if not isinstance(key, str):
            raise InvalidInstance(f"context: key {shown(key)} is no string")
    try:
        json.dumps(context, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInstance(f"context: not JSON values ({error})") from error
    return context
