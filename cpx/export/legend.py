"""Legends: comments in an exported file that explain its variables and its objective.

Every exported file begins with comments, in the format's own sign of a comment::

    c objective = value + 12
    c 1 = X[0]: petal length <= 1.9
    c 2 = X[1]: petal width <= 0.6

so that the answer of an outside solver can be read back by :func:`read_legend`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cpx.answers.text import one_line
from cpx.errors import DataError
from cpx.export.document import Section
from cpx.modelling.encodings import added_encoding

if TYPE_CHECKING:
    from cpx.modelling.base import Problem
    from cpx.modelling.statement import Statement

_OBJECTIVE = re.compile(r"^(?:c|\*|\\|#|%) objective = (?:value ([+-]) (\d+)|(-?\d+) - value)$")
_NAME = re.compile(r"^(?:c|\*|\\|#|%) (\S+) = (\w+)\[(\d+)\](?:: .*)?$")


@dataclass(frozen=True)
class Legend:
    """What an exported file says about itself.

    Attributes
    ----------
    names : mapping of str to (str, int)
        The name or number of a variable in the file to the array and the index of the
        variable in the statement, ``("X", 0)`` for X[0].
    sign, offset : int
        The problem's objective is ``sign * value + offset`` of the file's value.
    """

    names: Mapping[str, tuple[str, int]]
    sign: int
    offset: int

    def objective(self, value: int) -> int:
        """Return the problem's objective of the optimal value of the file."""
        return self.sign * value + self.offset

    def features(self, true: Iterable[object], array: str = "X") -> list[int]:
        """Return the features chosen where these variables of the file are true.

        Parameters
        ----------
        true : iterable of str or int
            Names, or numbers, of the true variables; those of other arrays and auxiliary
            ones are ignored.
        array : str
            The array of the statement that stands for the features.
        """
        found = (self.names.get(str(name)) for name in true)
        return sorted({entry[1] for entry in found if entry is not None and entry[0] == array})


def read_legend(data: bytes, *, exported: bool = True) -> Legend:
    r"""Read the legend of an exported file, of any format.

    Parameters
    ----------
    data : bytes
    exported : bool
        Whether it must say what the objective is, as exported files do. The objective of another
        one is its value.

    Raises
    ------
    DataError
        When the data has no such comments.

    Examples
    --------
    >>> legend = read_legend(b"c objective = value + 3\nc 1 = X[0]: a\nc 2 = C[0]\nh 1 2 0\n")
    >>> legend.objective(4)
    7
    >>> legend.features([1, 2])
    [0]
    """
    names: dict[str, tuple[str, int]] = {}
    sign = offset = None
    for line in data.decode("utf-8", "replace").split("\n"):
        if match := _NAME.match(line):
            names[match[1]] = (match[2], int(match[3]))
        elif match := _OBJECTIVE.match(line):
            sign = 1 if match[3] is None else -1
            offset = int(match[1] + match[2]) if match[3] is None else int(match[3])
    if sign is None or offset is None:
        if not exported:
            return Legend(names, 1, 0)
        raise DataError("no legend: this is no file that cpx exported")
    return Legend(names, sign, offset)


def head(
    mark: str,
    problem: Problem,
    encoding: str,
    lines: Iterable[str],
    offset: int,
    sign: int = 1,
) -> Section:
    """Return the section of comments that begins a file.

    mark: The sign of a comment with a blank, such as ``"c "``.
    problem, encoding: What is stated, and how.
    lines: What to say about the format and the sizes.
    offset, sign: See :class:`Legend`.
    """
    name = one_line(str(getattr(problem, "name", "")))
    title = f"{problem.kind}{f' {name!r}' if name else ''}, encoding {encoding}"
    if sign > 0:
        meaning = f"objective = value {'-' if offset < 0 else '+'} {abs(offset)}"
    else:
        meaning = f"objective = {offset} - value"
    said = warnings_of(problem, encoding)
    return Section.of([f"{mark}{line}" for line in (title, *lines, *said, meaning)])


def warnings_of(problem: Problem, encoding: str) -> list[str]:
    """Return what must be known of an encoding before its answers are believed.

    >>> from cpx import KMonomial, Samples
    >>> problem = KMonomial(Samples([[1, 0], [0, 1]], [1, 0]), k=1)
    >>> warnings_of(problem, "clausal"), len(warnings_of(problem, "table1-literal"))
    ([], 1)
    """
    known = {form.name: form for form in problem.encodings}
    form = known.get(encoding) or added_encoding(problem, encoding)
    out: list[str] = []
    if form is None:
        return out
    if not form.faithful:
        out.append(
            f"encoding {form.name!r} is kept for study and is not the problem: its optimum may "
            "be better than the problem's, and its solutions worse than they seem"
        )
    if encoding not in known:
        out.append(f"encoding {form.name!r} is your own: nobody has checked it here")
    return out


def names_of(problem: Problem) -> Mapping[str, tuple[str, ...]]:
    """Return words for the elements of arrays: the literals of X for a rule."""
    return {"X": problem.feature_names}


def legend_items(
    mark: str,
    problem: Problem,
    statement: Statement,
    outside: Iterable[tuple[object, str, int]],
) -> Iterator[str]:
    """Make one comment line for each variable: its name outside, array and index, and meaning."""
    words, means = names_of(problem), statement.means
    for name, array, index in outside:
        text = words.get(array, ())
        meaning = f": {one_line(text[index])}" if index < len(text) else ""
        if array in means:
            meaning = f": {means[array](index)}"
        yield f"{mark}{name} = {array}[{index}]{meaning}"
