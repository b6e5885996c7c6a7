"""Families of problems: what each of them registers, for a core that names none.

A family is a folder of :mod:`cpx.models`, or another package. It says in one :class:`Family` what
it has: as strings, ``"module:name"``, which are imported when they are first needed. So the
checker loads no models, and ``import cpx`` loads no family.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

GROUP = "cpx.families"
"""The entry points by which other packages name their families."""


@dataclass(frozen=True)
class ProofKind:
    """A kind of proof of optimality or infeasibility.

    Attributes
    ----------
    problems : tuple of str
        The kinds of problems that it is for.
    check : str
        The function that checks a proof, given the instance and the opened document.
    prove : str
        The function that makes one from a saved instance, what is to be proved, and what says
        whether the time is up. It returns the claim that was proved, None for none, and the lines
        that prove it; it raises Refused where what is to be proved is wrong. It may have the
        parameters ``trusted`` (the sets that the checker counts need not be looked at),
        ``record`` (what the engine has written down) and ``problem`` (to spare reading the saved
        one).
    keeps_side_constraints : bool
        Whether it knows side constraints. Else it proves what bounds all answers.
    refusal : str
        The function that says of a problem why it has no proofs; it returns "" where it has.
    rows : str
        The function that returns a table for people, given problem, claim, lines and features.
    """

    problems: tuple[str, ...]
    check: str
    prove: str
    keeps_side_constraints: bool = True
    refusal: str = ""
    rows: str = ""


@dataclass(frozen=True)
class ShellCommand:
    """A command of the shell.

    Attributes
    ----------
    function : str
        The function that does it, ``"module:name"``: its parameters are arguments and options, as
        Typer reads them, and its docstring is the help.
    summary : str
        What it does, in one line of a list.
    problems : tuple of str
        The kinds of problems that it makes.
    section : str
        The title under which ``cpx --help`` lists it; default: the first one.
    """

    function: str
    summary: str
    problems: tuple[str, ...] = ()
    section: str = ""


@dataclass(frozen=True)
class Door:
    """A kind of explanation that :class:`cpx.Explainer` offers, by the name of its method.

    Attributes
    ----------
    explainer : str
        The class that is made of a model, rows X and options, and explains one row after the
        other; see :class:`~cpx.explainers.doors.RowExplainer`.
    plural : str
        The method that explains many rows.
    about : str
        What it tells of a row, in a line.
    trees : bool
        Whether it is of tree models only.
    elsewhere : tuple of str
        What other packages and papers call it: who asks for one of these is told our name.
    """

    explainer: str
    plural: str
    about: str
    trees: bool = False
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """What a family of problems registers; all names are ``"module:name"``.

    Attributes
    ----------
    name : str
        What it is called, for messages.
    problems : mapping of str to str
        The class of each kind of problem, by the name that it has in saved instances;
        :mod:`cpx.models` has them all.
    names : mapping of str to str
        What :mod:`cpx` itself has of it.
    judges : mapping of str to str
        For each kind, the function that reads a saved instance and returns what says of a saved
        result what is wrong with it; one with a second parameter gets the seconds that it may
        take.
    bounds : mapping of str to str
        For each kind whose judge decides bounds, too, the function that says of a saved result
        that it has confirmed whether it did so.
    encodings : mapping of str to str
        Encodings that it adds to problems, its own or of other families, by ``"KIND.NAME"``.
    reads_arrays : bool
        Whether its judges take samples as an array of bool. Others get strings, as in a file.
    words : mapping of str to str
        For each kind of claim, by default that of the problem, the function that returns the
        :class:`~cpx.answers.claim.Words` of a claim and the explanation that it is about. Kinds
        without one are told by their value and bound.
    explanations : mapping of str to str
        Its classes of explanations, by the key that marks them when they are saved.
    trusts : tuple of str
        Fields of an explanation that its judges take on trust.
    trusts_infeasible : tuple of str
        The kinds whose infeasibility its judges do not decide.
    proofs : mapping of str to ProofKind
        Its kinds of proofs, by their names in a document.
    search : mapping of str to str
        For each class of forms that the exact search takes, the
        :class:`~cpx.backends.search.FormSearch` that searches it.
    starts : mapping of str to str
        For each class of forms, the function that says what an engine may begin with. Given
        engine and form it returns the method that finds such a solution, and what the method is
        called; None where a start would not help.
    beams : mapping of str to str
        For each class of forms that beam search takes, the
        :class:`~cpx.methods.beam.Levels` of its sets.
    listings : mapping of str to str
        For each class of forms, the :class:`~cpx.methods.listing.Listing` that says how answers
        are listed.
    cases : mapping of str to str
        Sets of tiny cases by their names: functions that yield name, problem and optimum, None
        where there is no solution. The conformance suite has every engine solve them.
    medium : str
        The function that yields problems of a moderate size for a seed, m and d; the first of
        them that an engine takes shows how it behaves.
    draw : mapping of str to str
        For each kind, the function that draws what a saved instance says of it, given the kind,
        a random generator and a scale: 1 for what the brute force can try whole.
    brute : mapping of str to str
        For each kind, the :class:`~cpx.testing.truth.Truth` of a saved instance, by trying all.
    doors : mapping of str to Door
        Its kinds of explanations, by the name that ``cpx.explain(kind=...)`` and the method of
        :class:`cpx.Explainer` have.
    backends : mapping of str to str
        Its engines and methods by their names, each a class of :class:`cpx.backends.Backend`.
    engines : mapping of str to tuple of str
        For each kind, the engines that answer it best, where these are not the exact search or,
        where that does not take it, CP-SAT. The first that is there is asked unless one is named.
    reachable : mapping of str to str
        For each kind, the function that says what can be had where a problem has no answer. Given
        problem and result it returns the result, with a warning that says it.
    overview : str
        The function that says of explanations of many rows what they say together, given these
        and options.
    all_kinds : str
        The function that answers one row by all kinds of explanations, given an
        :class:`~cpx.Explainer`, the row and options, and says how the answers relate.
    library : str
        Its families of instances in the library, a sequence of
        :class:`~cpx.library.family.Family`.
    probes : str
        The function that yields tiny problems of optimum 1: ``cpx doctor`` tries an engine on the
        first that it takes.
    commands : mapping of str to ShellCommand
        Its commands of the shell by their words: ``"make NAME"`` for one that makes instances.
    """

    name: str
    problems: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, str] = field(default_factory=dict)
    encodings: Mapping[str, str] = field(default_factory=dict)
    reads_arrays: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    explanations: Mapping[str, str] = field(default_factory=dict)
    trusts: tuple[str, ...] = ()
    trusts_infeasible: tuple[str, ...] = ()
    proofs: Mapping[str, ProofKind] = field(default_factory=dict)
    search: Mapping[str, str] = field(default_factory=dict)
    starts: Mapping[str, str] = field(default_factory=dict)
    beams: Mapping[str, str] = field(default_factory=dict)
    listings: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=dict)
    medium: str = ""
    draw: Mapping[str, str] = field(default_factory=dict)
    brute: Mapping[str, str] = field(default_factory=dict)
    doors: Mapping[str, Door] = field(default_factory=dict)
    backends: Mapping[str, str] = field(default_factory=dict)
    engines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reachable: Mapping[str, str] = field(default_factory=dict)
    overview: str = ""
    all_kinds: str = ""
    library: str = ""
    probes: str = ""
    commands: Mapping[str, ShellCommand] = field(default_factory=dict)


def families() -> Iterator[Family]:
    """Yield the families that are there: ours in their order, then those of other packages.

    Metadata of packages are read only by who asks for more than ours.
    """
    yield from _ours()
    yield from _others()


@cache
def _ours() -> tuple[Family, ...]:
    package, found = "cpx.models", []
    for name in import_module(package).FAMILIES:
        try:
            found.append(import_module(f"{package}.{name}").FAMILY)
        except ModuleNotFoundError as error:
            # A family may be left out; all that does not stand on it works.
            if error.name != f"{package}.{name}":
                raise
    return tuple(found)


@cache
def _others() -> tuple[Family, ...]:
    found = []
    # Loads json, struct and more, which a file beside an instance may be called, too: not before
    # the command has taken the current directory off its path.
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        try:
            found.append(point.load())
        except (ImportError, AttributeError) as error:
            told = f"the family {point.name} ({point.value}) cannot be loaded: {error}"
            warnings.warn(told, stacklevel=2)
    return tuple(found)


def public_names() -> Iterator[tuple[str, str]]:
    """Yield what :mod:`cpx` has of families, by name, and where it is."""
    for family in families():
        yield from family.names.items()


def problem_classes() -> Iterator[tuple[str, str]]:
    """Yield all classes of problems, by their names in Python, and where they are."""
    for family in families():
        for place in family.problems.values():
            yield place.partition(":")[2], place


def family_of(kind: object) -> Family | None:
    """Return the family of a kind of problem, None of a kind that is not registered."""
    return next((family for family in families() if kind in family.problems), None)


def registered(what: str, form: object) -> str | None:
    """Return what a family registers for forms of this class, or of one before it.

    Parameters
    ----------
    what : {"search", "starts", "beams", "listings"}
    form : object
        Plain arrays of a problem; None has nothing.
    """
    cls: Any = type(form)
    return _registered(what, cls)


@cache
def _registered(what: str, cls: Any) -> str | None:
    names = [f"{one.__module__}:{one.__qualname__}" for one in cls.__mro__[:-1]]
    # What is nearest in the classes decides, not which family is first.
    found: list[Mapping[str, str]] = [getattr(family, what) for family in families()]
    return next((known[name] for name in names for known in found if name in known), None)
