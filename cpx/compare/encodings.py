"""One problem in many encodings: how large each is as clauses or rows, how strong, how fast."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.backends import backend
from cpx.backends.maxsat.cardinality import known_at_most
from cpx.compare.encodings_shown import CompiledForm, EncodingsTable
from cpx.compare.propagation import Choice, drawn_choices, feature_literals, fixed_by
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.modelling.encodings import encodings_of, predicted_cost, stated_in
from cpx.modelling.ratio import RatioProblem
from cpx.support.validation import integer_in, seconds, valid_seed

if TYPE_CHECKING:
    from cpx.backends.integer_program import IntegerProgram, Row
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Statement

FORMS = ("wcnf", "opb", "lp", "cp-sat")
"""Clauses, pseudo-Boolean constraints, the integer program, and the model of CP-SAT."""

PREDICTED = ("wcnf", "lp", "cp-sat")
"""Those of which there are predictions: what engines that choose an encoding compile to."""


def encodings_table(
    problem: Problem,
    encodings: Iterable[str] | None = None,
    forms: Iterable[str] | None = None,
    *,
    at_most: Iterable[str] | None = None,
    engines: Iterable[str] = (),
    samples: int = 50,
    seed: int = 0,
    time_limit: float | None = 10.0,
) -> EncodingsTable:
    """Return how large, how strong and how fast each encoding of a problem is.

    Everything is measured on what the engines get, beside what stating and compiling was predicted
    to take. What is predicted to take longer than ``time_limit`` is not stated.

    Parameters
    ----------
    problem : Problem
        What is asked. Of a ratio its first linear step is measured.
    encodings : iterable of str, optional
        Names; default: all that can state the problem.
    forms : iterable of str, optional
        Some of ``wcnf``, ``opb``, ``lp`` and ``cp-sat``; default: all.
    at_most : iterable of str, optional
        Encodings of "at most k of these" (:func:`cpx.export.show`), each of which ``wcnf`` and
        ``opb`` are measured with. Default: what is small, and in ``opb`` the row that it is.
    engines : iterable of str
        Solve the problem with these as well, in each encoding, without a start of another method.
    samples : int
        Choices of features that unit propagation begins with.
    seed : int
        Of these choices, and of the engines.
    time_limit : float or None
        Seconds of each statement, as predicted, each linear relaxation, and each engine.

    Raises
    ------
    UnknownName, InvalidOption
        When a name is not known, an encoding cannot state the problem, or an engine does not
        solve statements.

    Examples
    --------
    >>> from cpx import KMonomial, Samples
    >>> samples = Samples([[1, 0, 1], [1, 1, 0], [0, 1, 1]], [1, 1, 0], features=("a", "b", "c"))
    >>> table = encodings_table(KMonomial(samples, k=2), ["clausal", "reified"], ["wcnf"])
    >>> table.to_frame()[["variables", "constraints", "fixed_all"]].values.tolist()
    [[6.0, 4.0, 1.24], [6.0, 7.0, 3.0]]
    """
    integer_in("samples", samples, 1)
    valid_seed(seed)
    limit = seconds(time_limit)
    names = _encodings(problem, encodings)
    wanted = _forms(forms)
    counters = [None] if at_most is None else list(at_most)
    for name in counters:
        known_at_most(name)
    asked = list(engines)
    for name in asked:
        if not backend(name).needs_model:
            raise InvalidOption(f"engine {shown(name)} needs no statement, so no encoding")
    _import()
    stated = problem.first_step() if isinstance(problem, RatioProblem) else problem
    predicted = {
        (name, form): cost
        for name in names
        for form in wanted
        if form in PREDICTED and (cost := predicted_cost(stated, name, form)) is not None
    }
    long = {pair for pair, cost in predicted.items() if limit is not None and cost.seconds > limit}
    pairs = [(name, form) for name in names for form in wanted if (name, form) not in long]
    found = list(_measured(stated, pairs, counters, samples, seed, limit))
    from cpx.solving import solve

    answers = {
        (name, engine): solve(
            problem, engine, encoding=name, time_limit=limit, seed=seed, warm_start=False
        )
        for name in names
        for engine in asked
    }
    return EncodingsTable(problem, tuple(found), answers, predicted)


def _encodings(problem: Problem, encodings: Iterable[str] | None) -> list[str]:
    if encodings is None:
        stated_in(problem)  # says why there is no statement
        return list(encodings_of(problem))
    return [stated_in(problem, name).name for name in encodings]


def _forms(forms: Iterable[str] | None) -> list[str]:
    wanted = list(FORMS if forms is None else forms)
    for form in wanted:
        if form not in FORMS:
            raise UnknownName("form", form, FORMS)
    return wanted


def _import() -> None:
    """Import what compiles, which is not to be measured."""
    import cpx.backends.cpsat.compile
    import cpx.backends.maxsat.chain
    import cpx.backends.maxsat.linear
    import cpx.backends.milp.pulp_solver
    import cpx.backends.normal_forms  # noqa: F401


def _measured(
    problem: Problem,
    pairs: Sequence[tuple[str, str]],
    counters: Sequence[str | None],
    samples: int,
    seed: int,
    limit: float | None,
) -> Iterator[CompiledForm]:
    choices: list[Choice] | None = None
    for name in dict.fromkeys(name for name, _ in pairs):
        statement, state = _timed(partial(problem.model, name))
        for form in (form for other, form in pairs if other == name):
            if form == "wcnf" and choices is None:
                choices = _choices(problem, samples, seed)
            for counter in counters if form in ("wcnf", "opb") else [None]:
                measure = _Measure(name, counter, statement, state, choices or [], limit)
                yield getattr(measure, form.replace("-", "_"))()


def _timed(make: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    made = make()
    return made, time.process_time() - begun


def _choices(problem: Problem, n: int, seed: int) -> list[Choice]:
    """Return choices that the problem's own first encoding does not refute, for all encodings."""
    from cpx.backends.maxsat.wcnf import compile_statement

    statement = problem.model()
    compiled = compile_statement(statement)
    return drawn_choices(compiled.clauses, feature_literals(statement, compiled), n, seed)


