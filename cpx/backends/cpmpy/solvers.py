"""The solvers of CPMpy that no other backend has: constraint and SMT solvers, and CP-SAT as it is.

They count in integers. An optimum that they claim is taken as it is; what was stopped proves
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cpx.backends.base import Outcome
from cpx.backends.cpmpy.interface import Cpmpy
from cpx.backends.cpmpy.run import Run
from cpx.backends.progress import run_interruptibly
from cpx.options import SolveOptions


class Ortools(Cpmpy, solver="ortools", requires={"ortools": "ortools>=9.15,<9.16"}):
    """CP-SAT with its own default parameters, as CPMpy calls it; ``cpsat`` knows better ones."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed", "hint"})

    def parameters(self, options: SolveOptions) -> dict[str, Any]:
        """Return threads and seed; a gap of 0, as CP-SAT's own is in floats."""
        return {
            "num_workers": options.threads,
            "random_seed": options.seed,
            "absolute_gap_limit": 0.0,
            "catch_sigint_signal": False,
        }

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with solutions as they come."""
        from cpmpy.solvers.solver_interface import ExitStatus
        from ortools.sat.python.cp_model import CpSolverSolutionCallback

        from cpx.backends.cpsat.compile import counted, safe_parameters

        native = run.compiled.ort_solver
        parameters = {**safe_parameters(run.compiled.ort_model), **self.parameters(options)}

        class Watcher(CpSolverSolutionCallback):
            def on_solution_callback(self) -> None:
                run.solution(lambda each: [self.value(run.compiled._varmap[v.name]) for v in each])

        def call() -> Outcome:
            outcome = self.solved_by_cpmpy(run, solution_callback=Watcher(), **parameters)
            if run.compiled.status().exitstatus is not ExitStatus.NOT_RUN:
                run.progress.count(**counted(native.response_proto))
            return outcome

        return run_interruptibly(call, run.progress, native.stop_search)

    def last_bound(self, run: Run) -> None:
        """Report the bound, in the integers in which it is proved."""
        model, answer = run.compiled.ort_model.proto.objective, run.compiled.ort_solver
        # Of a run that ends before it has one, the number is 0.
        if len(model.vars) and run.progress.objective is not None:
            bound = answer.response_proto.inner_objective_lower_bound
            run.bound(int(model.scaling_factor or 1) * (int(bound) + int(model.offset)))


class Choco(Cpmpy, solver="choco", requires={"pychoco": "pychoco>=0.2.1,<1"}):
    """Choco: finite domains, branching by conflicts."""

    _needs_worker: ClassVar[bool] = True
    # Choco's integers have 32 bits, and are kept within a hundredth of them.
    largest: ClassVar[int] = 21_474_836

    @classmethod
    def _preload(cls) -> None:
        """Import CPMpy alone: pychoco starts threads, which a child that is forked has not."""
        Cpmpy._preload()

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Ask for one better solution after the other."""
        compiled, progress = run.compiled, run.progress
        native, varmap = compiled.chc_model.get_solver(), compiled._varmap
        objective = None
        if compiled.has_objective():
            objective = compiled.solver_var(compiled.obj)
            compiled.chc_model.set_objective(objective, maximize=not compiled.minimize_obj)
        if progress.remaining is not None:
            # In "1000ms" it reads minutes.
            native.limit_time(f"{max(0.001, progress.remaining):.3f}s")
        claimed = None
        while native.solve():
            run.solution(lambda each: [varmap[v.name].get_value() for v in each])
            claimed = run.claim(0 if objective is None else objective.get_value())
            if objective is None or progress.should_stop:
                break
        state = native.get_search_state()
        # What pychoco calls its nodes are seconds.
        progress.count(conflicts=native.get_fail_count(), restarts=native.get_restart_count())
        return run.outcome(state == "TERMINATED", claimed, state)


class Pumpkin(Cpmpy, solver="pumpkin", requires={"pumpkin_solver": "pumpkin-solver>=0.5,<1"}):
    """Pumpkin: lazy clause generation."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"seed", "hint"})
    _needs_worker: ClassVar[bool] = True
    # Domains have 32 bits.
    largest: ClassVar[int] = 2**30

    def construction(self, options: SolveOptions) -> dict[str, Any]:
        """Return the seed, which Pumpkin takes when it is made; 0 leaves its own."""
        return {"seed": options.seed} if options.seed else {}

    def hint(self, run: Run, values: Mapping[str, Any]) -> None:
        """Hand over a solution, Booleans as the integers that Pumpkin wants here."""
        native, varmap = run.compiled.pum_solver, run.compiled._varmap
        run.compiled._solhint = {
            native.boolean_as_integer(varmap[v.name]) if v.is_bool() else varmap[v.name]: value
            for v, value in run.known(values).items()
        }

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with solutions as they come."""
        varmap = run.compiled._varmap

        def read(solution: Any, each: Sequence[Any]) -> list[int]:
            return [
                solution.bool_value(varmap[v.name])
                if v.is_bool()
                else solution.int_value(varmap[v.name])
                for v in each
            ]

        def found(solution: Any) -> None:
            run.solution(lambda each: read(solution, each))

        more = {"on_solution": found} if run.compiled.has_objective() else {}
        return self.solved_by_cpmpy(run, **more)


