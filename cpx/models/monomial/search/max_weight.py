"""Maximum-weight monomials, for weights of either sign, floats too: the pricing problem.

This is the pricing problem of column generation (weights are duals), and the search for rules
of a kernel machine (weights are y_i alpha_i).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import InvalidInstance, shown
from cpx.modelling.side_constraints.form import NO_SIDE_CONSTRAINTS, SideConstraints
from cpx.models.monomial.form import WeightedMonomial
from cpx.processes.threads import start_thread
from cpx.support.validation import index_set, integer_in, positive_integer, seconds

if TYPE_CHECKING:
    from cpx.models.monomial.search.driver import Workers
    from cpx.models.monomial.search.presolve import Reduced

Ints = NDArray[np.int64]

_MOST_BITS, _MOST_SUM = 54, 2**60
_BEAM_WIDTH = 16
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class MaxWeight:
    """Monomials, by decreasing weight.

    Attributes
    ----------
    features : tuple of tuple of int
        The features of each, increasing. Empty when nothing satisfies the constraints.
    weights : tuple of Fraction
        The exact weight of what each covers.
    bound : Fraction or None
        No monomial covers more; None when nothing satisfies the constraints.
    proved : bool
        The search was not cut short: the bound is that of the weights, up to their rounding, and
        no other monomial is heavier than the last of these by more than the rounding.
    nodes : int
        Nodes of the search.
    work : int
        Of the search for the first one, in blocks of eight words that were looked at.
    """

    features: tuple[tuple[int, ...], ...]
    weights: tuple[Fraction, ...]
    bound: Fraction | None
    proved: bool
    nodes: int
    work: int


def max_weight_monomials(
    agreement: ArrayLike,
    weights: ArrayLike,
    k: int,
    *,
    n: int = 1,
    required: Iterable[int] = (),
    forbidden: Iterable[int] = (),
    groups: Iterable[int] | None = None,
    bits: int = 24,
    threads: int = 1,
    time_limit: float | None = None,
    stop: Callable[[], bool] = lambda: False,
    max_work: int | None = None,
    side: SideConstraints = NO_SIDE_CONSTRAINTS,
) -> MaxWeight:
    """Find the monomials of at most k features that cover the greatest weight.

    Parameters
    ----------
    agreement : array of bool, shape (m, d)
        Sample i has feature j.
    weights : array of int or float, shape (m,)
        Finite, of either sign.
    k : int
        Maximum number of features; the empty monomial, which covers all, is one of them.
    n : int
        How many monomials, as in :func:`cpx.solutions`.
    required, forbidden : iterable of int
        Features that every, and no, monomial contains.
    groups : iterable of int, shape (d,), optional
        At most one feature of equal number.
    bits : int
        Bits of the greatest weight, 1 to 54, or fewer where all would add up to 2**60 or more.
        Weights that need more are rounded upwards, so that the bound stays one: with ``bits``
        it is above the optimum by less than ``m * max |weight| / 2**(bits - 1)``. Fewer bits
        are faster.
    threads : int
        Threads for the search of the first one.
    time_limit : float, optional
        Seconds > 0. When they are over there may be fewer monomials.
    stop : callable
        Asked now and then; True ends the search, as the limit does.
    max_work : int, optional
        Ends the search for the first one soon after so much work.
    side : SideConstraints
        Further constraints on the features of a monomial.

    Returns
    -------
    MaxWeight

    Raises
    ------
    InvalidInstance, InvalidOption
        Naming the argument that is wrong.

    Examples
    --------
    >>> found = max_weight_monomials([[1, 1], [1, 0], [0, 1]], [0.5, 0.25, -2.0], k=1)
    >>> found.features, found.weights, found.bound
    (((0,),), (Fraction(3, 4),), Fraction(3, 4))
    """
    form, scale = _form(agreement, weights, k, required, forbidden, groups, bits)
    form = replace(form, side=side)
    n, threads = positive_integer("n", n), positive_integer("threads", threads)
    limit = seconds(None if time_limit == math.inf else time_limit) or math.inf
    end = time.monotonic() + limit
    return _search(
        form,
        scale,
        np.asarray(weights),
        n,
        threads,
        lambda: time.monotonic() > end or stop(),
        math.inf if max_work is None else positive_integer("max_work", max_work),
    )


def _form(
    agreement: ArrayLike,
    weights: ArrayLike,
    k: int,
    required: Iterable[int],
    forbidden: Iterable[int],
    groups: Iterable[int] | None,
    bits: int,
) -> tuple[WeightedMonomial, Fraction]:
    """Return the costs in integers, and how much a weight of 1 is in their unit."""
    table = np.asarray(agreement)
    if table.ndim != 2 or not (table.dtype == np.bool_ or np.isin(table, (0, 1)).all()):
        raise InvalidInstance(f"agreement must be a table of 0 and 1, got shape {table.shape}")
    table = table.astype(np.bool_)
    m, d = table.shape
    given = np.asarray(weights)
    if given.shape != (m,) or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        raise InvalidInstance(f"weights must be {m} finite numbers, got {shown(weights)}")
    bits = integer_in("bits", bits, 1, _MOST_BITS)
    k = integer_in("k", k, 0, error=InvalidInstance)
    numbers = None if groups is None else np.asarray(tuple(groups))
    if numbers is not None and (numbers.shape != (d,) or numbers.dtype.kind not in "iu"):
        raise InvalidInstance(f"groups must be {d} integers, got {shown(groups)}")
    scaled, scale = _scaled(given, bits)
    form = WeightedMonomial(
        table,
        np.maximum(-scaled, 0),
        np.maximum(scaled, 0),
        k,
        tuple(sorted(index_set("required", required, d))),
        tuple(sorted(index_set("forbidden", forbidden, d))),
        groups=None if numbers is None else numbers.astype(np.int64),
    )
    return form, scale


def _scaled(weights: NDArray[Any], bits: int) -> tuple[Ints, Fraction]:
    """Return integers that are not below the weights times a scale, and the scale.

    Floats are multiples of a power of two. Where the greatest has few enough bits in the unit
    of the least, and all of them add up to less than ``_MOST_SUM``, nothing is rounded.
    """
    if not weights.any():
        return np.zeros(len(weights), dtype=np.int64), Fraction(1)
    sizes = np.abs(weights.astype(np.float64))
    # The sum of all, in multiples of the greatest.
    multiple = float((sizes / sizes.max()).sum())
    small = weights.dtype.kind == "i" and -(2**bits) < weights.min() <= weights.max() < 2**bits
    if small and sizes.max() * multiple < _MOST_SUM:
        whole = weights.astype(np.int64)
        common = int(np.gcd.reduce(whole))
        return whole // common, Fraction(1, common)
    exact = [Fraction(weight.item()) for weight in weights]
    most = max(abs(weight) for weight in exact)
    unit = math.lcm(*(weight.denominator for weight in exact))
    common = math.gcd(*(int(weight * unit) for weight in exact))
    scale = Fraction(unit, common)
    bits = min(bits, _MOST_SUM.bit_length() - math.frexp(multiple)[1] - 1)
    if most * scale >= 2**bits:
        # The greatest power of two that leaves the greatest weight so many bits.
        scale = Fraction(2) ** (bits - math.frexp(float(most))[1])
    return np.array([math.ceil(weight * scale) for weight in exact], dtype=np.int64), scale


def _search(
    form: WeightedMonomial,
    scale: Fraction,
    weights: NDArray[Any],
    n: int,
    threads: int,
    over: Callable[[], bool],
    most_work: float,
) -> MaxWeight:
    from cpx.models.monomial.search.beam import beam_columns
    from cpx.models.monomial.search.driver import explore
    from cpx.models.monomial.search.presolve import reduce
    from cpx.models.monomial.search.root import Root
    from cpx.models.monomial.search.solution_pool import best_sets

    # What is covered weighs the sum of what it would cost to exclude, less the value.
    most = int(form.cost_uncovered.sum())
    reduced = reduce(form)
    if reduced is None:
        return MaxWeight((), (), None, True, 0, 0)
    root = Root.whole(reduced)
    columns: list[int] | None = []
    if not root.remaining.allow([]):
        columns = None
    cost = root.cost_of_none() if columns == [] else root.objective.highest + 1
    if root.n and root.k:
        beam = beam_columns(root, _BEAM_WIDTH)
        if root.remaining.allow(beam) and (met := _cost(reduced, beam)) < cost:
            columns, cost = beam, met

    def watch(workers: Workers) -> bool:
        return over() or workers.work_done() > most_work

    done = explore(root, cost, threads, watch)
    if done.columns is not None:
        columns = done.columns
    if columns is None:
        return MaxWeight((), (), None, done.finished, done.nodes, done.work)
    bound = (most - reduced.value(min(done.bound, done.cost))) / scale
    sets, nodes, finished = [reduced.original(columns)], done.nodes, done.finished
    if n > 1 and finished:
        every = reduce(form, every=True)
        assert every is not None
        known = [int(j) for j in np.flatnonzero(np.isin(every.features, sets[0]))]
        with _signalled(over) as signal:
            found = best_sets(every, n, known, signal=signal)
        sets = [every.original(chosen) for chosen in found.columns]
        nodes, finished = nodes + found.nodes, found.finished
    exact = [_weight(form, weights, features) for features in sets]
    order = sorted(range(len(sets)), key=lambda x: (-exact[x], len(sets[x]), sets[x]))
    return MaxWeight(
        tuple(sets[x] for x in order),
        tuple(exact[x] for x in order),
        max(bound, max(exact)),
        finished,
        nodes,
        done.work,
    )


@contextmanager
def _signalled(over: Callable[[], bool]) -> Iterator[Ints]:
    """Give a signal that another thread sets when the search is to end."""
    signal, ended = np.zeros(2, dtype=np.int64), threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            if over():
                signal[0] = 1

    watched: threading.Event | None = None
    try:
        watched = start_thread(watch)
        yield signal
    finally:
        ended.set()
        if watched is not None:
            watched.wait()


def _cost(reduced: Reduced, columns: list[int]) -> int:
    covers = np.asarray(reduced.agreement[:, columns].all(axis=1))
    bad, weights = reduced.bad, reduced.weights
    return int(weights[:bad][covers[:bad]].sum() + weights[bad:][~covers[bad:]].sum())


def _weight(form: WeightedMonomial, weights: NDArray[Any], features: tuple[int, ...]) -> Fraction:
    return sum(map(Fraction, weights[form.covered(features)].tolist()), Fraction(0))
