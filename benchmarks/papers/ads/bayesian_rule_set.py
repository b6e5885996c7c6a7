"""Bayesian rule sets after Wang et al. 2017: frequent conjunctions, then simulated annealing.

The packages with it (the authors' code, imodels) go through tables of rows and rules in Python at
each step, and find long rules in thousands of trees. Here rows are bits of whole numbers, and the
candidates are all frequent conjunctions, of which a bound on the information gain leaves few to
look at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Candidates", "annealed", "frequent"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Rule = tuple[int, ...]

CANDIDATES = 10_000
"""Rules that the search chooses from."""

SUPPORT = 0.05
"""Share of the rows of the class that a candidate must cover."""

_CHAINS, _STEPS = 3, 5000
_HEAT, _RESTARTS = 1000.0, 0.7  # temperature at the start; share of the steps without restarts
_AT_RANDOM = 0.1  # share of moves that look at no row
_RIGHT = 100, 1  # of a beta prior: rows that a rule covers are of the class, and others are not
_FEW = 10  # of that of the number of rules of a length; the other one is 10 k times all of these


@dataclass(frozen=True)
class Candidates:
    """Rules, and the rows that they cover.

    Attributes
    ----------
    rules : list of tuple of int
        The literals of each.
    own, other : (rules, words) array of uint64
        Rows of the class that a rule covers, in bits, and rows that are not of it.
    rows : pair of int
        How many rows there are of either.
    """

    rules: list[Rule]
    own: Words
    other: Words
    rows: tuple[int, int]


def frequent(literals: Bools, same: Bools, k: int, most: int = CANDIDATES) -> Candidates:
    """Return the conjunctions of greatest information gain among those that cover enough.

    They have at most k literals, are more often right than all rows are of the class, and none
    has a literal that another one of it implies on the rows.

    Parameters
    ----------
    literals : (n, d) array of bool
    same : (n,) array of bool
        Which rows are of the class; both kinds must occur.
    k : int
    most : int
        Number of rules.
    """
    own, other = _bits(literals[same]), _bits(literals[~same])
    counts = literals.T.astype(np.float32) @ literals.astype(np.float32)
    # Literals are no use together when one implies the other.
    beside = (counts < np.diag(counts)[:, None]) & (counts < np.diag(counts))
    rows = int(same.sum()), int((~same).sum())
    least = max(1, math.ceil(SUPPORT * rows[0]))
    gains: NDArray[np.float64] = np.zeros(0)
    rules: list[Rule] = []
    level: list[Rule] = [()]
    for _ in range(k):
        grown: list[Rule] = []
        hits, misses = [], []
        for rule in level:
            after = rule[-1] + 1 if rule else 0
            added = after + np.flatnonzero(beside[list(rule), after:].all(axis=0))
            covered = [_count(part[added] & _all(part, rule)) for part in (own, other)]
            kept = covered[0] >= least
            grown += [(*rule, j) for j in added[kept].tolist()]
            hits.append(covered[0][kept])
            misses.append(covered[1][kept])
        if not grown:
            break
        right, wrong = np.concatenate(hits), np.concatenate(misses)
        found = np.where(right * rows[1] > wrong * rows[0], _gain(right, wrong, rows), 0.0)
        gains = np.concatenate([gains, found])
        rules += grown
        best = np.argsort(-gains, kind="stable")[:most]
        best = best[gains[best] > 0]
        gains, rules = gains[best], [rules[i] for i in best]
        # Longer rules cover fewer rows; the most is gained when only others are left out.
        reach = _gain(right, np.zeros_like(wrong), rows)
        enough = reach > (gains[-1] if len(gains) == most else 0)
        level = [rule for rule, more in zip(grown, enough, strict=True) if more]
    covers = [np.array([_all(part, rule) for rule in rules]) for part in (own, other)]
    return Candidates(rules, covers[0], covers[1], rows)


def annealed(candidates: Candidates, d: int, k: int, seed: int) -> list[Rule]:
    """Return the set of candidates of greatest posterior probability that was met.

    The moves, temperatures and restarts are those of the authors' code. A wrong row is drawn: if
    it is of the class, a rule is added or replaced, else one is cut or replaced. The rule to add
    is the most precise one on rows that no other covers, the one to cut is drawn by the precision
    of the others. A tenth of both is drawn from all.

    Parameters
    ----------
    candidates : Candidates
    d, k : int
        Literals that there are, and how many a rule may have: the prior of the number of rules of
        a length depends on how many conjunctions of it there are.
    seed : int
    """
    search = _Annealing(candidates, d, k, np.random.default_rng(seed))
    _, chosen = max(search.chain() for _ in range(_CHAINS))
    return [candidates.rules[r] for r in chosen]


class _Annealing:
    """Chains of the search, over the bits of candidates."""

    def __init__(self, candidates: Candidates, d: int, k: int, rng: np.random.Generator) -> None:
        self._own, self._other, self._rows = candidates.own, candidates.other, candidates.rows
        self._every = tuple(_bits(np.ones((n, 1), dtype=bool))[0] for n in self._rows)
        self._lengths = [len(rule) for rule in candidates.rules]
        self._spaces = [math.comb(d, length) for length in range(1, k + 1)]
        self._rng = rng

    def chain(self) -> tuple[float, list[int]]:
        """Return the best value and rules of a chain."""
        rng, n = self._rng, len(self._lengths)
        chosen = rng.choice(n, int(rng.integers(1, min(8, n))), replace=False).tolist()
        value = self._posterior(chosen)
        best = [(value, chosen)]
        for step in range(_STEPS):
            if step >= _RESTARTS * _STEPS:
                # From the better ones more often.
                weights = np.arange(1, len(best) + 1)
                value, chosen = best[rng.choice(len(best), p=weights / weights.sum())]
            moved = self._moved(list(chosen))
            new = self._posterior(moved)
            if new > best[-1][0]:
                best.append((new, moved))
            heat = _HEAT ** (1 - step / _STEPS)
            if rng.random() <= math.exp(min(0.0, (new - value) / heat)):
                value, chosen = new, moved
        return best[-1]

    def _moved(self, chosen: list[int]) -> list[int]:
        """Return the rules after a move."""
        rng, own, other = self._rng, *self._covered(chosen)
        missed = np.flatnonzero(np.unpackbits((self._every[0] & ~own).view(np.uint8)))
        wrong = np.flatnonzero(np.unpackbits(other.view(np.uint8)))
        if len(missed) + len(wrong) == 0:
            return chosen
        at = int(rng.integers(len(missed) + len(wrong)))
        add = len(chosen) == 1 or at < len(missed)
        both = len(chosen) > 1 and rng.random() >= 0.5
        if both or not add:
            row = None if at < len(missed) else int(wrong[at - len(missed)])
            del chosen[self._cut(chosen, row)]
        if both or add:
            new = self._added(chosen)
            chosen += [new] * (new not in chosen)
        return chosen

    def _cut(self, chosen: list[int], row: int | None) -> int:
        """Return the place of a rule to cut."""
        rng = self._rng
        if rng.random() < _AT_RANDOM:
            bits = self._other[chosen].view(np.uint8)
            every = np.arange(len(chosen))
            true = every if row is None else every[bits[:, row // 8] >> (7 - row % 8) & 1 == 1]
            return int(rng.choice(true if len(true) else every))
        counts = [self._counts(chosen[:i] + chosen[i + 1 :]) for i in range(len(chosen))]
        precision = np.array([right / (right + wrong + 1) for right, wrong in counts])
        weights = np.exp(precision - precision.min())
        return int(rng.choice(len(chosen), p=weights / weights.sum()))

    def _added(self, chosen: list[int]) -> int:
        """Return a rule to add."""
        rng = self._rng
        if rng.random() < _AT_RANDOM:
            return int(rng.integers(len(self._lengths)))
        own, other = self._covered(chosen)
        right, wrong = _count(self._own & ~own), _count(self._other & ~other)
        precision = right / (right + wrong + 1)
        precision[chosen] = 0
        return int(rng.choice(np.flatnonzero(precision == precision.max())))

    def _covered(self, chosen: Sequence[int]) -> tuple[Words, Words]:
        """Return the rows of the class, and the others, that some of the rules cover."""
        own, other = (
            np.bitwise_or.reduce(part[list(chosen)], axis=0) for part in (self._own, self._other)
        )
        return own, other

    def _counts(self, chosen: Sequence[int]) -> tuple[int, int]:
        own, other = self._covered(chosen)
        return int(_count(own)), int(_count(other))

    def _posterior(self, chosen: Sequence[int]) -> float:
        """Return the logarithm of the posterior probability, but for a constant."""
        right, wrong = self._counts(chosen)
        value = _beta_binomial(right, right + wrong, *_RIGHT)
        # Of the rows that are not covered, those of no class are right.
        left = self._rows[0] - right, self._rows[1] - wrong
        value += _beta_binomial(left[1], sum(left), *_RIGHT)
        k = len(self._spaces)
        for length, space in enumerate(self._spaces, 1):
            number = sum(self._lengths[r] == length for r in chosen)
            value += _beta_binomial(number, space, _FEW, _FEW * k * space)
        return value


def _beta_binomial(right: int, n: int, a: float, b: float) -> float:
    """Return the logarithm of the chance of such a sequence when the rate has a beta prior."""

    def beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    return beta(right + a, n - right + b) - beta(a, b)


def _count(bits: Words) -> Ints:
    """Return how many bits are true, of each row of words."""
    return np.asarray(np.bitwise_count(bits).sum(axis=-1, dtype=np.int64))


def _bits(rows: Bools) -> Words:
    """Return which rows each column is true of, as bits of words: (columns, words)."""
    packed = np.packbits(rows.T, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view(np.uint64)


def _all(bits: Words, rule: Rule) -> Words:
    """Return which rows have all literals of a rule."""
    return np.asarray(np.bitwise_and.reduce(bits[list(rule)], axis=0, initial=~np.uint64(0)))


def _gain(right: Ints, wrong: Ints, rows: tuple[int, int]) -> NDArray[np.float64]:
    """Return the information gain, in nats times the number of rows."""

    def rest(a: Ints, b: Ints) -> NDArray[np.float64]:
        n = np.maximum(a + b, 1)
        return np.asarray(-a * np.log(np.maximum(a, 1) / n) - b * np.log(np.maximum(b, 1) / n))

    own, other = (np.full_like(right, n) for n in rows)
    return rest(own, other) - rest(right, wrong) - rest(own - right, other - wrong)
