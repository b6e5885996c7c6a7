"""Every error cpx raises on purpose.

Each class derives from :class:`CpxError`, carries the exit code the command
line answers with, and also derives from the builtin a caller would expect, so
``except ValueError`` keeps working in scripts.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

_LONGEST = 200
_MOST_LISTED = 40  # CP-SAT has some 300 options


class CpxError(Exception):
    """Base of all errors raised by cpx; ``exit_code`` is what the shell sees."""

    exit_code = 1

    def __str__(self) -> str:
        # Names of columns, classes and files are in it.
        return printable(super().__str__())


class InvalidInstance(CpxError, ValueError):
    """A problem or a saved instance that does not make sense, naming the argument."""

    exit_code = 2


class InvalidOption(CpxError, ValueError):
    """An option of a solve that is out of its range, naming the option."""

    exit_code = 2


class DataError(CpxError, ValueError):
    """A table, a column, a row or an instance x that cannot be used."""

    exit_code = 2


class NoMass(DataError):
    """A distribution that cannot be conditioned on a rule: no row satisfies it."""


class ClassifierError(CpxError, ValueError):
    """The classifier raised, or answered with something that is no label vector."""

    exit_code = 2


class ModelError(CpxError, ValueError):
    """A tree model that cannot be read or makes no sense, naming the place."""

    exit_code = 2


class UnsupportedModel(ModelError):
    """A model, or a part of one, that is sound but of a kind cpx does not read."""


class OutputError(CpxError, OSError):
    """A path that cannot be written, found before any work is done."""

    exit_code = 2


class UnknownName(CpxError, LookupError):
    """A name that is not in its list; the message has the list, or some of a long one.

    elsewhere: What other names mean here.
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        name: object,
        known: Iterable[str],
        elsewhere: Mapping[str, str] | None = None,
    ) -> None:
        self.what, self.name, self.known = what, name, sorted(known)
        self.elsewhere = dict(elsewhere or {})
        start = str(name)[:_LONGEST]
        meant = self.elsewhere.get(start.lower().replace("_", "-").replace(" ", "-"))
        listed = ", ".join(self.known) or "none"
        if len(self.known) > _MOST_LISTED:
            near = difflib.get_close_matches(start, self.known, n=5, cutoff=0.3)
            listed = f"{len(self.known)} names" + (f", such as {', '.join(near)}" if near else "")
        near_one = f" (here {meant!r})" if meant else nearest(start, self.known)
        super().__init__(f"unknown {what} {shown(name)}{near_one}; known: {listed}")

    def __reduce__(self) -> tuple[type[UnknownName], tuple[Any, ...]]:
        return type(self), (self.what, self.name, self.known, self.elsewhere)


class EngineMissing(CpxError, ImportError):
    """An engine, or what reads, mines or draws, is not installed; the message has the pip line."""

    exit_code = 2


class EngineError(CpxError, RuntimeError):
    """An engine failed: it raised, crashed, answered against its contract, or found nothing.

    Attributes
    ----------
    result : Result or None
        What it came to, where an explanation was asked for.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class Infeasible(EngineError):
    """Nothing keeps what was asked for, which is proved; the message says what can be had.

    Attributes
    ----------
    reachable : dict of str to float
        What can be had in place of a floor that is not reached, by its name: ``"precision"``
        or ``"coverage"`` of a rule, ``"expected"`` of attributes. Empty where nothing is known.
    explanation : Explanation or None
        What has it.
    """

    def __init__(
        self,
        message: str,
        result: object = None,
        reachable: Mapping[str, float] | None = None,
        explanation: object = None,
    ) -> None:
        super().__init__(message, result)
        self.explanation = explanation
        self.reachable = dict(reachable or {})


class CheckFailed(CpxError, AssertionError):
    """The independent checker disagrees with an answer."""


def printable(text: object) -> str:
    r"""Return a text as it is printed: one line, in which nothing acts on what shows it.

    White space becomes blanks. Control characters, those that turn the direction of writing, and
    those without a width become marks. Whatever comes from outside goes through here before it
    is printed, on a terminal or in a table; saved files have the text as it is.

    Examples
    --------
    >>> printable("a\tb\nOK"), printable("\x1b[31mred\u202e") == "\ufffd[31mred\ufffd"
    ('a b OK', True)
    """
    found = str(text)
    if found.isprintable():
        return found
    return "".join(" " if c.isspace() else c if c.isprintable() else "\ufffd" for c in found)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest known name, or ``""``.

    Examples
    --------
    >>> nearest("cpsta", ["cpsat", "milp"])
    " (did you mean 'cpsat'?)"
    """
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {match[0]!r}?)" if match else ""


class _Short(reprlib.Repr):
    """Representations whose making is as short as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 50
        self.maxlevel, self.maxother = 6, _LONGEST

    def repr_str(self, x: str, level: int) -> str:
        return repr(x[: _LONGEST + 1])

    def repr_int(self, x: int, level: int) -> str:
        # Python writes no integers of more than some thousand digits.
        digits = int(x.bit_length() * 0.30103)
        return repr(x) if digits < _LONGEST else f"an integer of about {digits} digits"


_short = _Short()


def shown(value: object) -> str:
    """Return a value for a message: as ``repr`` has it, but at most 200 characters of it.

    Examples
    --------
    >>> shown("cpsat"), shown([1, 2]), len(shown("9" * 10**6))
    ("'cpsat'", '[1, 2]', 200)
    >>> shown(10**5000)
    'an integer of about 5000 digits'
    """
    return shortened(_short.repr(value))


def shortened(text: object) -> str:
    """Return a text, such as what a library says of a wrong value, in at most 200 characters.

    Examples
    --------
    >>> shortened(ValueError("no number")), len(shortened("x" * 1000))
    ('no number', 200)
    """
    words = str(text)
    return words if len(words) <= _LONGEST else words[: _LONGEST - 4] + " ..."
