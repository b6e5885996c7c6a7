"""Rule sets learned from samples: the rules are all conjunctions of few literals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cpx.answers.explanation import Explanation
from cpx.answers.values import plural
from cpx.data.samples import Samples
from cpx.errors import InvalidInstance
from cpx.modelling.encodings import stated_in
from cpx.modelling.parameters import NAME, Integer, ShareOf, parameter
from cpx.modelling.saved import SAMPLES
from cpx.modelling.side_constraints.form import (
    NO_SIDE_CONSTRAINTS,
    LinearConstraint,
    SideConstraint,
    SideConstraints,
)
from cpx.modelling.side_constraints.parameter import SIDE_CONSTRAINTS
from cpx.modelling.side_constraints.vocabulary import Vocabulary
from cpx.models.rule_set.form import RuleSelection
from cpx.models.rule_set.problem import CLASS_WEIGHTS, LOSS, PRICE, Loss, RuleSetProblem
from cpx.models.rule_set.selection import RuleSetSelection
from cpx.support.validation import Share, feature_list

MOST_STATED = 4000
"""Most conjunctions for which there is a statement: it has a variable for each."""


@dataclass(frozen=True, eq=False)
class RuleSetLearning(RuleSetProblem):
    """Learn rules of at most L literals each: few errors, and few rules.

    A rule is a conjunction of at most L literals and covers the samples that satisfy all of
    them; the one without literals covers everything. A set of rules S says "of the class" of
    the samples that one of its rules covers or more, and "of another class" of all others.
    With M the weight of all samples, minimise over all sets of such rules::

        error(S)  +  penalty * M * |S|

    where error(S) is the weight of the samples that S is wrong about. The objective is an
    integer: it is counted in units of 1 / :attr:`scale`, with the smallest ``scale`` for which
    the price of a rule is an integer.

    Rules are numbered: the smaller ones first, and those of one size in lexicographic order of
    their literals. Where there are at most 4000, this is the selection from all of them, which
    engines can be given; else it is for the engine ``column-generation``.

    Parameters
    ----------
    samples : Samples
        ``agreement`` says which literals are true of a sample, ``same`` which samples are of
        the class; literals in words are ``features``.
    max_literals : int
        L, at least 1.
    penalty : Fraction, int, float or str
        Price of a rule as a share of M, from 0 to 1; exact, a float means the decimal number
        it is printed as.
    loss : {"zero-one", "hamming"}
        What error(S) counts. With ``"hamming"``, every rule pays for each sample of another
        class that it covers [1]_: an upper bound of the zero-one loss, a problem of its own.
    class_weights : pair of int, optional
        What an error on a sample of another class, and on one of the class, weighs: the
        weights of samples are multiplied by it, also in M.
    name : str
        Name of the instance, free.

    Raises
    ------
    InvalidInstance
        Naming the argument and its value.

    Notes
    -----
    :meth:`where` adds constraints over the literals and columns that the rules have, and, where
    there is a statement, over rules. In what they mean, rule r is r, and the literal j of any rule
    is j after the last rule.

    References
    ----------
    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.

    Examples
    --------
    >>> from cpx import Samples, solve
    >>> from cpx.models import RuleSetLearning
    >>> samples = Samples([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0],
    ...                   features=("a", "b", "c"))
    >>> problem = RuleSetLearning(samples, max_literals=2, penalty="1/10")
    >>> result = solve(problem, "column-generation")
    >>> print(result.explanation)
    b or c => the class
    >>> str(result.status), result.objective, problem.scale
    ('OPTIMAL', 4, 5)
    """

    samples: Samples = field(metadata=SAMPLES)
    max_literals: int = field(
        default=4,
        metadata=parameter(Integer(1), "maximum number of literals of a rule", needed=True),
    )
    penalty: Share = field(default="0.01", metadata=parameter(ShareOf(), PRICE, needed=True))
    loss: Loss = field(default="zero-one", metadata=LOSS)
    class_weights: tuple[int, int] | None = field(default=None, metadata=CLASS_WEIGHTS)
    name: str = field(default="", metadata=NAME)
    side_constraints: SideConstraints = field(
        default=NO_SIDE_CONSTRAINTS, kw_only=True, metadata=SIDE_CONSTRAINTS
    )

    kind: ClassVar[str] = "rule-set-learning"
    _features_are: ClassVar[str] = "Rules r: literals"

    def _validate(self) -> None:
        """Refuse values that do not fit 64 bits."""
        super()._validate()
        self._refuse_large(min(self.n_features, MOST_STATED))

    # ---------------------------------------------------------------- rules

    @cached_property
    def n_features(self) -> int:
        """Number of conjunctions of at most L literals."""
        return how_many(self.samples.d, self.max_literals)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The rules in words, where there is a statement; else nothing."""
        if self._unstated:
            return ()
        every = conjunctions(self.samples.d, self.max_literals)
        return tuple(map(self.in_words, every))

    @property
    def _listed(self) -> tuple[str, tuple[str, ...]]:
        """The rules, or the literals where rules are too many to be listed."""
        return ("Literals j", tuple(self.samples.features)) if self._unstated else super()._listed

    def literals(self, rule: int) -> tuple[int, ...]:
        """Return the literals of the rule of a number, increasing."""
        return conjunction(rule, self.samples.d)

    def _vocabulary(self, untrue: Iterable[str] = ()) -> Vocabulary:
        """Return what names stand for: a rule, or those that have a literal or column.

        Where the rules are too many to be listed, it is literals and columns alone.
        """
        if self._unstated:
            literals = enumerate(self.samples.features, self.n_features)
            return Vocabulary(((n, (j,)) for j, n in literals), untrue=untrue, what="literal")
        rules = list(conjunctions(self.samples.d, self.max_literals))
        having: dict[str, set[int]] = {name: set() for name in self.samples.features}
        for r, rule in enumerate(rules):
            for j in rule:
                having[self.samples.features[j]].add(r)
        names = ((name, (r,)) for r, name in enumerate(self.feature_names))
        found = Vocabulary(names, having.items(), untrue=untrue, what="rule or literal")
        # The name of a literal is that of a rule as well; it means all rules that have it.
        found.names |= having
        return found

    def explanation_of(self, rules: Iterable[Sequence[int]]) -> Explanation:
        """Return the explanation with these rules, each given by its literals.

        Raises
        ------
        InvalidInstance
            For a rule with a literal that is not there, twice the same, or too many.

        Examples
        --------
        >>> problem = RuleSetLearning(Samples([[1, 0], [0, 1]], [1, 0], features=("a", "b")))
        >>> explanation = problem.explanation_of([(0, 1), (0,)])
        >>> print(explanation)
        a or (a and b) => the class
        >>> [problem.literals(rule) for rule in explanation.features]
        [(0,), (0, 1)]
        """
        d = self.samples.d
        chosen = [feature_list(f"rules[{r}]", rule, d, "literal") for r, rule in enumerate(rules)]
        for r, rule in enumerate(chosen):
            if len(rule) > self.max_literals:
                raise InvalidInstance(
                    f"rules[{r}] has {len(rule)} literals, at most {self.max_literals} are "
                    f"allowed: {list(rule)}"
                )
        return self.explanation(number_of(rule, d) for rule in chosen)

    def cover(self, rule: int) -> NDArray[np.bool_]:
        """Return which samples a rule covers, shape (m,)."""
        return np.asarray(self.samples.agreement[:, list(self.literals(rule))].all(axis=1))

    def length(self, rule: int) -> int:
        """Return the number of literals of a rule."""
        return len(self.literals(rule))

    def allows(self, chosen: Iterable[int]) -> bool:
        """Say whether all are numbers of rules, and keep the side constraints."""
        rules = set(chosen)
        if not all(0 <= rule < self.n_features for rule in rules):
            return False
        side = self.side_constraints
        return not side or side.allow(rules.union(*map(self._literal_terms, rules)))

    def _literal_terms(self, rule: int) -> set[int]:
        """Return what the literals of a rule are in side constraints."""
        return {self.n_features + j for j in self.literals(rule)}

    @cached_property
    def literal_constraints(self) -> tuple[LinearConstraint, ...]:
        """The side constraints on the literals of the rules together: terms are of literals.

        Those that tell rules with the same literals apart are left out.
        """
        found = []
        for row in self.side_constraints.linear:
            terms = [(factor, self._literals_of(any_of)) for factor, any_of in row.terms]
            if all(literals for _, literals in terms):
                found.append(LinearConstraint(tuple(terms), row.at_least))
        return tuple(found)

    def _literals_of(self, any_of: tuple[int, ...]) -> tuple[int, ...]:
        """Return the literals of which an answer has one where a term holds; else nothing."""
        d, beyond = self.samples.d, tuple(j - self.n_features for j in any_of)
        if beyond[0] >= 0:
            return beyond
        # Rules 1 to d have one literal each.
        literals = tuple(r - 1 for r in any_of if 0 < r <= d)
        rules = conjunctions(d, self.max_literals)
        having = [r for r, rule in enumerate(rules) if not set(literals).isdisjoint(rule)]
        return literals if having == sorted(any_of) else ()

    def with_loss(self, loss: Loss) -> RuleSetLearning:
        """Return the same problem with another loss."""
        return replace(self, loss=loss)

    def merged(self) -> RuleSetLearning:
        """Return the same problem on samples that all differ."""
        return replace(self, samples=self.samples.merged())

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Drop rules, then literals of rules, that the objective does not depend on."""
        chosen = super()._shortened(explanation).features
        value = self.cost(chosen)
        for rule in chosen:
            others, kept = [other for other in chosen if other != rule], self.literals(rule)
            for literal in reversed(kept):
                less = tuple(j for j in kept if j != literal)
                number = number_of(less, self.samples.d)
                shorter = [*others, number]
                if number not in others and self.cost(shorter) == value and self.allows(shorter):
                    kept = less
            chosen = (*others, number_of(kept, self.samples.d))
        return self.explanation(chosen)

    # ------------------------------------------------------------- selection

    @property
    def _unstated(self) -> str:
        """Why there is no statement: too many conjunctions to state each."""
        if self.n_features <= MOST_STATED:
            return ""
        return (
            f"a statement has a variable for each rule, at most {MOST_STATED}; here are "
            f"{self.n_features} conjunctions of at most {self.max_literals} of "
            f"{self.samples.d} literals: ask the engine column-generation, or for fewer"
        )

    def select_from(
        self, rules: Iterable[Sequence[int]], loss: Loss | None = None
    ) -> RuleSetSelection:
        """Return the selection from some of the rules, given by their literals.

        It has the side constraints, in terms of these rules.
        """
        given = tuple(tuple(rule) for rule in rules)
        linear = self._constraints_on(given).linear
        return RuleSetSelection(
            self.samples,
            given,
            self.penalty,
            loss or self.loss,
            class_weights=self.class_weights,
            name=self.name,
            side_constraints=SideConstraints((SideConstraint("", linear),) if linear else ()),
        )

    def _constraints_on(self, rules: Sequence[tuple[int, ...]]) -> SideConstraints:
        """Return the side constraints in terms of places in a list of rules."""
        places: dict[int, list[int]] = {}
        for place, rule in enumerate(rules if self.side_constraints else ()):
            number = number_of(rule, self.samples.d)
            for j in (number, *self._literal_terms(number)):
                places.setdefault(j, []).append(place)
        return SideConstraints(
            replace(one, means=tuple(_on_places(one.means, places)))
            for one in self.side_constraints
        )

    @property
    def of_literals(self) -> tuple[RuleSetSelection, SideConstraints]:
        """A selection from rules of one literal each, and the side constraints on it.

        Some set of these keeps all constraints on literals that some set of rules keeps.
        """
        d = self.samples.d
        rules = tuple((j,) for j in range(d))
        sample = Samples(
            np.ones((1, d), dtype=np.bool_),
            np.ones(1, dtype=np.bool_),
            features=self.samples.features,
        )
        return RuleSetSelection(sample, rules), self._constraints_on(rules)

    @cached_property
    def selection_form(self) -> RuleSelection:
        """The selection from all conjunctions as plain arrays; rule r is row r."""
        stated_in(self)  # or says why not
        return replace(self.selection.selection_form, side=self.side_constraints)

    @cached_property
    def selection(self) -> RuleSetSelection:
        """The selection from all rules by the same numbers, without side constraints."""
        free = replace(self, side_constraints=NO_SIDE_CONSTRAINTS)
        return free.select_from(conjunctions(self.samples.d, self.max_literals))

    # ------------------------------------------------------------ sentences

    def _brief(self) -> list[str]:
        """Return samples, literals and the price of a rule."""
        return self._brief_of(
            f"rules of at most {self.max_literals} of {plural(self.samples.d, 'literal')}",
        )

    def _facts(self) -> dict[str, str]:
        """Return samples, rules and objective."""
        most = f"conjunctions of at most {plural(self.max_literals, 'literal')}"
        return self._facts_of({"rules": f"{self.n_features} {most}"})


def _on_places(
    rows: Iterable[LinearConstraint], places: Mapping[int, Sequence[int]]
) -> Iterator[LinearConstraint]:
    """Yield constraints in terms of other indices; those that always hold are left out."""
    for row in rows:
        terms = (
            (factor, tuple(sorted({place for j in any_of for place in places.get(j, ())})))
            for factor, any_of in row.terms
        )
        there = tuple((factor, some) for factor, some in terms if some)
        if there or row.at_least > 0:
            yield LinearConstraint(there, row.at_least)


def how_many(d: int, most: int) -> int:
    """Return how many conjunctions of at most so many of d literals there are.

    >>> how_many(3, 2), how_many(540, 4)
    (7, 3529951966)
    """
    return sum(comb(d, size) for size in range(min(most, d) + 1))


def conjunctions(d: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield them in the order of their numbers.

    >>> list(conjunctions(3, 2))
    [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    for size in range(min(most, d) + 1):
        yield from combinations(range(d), size)


def number_of(literals: Sequence[int], d: int) -> int:
    """Return the number of a conjunction of increasing literals, of d.

    Before it are the smaller ones, and, for each place, those that have the same literals before
    and a lower one there.

    >>> [number_of(literals, 3) for literals in [(), (0,), (2,), (0, 1), (1, 2)]]
    [0, 1, 3, 4, 6]
    """
    size = len(literals)
    number = how_many(d, size - 1)
    lowest = 0
    for place, literal in enumerate(literals):
        left = size - place - 1
        number += sum(comb(d - j - 1, left) for j in range(lowest, literal))
        lowest = literal + 1
    return number


@lru_cache(maxsize=2**12)
def conjunction(number: int, d: int) -> tuple[int, ...]:
    """Return the literals of the conjunction of a number, which :func:`number_of` gives back.

    >>> [conjunction(number, 3) for number in (0, 1, 3, 4, 6)]
    [(), (0,), (2,), (0, 1), (1, 2)]
    """
    size = 0
    while number >= comb(d, size):
        number -= comb(d, size)
        size += 1
    literals: list[int] = []
    j = 0
    while len(literals) < size:
        beginning = comb(d - j - 1, size - len(literals) - 1)
        if number < beginning:
            literals.append(j)
        else:
            number -= beginning
        j += 1
    return tuple(literals)
