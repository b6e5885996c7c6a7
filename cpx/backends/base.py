"""The contract between cpx and an engine: Backend, Progress, Outcome.

An engine gets a problem, the options and a :class:`Progress`. While it works it reports
incumbents and bounds to the progress, asks it how much time is left and whether it should
stop, and at the end returns an :class:`Outcome` that says what it proved. Everything else
(recomputing the objective, deciding the status, checking, writing the result) is done once,
in :mod:`cpx.solving`, for all engines.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from shutil import which
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

from cpx.answers.explanation import Explanation
from cpx.answers.result import Termination
from cpx.answers.values import Value
from cpx.backends.progress import Event, Progress
from cpx.compiled.library import MISSING, has_kernels, load
from cpx.errors import EngineMissing, InvalidOption, UnknownName, shown
from cpx.modelling.base import Problem
from cpx.modelling.encodings import find_encoding, stated_in
from cpx.modelling.ratio import RatioProblem
from cpx.modelling.statement import Cost, Encoding
from cpx.options import EngineOption, SolveOptions, named_text
from cpx.processes.allowance import OPTIONAL, allowing
from cpx.support.versions import installed_version

__all__ = ["DECLINED", "Backend", "Event", "Outcome", "Progress", "contradiction"]

DECLINED = "not solved"
"""The raw status of an engine that cannot take numbers as large as those of a problem."""


@dataclass
class Outcome:
    """What an engine says at the end.

    Attributes
    ----------
    proved : bool
        The engine exhausted the search: its best incumbent is optimal, or, with no
        incumbent, the problem is infeasible. Never True for a search that was stopped
        before bound and incumbent met.
    termination : Termination
        Why it stopped. ``COMPLETED`` also when it stopped at the requested gap.
    raw_status : str
        The engine's own word.
    claimed : int, Fraction or None
        The objective the engine believes its best solution has, offset included.
    sizes : dict of str to int
        Sizes of the compiled form.
    warnings : list of str
        Options that could not be honoured, and the like.
    wrong : str
        Why the engine's claims cannot be true, where a method found them so.
    best_of_ties : bool
        With a proof: of the solutions with the same objective, none has a lesser tie than the
        best incumbent. Only problems that care for ties ask for it.
    preferred : Explanation or None
        With that: the solution of least tie, of those within the problem's tolerance.
    versions : dict of str to str
        Of what took part besides the engine's own.
    cpu : float
        Seconds of processor time in processes that outlive the solve.
    """

    proved: bool
    termination: Termination
    raw_status: str = ""
    claimed: Value | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    wrong: str = ""
    best_of_ties: bool = False
    preferred: Explanation | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    cpu: float = 0.0


def contradiction(
    problem: Problem,
    outcome: Outcome,
    objective: Value | None,
    bound: Value | None,
    *,
    faithful: bool = True,
) -> str:
    """Say where an engine's claims cannot be true, or return ``""``.

    Parameters
    ----------
    problem, outcome
        What was solved, and what the engine said.
    objective, bound
        The value of the best known solution, recomputed, and the best bound.
    faithful : bool
        Whether the value of the statement is the problem's.
    """
    sign = 1 if problem.sense == "min" else -1
    if objective is not None and bound is not None and sign * bound > sign * objective:
        return f"the engine's bound {bound} is beyond the value {objective} of a known solution"
    if outcome.proved and outcome.claimed is None and objective is not None:
        return "the engine claims infeasibility, but a solution is known"
    if not faithful or outcome.claimed is None:
        return ""
    if objective is None:
        told = f"the engine claims the value {outcome.claimed}, and reported no solution"
        return told if outcome.proved else ""
    if sign * outcome.claimed < sign * objective:
        return f"the engine claims the value {outcome.claimed}, the data give {objective}"
    if outcome.proved and outcome.claimed != objective:
        return f"the engine claims the optimum {outcome.claimed}, a solution has {objective}"
    return ""


class Backend(ABC):
    """One family of engines.

    An engine must have a ``name`` and ``solve``. Names with an underscore are hooks: few engines
    fill them in, and solving, comparisons and the command read them. Besides those below, methods:
    ``_keeps_side_constraints`` and ``_refusal``, what the engine takes, and why not; ``_preload``,
    what is imported before the first solve; ``_engines``, what works side by side; and
    ``_provenance``, what else tells which program answered.

    Class attributes
    ----------------
    name : str
        Name on the command line, such as ``"milp"``.
    solvers : tuple of str
        Names inside the family (``milp:highs``); the first is the default. Empty when
        the family has one member only.
    requires : dict of str to str
        Module name -> pip requirement that provides it.
    supported_options : frozenset of str
        The options among ``threads``, ``seed``, ``gap``, ``hint`` that have an effect.
        The others are reported as warnings when they are set.
    needs_model : bool
        Whether the engine solves the statement in the chosen encoding; False for one that
        takes the problem's plain arrays, whose results name no encoding.
    exact : bool
        Whether the engine proves what it claims when it has the time. False for a heuristic:
        it never reports a bound and never claims optimality or infeasibility.
    summary : str
        One line for ``cpx backends``.
    _settings : mapping
        The options that were given with its name.
    _needs_kernels : bool
        Whether the engine, or what it asks, is the package's own code in C.
    _compiles_to : {"", "wcnf", "lp", "cp-sat"}
        What statements are compiled to, for :attr:`~cpx.modelling.statement.Encoding.cost`.
    _program : str
        A program on the path that the engine needs, besides Python packages.
    _preferred_encodings : tuple of str
        The encodings that the engine proves most with, the best one first: where a problem has
        one of them that says more of it and none is named, it is taken in place of the
        problem's first.
    _start : {"given", "needed", "own"}
        Whether the engine is given a solution to begin with. ``"needed"`` where it takes long to
        find a good rule for one class, too; ``"own"`` where it finds a good set by itself.
    _needs_worker : bool
        Whether the engine cannot be stopped while it works: then it runs in a worker process,
        which can be, unless ``isolate=False`` asks for this process.
    _starts_workers : bool
        Whether the engine is made of others, each in a worker of its own: it needs none. They
        are what stands behind its colon, with their options.
    _asks_classifier : bool
        Whether the engine needs ``problem.oracle``, the classifier behind the samples. It
        then runs in the process that holds the classifier, never in a worker.
    _in_all : bool
        Whether the word ``all`` names the family, in lists of engines.
    """

    name: ClassVar[str]
    solvers: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[Mapping[str, str]] = {}
    supported_options: ClassVar[frozenset[str]] = frozenset()
    _needs_kernels: ClassVar[bool] = False
    needs_model: ClassVar[bool] = True
    _preferred_encodings: ClassVar[tuple[str, ...]] = ()
    _compiles_to: ClassVar[str] = ""
    exact: ClassVar[bool] = True
    _asks_classifier: ClassVar[bool] = False
    _start: ClassVar[Literal["given", "needed", "own"]] = "given"
    _needs_worker: ClassVar[bool] = False
    _starts_workers: ClassVar[bool] = False
    _in_all: ClassVar[bool] = True
    _program: ClassVar[str] = ""
    _known_as: ClassVar[str] = ""
    """Name of a class that is one member of a family only, in messages."""
    summary: ClassVar[str] = ""

    # Here, for engines whose __init__ is all their own.
    _settings: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, solver: str | None = None) -> None:
        if solver is None:
            solver = self.solvers[0] if self.solvers else ""
        elif solver not in self.solvers:
            raise UnknownName(f"solver of backend {self.name}", solver, self.solvers)
        self.solver = solver

    @property
    def full_name(self) -> str:
        """Family and solver as one name, such as ``"milp:highs"``."""
        return f"{self.name}:{self.solver}" if self.solver else self.name

    @property
    def _engines(self) -> tuple[str, ...]:
        """What works side by side, each with the threads of the solve: itself, or others."""
        return (str(self),)

    def __str__(self) -> str:
        """The name with the options that were given with it: ``"cpsat{cut_level=0}"``."""
        return named_text(self.full_name, self._settings)

    def options(self) -> Mapping[str, EngineOption]:
        """Return the options of the engine that can be set, by their own names.

        Only what changes how it searches, never what it may claim. They come as
        ``options.engine``, checked.
        """
        return {}

    @classmethod
    def available(cls) -> bool:
        """Whether packages, kernels and program are installed, without importing an engine."""
        if cls._needs_kernels and not has_kernels():
            return False
        return all(map(_installed, cls.requires)) and cls._has_program()

    @classmethod
    def _has_program(cls) -> bool:
        return not cls._program or which(cls._program) is not None

    @classmethod
    def installed(cls) -> list[str]:
        """Return the full names of the members that can be asked, found without importing."""
        if not cls.available():
            return []
        return [f"{cls.name}:{solver}" for solver in cls.solvers] or [cls.name]

    @classmethod
    def _preload(cls) -> None:
        """Import the engine; a worker does so once, before it forks a child per solve."""
        for module in cls.requires:
            import_module(module)
        if cls._needs_kernels:
            load()

    def _provenance(self) -> dict[str, str]:
        """Return what else tells which program answered, for the versions of a result."""
        return {}

    def accepts(self, problem: Problem) -> bool:
        """Say whether the engine can solve the problem.

        One that needs a model solves every statement; another one, unless it says otherwise
        here, takes the plain arrays of ``problem.form()``.
        """
        return not problem._unstated if self.needs_model else problem.form() is not None

    def _keeps_side_constraints(self, problem: Problem) -> bool:
        """Say whether the engine honours the side constraints of a problem that it accepts.

        Statements have them, so that engines that need a model do. Another one says so here,
        or refuses problems that have some.
        """
        return self.needs_model

    def _refusal(self, problem: Problem) -> str:
        """Say that the engine does not solve the problem."""
        return f"backend {self.name!r} cannot solve problems of kind {problem.kind!r}"

    @abstractmethod
    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """Solve the problem, reporting to ``progress``; return what was proved."""


def require(engine: Backend | type[Backend]) -> None:
    """Raise :class:`EngineMissing` with what to install unless an engine is available."""
    who = engine._known_as or engine.name
    missing = [pip for module, pip in engine.requires.items() if not _installed(module)]
    if missing:
        wanted = " ".join(f"'{pip}'" for pip in missing)
        raise EngineMissing(f"backend {shown(who)} is not installed: pip install {wanted}")
    if engine._needs_kernels and not has_kernels():
        raise EngineMissing(f"backend {shown(who)} is not there: {MISSING}")
    if not engine._has_program():
        raise EngineMissing(f"the program {engine._program!r}, which {who} needs, is not found")


def versions_of(engine: Backend | type[Backend]) -> dict[str, str]:
    """Return the versions of the distributions behind ``requires``."""
    found = {}
    for pip in engine.requires.values():
        name = re.split(r"[\[<>=]", pip)[0].strip()
        if (installed := installed_version(name)) is not None:
            found[name] = installed
    return found


def require_accepts(engine: Backend, problem: Problem) -> None:
    """Raise InvalidOption unless an engine can solve a problem with what comes with it."""
    if not engine.accepts(problem):
        if engine.needs_model or problem.form() is None:
            stated_in(problem)  # says why there is no statement
        raise InvalidOption(engine._refusal(problem))
    if problem.side_constraints and not engine._keeps_side_constraints(problem):
        raise InvalidOption(
            f"backend {shown(engine.name)} does not keep the side constraints of this problem, "
            f"such as {shown(problem.side_constraints.texts[0])}: ask for cpsat, or another "
            "engine that solves a statement"
        )
    if engine._asks_classifier and problem.oracle is None:
        raise InvalidOption(
            f"backend {shown(engine.name)} asks the classifier, and this problem has only its "
            f"samples: call cpx.explain(..., backend={shown(engine.name)}), or solve a problem "
            "stated by cpx.Explainer"
        )


class StartWith(NamedTuple):
    """What an engine begins with, as a family names it for the class of a form.

    method: The name of a backend, or what reports a solution, and perhaps a bound, to a progress;
        it returns who found the solution where that is not ``called``.
    called: What it is called in results.
    hint: Whether the engine is told the solution, as if it were a hint of the caller.
    before: What the solution is called that is there without the method.
    """

    method: str | Callable[[Problem, Any, Progress], str | None]
    called: str
    hint: bool = True
    before: str = ""


class Choice(NamedTuple):
    """The encoding that an engine chooses, and the predictions by which it does.

    passed_over: Those that it would have preferred, and that were predicted to take too long.
    """

    encoding: Encoding[Any]
    cost: Cost | None = None
    passed_over: Mapping[str, Cost] = MappingProxyType({})

    def record(self) -> dict[str, Any] | None:
        """Return the predictions for the result; None where there are none."""
        if self.cost is None:
            return None
        over = {name: cost._asdict() for name, cost in self.passed_over.items()}
        return {**self.cost._asdict(), **({"passed_over": over} if over else {})}


def encoding_for(
    engine: Backend,
    problem: Problem,
    name: str | None = None,
    time_limit: float | None = None,
    warm_start: bool = True,
) -> Encoding[Any]:
    """Return the encoding that an engine solves; see :func:`chosen_encoding`."""
    return chosen_encoding(engine, problem, name, time_limit, warm_start).encoding


def chosen_encoding(
    engine: Backend,
    problem: Problem,
    name: str | None = None,
    time_limit: float | None = None,
    warm_start: bool = True,
) -> Choice:
    """Return the encoding that an engine solves; one without a name if it needs none.

    Without a name it is the engine's own choice among those of the problem, or the problem's
    first; that for a ratio, whose steps are stated one after the other, each with little time.
    None is chosen that is predicted to take more than a tenth of the time limit while there is a
    cheaper one. Without a warm start it is none that the exact search helps to state: the engine
    is left alone.

    Raises UnknownName, InvalidOption: When there is none of that name, or it cannot be solved.
    """
    if not engine.needs_model:
        encoding = find_encoding(problem, name)
        if engine._starts_workers and not encoding.faithful:
            # What its engines prove of the encoding would be taken for a proof of the problem.
            raise InvalidOption(f"encoding {name!r} is not the problem: no portfolio solves it")
        return Choice(replace(encoding, name="", faithful=True))
    first = stated_in(problem, name)
    if name is not None or isinstance(problem, RatioProblem):
        return Choice(first)
    form = problem.form()
    known = {encoding.name: encoding for encoding in problem.encodings}
    preferred = [known[one] for one in engine._preferred_encodings if one in known]
    own = [one for one in preferred if warm_start or not one.searches]
    most = OPTIONAL * (math.inf if time_limit is None else time_limit)
    with allowing(most):
        costs = [
            (one, None if one.cost is None else one.cost(form, engine._compiles_to))
            for one in (*(one for one in own if form is None or one.applies(form)), first)
        ]
    quick = (pair for pair in costs if pair[1] is None or pair[1].seconds <= most)
    slow = min(costs, key=lambda pair: math.inf if pair[1] is None else pair[1].seconds)
    taken, cost = next(quick, slow)
    before = costs[: costs.index((taken, cost))]
    return Choice(taken, cost, {one.name: cost for one, cost in before if cost is not None})


def takes(engine: Backend, problem: Problem) -> bool:
    """Say whether an engine can solve the problem with its side constraints."""
    free = not problem.side_constraints
    return engine.accepts(problem) and (free or engine._keeps_side_constraints(problem))


def _installed(module: str) -> bool:
    try:
        return _found(find_spec, module)
    except ModuleNotFoundError:
        return False


@lru_cache
def _found(find: Callable[[str], object], module: str) -> bool:
    """Return True, which is remembered, or raise: what is not there may be installed later."""
    if find(module) is None:
        raise ModuleNotFoundError(module)
    return True
