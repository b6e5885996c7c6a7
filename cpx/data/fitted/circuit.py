"""Probabilistic circuits: smooth decomposable ones over coded attributes, exact probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from math import log
from operator import or_
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cpx.data.coding import saved_object
from cpx.data.fitted.circuit_nodes import LeafNode, Node, checked_nodes, scope_of
from cpx.data.fitted.circuit_passes import STEP, Nodes, Room, conditionals, event_values
from cpx.data.fitted.exact_distribution import ExactDistribution
from cpx.data.fitted.message_passing import ONE
from cpx.data.fitted.row_checks import checked_codes, checked_masks, checked_observed
from cpx.errors import DataError, NoMass
from cpx.support.validation import name_list, positive_integer

__all__ = ["Circuit", "Dyadic", "dyadic_sum"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

Dyadic = tuple[int, int]
"""The number ``numerator / 2**(30 power)``."""

_CERTAIN: Dyadic = (1, 0)

_VERSION = 1

_AT_ONCE = 2**23
"""States of all attributes times events that are worked on at once: 8 MB."""


class Circuit(ExactDistribution):
    """A distribution of states as a circuit of sums and products.

    Each node is a distribution of some attributes: a *leaf* of one, by a table; a *product* of
    nodes over different attributes (it is decomposable); a *sum* that mixes nodes over the same
    attributes by weights (it is smooth). The last node is the distribution. Sum-product networks,
    PSDDs, Chow-Liu trees and mixtures of them are such circuits. All numbers are integers over
    2**30, so that the probability of any event is an exact fraction, found in one pass.

    Parameters
    ----------
    nodes : sequence of mappings
        Children before parents: ``{"attribute": a, "probabilities": [...]}``, ``{"product":
        [...]}`` or ``{"sum": [...], "weights": [...]}``, with children by their place.
        Probabilities and weights are integers that sum to 2**30, or numbers that sum to 1, which
        are rounded to multiples of 2**-30.
    names : sequence of str, optional
        Names of the attributes, which must then be those of the table.

    Raises
    ------
    DataError
        Naming the node that is wrong: it has a child that is not before it (so that there may be
        a cycle), is not smooth or not decomposable, or has weights that do not sum to 1.

    Examples
    --------
    A coin that shows what an earlier one showed, three times in four:

    >>> coins = Circuit([
    ...     {"attribute": 0, "probabilities": [1, 0]}, {"attribute": 0, "probabilities": [0, 1]},
    ...     {"attribute": 1, "probabilities": [0.75, 0.25]},
    ...     {"attribute": 1, "probabilities": [0.25, 0.75]},
    ...     {"product": [0, 2]}, {"product": [1, 3]}, {"sum": [4, 5], "weights": [0.5, 0.5]}])
    >>> coins
    <Circuit: 7 nodes, 2 attributes>
    >>> coins.exact_marginal([1, 1], [0, 1]), coins.exact_marginal([1, 1], [1])
    (Fraction(3, 8), Fraction(1, 2))
    >>> coins.conditionals([[1, 1], [0, 1]], [[True, False], [False, True]])[1].tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """

    edgeless, factorised, n_components = False, False, 1
    structure, format = "circuit", "cpx-circuit"

    def __init__(self, nodes: Sequence[Any], names: Sequence[str] | None = None) -> None:
        self.nodes, self.cardinalities = checked_nodes(nodes)
        self.names: tuple[str, ...] | None = None
        if names is not None:
            self.names = name_list("names", names, self.n_attributes, error=DataError)

    @classmethod
    def of_checked(cls, nodes: Sequence[Node], cardinalities: Sequence[int]) -> Self:
        """Return the circuit of nodes that are known to be right."""
        made = cls.__new__(cls)
        made.nodes, made.cardinalities, made.names = tuple(nodes), tuple(cardinalities), None
        return made

    # ---------------------------------------------------------------- measure

    @property
    def n_attributes(self) -> int:
        """Number A of attributes."""
        return len(self.cardinalities)

    @property
    def circuit(self) -> Self:
        """The circuit itself, as mixtures of trees have one."""
        return self

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where the states of each attribute begin among those of all, and their number."""
        return np.cumsum([0, *self.cardinalities])

    @cached_property
    def arrays(self) -> Nodes:
        """The nodes as arrays, for kernels."""
        return Nodes.of(self.nodes, self.offsets)

    @cached_property
    def above(self) -> tuple[tuple[int, ...], ...]:
        """For each attribute, the nodes whose distribution it is part of, children first."""
        scopes = list[int]()
        found: list[list[int]] = [[] for _ in self.cardinalities]
        for n, node in enumerate(self.nodes):
            own = scope_of("", node, scopes)
            scopes.append(own)
            while own:
                found[(own & -own).bit_length() - 1].append(n)
                own &= own - 1
        return tuple(map(tuple, found))

    # ---------------------------------------------------------- probabilities

    def log_likelihood(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the natural logarithm of the probability of whole rows; (n, A) to (n,)."""
        rows = checked_codes(np.asarray(codes), 2, self.cardinalities)
        return self.log_marginal(rows, np.ones(rows.shape, dtype=np.bool_))

    def log_marginal(self, x: npt.ArrayLike, observed: npt.ArrayLike) -> FloatArray:
        """Return the log-probability of parts of rows, shape (N,); -inf for 0.

        Parameters
        ----------
        x : (N, A) or (A,) array of int
            Codes of N rows, or of one.
        observed : (N, A) or (A,) array of bool
            Which attributes have the states of x.
        """
        parts = [self._values(allowed) for allowed in self._agreeing(x, observed)]
        return np.concatenate([*parts, np.empty(0)])

    def conditionals(self, x: npt.ArrayLike, observed: npt.ArrayLike) -> tuple[FloatArray, ...]:
        """Return the probability of each state of each attribute given parts of rows.

        Parameters
        ----------
        x, observed
            As for :meth:`log_marginal`.

        Returns
        -------
        A arrays of shape (N, K_a)

        Raises
        ------
        NoMass
            When what is observed has the probability 0.
        """
        parts = []
        for allowed in self._agreeing(x, observed):
            found = np.empty(allowed.shape)
            if not conditionals(self.arrays, Room.of(self.arrays), allowed, found.reshape(-1)):
                raise NoMass("what is observed of a row has the probability 0")
            parts.append(found)
        whole = np.concatenate(parts) if parts else np.empty((0, int(self.offsets[-1])))
        return tuple(np.split(whole, self.offsets[1:-1], axis=1))

    def event_probability(self, masks: Sequence[Any]) -> Any:
        """Return the probability that every attribute is in its mask.

        Parameters
        ----------
        masks : sequence of A arrays of bool, or None
            The states that each attribute may have: of shape (K_a,) in all events, of shape
            (N, K_a) in each of N; None for all states.

        Returns
        -------
        float, or (N,) array where a mask has N rows
        """
        asked = checked_masks(masks, self.cardinalities)
        lengths = {len(mask) for mask in asked.values() if mask.ndim == 2}
        if len(lengths) > 1:
            raise DataError(f"masks must have as many rows each, got {sorted(lengths)}")
        n = max(lengths, default=1)
        allowed = np.ones((n, int(self.offsets[-1])), dtype=np.uint8)
        for a, mask in asked.items():
            allowed[:, self.offsets[a] : self.offsets[a + 1]] = mask
        found = np.exp(self._values(allowed))
        return found if lengths else float(found[0])

    def _agreeing(self, x: npt.ArrayLike, observed: npt.ArrayLike) -> Iterable[Any]:
        """Yield for some rows at a time which states of all attributes they may have."""
        rows = np.asarray(x)
        rows = checked_codes(rows, rows.ndim if rows.ndim == 1 else 2, self.cardinalities)
        seen = checked_observed(observed, self.n_attributes)
        rows, seen = np.broadcast_arrays(np.atleast_2d(rows), seen)
        size, whole = max(1, _AT_ONCE // int(self.offsets[-1])), int(self.offsets[-1])
        for first in range(0, len(rows), size):
            some, known = rows[first : first + size], seen[first : first + size]
            allowed = np.repeat(~known, self.cardinalities, axis=1).astype(np.uint8)
            line = np.arange(len(some))[:, None] * whole
            allowed.reshape(-1)[line + self.offsets[:-1] + some] = 1
            yield allowed

    def _values(self, allowed: npt.NDArray[np.uint8]) -> FloatArray:
        value, power = np.empty(len(allowed)), np.empty(len(allowed), dtype=np.int64)
        event_values(self.arrays, Room.of(self.arrays), allowed, value, power)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(value) + power * (STEP * log(2)))

    def _exactly(self, asked: Mapping[int, BoolArray]) -> Fraction:
        numerator, power = self.exact_events(asked, ())[0]
        return Fraction(numerator, ONE**power)

    def exact_events(
        self, given: Mapping[int, BoolArray], more: Iterable[Mapping[int, BoolArray]]
    ) -> tuple[Dyadic, list[Dyadic]]:
        """Return the exact probability of an event, and of it with each of others.

        Parameters
        ----------
        given : mapping of attributes to arrays of bool of shape (K_a,)
            The states that they may have.
        more : mappings of the same kind
            Over other attributes than ``given``.
        """
        whole: dict[int, Dyadic] = {}
        base = self._exact(given, whole)
        events = list(enumerate(more))
        found = [base] * len(events)
        self._with_each(events, whole, found)
        return base, found

    def _with_each(
        self,
        events: Sequence[tuple[int, Mapping[int, BoolArray]]],
        before: Mapping[int, Dyadic],
        found: list[Dyadic],
    ) -> None:
        """Write the probability of each event, by its place; what several ask is asked once.

        before: The values that change by what is asked of other attributes.
        """
        here = before.get(len(self.nodes) - 1, _CERTAIN)
        for place, event in events:
            if not event:
                found[place] = here
        events = [pair for pair in events if pair[1]]
        while events:
            # What most events ask comes first, as in the tree of tests that they are leaves of.
            counts = Counter(a for _, event in events for a in event)
            a = max(counts, key=counts.__getitem__)
            parts = dict[bytes, list[tuple[int, Mapping[int, BoolArray]]]]()
            for place, event in events:
                if a in event:
                    rest = {other: mask for other, mask in event.items() if other != a}
                    parts.setdefault(event[a].tobytes(), []).append((place, rest))
            events = [pair for pair in events if a not in pair[1]]
            known = dict[bytes, Dyadic]()
            for key, some in parts.items():
                mask, values = np.frombuffer(key, dtype=np.bool_), {**before}
                shared = sum(self._changing([a, *rest]) - self._changing(rest) for _, rest in some)
                if shared > self._changing([a]):
                    known[key] = self._exact({a: mask}, values)
                    self._with_each(some, values, found)
                    continue
                other = known.get((~mask).tobytes())
                for place, more in some:
                    if more:
                        found[place] = self._exact({a: mask, **more}, {**before})
                        continue
                    if key not in known:
                        known[key] = (
                            self._exact({a: mask}, values)
                            if other is None
                            else dyadic_sum((1, -1), (here, other))
                        )
                    found[place] = known[key]

    def _changing(self, attributes: Iterable[int]) -> int:
        """Return how many nodes change where something is asked of these attributes."""
        return reduce(or_, (self._above_bits[a] for a in attributes), 0).bit_count()

    @cached_property
    def _above_bits(self) -> list[int]:
        """The nodes above each attribute, as bits."""
        return [sum(1 << n for n in nodes) for nodes in self.above]

    def _exact(self, asked: Mapping[int, BoolArray], found: dict[int, Dyadic]) -> Dyadic:
        """Return the value of the last node where something is asked of attributes.

        found: The values that change by what is asked of others, which are 1 where they are not
            there; gets those that change by this.
        """
        tables = {a: mask.tolist() for a, mask in asked.items()}
        for n in sorted(set[int]().union(*(self.above[a] for a in tables))):
            node = self.nodes[n]
            if isinstance(node, LeafNode):
                inside = zip(node.table, tables[node.attribute], strict=True)
                found[n] = sum(p for p, may in inside if may), 1
                continue
            values = [found.get(c, _CERTAIN) for c in node.children]
            if len(values) == 1:
                found[n] = values[0]
            elif node.weights is None:
                numerator, power = 1, 0
                for factor, own in values:
                    numerator, power = numerator * factor, power + own
                found[n] = numerator, power
            else:
                total, power = dyadic_sum(node.weights, values)
                found[n] = total, power + 1
        return found.get(len(self.nodes) - 1, _CERTAIN)

    @cached_property
    def roundings(self) -> int:
        """How often 2**-53 what floats make of conditional probabilities may be off, at most.

        Relative to the probability, whatever is known and asked. A share is a quotient of two
        values, and a ratio a mean by shares, or a product.
        """
        values, ratios = list[int](), list[int]()
        for node in self.nodes:
            if isinstance(node, LeafNode):
                own = ratio = len(node.table)
            else:
                count, children = len(node.children), node.children
                if node.weights is None:
                    own = sum(values[c] for c in children) + count
                    ratio = sum(ratios[c] for c in children) + count
                else:
                    own = max(values[c] for c in children) + count + 2
                    share = max(values[c] + ratios[c] for c in children) + own + 2
                    ratio = share + count + 1
            values.append(own)
            ratios.append(ratio)
        return ratios[-1]

    # --------------------------------------------------------------- sampling

    def sample_event(self, m: int, masks: Sequence[Any], rng: np.random.Generator) -> IntArray:
        """Draw m independent rows of codes given that every attribute is in its mask.

        Parameters
        ----------
        m : int
            At least 1.
        masks : sequence of A arrays of bool of shape (K_a,), or None
        rng : numpy.random.Generator

        Raises
        ------
        NoMass
            When the event has the probability 0.
        """
        allowed = np.ones((1, int(self.offsets[-1])), dtype=np.uint8)
        for a, mask in checked_masks(masks, self.cardinalities).items():
            allowed[0, self.offsets[a] : self.offsets[a + 1]] = mask
        room, value = Room.of(self.arrays), np.empty(1)
        event_values(self.arrays, room, allowed, value, np.empty(1, dtype=np.int64))
        if not value[0]:
            raise NoMass("the event has the probability 0")
        result = np.zeros((positive_integer("m", m), self.n_attributes), dtype=np.int32)
        waiting: dict[int, list[npt.NDArray[np.int64]]] = {
            len(self.nodes) - 1: [np.arange(len(result))]
        }
        first = self.arrays.first
        for n in range(len(self.nodes) - 1, -1, -1):
            if n not in waiting:
                continue
            rows, node = np.concatenate(waiting.pop(n)), self.nodes[n]
            if isinstance(node, LeafNode):
                a = node.attribute
                may = allowed[0, self.offsets[a] : self.offsets[a + 1]]
                result[rows, a] = _drawn(np.array(node.table, dtype=float) * may, len(rows), rng)
            elif node.weights is None:
                for c in node.children:
                    waiting.setdefault(c, []).append(rows)
            else:
                which = _drawn(room.share[first[n] : first[n + 1]], len(rows), rng)
                for place in np.unique(which).tolist():
                    part = rows[which == place]
                    waiting.setdefault(node.children[place], []).append(part)
        return result

    # --------------------------------------------------------------- its file

    def to_dict(self) -> dict[str, Any]:
        """Return the circuit as JSON values, exactly."""
        nodes: list[dict[str, Any]] = []
        for node in self.nodes:
            if isinstance(node, LeafNode):
                nodes.append({"attribute": node.attribute, "probabilities": [*node.table]})
            elif node.weights is None:
                nodes.append({"product": [*node.children]})
            else:
                nodes.append({"sum": [*node.children], "weights": [*node.weights]})
        named = {} if self.names is None else {"names": [*self.names]}
        return {"format": self.format, "version": _VERSION, **named, "nodes": nodes}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        DataError
            Naming the key or value that is wrong.
        """
        keys = ("names", "nodes") if isinstance(data, Mapping) and "names" in data else ("nodes",)
        return cls(**saved_object("a circuit", data, cls.format, _VERSION, keys))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out arrays made of the nodes: from another process they come read-only."""
        return {key: vars(self)[key] for key in ("nodes", "cardinalities", "names")}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Circuit):
            return NotImplemented
        return self.nodes == other.nodes and self.names == other.names

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Circuit: {len(self.nodes)} nodes, {self.n_attributes} attributes>"


def dyadic_sum(times: Iterable[int], values: Sequence[Dyadic]) -> Dyadic:
    """Return the sum of whole numbers times dyadic ones.

    >>> dyadic_sum([3, 1], [(2, 0), (2**29, 1)]), dyadic_sum([], [])
    ((6979321856, 1), (0, 0))
    """
    most = max((power for _, power in values), default=0)
    total = 0
    for weight, (numerator, power) in zip(times, values, strict=True):
        total += weight * numerator << 30 * (most - power)
    return total, most


def _drawn(weights: FloatArray, m: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw m places in proportion to weights, none of weight 0."""
    limits = np.cumsum(weights)
    last = int(np.flatnonzero(weights)[-1])
    place = np.searchsorted(limits, rng.random(m) * limits[-1], side="right")
    return np.asarray(np.minimum(place, last))
