"""What grading found, as an object: in words, with the smallest counterexample, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cpx.answers.html import Shown
from cpx.answers.text import Block, Fact, Facts, Paragraph, Table, as_text
from cpx.errors import shortened
from cpx.modelling.base import Problem
from cpx.testing.grading import Fault
from cpx.testing.set_models import Chosen

__all__ = ["Counterexample", "Part", "Verdict"]

_MOST_ROWS = 12


@dataclass(frozen=True)
class Part:
    """The instances of which one thing is special: on how many a model is right, and wrong."""

    right: int = 0
    wrong: int = 0


@dataclass(frozen=True)
class Counterexample(Shown):
    """An instance and a set of features of which a model and the definition differ.

    Attributes
    ----------
    problem : Problem
        The instance.
    chosen : tuple of int or None
        The set; None where the model is not made at all, or of another direction.
    right, said : int, float or None
        The value of the set by the definition and by the model, None where it may not be chosen.
        Of a ratio those of the statement, which is a step of its solution.
    optimum, said_optimum : int, float or None
        The best value of all sets, by the definition and by the model; None for no solution.
    values : mapping of str to sequence
        Values of the model's variables with which it allows the set.
    rows : tuple of (str, str)
        The constraints that together forbid the set: what they are called, and their texts.
    more : str
        What is wrong beside values.
    """

    problem: Problem
    chosen: Chosen | None = None
    right: int | None = None
    said: int | float | None = None
    optimum: int | None = None
    said_optimum: int | float | None = None
    values: Mapping[str, Sequence[int | float]] = field(default_factory=dict)
    rows: tuple[tuple[str, str], ...] = ()
    more: str = ""

    @property
    def rule(self) -> str:
        """The set in words: its features, by their names."""
        if self.chosen is None:
            return ""
        shown = "{" + ", ".join(map(str, self.chosen)) + "}"
        names = self.problem.feature_names
        words = " and ".join(names[j] for j in self.chosen if j < len(names))
        return f"{shown}, {words or 'nothing chosen'}"

    def blocks(self) -> list[Block]:
        """Return the instance, the set, and what both say of it."""
        facts = [Fact("asked", ", ".join(f"{k} {v}" for k, v in _asked(self.problem).items()))]
        if self.chosen is not None:
            facts += [
                Fact("set", self.rule),
                Fact("problem", _said(self.right)),
                Fact("model", self._by_model()),
            ]
        elif self.more:
            facts.append(Fact("model", self.more))
        if self.chosen is not None and not self._completes_wrong:
            facts.append(Fact("optimum", self._optima()))
        found: list[Block] = [] if (table := _samples(self.problem)) is None else [table]
        found.append(Facts.of(facts))
        if self.rows:
            told = tuple((name, shortened(text)) for name, text in self.rows)
            found.append(Table(("forbidden by", ""), told, left=(0, 1)))
        return found

    @property
    def _completes_wrong(self) -> bool:
        return bool(self.chosen is not None and self.more)

    def _by_model(self) -> str:
        if self._completes_wrong:
            return f"`complete` is wrong: {self.more}"
        if self.said is not None:
            values = "; ".join(
                f"{name} = {' '.join(f'{value:g}' for value in array)}"
                for name, array in self.values.items()
                if len(array)
            )
            return f"{_said(self.said)}, by {shortened(values)}"
        if not self.rows:
            return "forbids it, by the range of a variable"
        return f"forbids it, by {', '.join(name for name, _ in self.rows)}"

    def _optima(self) -> str:
        told = ["no solution" if v is None else f"{v}" for v in (self.optimum, self.said_optimum)]
        return told[0] if told[0] == told[1] else f"{told[0]}; by the model {told[1]}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; the instance is a saved one."""
        known = {name: value for name, value in vars(self).items() if name != "problem"}
        chosen = None if self.chosen is None else list(self.chosen)
        rows = [{"name": name, "text": text} for name, text in self.rows]
        return {
            "instance": self.problem.to_dict(),
            **known,
            "chosen": chosen,
            "values": {name: list(array) for name, array in self.values.items()},
            "rows": rows,
        }


def _said(value: int | float | None) -> str:
    return "forbids it" if value is None else f"allows it, with the value {value}"


def _asked(problem: Problem) -> dict[str, str]:
    """Return the parameters of an instance in words, without what its table shows."""
    return {name: text for name, text in Problem._facts(problem).items() if name not in ("name",)}


