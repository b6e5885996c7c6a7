"""The cores of a core-guided MaxSAT search, one after the other, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cpx.answers.html import Shown
from cpx.answers.text import Block, Fact, Facts, Paragraph, Table, as_text
from cpx.errors import InvalidOption
from cpx.modelling.encodings import stated_in
from cpx.modelling.ratio import RatioProblem

if TYPE_CHECKING:
    from cpx.modelling.base import Problem

__all__ = ["Core", "Cores", "cores"]

_MOST = 40


@dataclass(frozen=True)
class Core:
    """A core: costs not all of which can be avoided.

    Attributes
    ----------
    literals : tuple of str
        The costs, by the names of their literals; ``"more than 1 of core 2"`` for what the
        counter of an earlier core has allowed up to now.
    price : int
        The least of their weights: by so much the bound rises.
    bound : int
        The bound on the objective after it.
    """

    literals: tuple[str, ...]
    price: int
    bound: int


@dataclass(frozen=True)
class Cores(Shown):
    """What RC2 did: the cores in their order, and where it ended.

    Attributes
    ----------
    steps : list of Core
    first : int
        The bound before the first core.
    optimum : int or None
        The value of the solution that breaks nothing more; None where the search was cut.
    """

    steps: list[Core]
    first: int
    optimum: int | None

    def blocks(self) -> list[Block]:
        """Return the cores as a table, and the end in a sentence."""
        rows = tuple(
            (f"{i}", " or ".join(core.literals), f"{core.price}", f"{core.bound}")
            for i, core in enumerate(self.steps, 1)
        )
        told = Facts.of([Fact("at first", f"no cost is accepted: bound {self.first}")])
        ended = (
            f"then a solution pays no more: its value {self.optimum} is the bound"
            if self.optimum is not None
            else f"and so on: only {_MOST} cores are shown"
        )
        head = ("core", "cannot all be avoided", "price", "bound")
        table = [Table(head, rows, left=(1,))] if rows else []
        return [told, *table, Paragraph(ended)]

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)


class _Enough(Exception):
    """As many cores as are shown have been found."""


def cores(problem: Problem, encoding: str | None = None, at_most: str | None = None) -> Cores:
    """Run RC2 on the clauses of a problem and return its cores.

    Without the shortcuts of the engine ``maxsat:rc2``: neither at-most-one relations nor the
    exhaustion of cores, so that each step is a core.

    Parameters
    ----------
    problem : Problem
        A small one: of many cores only 40 are told.
    encoding : str, optional
        Default is the problem's first.
    at_most : str, optional
        How counting becomes clauses, as in :func:`cpx.export.show`.

    Raises
    ------
    InvalidOption
        When the problem has no solution, or no statement.

    Examples
    --------
    >>> from cpx import KMonomial, Samples
    >>> agreement = [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]]
    >>> found = cores(KMonomial(Samples(agreement, [1, 0, 0, 0]), k=1))
    >>> [(core.literals, core.bound) for core in found.steps]
    [(('C[0]', 'C[1]'), 1), (('C[2]', 'U[0]', 'more than 1 of core 1'), 2)]
    """
    from cpx.backends.maxsat.wcnf import compile_statement
    from cpx.export.clauses import Variables

    name = stated_in(problem, encoding).name
    if isinstance(problem, RatioProblem):
        problem = problem.first_step()
    statement = problem.model(name)
    compiled = compile_statement(statement, at_most=at_most)
    with _told(compiled.wcnf(), Variables(problem, statement, compiled).word) as search:
        try:
            if search.compute() is None:
                raise InvalidOption("the instance has no solution: the hard clauses are a core")
            optimum = compiled.objective(search.cost)
        except _Enough:
            optimum = None
        steps = [
            Core(words, price, compiled.objective(cost)) for words, price, cost in search.told
        ]
    return Cores(steps, compiled.objective(0), optimum)


def _told(formula: Any, word: Callable[[int], str]) -> Any:
    """Return RC2 with a list of its cores: their words, prices, and the cost after each."""
    from pysat.examples.rc2 import RC2

    class Told(RC2):
        def __init__(self) -> None:
            self.told: list[tuple[tuple[str, ...], int, int]] = []
            self.numbers: dict[int, int] = {}  # of cores, by the counter of each
            super().__init__(formula, solver="m22", minz=True)

        def process_core(self) -> None:
            if len(self.told) == _MOST:
                raise _Enough
            words = tuple(map(self.cost_of, sorted(self.core, key=abs)))
            super().process_core()
            self.told.append((words, self.minw, self.cost))

        def cost_of(self, literal: int) -> str:
            if literal in self.sels_set:
                return word(-literal)
            number = self.numbers[id(self.tobj[literal])]
            return f"more than {self.bnds[literal]} of core {number}"

        def create_sum(self, bound: int = 1) -> Any:
            counter = super().create_sum(bound)
            self.numbers[id(counter)] = len(self.told) + 1
            return counter

    return Told()