class Z3(Cpmpy, solver="z3", requires={"z3": "z3-solver>=4.13"}):
    """Z3: satisfiability modulo theories, core-guided optimisation."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"seed"})

    # Its choices follow the numbers of all expressions that the process has made.
    _needs_worker: ClassVar[bool] = True

    def construction(self, options: SolveOptions) -> dict[str, Any]:
        """Return which of the solvers of Z3."""
        return {"subsolver": "opt"}

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with solutions as they come, and the bound at the end."""
        import z3

        native, progress, varmap = run.compiled.z3_solver, run.progress, run.compiled._varmap

        def read(model: Any, each: Sequence[Any]) -> list[int]:
            values = [model.eval(varmap[v.name], model_completion=True) for v in each]
            return [int(z3.is_true(v)) if z3.is_bool(v) else v.as_long() for v in values]

        def found(model: Any) -> None:
            run.solution(lambda each: read(model, each))

        native.set_on_model(found)
        if options.seed:
            native.set("smt.random_seed", options.seed)
            native.set("sat.random_seed", options.seed)
        if progress.remaining is not None:
            native.set(timeout=max(1, int(1000 * progress.remaining)))
        handle = run.compiled.obj_handle
        word = str(run_interruptibly(native.check, progress, native.ctx.interrupt))
        progress.count(**_counted(native))
        claimed = None
        if word == "sat":
            found(native.model())
            low, high = ((0, 0) if handle is None else _limits(native, handle)) or (0, 1)
            claimed = run.claim(high if run.statement.sense == "min" else low)
            return run.outcome(low == high, claimed, word)
        if handle is not None and word == "unknown" and (limits := _limits(native, handle)):
            run.bound(limits[0] if run.statement.sense == "min" else limits[1])
        return run.outcome(word == "unsat", claimed, word)


def _counted(native: Any) -> dict[str, int]:
    """Return what Z3 counted, by our names; its own say which of its parts it was."""
    found, told = dict[str, int](), native.statistics()
    for key in told.keys():  # noqa: SIM118  # it is no dictionary
        for name in ("conflicts", "decisions", "propagations", "restarts"):
            if name in key.split():
                found[name] = found.get(name, 0) + int(told.get_key_value(key))
    return found


def _limits(native: Any, handle: Any) -> tuple[int, int] | None:
    """Return the bounds of Z3 on its objective; None where one is infinite.

    Of a maximisation that it was stopped in, the lower one may be called the upper one.
    """
    ends = native.lower(handle), native.upper(handle)
    if all(hasattr(end, "as_long") for end in ends):
        low, high = sorted(end.as_long() for end in ends)
        return low, high
    return None


class Glasgow(Cpmpy, solver="gcs", requires={"gcspy": "gcspy>=0.1.8"}):
    """The Glasgow Constraint Solver."""

    _needs_worker: ClassVar[bool] = True
    largest: ClassVar[int] = 2**50

    def search(self, run: Run, options: SolveOptions) -> Outcome:
        """Solve with solutions as they come."""
        return self.solved_by_cpmpy(run, display=run.cpmpy_solution)


class CpOptimizer(Cpmpy, solver="cpo", requires={"docplex": "docplex>=2.29"}):
    """CP Optimizer of IBM, whose program ``cpoptimizer`` is needed."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed"})
    _needs_worker: ClassVar[bool] = True
    largest: ClassVar[int] = 2**50
    _program: ClassVar[str] = "cpoptimizer"

    def parameters(self, options: SolveOptions) -> dict[str, Any]:
        """Return threads and seed; the gaps of CP Optimizer are not 0."""
        return {
            "Workers": options.threads,
            "RandomSeed": options.seed,
            "RelativeOptimalityTolerance": 0.0,
            "OptimalityTolerance": 0.5,
        }


class MiniZinc(Cpmpy, solver="minizinc", requires={"minizinc": "minizinc>=0.9"}):
    """MiniZinc, whose program is needed, with its default solver."""

    supported_options: ClassVar[frozenset[str]] = frozenset({"threads", "seed"})
    _needs_worker: ClassVar[bool] = True
    largest: ClassVar[int] = 2**30
    _program: ClassVar[str] = "minizinc"

    def parameters(self, options: SolveOptions) -> dict[str, Any]:
        """Return threads and seed, where they are not the default: few solvers take them."""
        more = {"processes": options.threads} if options.threads > 1 else {}
        return more | ({"random_seed": options.seed} if options.seed else {})
