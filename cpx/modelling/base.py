"""The base class of problems."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np

from cpx.answers.evaluation import Evaluation
from cpx.answers.explanation import Explanation
from cpx.answers.html import Shown
from cpx.answers.text import Block, Fact, Facts, Paragraph, Table, one_line
from cpx.answers.values import Value
from cpx.data.oracle import Oracle
from cpx.errors import InvalidInstance, InvalidOption, shown
from cpx.modelling.claims import claimed
from cpx.modelling.parameters import check_parameters, given_parameters, parameters_of
from cpx.modelling.saved import written
from cpx.modelling.side_constraints.form import (
    NO_SIDE_CONSTRAINTS,
    SideConstraint,
    SideConstraints,
)
from cpx.modelling.side_constraints.text import budget_text
from cpx.modelling.side_constraints.vocabulary import Vocabulary
from cpx.modelling.statement import Encoding, Statement, Values

_LISTED = 10
"""So many features at most are shown of a problem."""


@dataclass(frozen=True)
class Listing:
    """Items of one kind in the data of an instance.

    Attributes
    ----------
    title : str
    lines : iterable of str
        One for each item, made while they are read: large data are abridged for people.
    count : int
        Their number.
    noun : str
        What they are, in the plural; empty for what is never abridged.
    """

    title: str
    lines: Iterable[str]
    count: int
    noun: str


class Problem(Shown, ABC):
    """One explanation problem: frozen data and parameters.

    Subclasses are frozen dataclasses and set ``kind`` and ``encodings`` (the first is the
    default). Their fields are declared (:mod:`cpx.modelling.parameters`). They know nothing of
    backends. A problem whose objective is a ratio, an exact fraction, is a
    :class:`RatioProblem`.

    A problem must have ``model``, ``explanation`` and ``evaluate``; ``form`` where engines can do
    without a statement, and ``feature_names`` where its choices have names. The rest has a
    default. Names with an underscore are hooks: a family overrides those that it needs, and
    modelling, solving and export call them.

    ================== ============================================================
    ``_validate``      what must hold between parameters that are right each
    ``_facts``         data and parameters in words
    ``_brief``         what tells it from others of its kind, for titles
    ``_notes``         warnings about degenerate but valid data
    ``_listed``        what an explanation is made of, ``_features_are`` its title
    ``_listings``      what a statement lists of the data, item by item
    ``_vocabulary``    what names in side constraints stand for
    ``_unstated``      why there is no statement of an instance; empty where there is one
    ``_stated_as``     the kind whose added encodings state it; empty for its own
    ``_trivial_bound`` a bound that needs no search
    ``_trivial``       an explanation that needs none, feasible or not
    ``_tie_step``      the problem that breaks ties
    ``_tolerance``     how far apart objectives are that may be equal
    ``_shortened``     an explanation without what changes nothing
    ``_conclude``      an explanation with what is claimed of it
    ``_hold``          raises where the source of the problem contradicts an answer
    ``_to_check``      what the checker reads
    ================== ============================================================
    """

    kind: ClassVar[str]
    encodings: ClassVar[tuple[Encoding[Any], ...]]
    _stated_as: ClassVar[str] = ""
    sense: ClassVar[Literal["min", "max"]] = "min"
    _features_are: ClassVar[str] = "Features j: literal, true of x"
    """What an explanation chooses from, as the title of a list."""

    side_constraints: SideConstraints = NO_SIDE_CONSTRAINTS
    """Further constraints on what an answer contains; see :meth:`where`."""

    oracle: Oracle | None = None
    """The classifier behind the samples, where :func:`with_oracle` attached it."""

    def __post_init__(self) -> None:
        """Check the declared fields in their order, then what holds between them."""
        check_parameters(self)
        self._validate()

    def _validate(self) -> None:
        """Raise InvalidInstance for arguments that are right each and wrong together."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Words for each feature that an explanation can choose; empty where there are none."""
        return ()

    @property
    def _listed(self) -> tuple[str, tuple[str, ...]]:
        """What an explanation is made of: the title of a list, and the words of each."""
        return self._features_are, self.feature_names

    def _listings(self) -> Iterator[Listing]:
        """Yield what a statement of the instance lists of its data, item by item.

        By default what an explanation is made of.
        """
        title, words = self._listed
        lines = (f"  {j:>4}  {one_line(text)}" for j, text in enumerate(words))
        yield Listing(title, lines, len(words), "features")

    def _facts(self) -> dict[str, str]:
        """Return the data and parameters of the instance in words, by what they are.

        By default the parameters, as far as they are saved.
        """
        return {
            declared.name.replace("_", " "): declared.kind.words(value)
            for declared, value in given_parameters(self)
            if declared.key is None and declared.kind.saved(value) is not None
        }

    def _brief(self) -> list[str]:
        """Return what tells this instance from others of its kind, for titles."""
        return [f"{name} {text}" for name, text in Problem._facts(self).items()]

    def blocks(self) -> list[Block]:
        """Return what notebooks show: the facts, and what an explanation chooses from."""
        known = told_facts(self) or {"instance": ", ".join(self._brief())}
        facts = [Fact(what, text) for what, text in known.items()]
        title, words = self._listed
        rows = tuple((str(j), text) for j, text in enumerate(words[:_LISTED]))
        if len(words) > _LISTED:
            rows += (("", f"... and {len(words) - _LISTED} more"),)
        return [
            Paragraph(f"{self.kind} {getattr(self, 'name', '')}".rstrip(), "strong"),
            Facts.of([*facts, *(Fact("note", text) for text in self._notes())]),
            *([Table(("", title), rows, left=(1,))] if rows else []),
        ]

    def _vocabulary(self, untrue: Iterable[str] = ()) -> Vocabulary:
        """Return what names in side constraints stand for.

        untrue: Conditions that no answer contains, since they are not true of x.
        """
        names = ((name, (j,)) for j, name in enumerate(self.feature_names))
        return Vocabulary(names, untrue=untrue)

    def where(
        self,
        *constraints: str,
        costs: Mapping[str, int] | None = None,
        budget: int | None = None,
        untrue: Iterable[str] = (),
    ) -> Self:
        """Return this problem with further constraints on what an answer contains.

        Parameters
        ----------
        *constraints : str
            Texts such as ``"not (age > 60 and sex == male)"`` or ``"at_most(2, age, sex, job)"``;
            the page on side constraints has the grammar. A name stands for "the answer contains
            this"; a column for "it contains some condition on it".
        costs : mapping of str to int, optional
            A cost of at least 0 for each of some names.
        budget : int, optional
            What the costs of an answer add up to at most; needed with ``costs``.
        untrue : iterable of str, optional
            Conditions that exist, and that no answer contains since they are not true of x;
            other names must be known.

        Raises
        ------
        InvalidInstance, InvalidOption
            Naming the text and what is wrong with it; InvalidOption where problems of this kind
            take no side constraints.

        Examples
        --------
        >>> from cpx import KMonomial, Samples, solve
        >>> samples = Samples([[1, 1], [1, 0], [0, 1]], [1, 1, 0], features=("a > 1", "b > 2"))
        >>> problem = KMonomial(samples, k=1).where("not a > 1")
        >>> str(solve(problem).explanation)
        '(always) => same class as x'
        """
        if "side_constraints" not in parameters_of(type(self)):
            raise InvalidOption(f"problems of kind {self.kind!r} take no side constraints")
        texts = list(constraints)
        if (costs is None) != (budget is None):
            raise InvalidInstance("costs and a budget are given together")
        if costs is not None and budget is not None:
            texts.append(budget_text(costs, budget))
        given = tuple(text if isinstance(text, str) else self._no_text(text) for text in texts)
        known = tuple(untrue)
        added = (SideConstraint(text, (), known) for text in given)
        every = SideConstraints((*self.side_constraints, *added))
        made: Self = replace(cast(Any, self), side_constraints=every)
        return made if self.oracle is None else with_oracle(made, self.oracle)

    @staticmethod
    def _no_text(given: object) -> str:
        raise InvalidInstance(f"where: a constraint must be a text, got {shown(given)}")

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "oracle"}

    @property
    def _unstated(self) -> str:
        """Why there is no statement of this instance; empty where there is one."""
        return ""

    def form(self) -> Any:
        """Return the problem as plain arrays, for engines that need no statement.

        None for a problem that has none, or too many. What they are says which engines can solve
        it: engines ask for the type of the form, never for the class of the problem.
        """
        return None

    @abstractmethod
    def model(self, encoding: str | None = None) -> Statement:
        """State the problem in the named encoding (default: the first)."""

    def decode(self, values: Values) -> Explanation:
        """Turn values of the statement's variables into an explanation.

        By default, read what is chosen off the array ``X``.
        """
        return self.explanation(np.flatnonzero(np.asarray(values["X"]) > 0).tolist())

    @abstractmethod
    def explanation(self, features: Iterable[int]) -> Explanation:
        """Return the explanation that chooses these features, measured on the samples."""

    @abstractmethod
    def evaluate(self, explanation: Explanation) -> Evaluation:
        """Return objective, coverage and feasibility, exact, in plain NumPy."""

    def _trivial_bound(self) -> Value | None:
        """Return a bound on the objective that needs no search; None where there is none."""
        return None

    def _trivial(self) -> Explanation | None:
        """Return an explanation that needs no search, feasible or not, if there is one."""
        return None

    def _tie_step(self, objective: Value) -> Problem | None:
        """Return the problem to find, of the solutions with this objective, one of least tie.

        It minimises :attr:`~cpx.answers.evaluation.Evaluation.tie`, and has solutions of this
        one. None where ties do not matter.
        """
        return None

    @property
    def _tolerance(self) -> int:
        """Objectives that differ by no more may be equal, but for rounding.

        Of solutions within it of the optimum the answer is the one of :meth:`_tie_step`, and its
        bound says that none is better by more than this.
        """
        return 0

    def _shortened(self, explanation: Explanation) -> Explanation:
        """Drop what can be dropped without changing the objective, in a fixed order."""
        return explanation

    def _conclude(
        self, explanation: Explanation, proved: bool, objective: Value | None, bound: Value | None
    ) -> Explanation:
        """Return the explanation with what is claimed of it, see :func:`cpx.modelling.claims`."""
        return claimed(self, explanation, proved, objective, bound)

    def _hold(self, explanation: Explanation) -> None:
        """Raise where what the problem was made from, and is at hand, contradicts an answer.

        Asked once of the answer of each solve. By default nothing is at hand.
        """

    def _notes(self) -> tuple[str, ...]:
        """Return warnings about degenerate but valid data."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as a saved instance (see :mod:`cpx.modelling.instances`)."""
        return written(self)

    def _to_check(self) -> dict[str, Any]:
        """Return what the checker reads: the saved form, samples as an array.

        A million strings take seconds.
        """
        return written(self, arrays=True)


ProblemT = TypeVar("ProblemT", bound=Problem)


def with_oracle(problem: ProblemT, oracle: Oracle) -> ProblemT:
    """Return the problem with the classifier attached, for methods that ask it.

    The oracle is no part of the statement: it is not saved, not compared and not pickled,
    and changing a parameter (``dataclasses.replace``) loses it.
    """
    attached = copy.copy(problem)
    object.__setattr__(attached, "oracle", oracle)
    return attached


def told_facts(problem: Problem) -> dict[str, str]:
    """Return the facts of a problem, and its side constraints."""
    texts = {f"where {i}": text for i, text in enumerate(problem.side_constraints.texts, 1)}
    return {**problem._facts(), **texts}
