"""The backend ``program``: programs of the user's own that read a file and print an answer.

- ``configuration``: which programs there are, from the user's own file;
- ``forms``: statements as WCNF, OPB, LP, MPS and FlatZinc, and assignments as values again;
- ``answers``: the lines that programs print;
- ``run``: one run of a program, killed with what it has started.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from cpx.answers.result import Termination
from cpx.backends.base import DECLINED, Backend, Outcome, Progress
from cpx.backends.program.configuration import Definition, definitions, place
from cpx.backends.provenance import provenance
from cpx.errors import EngineMissing, UnknownName
from cpx.modelling.base import Problem
from cpx.options import SolveOptions

__all__ = ["Program"]

# Beyond it, programs that count in floating point claim what is not so.
_LARGEST_IN_FLOATS = 2**28


class Program(Backend):
    """A program that reads WCNF, OPB, LP, MPS or FlatZinc, as the user has defined it."""

    name: ClassVar[str] = "program"
    requires: ClassVar[Mapping[str, str]] = {
        "cpmpy": "cpmpy>=1.1,<1.2",
        "pulp": "pulp>=3.3.1,<4",
        "pysat": "python-sat[pb]>=1.9.dev2,<2",
    }
    # What a program has started ends with the worker.
    _needs_worker: ClassVar[bool] = True
    _in_all: ClassVar[bool] = False
    summary: ClassVar[str] = "programs of your own: WCNF, OPB, LP, MPS or FlatZinc in, answers out"

    def __init__(self, solver: str | None = None) -> None:
        known = definitions()
        if solver not in known:
            raise UnknownName(f"program (they are defined in {place()})", solver or "", known)
        super().__init__()
        self.solver = solver
        self.definition: Definition = known[solver]

    @classmethod
    def installed(cls) -> list[str]:
        """Return the full names of the programs that are defined and found."""
        known = definitions() if cls.available() else {}
        return [f"{cls.name}:{name}" for name, own in known.items() if _path(own) is not None]

    def accepts(self, problem: Problem) -> bool:
        """Accept what has a statement; raise where the program is not there."""
        self._found()
        return super().accepts(problem)

    def _provenance(self) -> dict[str, str]:
        """Return version, command, path and checksum of the program."""
        own, path = self.definition, _path(self.definition)
        return {} if path is None else provenance(own.name, path, own.command, own.version)

    def _found(self) -> str:
        """Return the path of the program."""
        if (path := _path(self.definition)) is None:
            raise EngineMissing(
                f"the program {self.definition.command[0]!r} of {self.full_name} is not found, or "
                f"not executable; it is defined in {place()}"
            )
        return path

    def solve(self, problem: Problem, options: SolveOptions, progress: Progress) -> Outcome:
        """State, write the file, run and read; see :class:`~cpx.backends.base.Backend`."""
        from cpx.backends.program.forms import form_of_statement
        from cpx.backends.program.run import Run
        from cpx.processes.children import scratch

        definition, path = self.definition, self._found()
        with progress.phase("state"):
            statement = problem.model(options.encoding)
        with progress.phase("compile"):
            form = form_of_statement(statement, definition.format)
            in_floats = definition.format in ("lp", "mps")
            if in_floats and form.largest > _LARGEST_IN_FLOATS:
                told = f"weights that add up to {form.largest} are too large for files of floats"
                return Outcome(False, Termination.COMPLETED, DECLINED, warnings=[told])
        with scratch("cpx-program-") as folder:
            with progress.phase("compile"):
                file = folder / f"problem{form.suffix}"
                with file.open("w", encoding="ascii") as stream:
                    stream.writelines(f"{line}\n" for line in form.lines())
            if progress.should_stop:
                told = "stopped before the search"
                return Outcome(False, progress.why_stopped(), told, sizes=form.sizes)
            with progress.phase("solve"):
                return Run(definition, path, form, options, progress, in_floats).outcome(folder)


def _path(definition: Definition) -> str | None:
    """Return the program's path; a relative one is not looked for in the current directory."""
    word = definition.command[0]
    if "/" in word and not Path(word).expanduser().is_absolute():
        return None
    return shutil.which(Path(word).expanduser())
