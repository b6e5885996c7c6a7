"""Boolean formulas over linear constraints, and the linear constraints that say the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

from cpx.errors import InvalidInstance
from cpx.modelling.side_constraints.form import LinearConstraint

Term = tuple[int, ...]
"""Indices, increasing: it is 1 for an answer that contains one of them, else 0."""

Sum = dict[Term | None, int]
"""The coefficient of each term, and a constant under None."""

_MOST_CLAUSES = 2000
_LARGEST = 2**31


@dataclass(frozen=True)
class Lin:
    """The sum of ``factors[term] * term`` is at least ``at_least``."""

    factors: Mapping[Term, int]
    at_least: int

    @property
    def least(self) -> int:
        """The least that the sum can be."""
        return sum(min(factor, 0) for factor in self.factors.values())

    @property
    def most(self) -> int:
        """The most that the sum can be."""
        return sum(max(factor, 0) for factor in self.factors.values())


@dataclass(frozen=True)
class And:
    """All of them hold; without any, it is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """One of them holds at least; without any, it is false."""

    parts: tuple[Formula, ...]


Formula = Lin | And | Or


def literal(term: Iterable[int]) -> Lin:
    """Return "the answer contains one of these"; of none, what is false."""
    indices = tuple(sorted(set(term)))
    return Lin({indices: 1} if indices else {}, 1)


def negated(formula: Formula) -> Formula:
    """Return the formula that holds where this one does not.

    >>> negated(Or((literal([0]), literal([2]))))
    And(parts=(Lin(factors={(0,): -1}, at_least=0), Lin(factors={(2,): -1}, at_least=0)))
    """
    if isinstance(formula, Lin):
        factors = {term: -factor for term, factor in formula.factors.items()}
        return Lin(factors, 1 - formula.at_least)
    parts = tuple(map(negated, formula.parts))
    return Or(parts) if isinstance(formula, And) else And(parts)


# ---------------------------------------------------------------------- sums


def scaled(total: Sum, factor: int) -> Sum:
    """Return a sum times an integer."""
    return {term: factor * value for term, value in total.items()}


def add(total: Sum, more: Sum) -> None:
    """Add to a sum."""
    for term, value in more.items():
        # What no answer contains counts nothing.
        if term != ():
            total[term] = total.get(term, 0) + value


def at_least(total: Sum, sign: int, least: int) -> Lin:
    """Return ``sign * total >= least``."""
    factors = {t: sign * v for t, v in total.items() if t is not None and t != () and v}
    return Lin(factors, least - sign * total.get(None, 0))


def compared(left: Sum, sign: str, right: Sum) -> Formula:
    """Return what a comparison of two sums says, such as ``left <= right``.

    >>> compared({(0,): 2, (1,): 1}, "<", {None: 2})
    Lin(factors={(0,): -2, (1,): -1}, at_least=-1)
    """
    total = dict(left)
    add(total, scaled(right, -1))
    if sign in (">", ">="):
        return at_least(total, 1, int(sign == ">"))
    if sign in ("<", "<="):
        return at_least(total, -1, int(sign == "<"))
    both = And((at_least(total, 1, 0), at_least(total, -1, 0)))
    return both if sign == "=" else negated(both)


# ------------------------------------------------------------ linear constraints


def linear_constraints(formula: Formula) -> tuple[LinearConstraint, ...]:
    """Return linear constraints that hold together exactly where the formula does.

    A disjunction of literals is a clause; one of conjunctions is multiplied out; one of clauses
    and a sum ``s >= b`` is ``s + (b - least s) (sum of the literals) >= b``.

    Raises
    ------
    InvalidInstance
        For a disjunction of two sums, or one that is multiplied out to too many clauses.

    Examples
    --------
    >>> linear_constraints(Or((literal([0]), And((literal([1]), negated(literal([2])))))))
    (LinearConstraint(terms=((1, (0,)), (1, (1,))), at_least=1), \
LinearConstraint(terms=((1, (0,)), (-1, (2,))), at_least=0))
    """
    found = (_linear(part) for part in _conjuncts(_simplified(formula)))
    return tuple(dict.fromkeys(row for row in found if row is not None))


