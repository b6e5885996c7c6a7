"""How probable leaves are where attributes depend on each other: passes over a circuit.

Given z, each node n of the circuit has a value P_n(z). A leaf l of the model asks more of the few
attributes that it tests, so that only the nodes above these change: r_n = P_n(l | z) is a product
over the children of a product, and of a sum the mean over its children, by the shares that they
have of its value. At the last node it is P(l | z). The derivatives of v_l P(l | z) by the r_n go
down again: at a leaf of the circuit over an attribute j that l tests, they give its part of

    sum_l v_l P(l, x_j | z),

and below nodes that do not change they are the same for all j, so that those of all leaves are
added up and go down once for z. Divided by P(x_j | z) that is the sum given z and x_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from math import log
from operator import or_
from typing import NamedTuple
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from cpx.compiled.kernel import Bools as BoolsArray
from cpx.compiled.kernel import Bytes2, Floats, Ints, kernel
from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.circuit_nodes import LeafNode
from cpx.data.fitted.circuit_passes import STEP, Nodes, Room
from cpx.data.fitted.message_passing import ONE
from cpx.models.expected_prediction.leaves import LeafForm
from cpx.models.expected_prediction.state_sets import StateSets

Bools = NDArray[np.bool_]


class Marks(NamedTuple):
    """The nodes of the circuit that change with each leaf of the model.

    first, node: Where those of a leaf begin, and the nodes of all, children first.
    share, own: Of leaves of the circuit: how probable what the leaf of the model asks of the
        attribute is, and the state of x, or 0 where that is not asked; 0 for other nodes.
    test, attribute, leads: Where the tests of each leaf of the model begin; the attributes tested,
        and whether the state of x leads on.
    """

    first: Ints
    node: Ints
    share: Floats
    own: Floats
    test: Ints
    attribute: Ints
    leads: BoolsArray


class Sums(NamedTuple):
    """What is found, for N sets.

    mean, value, power: The mean of the leaves' values; the probability, times 2**(STEP power).
    more, given: sum_l v_l P(l, x_j | z) and P(x_j | z), of each set and attribute.
    """

    mean: Floats
    value: Floats
    power: Ints
    more: Floats
    given: Floats

    @classmethod
    def of(cls, n: int, attributes: int) -> Sums:
        """Return room for n sets; without attributes for means alone."""
        each = n * attributes
        return cls(
            np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(each), np.zeros(each)
        )


class Scratch(NamedTuple):
    """Of each node: its ratio, 1 but while a leaf is worked on; derivatives; whether it is marked.

    before: Of each edge of a product: the product of the ratios before it.
    """

    ratio: Floats
    slope: Floats
    below: Floats
    marked: BoolsArray
    before: Floats


@kernel
def leaf_sums(
    nodes: Nodes,
    room: Room,
    marks: Marks,
    scratch: Scratch,
    values: Floats,
    state: Ints,
    seen: Bytes2,
    sums: Sums,
) -> None:
    """Write the sums of N sets.

    state: The state of x in each attribute.
    seen: Which attributes each set knows.
    """


@dataclass(frozen=True, eq=False)
class LeafCircuits:
    """The means of the leaves' values given sets of known attributes, under a circuit.

    codes: The states of x.
    values: Of the leaves.
    """

    leaves: LeafForm
    circuit: Circuit
    codes: NDArray[np.int32]
    values: NDArray[np.float64]

    def means(self, seen: Bools) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means given N sets, and the logarithms of their probabilities."""
        sums = self._summed(seen, 0)
        return sums.mean, self._logs(sums)

    def extended(self, seen: Bools) -> tuple[NDArray[np.float64], ...]:
        """Return the same, and both with each attribute more, shapes (N, A)."""
        sums = self._summed(seen, seen.shape[1])
        logs = self._logs(sums)
        # What is too little for a float might be anything.
        given = np.maximum(sums.given.reshape(seen.shape), np.finfo(float).tiny)
        mean, alone = sums.mean[:, None], logs[:, None]
        more = np.where(seen, mean, sums.more.reshape(seen.shape) / given)
        return sums.mean, logs, more, np.where(seen, alone, alone + np.log(given))

    @cached_property
    def numbers(self) -> int:
        """How many products it takes to measure one set."""
        return 4 * (len(self._marks.node) + len(self.circuit.arrays.child))

    def _logs(self, sums: Sums) -> NDArray[np.float64]:
        return np.asarray(np.log(sums.value) + sums.power * (STEP * log(2)))

    def _summed(self, seen: Bools, attributes: int) -> Sums:
        nodes, n = self.circuit.arrays, len(self.circuit.arrays.kind)
        sums = Sums.of(len(seen), attributes)
        scratch = Scratch(
            np.ones(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n, dtype=np.bool_),
            np.ones(len(nodes.child)),
        )
        known = np.ascontiguousarray(seen).astype(np.uint8)
        state = self.codes.astype(np.int64)
        leaf_sums(nodes, Room.of(nodes), self._marks, scratch, self.values, state, known, sums)
        return sums

    @cached_property
    def _marks(self) -> Marks:
        """The nodes that change, by leaf of the model."""
        leaves, arrays = self.leaves, self.circuit.arrays
        first, node, share, test = _changing(leaves, self.circuit)
        leads = leaves.masks.having(self.codes)[leaves.mask]
        tested = test >= 0
        state = arrays.entry[node] + self.codes[arrays.attribute[node]]
        own = np.where(tested & leads[test], arrays.table[np.where(tested, state, 0)], 0.0)
        attribute = leaves.attribute.astype(np.int64)
        return Marks(first, node, share, own, leaves.starts, attribute, leads)


