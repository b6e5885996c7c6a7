"""The explanation: a rule with its measured precision and coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cpx.answers.claim import Claim, Words, words_of
from cpx.answers.evaluation import Unseen
from cpx.answers.html import Shown, as_html
from cpx.answers.rule import Rule, RuleSet
from cpx.answers.text import Block, Fact, Facts, Paragraph, as_text
from cpx.data.oracle import PrecisionEstimate
from cpx.errors import InvalidInstance, printable, shown
from cpx.support.families import families
from cpx.support.lazy_imports import named_object
from cpx.support.shares import ExactFloat, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cpx.answers.covered import CoveredRows
    from cpx.answers.panels import Panel

__all__ = [
    "Explanation",
    "LeastExplanation",
    "PrecisionEstimate",
    "Reason",
    "explanation_of",
]


_NEAR = 0.2


def _has(name: str, value: str) -> str:
    return f"{name} is missing" if value == "missing" else f"{name} = {value}"


@dataclass(frozen=True)
class AboutRow:
    """The explained row: its values in the columns of the explanation, and how sure its class is.

    Attributes
    ----------
    values : tuple of (str, str)
        Columns and values.
    probability : float or None
        What the model says of its class.
    next : float or None
        What it says of the likeliest other class.
    predicts : str
        The number that it predicts, in words, where it predicts numbers.

    Examples
    --------
    >>> print(AboutRow((("age", "41"),), 0.59, 0.41))
    age = 41; predicted probability of the class 0.59: near the boundary, another one has 0.41
    >>> AboutRow((), 0.97, 0.03).near
    False
    """

    values: tuple[tuple[str, str], ...]
    probability: float | None = None
    next: float | None = None
    predicts: str = ""

    @property
    def near(self) -> bool:
        """Whether another class is within 0.2 of that of the row."""
        if self.probability is None or self.next is None:
            return False
        return self.probability - self.next < _NEAR

    def __str__(self) -> str:
        told = [", ".join(_has(name, value) for name, value in self.values)]
        if self.probability is not None:
            sure = f"predicted probability of the class {share_text(self.probability, 2)}"
            if self.near:
                other = share_text(self.next or 0.0, 2)
                sure += f": near the boundary, another one has {other}"
            told.append(sure)
        told.append(self.predicts)
        return printable("; ".join(filter(None, told)))


@dataclass(frozen=True)
class Explanation(Shown):
    """A rule that explains a prediction, and what is known about it.

    Attributes
    ----------
    rule : Rule
        The rule in words; ``features`` are its feature indices.
    precision : ExactFloat or None
        On the samples of the problem, with ``precision.exact``, a Fraction; ``None`` when no
        sample is covered.
    coverage : ExactFloat or None
        On the samples of the problem, with ``coverage.exact``.
    fresh : PrecisionEstimate or None
        On fresh samples, filled where a classifier is at hand; the precision itself where the
        samples of the problem are all rows there are (``fresh.exact``).
    claim : Claim or None
        What is claimed of it, as data, of which ``proved``, ``guarantee`` and ``notes`` are made;
        None before a solve.
    remarks : tuple of str
        Messages of who found it, as the warnings of a result: they claim nothing.
    unseen : Unseen or None
        Figures on samples of the problem that no engine saw, where it has such.
    result : Result or None
        The result of the solve that found it, for what :func:`cpx.explain` returns: status,
        bound, times and warnings are there. It is not saved, and not compared.
    ask_rivals : callable or None
        Finds the ``rivals``; not saved, and not compared.
    ask_rows : callable or None
        Finds the ``rows``; not saved, pickled or compared.
    row : AboutRow or None
        The explained row, where :class:`cpx.Explainer` was asked; not saved, and not compared.
    panels : tuple of Panel
        What :meth:`plot` draws; not saved, and not compared.
    """

    rule: Rule
    precision: ExactFloat | None = None
    coverage: ExactFloat | None = None
    fresh: PrecisionEstimate | None = None
    claim: Claim | None = None
    remarks: tuple[str, ...] = ()
    unseen: Unseen | None = field(default=None, kw_only=True)
    # A Result, whose module needs this one.
    result: Any = field(default=None, kw_only=True, compare=False, repr=False)
    ask_rivals: Callable[[], Any] | None = field(
        default=None, kw_only=True, compare=False, repr=False
    )
    ask_rows: Callable[[], CoveredRows] | None = field(
        default=None, kw_only=True, compare=False, repr=False
    )
    row: AboutRow | None = field(default=None, kw_only=True, compare=False, repr=False)
    panels: tuple[Panel, ...] = field(default=(), kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("precision", "coverage"):
            share: Any = getattr(self, name)
            if isinstance(share, Fraction):  # as families of others give it
                object.__setattr__(self, name, ExactFloat(share))

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the chosen features, increasing."""
        return self.rule.features

    @property
    def row_class(self) -> str:
        """What the class of the row is called."""
        return self.rule.conclusion

    @property
    def status(self) -> Any:
        """What was proved, a :class:`~cpx.answers.result.Status`; None without a result."""
        return None if self.result is None else self.result.status

    @property
    def why(self) -> str:
        """Why there is no answer; empty, for there is one."""
        return ""

    @cached_property
    def _words(self) -> Words:
        return Words() if self.claim is None else words_of(self.claim, self)

    @property
    def proved(self) -> str:
        """What was proved, as a sentence; empty before a solve."""
        return self._words.proved

    @property
    def guarantee(self) -> str:
        """What holds of more than the samples, as a sentence; empty where nothing is known."""
        return self._words.guarantee

    @property
    def notes(self) -> tuple[str, ...]:
        """What else should be known to read the rule rightly."""
        return (*self._words.notes, *self.remarks)

    @property
    def bound_checked(self) -> bool:
        """Whether code that no engine uses found the bound right when the answer was made."""
        return False

    @cached_property
    def rivals(self) -> Any:
        """The rules within 0.01 of the best one, and how often each would win: a ``Rivals``.

        They are searched for when they are first asked for. None where there was no solve by
        :func:`cpx.explain`, or it was for no rule.
        """
        return None if self.ask_rivals is None else self.ask_rivals()

    @cached_property
    def rows(self) -> CoveredRows | None:
        """The rows of X that it covers, by whether the model gives them the class; near misses.

        They are looked for when they are first asked for. None where they are not known: of
        contrasts and expectations, without X, and of what was saved.
        """
        return None if self.ask_rows is None else self.ask_rows()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is asked of the model and X, which may be large."""
        return {**self.__dict__, "ask_rows": None}

    def __str__(self) -> str:
        return str(self.rule)

    def summary(self, rows: bool = False) -> str:
        """Return the rule and what is known about it as a few lines of text.

        rows: Count the covered rows of X and near misses, too; see :attr:`rows`.
        """
        return as_text(self.card() if rows else self.blocks())

    def card(self) -> list[Block]:
        """Return what a notebook shows: as :meth:`blocks`, with counts of :attr:`rows`."""
        more = [] if self.rows is None else [self.rows.fact()]
        return [*self.headline(), Facts.of([*self.about(), *self.facts(), *more])]

    def _repr_html_(self) -> str:
        return as_html(self.card())

    def headline(self) -> list[Block]:
        """Return what the explanation says."""
        return self.rule.blocks()

    def about(self) -> list[Fact]:
        """Return the explained row, where it is known."""
        return [] if self.row is None else [Fact("row", str(self.row))]

    def facts(self) -> list[Fact]:
        """Return what is known about it."""
        fresh, precision, coverage = self.fresh, self.precision, self.coverage
        facts = []
        if fresh is not None:
            facts.append(Fact("precision", str(fresh), share=float(fresh.value)))
        if fresh is not None and fresh.exact and coverage:
            rows = f"{coverage} of all {fresh.drawn / coverage.exact} rows"
            facts.append(Fact("coverage", rows, share=float(coverage)))
        else:
            if precision is not None:
                facts.append(_share("precision" if fresh is None else "", precision, "on"))
            elif fresh is None and coverage is not None:
                facts.append(Fact("precision", "undefined: the rule covers no sample"))
            if coverage is not None:
                facts.append(_share("coverage", coverage, "of"))
        if self.unseen is not None:
            facts.append(Fact("unseen", str(self.unseen)))
        facts += [Fact("proved", self.proved), Fact("guarantee", self.guarantee)]
        return [*facts, *(Fact("note", text) for text in self.notes)]

    def blocks(self) -> list[Block]:
        """Return what is printed and shown."""
        return [*self.headline(), Facts.of([*self.about(), *self.facts()])]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the columns: their values, those that the explanation names, and the row's.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; those of a new figure of pyplot when not given.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        InvalidOption
            When the explanation names no column, or was saved.
        EngineMissing
            When matplotlib is not installed; with the pip line.
        """
        from cpx.answers.panels import plot_panels

        return plot_panels(self.panels, f"=> {self.rule.says}", ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain JSON values; fractions as ``"p/q"``."""
        fresh = self.fresh
        return {
            "features": list(self.features),
            "rule": self.rule.to_dict(),
            "text": self.rule.text,
            "precision": None if self.precision is None else str(self.precision.exact),
            "coverage": None if self.coverage is None else str(self.coverage.exact),
            "fresh": None
            if fresh is None
            else {
                "agreeing": fresh.agreeing,
                "drawn": fresh.drawn,
                "low": fresh.low,
                "high": fresh.high,
                "confidence": fresh.confidence,
            },
            **({} if self.claim is None else {"claim": self.claim.to_dict()}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            **({} if self.unseen is None else {"unseen": asdict(self.unseen)}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Explanation:
        """Read what :meth:`to_dict` wrote; the words of earlier versions are ignored."""
        fresh, precision, coverage = data["fresh"], data["precision"], data["coverage"]
        rule = (RuleSet if "figures" in data["rule"] else Rule).from_dict(data["rule"])
        if data["features"] != list(rule.features):
            raise InvalidInstance(
                f"features must be those of the rule, {list(rule.features)}, got "
                f"{shown(data['features'])}"
            )
        return cls(
            rule=rule,
            precision=None if precision is None else ExactFloat(precision),
            coverage=None if coverage is None else ExactFloat(coverage),
            fresh=None if fresh is None else PrecisionEstimate(**fresh),
            claim=Claim.from_dict(data["claim"]) if "claim" in data else None,
            remarks=tuple(map(str, data.get("remarks", ()))),
            unseen=Unseen(**data["unseen"]) if "unseen" in data else None,
        )


def explanation_of(data: Mapping[str, Any]) -> Explanation:
    """Read an explanation of whatever class was saved; families register theirs by a key."""
    known = (pair for family in families() for pair in family.explanations.items())
    name = next((name for key, name in known if key in data), None)
    if name is None:
        return Explanation.from_dict(data)
    cls: type[Explanation] = named_object(name, "class of explanations", InvalidInstance)
    return cls.from_dict(data)


def _share(name: str, value: ExactFloat, word: str) -> Fact:
    return Fact(name, f"{value} {word} the samples", share=float(value))


class LeastExplanation(Explanation):
    """An explanation of least weight: one that speaks of all rows, and is printed so."""

    @property
    def weight(self) -> int:
        """What its features weigh: their number, unless there are weights."""
        value = None if self.claim is None else self.claim.value
        return int(value or 0)

    @property
    def least(self) -> int | None:
        """Proved: none weighs less than this; None when nothing was proved."""
        bound = None if self.claim is None else self.claim.bound
        return None if bound is None else int(bound)

    @property
    def minimum(self) -> bool:
        """Whether it is proved that none weighs less."""
        return self.least == self.weight

    def facts(self) -> list[Fact]:
        """Return what is known about it."""
        return [Fact("proved", self.proved), *(Fact("note", text) for text in self.notes)]


@dataclass(frozen=True)
class Reason(LeastExplanation):
    """A sufficient reason: features that force the class, whatever the others are.

    Attributes
    ----------
    verified : bool
        Whether the independent checker confirmed that the class is forced.
    """

    verified: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        return printable(self.guarantee)

    def headline(self) -> list[Block]:
        """Return the sentence that says what forces the class."""
        return [Paragraph(self.guarantee, "strong")]

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as plain JSON values."""
        return {**super().to_dict(), "verified": self.verified}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reason:
        """Read what :meth:`to_dict` wrote."""
        plain = Explanation.from_dict(data)
        return cls(plain.rule, claim=plain.claim, remarks=plain.remarks, verified=data["verified"])
