"""Enumeration of reasons; the attributes that are in all of them, or in some."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from numpy.typing import ArrayLike

from cpx.models.sufficient_reason.methods.deletion import delete_from_change, delete_from_reason
from cpx.models.sufficient_reason.sufficiency.oracle import Stopped, SufficiencyOracle
from cpx.models.sufficient_reason.sufficiency.set_family import places, shuffled
from cpx.support.validation import positive_integer, valid_seed
from cpx.trees import TreeModel

__all__ = ["Reasons", "enumerate_reasons", "necessary_attributes", "relevant_attributes"]


@dataclass(frozen=True)
class Reasons:
    """Subset-minimal sufficient reasons of a row.

    reasons: Each increasing, in the order they were found.
    changes: The minimal changes met on the way: each reason meets each of them.
    complete: Whether these are all reasons, and all minimal changes.
    calls: Sets asked about.
    """

    reasons: tuple[tuple[int, ...], ...]
    changes: tuple[tuple[int, ...], ...]
    complete: bool
    calls: int
    seconds: float


def enumerate_reasons(
    model: TreeModel,
    x: ArrayLike,
    n: int | None = None,
    *,
    time_limit: float | None = None,
    seed: int = 0,
) -> Reasons:
    """Find n subset-minimal sufficient reasons, or all of them.

    A SAT solver keeps the map of sets not yet known to be sufficient or not. A set from there
    is shrunk to a reason or its complement to a change, and what follows is blocked (M.
    Liffiton, A. Previti, A. Malik, J. Marques-Silva, *Fast, flexible MUS enumeration*,
    Constraints 21, 2016).

    Parameters
    ----------
    model : TreeModel
    x : (d,) array of numbers
    n : int, optional
        All when not given.
    time_limit : float, optional
        Seconds after which the reasons so far are returned.
    seed : int

    Returns
    -------
    Reasons

    Raises
    ------
    DataError, InvalidOption
        When x, n or another argument makes no sense.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from cpx.trees import read_model
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    >>> found = enumerate_reasons(read_model(forest), X[50])
    >>> found.reasons, found.complete
    (((2, 3),), True)
    """
    wanted = None if n is None else positive_integer("n", n)
    oracle = SufficiencyOracle.of_row(model, x, time_limit)
    found: dict[bool, list[tuple[int, ...]]] = {True: [], False: []}
    complete = False
    with suppress(Stopped):
        for sufficient, bits in _walk(oracle, Random(valid_seed(seed))):
            found[sufficient].append(tuple(sorted(oracle.features(bits))))
            if len(found[True]) == wanted:
                break
        else:
            complete = True
    return Reasons(
        tuple(found[True]),
        tuple(found[False]),
        complete,
        oracle.calls,
        oracle.seconds,
    )


def necessary_attributes(model: TreeModel, x: ArrayLike) -> tuple[int, ...]:
    """Return the attributes that are in all sufficient reasons.

    These are the ones whose change alone can change the class.

    Parameters
    ----------
    model : TreeModel
    x : (d,) array of numbers

    Returns
    -------
    tuple of int

    Raises
    ------
    DataError
        When x does not fit the model.
    """
    oracle = SufficiencyOracle.of_row(model, x)
    needed = [p for p in places(oracle.everything) if oracle.change(1 << p) is not None]
    return tuple(oracle.grid.used[place] for place in needed)


def relevant_attributes(
    model: TreeModel, x: ArrayLike, *, time_limit: float | None = None, seed: int = 0
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the attributes that are in some subset-minimal sufficient reason.

    These are the ones in some minimal change, too, so whatever is found tells.

    Parameters
    ----------
    model : TreeModel
    x : (d,) array of numbers
    time_limit : float, optional
        Seconds after which the answer may be incomplete.
    seed : int

    Returns
    -------
    relevant, undecided : tuples of int
        Nothing is undecided unless the time was over.

    Raises
    ------
    DataError, InvalidOption
        When x or another argument makes no sense.
    """
    oracle = SufficiencyOracle.of_row(model, x, time_limit)
    relevant, undecided = 0, oracle.everything
    with suppress(Stopped):
        for _, bits in _walk(oracle, Random(valid_seed(seed))):
            relevant |= bits
            undecided &= ~bits
            if not undecided:
                break
        undecided = 0
    return (
        tuple(sorted(oracle.features(relevant))),
        tuple(sorted(oracle.features(undecided))),
    )


def _walk(oracle: SufficiencyOracle, random: Random) -> Iterator[tuple[bool, int]]:
    """Find all minimal reasons (true) and minimal changes (false), each once."""
    from pysat.solvers import Solver

    everything = oracle.everything
    with Solver("glucose4") as unknown:
        # Large sets first: they are sufficient sooner.
        unknown.set_phases([place + 1 for place in places(everything)])
        while unknown.solve():
            model = unknown.get_model() or []
            absent = sum(1 << -v - 1 for v in model if v < 0)
            chosen = everything & ~absent
            change = oracle.change(absent)
            if change is None:
                order = shuffled(chosen, random)
                reason, _ = delete_from_reason(oracle, chosen, order, lambda _: None)
                unknown.add_clause([-place - 1 for place in places(reason)])
                yield True, reason
            else:
                small = delete_from_change(oracle, change, shuffled(change, random))
                unknown.add_clause([place + 1 for place in places(small)])
                yield False, small