class _Changes(NamedTuple):
    """What is the same for all rows: of Marks, and the test of each leaf of the circuit, or -1."""

    first: NDArray[np.int64]
    node: NDArray[np.int64]
    share: NDArray[np.float64]
    test: NDArray[np.int64]


_LAST: list[tuple[ReferenceType[StateSets], ReferenceType[Circuit], _Changes]] = []
"""What was made last, for many rows of a model that are explained."""


def _changing(leaves: LeafForm, circuit: Circuit) -> _Changes:
    """Return the nodes of a circuit that change with each leaf of a model."""
    for masks, own, changes in [*_LAST]:
        if masks() is leaves.masks and own() is circuit:
            return changes
    count, tests = len(leaves.values), dict[int, int]()
    for leaf, a in zip(leaves.leaf.tolist(), leaves.attribute.tolist(), strict=True):
        tests[a] = tests.get(a, 0) | 1 << leaf  # the leaves that test it, as bits
    changed = list[int]()
    for node in circuit.nodes:
        if isinstance(node, LeafNode):
            changed.append(tests.get(node.attribute, 0))
        else:
            changed.append(reduce(or_, (changed[c] for c in node.children)))
    width = -(-count // 8)
    packed = b"".join(some.to_bytes(width, "little") for some in changed)
    table = np.frombuffer(packed, dtype=np.uint8).reshape(len(changed), width)
    leaf_of, marked = np.nonzero(np.unpackbits(table, axis=1, count=count, bitorder="little").T)
    first = np.searchsorted(leaf_of, np.arange(count + 1)).astype(np.int64)
    made = _Changes(first, marked.astype(np.int64), *_asked(leaves, circuit, leaf_of, marked))
    _LAST[:] = [(ref(leaves.masks, lambda gone: _LAST.clear()), ref(circuit), made)]
    return made


def _asked(
    leaves: LeafForm, circuit: Circuit, leaf_of: NDArray[np.int64], marked: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return how probable what leaves of the model ask of marked nodes is, and by which test."""
    pairs = zip(leaves.leaf.tolist(), leaves.attribute.tolist(), strict=True)
    number = {pair: t for t, pair in enumerate(pairs)}
    share, test = np.zeros(len(marked)), np.full(len(marked), -1)
    attribute = circuit.arrays.attribute[marked]
    known: dict[tuple[int, int], float] = {}
    for place in np.flatnonzero(attribute >= 0).tolist():
        test[place] = t = number[int(leaf_of[place]), int(attribute[place])]
        key = n, mask = int(marked[place]), int(leaves.mask[t])
        if key not in known:
            node, inside = circuit.nodes[n], leaves.masks.states(mask).tolist()
            assert isinstance(node, LeafNode)
            known[key] = sum(p for p, may in zip(node.table, inside, strict=True) if may) / ONE
        share[place] = known[key]
    return share, test