def _samples(problem: Problem) -> Table | None:
    """Return the samples of a problem as a table; None where it has none, or many."""
    samples = getattr(problem, "samples", None)
    if samples is None or max(samples.agreement.shape) > _MOST_ROWS:
        return None
    weighted = bool((samples.weights != 1).any())
    rows = [
        (
            str(i),
            *("1" if bit else "0" for bit in row),
            "same" if same else "other",
            *([str(weight)] if weighted else []),
        )
        for i, (row, same, weight) in enumerate(
            zip(samples.agreement, samples.same, samples.weights, strict=True)
        )
    ]
    head = ("sample", *samples.features, "class", *(["weight"] if weighted else []))
    if samples.groups is not None:
        groups = ("group", *map(str, samples.groups), "", *([""] if weighted else []))
        rows.append(groups)
    return Table(head, tuple(rows), left=())


@dataclass(frozen=True)
class Verdict(Shown):
    """How a model of a kind of problem was graded.

    Attributes
    ----------
    encoding, problem : str
        What was graded, and the kind of problem.
    faults : mapping of str to int
        On how many instances which fault was found: ``"too weak"`` (it allows what the problem
        forbids), ``"too strong"``, ``"wrong objective"``, ``"wrong complete"`` or ``"fails"``.
    parts : mapping of str to Part
        The instances by what is special about them: ``"plain"`` for nothing, the name of a
        parameter, ``"ties"`` for a wrong set that is one of several best ones, ``"several"``.
    counterexample : Counterexample or None
        The smallest one that was found.
    fault : str
        The fault of the counterexample; empty where there is none.
    seconds : float or None
        The limit, where it ended the grading before all instances were tried.
    completes : bool
        Whether the statements have the function ``complete``, which hints need.

    Examples
    --------
    >>> import cpx
    >>> cpx.grade("table1-literal").right
    False
    """

    encoding: str
    problem: str
    faults: Mapping[Fault, int] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    counterexample: Counterexample | None = None
    fault: Fault | str = ""
    seconds: float | None = None
    completes: bool = True

    @property
    def right(self) -> bool:
        """Whether no difference from the definition was found."""
        return not self.faults

    @property
    def instances(self) -> int:
        """On how many instances it was tried."""
        return sum(part.right + part.wrong for part in self.parts.values())

    @property
    def wrong(self) -> int:
        """On how many of them it is wrong."""
        return sum(part.wrong for part in self.parts.values())

    @property
    def breaks_on(self) -> tuple[str, ...]:
        """What it does not take care of; empty where plain instances are wrong as well."""
        if self.parts.get("plain", Part()).wrong:
            return ()
        wrong = tuple(name for name, part in self.parts.items() if part.wrong)
        return tuple(name for name in wrong if name != "several") or wrong

    @property
    def points(self) -> Fraction:
        """The share of the parts in which all instances are right."""
        right = sum(not part.wrong for part in self.parts.values())
        return Fraction(right, len(self.parts)) if self.parts else Fraction(0)

    @property
    def why(self) -> str:
        """The verdict in a sentence."""
        if self.right:
            told = "every set of features is allowed, and valued, as the problem has it"
            return f"right on {self._counted}: {told}"
        also = [name for name in self.faults if name != self.fault]
        more = f", elsewhere {' and '.join(also)}" if also else ""
        breaks = self.breaks_on
        where = ""
        if breaks:
            kept = self.parts.get("plain", Part()).right
            where = f"; it breaks on {', '.join(breaks)}"
            where += f" and is right on {kept} plain instances" if kept else ""
        return f"{self.fault}{more}: wrong on {self.wrong} of {self._counted}{where}"

    @property
    def _counted(self) -> str:
        return f"{self.instances} instance{'s' * (self.instances != 1)}"

    def blocks(self) -> list[Block]:
        """Return the verdict, the parts, and the counterexample."""
        return list(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        yield Paragraph(f"{self.encoding}, as an encoding of {self.problem}", "strong")
        yield Paragraph(self.why, "good" if self.right else "bad")
        if self.seconds is not None:
            yield Paragraph(f"Not all instances were tried in {self.seconds:g} s.", "open")
        if not self.completes:
            yield Paragraph("It has no `complete`: engines cannot begin with a hint.", "open")
        if len(self.parts) > 1:
            rows = tuple((name, str(p.right), str(p.wrong)) for name, p in self.parts.items())
            yield Table(("instances", "right", "wrong"), rows, left=(0,))
        if self.counterexample is not None:
            yield Paragraph("The smallest counterexample:", "strong")
            yield from self.counterexample.blocks()

    def __str__(self) -> str:
        return as_text(self.blocks(), spaced=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values, for graders of exercises."""
        found = self.counterexample
        return {
            "encoding": self.encoding,
            "problem": self.problem,
            "right": self.right,
            "why": self.why,
            "fault": self.fault,
            "faults": dict(self.faults),
            "breaks_on": list(self.breaks_on),
            "points": round(float(self.points), 3),
            "instances": self.instances,
            "wrong": self.wrong,
            "parts": {name: vars(part) for name, part in self.parts.items()},
            "complete": self.completes,
            "all_tried": self.seconds is None,
            "counterexample": None if found is None else found.to_dict(),
        }
