"""Models of clauses, implications and sums of literals, kept as arrays.

CPMpy's expressions are made of them when somebody asks; engines that take arrays need none. Of a
hundred thousand samples the expressions take more time and memory than what the engine gets.

A literal is a number, as in DIMACS: the variables are numbered from 1 through the arrays of the
model in their order, and ``-n`` is the negation of variable n.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import cpmpy as cp
import numpy as np
from cpmpy.expressions.core import Comparison, Operator
from cpmpy.solvers.solver_interface import SolverStatus
from numpy.typing import NDArray

from cpx.modelling.literals import all_of, any_of

__all__ = [
    "BlockModel",
    "Clauses",
    "Implications",
    "NamedBooleans",
    "Rows",
    "Sum",
    "blocks_of",
    "extended",
]

_AT_ONCE = 2**15


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of literals: row i is ``literals[starts[i] : starts[i + 1]]``, and not empty."""

    literals: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, first: NDArray[Any], table: NDArray[np.bool_], literals: NDArray[Any]) -> Rows:
        """Return rows of a first literal and the ``literals`` where the row of a table is true."""
        starts = np.zeros(len(table) + 1, dtype=np.int64)
        np.cumsum(table.sum(axis=1) + 1, out=starts[1:])
        found = np.empty(starts[-1], dtype=np.int32)
        others = np.ones(found.size, dtype=np.bool_)
        others[starts[:-1]] = False
        step = max(1, _AT_ONCE // max(1, table.shape[1]))
        for low in range(0, len(table), step):
            part = slice(starts[low], starts[min(low + step, len(table))])
            found[part][others[part]] = literals[np.nonzero(table[low : low + step])[1]]
        found[starts[:-1]] = first
        return cls(found, starts)

    @classmethod
    def listed(cls, rows: Sequence[Sequence[int]]) -> Rows:
        """Return rows that are given one by one."""
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.fromiter(chain.from_iterable(rows), np.int32, starts[-1]), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def lists(self, names: NDArray[Any] | None = None) -> Iterator[list[Any]]:
        """Yield each row as a list; with ``names``, of what is at the place of each literal."""
        starts = self.starts.tolist()
        low = 0
        while low < len(self):
            high = max(low + 1, int(np.searchsorted(self.starts, starts[low] + _AT_ONCE)) - 1)
            numbers = self.literals[starts[low] : starts[high]]
            some = (numbers if names is None else names[numbers]).tolist()
            for i in range(low, high):
                yield some[starts[i] - starts[low] : starts[i + 1] - starts[low]]
            low = high


class Clauses(NamedTuple):
    """At least one literal of each row is true; ``line`` is the line of the mathematics."""

    line: str
    rows: Rows


class Implications(NamedTuple):
    """If the first literal of a row is true, then all others of the row are."""

    line: str
    rows: Rows


class Sum(NamedTuple):
    """``sum weights[i] * literals[i]  operator  constant``; the operator is <=, >= or ==."""

    line: str
    weights: Sequence[int]
    literals: list[int]
    operator: str
    constant: int

    @property
    def rows(self) -> list[list[int]]:
        """The literals: one row."""
        return [self.literals]


class NamedBooleans(Mapping[str, Any]):
    """Named arrays of Boolean variables, numbered from 1 through all, made when asked for.

    Examples
    --------
    >>> arrays = NamedBooleans({"X": 2, "C": 1})
    >>> arrays.numbers("C").tolist(), str(arrays["X"])
    ([3], '[X[0] X[1]]')
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        self._made: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """The number of all variables."""
        return sum(self.sizes.values())

    def before(self, name: str) -> int:
        """Return how many variables the arrays before one have."""
        names = list(self.sizes)
        return sum(self.sizes[other] for other in names[: names.index(name)])

    def numbers(self, name: str) -> NDArray[np.int64]:
        """Return the numbers of the variables of an array."""
        first = self.before(name) + 1
        return np.arange(first, first + self.sizes[name])

    @cached_property
    def in_order(self) -> list[Any]:
        """All variables; number n at n - 1."""
        return [variable for array in self.values() for variable in array]

    def extended(self, sizes: Mapping[str, int]) -> NamedBooleans:
        """Return these arrays and further ones after them; those of both are the same."""
        both = NamedBooleans({**self.sizes, **sizes})
        both._made = self._made
        return both

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            n = self.sizes[name]
            self._made[name] = cp.boolvar(shape=(n,), name=name) if n else cp.cpm_array([])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)


class BlockModel(cp.Model):
    """A model kept as blocks of constraints on literals.

    Parameters
    ----------
    **sizes : int
        The arrays of Boolean variables, and how many each has.

    Attributes
    ----------
    blocks : list of Clauses, Implications or Sum
        The constraints, in their order.
    costs : tuple of two lists of int
        Weights, and the variables that they are of, of the sum to minimise; to maximise where
        ``objective_is_min`` is False.
    added : list
        Constraints that are expressions, after the blocks.
    variables : NamedBooleans
        The arrays as CPMpy's variables, made when asked for.
    constraints, objective_
        The same as CPMpy's expressions, made when asked for. Who has them may change them: from
        then on they are the model, and :func:`blocks_of` returns None.

    Examples
    --------
    >>> import numpy as np
    >>> model = BlockModel(X=2, C=2)
    >>> X, C = model.numbers("X"), model.numbers("C")
    >>> model.clauses("C_i or OR_j X_j", C, np.array([[True, True], [False, True]]), X)
    >>> model.blocks[0].rows.literals.tolist()
    [3, 1, 2, 4, 2]
    >>> model.minimise([5, 1], C)
    >>> print(model)
    Constraints:
        or(C[0], X[0], X[1])
        (C[1]) or (X[1])
    Objective: minimize sum([5, 1] * [C[0], C[1]])
    """

    def __init__(self, **sizes: int) -> None:
        self.cpm_status = SolverStatus("Model")
        self.objective_is_min = True
        self.variables = NamedBooleans(sizes)
        self.blocks: list[Clauses | Implications | Sum] = []
        self.costs: tuple[list[int], list[int]] = [], []
        self.added: list[Any] = []
        self._constraints: list[Any] | None = None
        self._objective: Any = None

    # ------------------------------------------------------------- stating

    def extended(self, **sizes: int) -> BlockModel:
        """Return a copy with further arrays of variables, of which more may be said."""
        assert blocks_of(self) is self
        more = copy.copy(self)
        more.variables = self.variables.extended(sizes)
        more.blocks, more._objective = [*self.blocks], None
        return more

    def numbers(self, name: str) -> NDArray[np.int64]:
        """Return the numbers of the variables of an array."""
        return self.variables.numbers(name)

    def clauses(
        self, line: str, first: NDArray[Any], table: NDArray[np.bool_], literals: NDArray[Any]
    ) -> None:
        """Say ``first[i] or OR_{j : table[i, j]} literals[j]`` for each row i."""
        self.blocks.append(Clauses(line, Rows.of(first, table, literals)))

    def facts(self, line: str, literals: NDArray[Any]) -> None:
        """Say that each of the literals is true."""
        self.clauses(line, literals, np.zeros((literals.size, 0), dtype=np.bool_), literals)

    def implications(
        self, line: str, premises: NDArray[Any], table: NDArray[np.bool_], literals: NDArray[Any]
    ) -> None:
        """Say ``premises[i] -> AND_{j : table[i, j]} literals[j]``, where the row has any."""
        some = table.any(axis=1)
        if not some.all():
            premises, table = premises[some], table[some]
        self.blocks.append(Implications(line, Rows.of(premises, table, literals)))

    def sum(
        self, line: str, weights: Iterable[int], literals: Iterable[int], operator: str, limit: int
    ) -> None:
        """Say ``sum_i weights[i] * literals[i]  operator  limit``."""
        numbers = [int(literal) for literal in literals]
        self.blocks.append(Sum(line, [int(w) for w in weights], numbers, operator, int(limit)))

    def minimise(self, weights: Iterable[int], variables: Iterable[int]) -> None:
        """Minimise the weights of the variables that are true; of none, 0 of the first one."""
        self.costs = [int(weight) for weight in weights], [int(number) for number in variables]
        if not self.costs[0]:
            self.costs = [0], [1]

    def negated(self) -> BlockModel:
        """Return the model that maximises minus what this one minimises."""
        other = copy.copy(self)
        weights, variables = self.costs
        other.costs, other._objective = ([-weight for weight in weights], variables), None
        other.objective_is_min = not self.objective_is_min
        return other

    @property
    def lines(self) -> list[str]:
        """Of each constraint of the blocks, the line of the mathematics that it is."""
        return [block.line for block in self.blocks for _ in range(len(block.rows))]

    # -------------------------------------------------- CPMpy's expressions

    @property
    def constraints(self) -> list[Any]:
        """The constraints as CPMpy's expressions."""
        if self._constraints is None:
            self._constraints = list(self.expressions())
        return self._constraints

    @property
    def objective_(self) -> Any:
        """The sum to minimise as CPMpy's expression."""
        if self._objective is None:
            weights, numbers = self.costs
            self._objective = _total(weights, self._literals(numbers))
        return self._objective

    @objective_.setter
    def objective_(self, expression: Any) -> None:
        _ = self.constraints  # asked for, so that the arrays are no longer the model
        self._objective = expression

    def expressions(self) -> Iterator[Any]:
        """Yield each constraint as CPMpy's expression, a new one."""
        for block in self.blocks:
            if isinstance(block, Sum):
                total = _total(block.weights, self._literals(block.literals))
                yield Comparison(block.operator, total, block.constant)
                continue
            for row in block.rows.lists():
                first, *others = literals = self._literals(row)
                if isinstance(block, Implications):
                    yield first.implies(all_of(others))
                else:
                    yield any_of(literals) if others else first
        yield from self.added

    def _literals(self, numbers: Iterable[int]) -> list[Any]:
        variables = self.variables.in_order
        return [variables[n - 1] if n > 0 else ~variables[-n - 1] for n in numbers]


def _total(weights: Sequence[int], literals: list[Any]) -> Any:
    if all(weight == 1 for weight in weights):
        return cp.sum(literals)
    return Operator("wsum", [list(weights), literals])


def blocks_of(model: cp.Model) -> BlockModel | None:
    """Return a model whose blocks, and what is added to them, are all of it; else None."""
    # Whoever has asked for the list of constraints may have changed it.
    return model if isinstance(model, BlockModel) and model._constraints is None else None


def extended(model: cp.Model, constraints: Iterable[Any]) -> cp.Model:
    """Return a model with further constraints, expressions; one of blocks stays one."""
    blocks = blocks_of(model)
    if blocks is None:
        goal = {"minimize" if model.objective_is_min else "maximize": model.objective_}
        return cp.Model([*model.constraints, *constraints], **goal)
    more = copy.copy(blocks)
    more.added = [*blocks.added, *constraints]
    return more
