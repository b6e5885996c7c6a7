"""The genetic algorithm of Polato and Aiolli for rules of kernel machines, as a backend."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.result import Termination
from cpx.backends.base import Backend, Outcome
from cpx.errors import InvalidOption, shown
from cpx.models.kernel_rule.problem import KernelRule

if TYPE_CHECKING:
    from cpx.backends.base import Progress
    from cpx.models.base import Problem
    from cpx.models.kernel_rule.form import DNFForm
    from cpx.options import SolveOptions

__all__ = ["Genetic"]

Individual = tuple[int, ...]
"""The clauses of a formula; bit j of a clause says that it has feature j."""


class Genetic(Backend):
    """Breeds formulas whose fitness is their weight in the machine [1]_, section 4.1.

    There are 500 random formulas; in each generation the best fifth survives, and the others
    are replaced by children of two of these: some clauses out of both parents', and in six of
    ten cases a mutation, which drops a clause, adds a random one, or replaces a literal. The
    paper does not say how parents are chosen; here each survivor is as likely. The end comes
    after 1000 generations, or when a formula has all positive weight and no negative.

    References
    ----------
    .. [1] M. Polato, F. Aiolli: Boolean kernels for interpretable kernel machines, ESANN
       2018.
    """

    name: ClassVar[str] = "genetic"
    requires: ClassVar[dict[str, str]] = {"numpy": "numpy>=2.0,<3"}
    honours: ClassVar[frozenset[str]] = frozenset({"hint", "seed"})
    encodes: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    summary: ClassVar[str] = "genetic algorithm for rules of kernel machines"
    population: ClassVar[int] = 500
    survivors: ClassVar[int] = 100
    mutation: ClassVar[float] = 0.6
    generations: ClassVar[int] = 1000

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem is a kernel rule."""
        return isinstance(problem, KernelRule)

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Breed; see :class:`~cpx.backends.base.Backend`."""
        if not isinstance(problem, KernelRule):
            raise InvalidOption(f"backend {shown(self.name)} cannot solve {shown(problem.kind)}")
        form = problem.dnf_form()
        with progress.phase("compile"):
            breeder = _Breeder(form, random.Random(options.seed), self.mutation)
            people = [breeder.individual() for _ in range(self.population)]
            if progress.explanation is not None:
                known = problem.rule(progress.explanation)
                people[0] = tuple(sum(1 << j for j in clause) for clause in known)
        generation = 0
        with progress.phase("solve"):
            while True:
                people, best = breeder.ranked(people)
                if progress.objective is None or best > progress.objective:
                    progress.found(problem.explanation_of(map(_features, people[0])))
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

    def __init__(self, form: DNFForm, rng: random.Random, mutation: float) -> None:
        self.form, self.rng, self.mutation = form, rng, mutation
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
        clauses = list(dict.fromkeys((*self.rng.choice(elite), *self.rng.choice(elite))))
        size = self.rng.randint(1, min(len(clauses), self.form.max_clauses))
        kept = self.rng.sample(clauses, size)
        if self.rng.random() < self.mutation:
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
            others = [j for j in range(self._d) if j not in features]
            if others:
                gone, new = self.rng.choice(features), self.rng.choice(others)
                clauses[at] ^= 1 << gone | 1 << new

    def ranked(self, people: list[Individual]) -> tuple[list[Individual], int]:
        """Return formulas by their weight, the heaviest first, and what that one weighs."""
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
