"""What programs print, read line by line: values, solutions, and what they claim in the end.

Sources: the rules of the MaxSAT Evaluation (since 2022) and of the pseudo-Boolean competitions;
the FlatZinc specification of MiniZinc; ``glp_write_mip`` of the GLPK reference manual.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from cpx.errors import EngineError, shown

__all__ = ["Answer", "answer_reader"]

Assignment = dict[str, Fraction]

_WORDS = {
    "OPTIMUM FOUND": True,
    "UNSATISFIABLE": True,
    "SATISFIABLE": False,
    "UNKNOWN": False,
    "UNSUPPORTED": False,
}
_LITERAL = re.compile(r"[+-]?[0-9]+")
_NAME = re.compile(r"[~-]?x[0-9]+")
_EQUATION = re.compile(r"(\w+) = (-?[0-9]+|true|false);")


class Answer(ABC):
    """The lines of one run.

    value: The last value that it printed, of what it minimises.
    word: Its own last word.
    finished: Whether it claims that its last solution is optimal, or, without one, that there is
        none.
    solutions: How many it printed in full.
    """

    def __init__(self, found: Callable[[Assignment], None]) -> None:
        self._found = found
        self.value: Fraction | None = None
        self.word, self.finished, self.infeasible, self.solutions = "", False, False, 0

    @abstractmethod
    def line(self, text: str) -> None:
        """Read a line; raise EngineError for one that cannot be meant."""

    @abstractmethod
    def end(self, solution: Path) -> None:
        """Read what is left at the end, such as the file of a solution."""

    def _solution(self, assignment: Assignment) -> None:
        self.solutions += 1
        self._found(assignment)


class _Competition(Answer):
    """Lines ``o``, ``s`` and ``v``."""

    def __init__(self, found: Callable[[Assignment], None]) -> None:
        super().__init__(found)
        self._literals: list[str] | None = None

    def line(self, text: str) -> None:
        kind, _, rest = text.partition(" ")
        rest = rest.strip()
        if kind == "o":
            self._end_of_solution()
            try:
                self.value = Fraction(int(rest))
            except ValueError:
                raise EngineError(f"no value: {shown(text)}") from None
        elif kind == "s":
            if rest not in _WORDS:
                raise EngineError(f"unknown status: {shown(text)}")
            self.word, self.finished = rest, _WORDS[rest]
            self.infeasible = rest == "UNSATISFIABLE"
        elif kind == "v":
            self._literals = (self._literals or []) + rest.split()

    def end(self, solution: Path) -> None:
        self._end_of_solution()

    def _end_of_solution(self) -> None:
        literals, self._literals = self._literals, None
        if literals is not None:
            self._solution(self._assignment(literals))

    @abstractmethod
    def _assignment(self, literals: list[str]) -> Assignment:
        """Return what the words of ``v`` lines say."""


class _MaxSat(_Competition):
    """Numbers of true and false variables, or one string of bits."""

    def _assignment(self, literals: list[str]) -> Assignment:
        bits = "".join(literals)
        if len(literals) == 1 and re.fullmatch(r"[01]+", bits):
            return {str(i): Fraction(int(bit)) for i, bit in enumerate(bits, 1)}
        assignment: Assignment = {}
        for literal in literals:
            if not _LITERAL.fullmatch(literal):
                raise EngineError(f"no literal in a v line: {shown(literal)}")
            if number := int(literal):
                assignment[str(abs(number))] = Fraction(int(number > 0))
        return assignment


class _PseudoBoolean(_Competition):
    """Names of variables, ``-`` before those that are false."""

    def _assignment(self, literals: list[str]) -> Assignment:
        assignment: Assignment = {}
        for literal in literals:
            if not _NAME.fullmatch(literal):
                raise EngineError(f"no literal in a v line: {shown(literal)}")
            false = literal[0] in "~-"
            assignment[literal.lstrip("~-")] = Fraction(int(not false))
        return assignment


class _FlatZinc(Answer):
    """Equations, a line of ten hyphens after each solution, of equals signs at the end."""

    def __init__(self, found: Callable[[Assignment], None]) -> None:
        super().__init__(found)
        self._equations: Assignment = {}

    def line(self, text: str) -> None:
        if text == "----------":
            equations, self._equations = self._equations, {}
            self.value = equations.pop("value", self.value)
            self.word = self.word or "SATISFIED"
            self._solution(equations)
        elif text == "==========":
            self.word, self.finished = "ALL SOLUTIONS", True
        elif text.startswith("====="):
            self.word = text.strip("=")
            self.infeasible = self.finished = self.word == "UNSATISFIABLE"
        elif found := _EQUATION.fullmatch(text):
            words = {"true": 1, "false": 0}
            text = found[2]
            self._equations[found[1]] = Fraction(words[text] if text in words else int(text))

    def end(self, solution: Path) -> None:
        """Nothing is left: a solution that was not ended is none."""


_STATES = {"o": "INTEGER OPTIMAL", "f": "INTEGER NON-OPTIMAL", "n": "INTEGER EMPTY"}
_NOTHING = ("PROBLEM HAS NO PRIMAL FEASIBLE SOLUTION", "PROBLEM HAS NO INTEGER FEASIBLE SOLUTION")


class _Glpk(Answer):
    """The file that ``glpsol -w`` writes."""

    def line(self, text: str) -> None:
        if text.startswith(_NOTHING):
            self.infeasible = True

    def end(self, solution: Path) -> None:
        if not solution.exists():
            return
        assignment: Assignment = {}
        for line in solution.read_text(errors="replace").splitlines():
            fields = line.split()
            try:
                if fields[:2] == ["s", "mip"]:
                    self.word = _STATES.get(fields[4], "INTEGER UNDEFINED")
                    self.value = Fraction(fields[5])
                elif fields[:1] == ["j"]:
                    assignment[f"x{int(fields[1])}"] = Fraction(fields[2])
            except (ValueError, IndexError):
                raise EngineError(f"no line of a solution file: {shown(line)}") from None
        if self.word == "INTEGER EMPTY" or (self.infeasible and self.word.endswith("UNDEFINED")):
            self.infeasible = self.finished = True
        elif assignment and self.word in (_STATES["o"], _STATES["f"]):
            self.infeasible, self.finished = False, self.word == _STATES["o"]
            self._solution(assignment)


def answer_reader(form: str, found: Callable[[Assignment], None]) -> Answer:
    """Return a reader for one of the answers of a definition.

    >>> reader = answer_reader("pb", lambda assignment: print(dict(assignment)))
    >>> for line in ("c hello", "o 3", "s OPTIMUM FOUND", "v x1 -x2"):
    ...     reader.line(line)
    >>> reader.end(Path("none"))
    {'x1': Fraction(1, 1), 'x2': Fraction(0, 1)}
    >>> reader.value, reader.finished
    (Fraction(3, 1), True)
    """
    kinds: dict[str, Callable[..., Answer]] = {
        "maxsat": _MaxSat,
        "pb": _PseudoBoolean,
        "flatzinc": _FlatZinc,
        "glpk": _Glpk,
    }
    return kinds[form](found)