def _linear(part: Lin) -> LinearConstraint | None:
    """Return a part as a constraint; None where it always holds."""
    if part.least >= part.at_least:
        return None
    if max(abs(part.least), abs(part.most), abs(part.at_least)) >= _LARGEST:
        raise InvalidInstance("sums must stay below 2**31")
    if part.most < part.at_least:
        return LinearConstraint((), 1)
    divisor = gcd(*part.factors.values())
    terms = sorted((term, factor // divisor) for term, factor in part.factors.items())
    return LinearConstraint(
        tuple((factor, term) for term, factor in terms), -(-part.at_least // divisor)
    )


def _simplified(formula: Formula) -> Formula:
    """Return the formula with sums that are conjunctions or disjunctions taken for these."""
    if isinstance(formula, Lin):
        return _as_literals(formula)
    parts = tuple(map(_simplified, formula.parts))
    return And(parts) if isinstance(formula, And) else Or(parts)


def _as_literals(lin: Lin) -> Formula:
    """Return a sum as a conjunction or disjunction of literals, where it is one.

    With each term counted by what it adds to the least sum, ``spare`` is how much of the most
    sum may be missing: each term that adds more must be there, and one alone does where each
    adds what is needed.
    """
    factors = {term: factor for term, factor in lin.factors.items() if factor}
    lin = Lin(factors, lin.at_least)
    spare, needed = lin.most - lin.at_least, lin.at_least - lin.least
    if spare < 0:
        return Or(())
    if needed <= 0:
        return And(())
    sizes = [abs(factor) for factor in factors.values()]
    literals = tuple(
        _signed(term, factor > 0, alone=min(sizes) > spare) for term, factor in factors.items()
    )
    if min(sizes) > spare:
        return And(tuple(literals))
    if min(sizes) >= needed:
        return Or(tuple(literals))
    return lin


def _signed(term: Term, positive: bool, alone: bool) -> Formula:
    """Return a literal of its indices one by one, where that needs no more constraints."""
    if positive:
        return Or(tuple(Lin({(j,): 1}, 1) for j in term))
    if alone:
        return And(tuple(Lin({(j,): -1}, 0) for j in term))
    return Lin({term: -1}, 0)


def _conjuncts(formula: Formula) -> list[Lin]:
    """Return sums that hold together exactly where the formula does."""
    if isinstance(formula, Lin):
        return [formula]
    parts = [_conjuncts(part) for part in formula.parts]
    if isinstance(formula, And):
        return [lin for part in parts for lin in part]
    if prod(map(len, parts)) > _MOST_CLAUSES:
        raise InvalidInstance(
            f"it is multiplied out to more than {_MOST_CLAUSES} clauses: state it in parts"
        )
    found = (_disjunction(chosen) for chosen in product(*parts))
    return [lin for lin in found if lin.least < lin.at_least]


def _disjunction(parts: Sequence[Lin]) -> Lin:
    """Return one sum for "one of these holds": of clauses, and of one other sum at most."""
    clauses = [part for part in parts if _is_clause(part)]
    others = [part for part in parts if not _is_clause(part)]
    if len(others) > 1:
        raise InvalidInstance(
            "it is not linear: an 'or' of two sums; only one part of an 'or', of an 'implies' or "
            "of a negated 'and' can be a sum that is no clause"
        )
    signs: dict[Term, int] = {}
    for clause in clauses:
        for term, factor in clause.factors.items():
            if signs.setdefault(term, factor) != factor:
                return Lin({}, 0)  # either it or its negation: true
    if not others:
        negative = sum(sign < 0 for sign in signs.values())
        return Lin(signs, 1 - negative)
    [lin] = others
    lack = lin.at_least - lin.least
    factors, at_least = dict(lin.factors), lin.at_least
    for term, sign in signs.items():
        # A negative literal counts as lack * (1 - term).
        factors[term] = factors.get(term, 0) + sign * lack
        at_least -= lack * (sign < 0)
    return Lin({term: factor for term, factor in factors.items() if factor}, at_least)


def _is_clause(lin: Lin) -> bool:
    negative = sum(factor < 0 for factor in lin.factors.values())
    return all(abs(f) == 1 for f in lin.factors.values()) and lin.at_least == 1 - negative