@dataclass(frozen=True)
class _Measure:
    """One encoding in each form."""

    encoding: str
    at_most: str | None
    statement: Statement
    state: float
    choices: Sequence[Choice]
    limit: float | None

    def _form(
        self,
        form: str,
        compile_seconds: float,
        variables: int,
        named: int,
        lengths: Iterable[int],
        **measured: Any,
    ) -> CompiledForm:
        found: dict[str, Any] = {"root": None, "soft": 0, "fixed": {}, **measured}
        return CompiledForm(
            encoding=self.encoding,
            form=form,
            at_most=self.at_most or "",
            variables=variables,
            auxiliary=variables - named,
            lengths=dict(sorted(Counter(lengths).items())),
            seconds={"state": self.state, "compile": compile_seconds},
            **found,
        )

    def wcnf(self) -> CompiledForm:
        from cpx.backends.maxsat.wcnf import compile_statement

        compiled, spent = _timed(lambda: compile_statement(self.statement, at_most=self.at_most))
        features = feature_literals(self.statement, compiled)
        return self._form(
            "wcnf",
            spent,
            compiled.top,
            len(compiled.named_variables()),
            map(len, compiled.clauses),
            soft=len(compiled.costs),
            fixed=fixed_by(compiled, features, self.choices),
        )

    def opb(self) -> CompiledForm:
        from cpx.backends.pseudo_boolean import PseudoBoolean

        def compiled() -> tuple[PseudoBoolean, list[Row]]:
            made = PseudoBoolean(self.statement, self.at_most)
            return made, made.rows

        (form, rows), spent = _timed(compiled)
        named = {number for place, *_ in form.program.named for _, number in form.bits[place]}
        return self._form("opb", spent, form.top, len(named), (len(row.terms) for row in rows))

    def lp(self) -> CompiledForm:
        from cpx.backends.integer_program import integer_program

        program, spent = _timed(lambda: integer_program(self.statement))
        return self._form(
            "lp",
            spent,
            len(program.columns),
            len({place for place, *_ in program.named}),
            (len(row.terms) for row in program.rows),
            root=root_bound(program, self.limit),
        )

    def cp_sat(self) -> CompiledForm:
        from cpx.backends.cpsat.compile import compile_cp_model

        (model, variables), spent = _timed(lambda: compile_cp_model(self.statement))
        indices = {
            v.index if v.index >= 0 else -v.index - 1
            for array in variables.values()
            for v in array
            if hasattr(v, "index")
        }
        proto = model.proto
        lengths = map(_terms, proto.constraints)
        return self._form("cp-sat", spent, len(proto.variables), len(indices), lengths)


def _terms(constraint: Any) -> int:
    """Return how many literals and terms a constraint of CP-SAT has."""
    # To read a part that a constraint does not have would make it one.
    n = len(constraint.enforcement_literal)
    if constraint.has_linear():
        return n + len(constraint.linear.vars)
    kinds = ("bool_or", "bool_and", "at_most_one", "exactly_one", "bool_xor")
    here = (kind for kind in kinds if getattr(constraint, f"has_{kind}")())
    return n + sum(len(getattr(constraint, kind).literals) for kind in here)


def root_bound(program: IntegerProgram, limit: float | None = None) -> float | None:
    """Return the bound of the linear relaxation of a program on its objective.

    None where it has no solution, or none is found within ``limit`` seconds.
    """
    from scipy.sparse import coo_array

    from cpx.backends.linear_program import minimum

    sign = -1 if program.maximise else 1
    least = np.array([column.low for column in program.columns], dtype=float)
    costs = np.zeros(least.size)
    for coefficient, place in program.objective:
        costs[place] += sign * coefficient
    terms = [(r, place, c) for r, row in enumerate(program.rows) for c, place in row.terms]
    at, places, values = np.array(terms, dtype=float).reshape(-1, 3).T
    shape = (len(program.rows), least.size)
    matrix = coo_array((values, (at.astype(int), places.astype(int))), shape=shape)
    # Variables of the linear program begin at 0.
    sides = np.array([row.constant for row in program.rows], dtype=float) - matrix @ least
    kinds = np.array([row.operator for row in program.rows], dtype=object)
    high = np.where(kinds == ">=", np.inf, sides)
    low = np.where(kinds == "<=", -np.inf, sides)
    most = np.array([column.high for column in program.columns], dtype=float) - least
    found = minimum(costs, matrix, high, most, low, limit)
    if found is None:
        return None
    return sign * float(costs @ (found[0] + least)) + program.offset
