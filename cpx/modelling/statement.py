"""Statements of problems as CPMpy models, and named ways to state them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import cpmpy

Values = Mapping[str, NDArray[np.int64]]
"""Values of the named arrays of decision variables of a statement."""

FormT = TypeVar("FormT")


@dataclass(frozen=True)
class Statement:
    """A problem stated as a CPMpy model.

    Attributes
    ----------
    model : cpmpy.Model
        Constraints, and an objective without its constant.
    variables : dict of str to array of CPMpy variables
        Every decision variable of the model, as named arrays. Those of several dimensions are
        read row by row: engines, hints and ``decode`` have them in one dimension.
    sense : {"min", "max"}
        Direction of the objective.
    offset : int
        Constant to add to the model's objective. It is kept outside because some
        compilation chains turn a constant into variables or drop it.
    complete : callable
        Maps a sequence of chosen features to values of *all* variables, so that a
        known solution can be handed to an engine in full; those of ``known`` for a solution
        that the statement leaves out.
    core : Statement or None
        The same problem with a part of the variables and constraints, from which the others
        follow: what they add makes relaxations stronger, and solutions by way of them later.
    known : sequence of int or None
        Features of a known solution where the statement has only that one and better ones, so
        that to search through what is left is quick.
    bound : int or None
        A bound on the problem's objective that was proved while the statement was made.
    relaxed : bool
        Whether linear relaxations of it are strong: an engine with a choice searches by them.
    lines : sequence of str
        Of each constraint, the line of the mathematics that it is; those of :class:`Constraints`.
    means : mapping of str to callable
        What the elements of an array stand for, such as ``"sample 3"``, by their index.
    """

    model: cpmpy.Model
    variables: Mapping[str, Any]
    complete: Callable[[Sequence[int]], Values]
    sense: Literal["min", "max"] = "min"
    offset: int = 0
    core: Statement | None = None
    known: Sequence[int] | None = None
    bound: int | None = None
    relaxed: bool = False
    lines: Sequence[str] = ()
    means: Mapping[str, Callable[[int], str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take arrays of any shape in one dimension."""
        from cpx.modelling.blocks import NamedBooleans

        if isinstance(self.variables, NamedBooleans):  # which are not made yet
            return
        flat = {name: _flat(array) for name, array in self.variables.items()}
        if all(array is self.variables[name] for name, array in flat.items()):
            return
        complete = self.complete

        def completed(features: Sequence[int]) -> Values:
            values = complete(features)
            return {name: np.asarray(array).reshape(-1) for name, array in values.items()}

        object.__setattr__(self, "variables", flat)
        if callable(complete):  # an exercise may leave it out
            object.__setattr__(self, "complete", completed)


class Constraints(list[Any]):
    """Constraints, each with the line of the mathematics that it is.

    Attributes
    ----------
    lines : list of str
        As many as there are constraints.

    Examples
    --------
    >>> stated = Constraints()
    >>> stated.under("a or b", [True, False])
    >>> stated.lines
    ['a or b', 'a or b']
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def under(self, line: str, constraints: Iterable[Any]) -> None:
        """Add constraints that are all the same line."""
        self.extend(constraints)
        self.lines += [line] * (len(self) - len(self.lines))


def samples(rows: NDArray[Any]) -> Callable[[int], str]:
    """Return what the variables of these samples stand for, for ``Statement.means``."""
    return lambda element: f"sample {rows[element]}"


def _flat(array: Any) -> Any:
    """Return variables in one dimension: an array that has one as it is."""
    nested = isinstance(array, list | tuple) and any(
        isinstance(row, list | tuple | np.ndarray) for row in array
    )
    if isinstance(array, np.ndarray):
        return array if array.ndim == 1 else array.reshape(-1)
    if isinstance(array, list | tuple) and not nested:
        return array
    import cpmpy as cp

    return cp.cpm_array(list(array) if nested else [array]).reshape(-1)


def maximised(statement: Statement, constant: int) -> Statement:
    """Return the statement that maximises a constant minus what ``statement`` minimises.

    Parameters
    ----------
    statement : Statement
        A minimisation of a weighted sum.
    constant : int
        The value at cost 0.
    """
    model = _negated(statement.model)
    core = None if statement.core is None else maximised(statement.core, constant)
    offset = constant - statement.offset
    return replace(statement, model=model, sense="max", offset=offset, core=core)


def _negated(model: cpmpy.Model) -> cpmpy.Model:
    """Return the model that maximises minus what ``model`` minimises, a weighted sum."""
    import cpmpy as cp
    from cpmpy.expressions.core import Operator

    from cpx.modelling.blocks import blocks_of

    blocks = blocks_of(model)
    if blocks is not None:
        return blocks.negated()
    total = model.objective_
    # CPMpy makes a sum of one variable that variable.
    weights, terms = [1], [total]
    if isinstance(total, Operator):
        weights, terms = (
            total.args if total.name == "wsum" else ([1] * len(total.args), total.args)
        )
    gain = Operator("wsum", [[-int(weight) for weight in weights], list(terms)])
    return cp.Model(model.constraints, maximize=gain)


class Cost(NamedTuple):
    """What it takes to state a problem and to compile the statement for an engine.

    Attributes
    ----------
    seconds : float
        Of processor time.
    megabytes : float
    """

    seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.2g} s and {self.megabytes:.0f} MB"


def _always(form: object) -> bool:
    return True


@dataclass(frozen=True)
class Encoding(Generic[FormT]):
    """A named way to state a problem.

    Attributes
    ----------
    name : str
        Name used on the command line and in results.
    build : callable
        Takes the problem's arrays and returns the :class:`Statement`; its docstring has
        the mathematics, the sizes and the source.
    faithful : bool
        False for an encoding kept for study whose value is not the problem's: it is a relaxation,
        whose bound stays valid and whose claimed optimum does not.
    limits : bool
        False for an encoding that cannot state limits on coverage and precision.
    applies : callable
        For an encoding that says of some arrays no more than another one: whether it says more
        of these. Engines take another one of their choice where it does not.
    cost : callable or None
        Predicts from the arrays, and what the statement is compiled to (``wcnf``, ``lp``,
        ``cp-sat``, or ``""`` for the statement alone), what that takes, None where it cannot be
        said. By default engines take
        no encoding that is predicted to take more than a tenth of the time limit while there is
        a cheaper one.
    every_solution : bool
        False for an encoding that leaves out solutions that are no better than one that it has.
        Where that one is excluded, or constraints are added, nothing follows from it.
    searches : bool
        Whether parts of the exact search help to state it, by a solution and bounds. Without a
        warm start engines take another one of their choice.
    """

    name: str
    build: Callable[[FormT], Statement]
    faithful: bool = True
    limits: bool = True
    applies: Callable[[FormT], bool] = _always
    cost: Callable[[FormT, str], Cost | None] | None = None
    every_solution: bool = True
    searches: bool = False

    @property
    def summary(self) -> str:
        """First line of the docstring of ``build``."""
        return (self.build.__doc__ or "").strip().partition("\n")[0]
