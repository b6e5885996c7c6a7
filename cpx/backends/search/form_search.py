"""What the exact search asks of a family: how problems of one form are searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cpx.backends.base import Outcome, Progress
from cpx.errors import EngineError
from cpx.modelling.base import Problem
from cpx.support.families import families, registered
from cpx.support.lazy_imports import named_object


@dataclass(frozen=True)
class FormSearch:
    """The search of one form.

    Attributes
    ----------
    solve : callable
        Searches a problem, given its form and the progress of the solve.
    keeps_side_constraints : bool
        Whether it does so by itself. Else a problem whose features can be required and
        forbidden is branched on what its answers break.
    tells_phases : bool
        Whether it tells its phases itself.
    takes_cluster : bool
        Whether it can be shared out to the workers of a cluster.
    """

    solve: Callable[[Problem, Any, Progress], Outcome]
    keeps_side_constraints: bool = False
    tells_phases: bool = False
    takes_cluster: bool = False


def search_of(form: object) -> FormSearch | None:
    """Return the search that a family registers for the class of a form, None without one."""
    value = registered("search", form)
    if value is None:
        return None
    search: FormSearch = named_object(value, f"search of {type(form).__name__}", EngineError)
    return search


def load_searches() -> None:
    """Import the searches of all families, for a process that waits for its first problem."""
    for family in families():
        for value in family.search.values():
            named_object(value, f"search of {family.name}", EngineError)
