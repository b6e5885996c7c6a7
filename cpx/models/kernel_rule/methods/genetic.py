"""The genetic algorithm of Polato and Aiolli for rules of kernel machines, as a backend."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome, Progress
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.modelling.base import Problem
from cpx.models.kernel_rule.form import DNFForm
from cpx.options import SolveOptions

__all__ = ["Genetic", "Operators"]

Individual = tuple[int, ...]
"""The clauses of a formula; bit j of a clause says that it has feature j."""


@dataclass(frozen=True)
class Operators:
    """How children are made, where the paper can be read in more than one way.

    shrink: The literal that replaces another is drawn from all others, so it may be in the clause
        already, which then has one literal less. Else it is drawn from those that are not in the
        clause, and no mutation changes the length of a clause.
    half: Half of the children are crossovers, the others mutations of one parent. Else all are
        crossovers, mutated or not.
    distinct: Of equal formulas one is kept. Else copies can crowd out the other survivors.
    """

    shrink: bool = False
    half: bool = False
    distinct: bool = False

    @classmethod
    def named(cls, names: str) -> Operators:
        """Return the operators named, such as ``"shrink+half"``; the paper's for ``""``.

        >>> Operators.named("shrink+distinct")
        Operators(shrink=True, half=False, distinct=True)
        """
        known = tuple(field.name for field in fields(cls))
        wanted = names.split("+") if names else []
        for name in wanted:
            if name not in known:
                raise UnknownName("operator of the backend genetic", name, known)
        return cls(**dict.fromkeys(wanted, True))


class Genetic(Backend):
    """Breeds formulas whose fitness is their weight in the machine [1]_, section 4.1.

    There are 500 random formulas; in each generation the best fifth survives, and the others
    are replaced by children of two of these: some clauses out of both parents', and in six of
    ten cases a mutation, which drops a clause, adds a random one, or replaces a literal. The
    paper does not say how parents are chosen; here each survivor is as likely. The end comes
    after 1000 generations, or when a formula has all positive weight and no negative.

    ``genetic:shrink+half+distinct`` names other :class:`Operators`, in any combination; with
    all three it succeeds more often.

    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018.
    """

    name: ClassVar[str] = "genetic"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    supported_options: ClassVar[frozenset[str]] = frozenset({"hint", "seed"})
    needs_model: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = (
        "genetic algorithm for rules of kernel machines; genetic:shrink+half+distinct"
    )
    population: ClassVar[int] = 500
    survivors: ClassVar[int] = 100
    mutation: ClassVar[float] = 0.6
    generations: ClassVar[int] = 1000

    def __init__(self, solver: str | None = None) -> None:
        self.solver = solver or ""
        self.operators = Operators.named(self.solver)

    def accepts(self, problem: Problem) -> bool:
        """Whether the form of the problem is that of a kernel rule."""
        return isinstance(problem.form(), DNFForm)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Breed; see :class:`~cpx.backends.base.Backend`."""
        form = problem.form()
        if not isinstance(form, DNFForm):
            raise InvalidOption(f"backend {shown(self.name)} cannot solve {shown(problem.kind)}")
        with progress.phase("compile"):
            breeder = _Breeder(form, random.Random(options.seed), self.mutation, self.operators)
            people = [breeder.individual() for _ in range(self.population)]
            if progress.explanation is not None:
                known = form.clauses(progress.explanation.features)
                people[0] = tuple(sum(1 << j for j in clause) for clause in known)
        generation = 0
        with progress.phase("solve"):
            while True:
                people, best = breeder.ranked(people)
                if progress.objective is None or best > progress.objective:
                    clauses = [_features(clause) for clause in people[0]]
                    progress.found(problem.explanation(form.features(clauses)))
                if best == form.greatest or generation == self.generations or progress.should_stop:
                    break
                elite = people[: self.survivors]
                children = self.population - len(elite)
                people = [*elite, *(breeder.child(elite) for _ in range(children))]
                generation += 1
        ended = best == form.greatest or generation == self.generations
        return Outcome(
            False,
            Termination.COMPLETED if ended else progress.why_stopped(),
            f"{generation} generations",
            sizes={"generations": generation},
        )


class _Breeder:
    """Random formulas, their children, and what they weigh."""

    def __init__(
        self, form: DNFForm, rng: random.Random, mutation: float, operators: Operators
    ) -> None:
        self.form, self.rng, self.mutation, self.operators = form, rng, mutation, operators
        self._d = form.table.shape[1]
        self._bytes = -(-len(form.table) // 8)
        packed = np.packbits(form.table, axis=0, bitorder="little")
        self._having = [int.from_bytes(column.tobytes(), "little") for column in packed.T]
        self._weights = form.weights.astype(np.float64)
        self._covers: dict[int, int] = {}

    def clause(self) -> int:
        size = self.rng.randint(1, self.form.max_literals)
        return sum(1 << j for j in self.rng.sample(range(self._d), size))

    def individual(self) -> Individual:
        count = self.rng.randint(1, self.form.max_clauses)
        return tuple({self.clause(): None for _ in range(count)})

    def child(self, elite: list[Individual]) -> Individual:
        # Without a mutation it would be its parent again.
        alone = self.operators.half and self.rng.random() < 0.5
        if alone:
            kept = list(self.rng.choice(elite))
        else:
            clauses = list(dict.fromkeys((*self.rng.choice(elite), *self.rng.choice(elite))))
            size = self.rng.randint(1, min(len(clauses), self.form.max_clauses))
            kept = self.rng.sample(clauses, size)
        if alone or self.rng.random() < self.mutation:
            self._mutate(kept)
        return tuple(dict.fromkeys(kept))

    def _mutate(self, clauses: list[int]) -> None:
        actions = ["replace"]
        if len(clauses) > 1:
            actions.append("drop")
        if len(clauses) < self.form.max_clauses:
            actions.append("add")
        action, at = self.rng.choice(actions), self.rng.randrange(len(clauses))
        if action == "drop":
            del clauses[at]
        elif action == "add":
            clauses.append(self.clause())
        else:
            features = _features(clauses[at])
            gone = self.rng.choice(features)
            kept = [gone] if self.operators.shrink else features
            others = [j for j in range(self._d) if j not in kept]
            if others:
                clauses[at] = clauses[at] & ~(1 << gone) | 1 << self.rng.choice(others)

    def ranked(self, people: list[Individual]) -> tuple[list[Individual], int]:
        """Return formulas by their weight, the heaviest first, and what that one weighs."""
        if self.operators.distinct:
            people = list({tuple(sorted(one)): one for one in people}.values())
        covers = b"".join(self._cover(one).to_bytes(self._bytes, "little") for one in people)
        packed = np.frombuffer(covers, dtype=np.uint8).reshape(len(people), self._bytes)
        bits: NDArray[np.uint8] = np.unpackbits(
            packed, axis=1, count=len(self._weights), bitorder="little"
        )
        weights = bits @ self._weights
        order = np.argsort(-weights, kind="stable")
        return [people[i] for i in order], int(weights[order[0]])

    def _cover(self, individual: Individual) -> int:
        covered = 0
        for clause in individual:
            known = self._covers.get(clause)
            if known is None:
                known = -1
                for j in _features(clause):
                    known &= self._having[j]
                self._covers[clause] = known
            covered |= known
        return covered


def _features(clause: int) -> list[int]:
    return [j for j in range(clause.bit_length()) if clause >> j & 1]
