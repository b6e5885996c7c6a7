"""What an engine does with an instance that is shown: for a lecture, below what it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpx.answers.statistics import in_words
from cpx.answers.text import Block, Fact, Facts, Paragraph, Table, as_text
from cpx.answers.values import in_words as value_in_words
from cpx.export.cores import cores
from cpx.solving import solve

if TYPE_CHECKING:
    from cpx.modelling.base import Problem

__all__ = ["solved"]

_ENGINES = {"wcnf": "maxsat", "cnf": "maxsat", "lp": "milp", "mps": "milp"}
"""Who reads a form; CP-SAT takes the others."""
_MOST_EVENTS = 20


def solved(
    problem: Problem,
    form: str,
    encoding: str | None = None,
    *,
    at_most: str | None = None,
    time_limit: float | None = 10.0,
) -> str:
    """Solve an instance from nothing, and tell what happened on the way.

    Parameters
    ----------
    problem : Problem
        What is asked.
    form : str
        As it is shown: the engine is one that reads it.
    encoding : str, optional
        Default is the problem's first.
    at_most : str, optional
        How counting becomes clauses, as in :func:`cpx.export.show`.
    time_limit : float, optional
        In seconds.

    Returns
    -------
    str
        The answer, value and bound as they came, what the engine counted, and for clauses the
        cores of RC2.

    Raises
    ------
    UnknownName, InvalidOption
        When a name is not known, or the engine does not take ``at_most``.
    EngineMissing
        When the engine is not installed.

    Examples
    --------
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples([[1, 0], [1, 1], [0, 1]], [1, 1, 0], features=("a <= 1", "b"))
    >>> print(solved(KMonomial(samples, k=1), "wcnf"))  # doctest: +ELLIPSIS
    solved by maxsat:rc2, encoding clausal
    a <= 1 => same class as x
    ...
    """
    engine = None if problem._unstated else _ENGINES.get(form, "cpsat")
    name = encoding if problem._unstated else encoding or problem.encodings[0].name
    # Without a solution to begin with: what is shown is the engine's own work.
    result = solve(
        problem,
        engine,
        encoding=name,
        engine={} if at_most is None else {"at_most": at_most},
        time_limit=time_limit,
        warm_start=False,
    )
    stated = f", encoding {result.encoding}" if result.encoding else ""
    found = result.explanation
    blocks: list[Block] = [Paragraph(f"solved by {result.engine}{stated}")]
    blocks += found.headline() if found is not None else []
    events = [
        tuple("" if value is None else value_in_words(value) for value in (point[1:]))
        for point in result.trace
    ]
    events = list(dict.fromkeys(events))[-_MOST_EVENTS:]
    blocks += [
        Table(("value", "bound"), tuple(events), left=()),
        Facts.of(
            [Fact("status", str(result.status)), Fact("search", in_words(result.statistics))]
        ),
    ]
    if engine == "maxsat" and found is not None:
        blocks += [Paragraph("The cores of RC2, without its shortcuts:")]
        blocks += cores(problem, encoding, at_most).blocks()
    return as_text(blocks)
