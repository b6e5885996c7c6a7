"""How the time to a proof grows with the sizes that the names of instances tell."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from cpx.compare.cases import Cases

__all__ = ["growth", "sizes_in"]

_SIZE = re.compile(r"-([a-z])([0-9]{1,9})(?=-|$)")
_SEED = "s"

Curves = dict[str, tuple[list[int], list[float]]]
"""For each configuration the values of a size, and the median seconds there."""


def sizes_in(name: str) -> tuple[str, dict[str, int]]:
    """Return the family and the sizes in a name like those of :mod:`cpx.library`.

    >>> sizes_in("planted-m400-d24-k4-s0")
    ('planted', {'m': 400, 'd': 24, 'k': 4})
    >>> sizes_in("iris")
    ('iris', {})
    """
    found = list(_SIZE.finditer(name))
    sizes = {one[1]: int(one[2]) for one in found if one[1] != _SEED}
    return (name[: found[0].start()] if sizes else name), sizes


def growth(cases: Cases, order: Sequence[str]) -> Mapping[str, Mapping[str, Curves]]:
    """Return how times grow, by family and size, one size at a time.

    The other sizes are those of the most instances of the family. A run without a proof counts
    with its limit, so a median at the limit means that most are open; runs that failed or were
    refuted count so, too, and those without a limit are left out.
    """
    told = [sizes_in(name) for name, _ in cases.problems]
    members: dict[str, list[int]] = defaultdict(list)
    for problem, (family, sizes) in enumerate(told):
        if sizes:
            members[family].append(problem)
    frame = cases.frame
    seconds = frame["seconds"].where(frame["proved"] & ~frame["wrong"], frame["limit"])
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    for problem, name, one in zip(frame["problem"], frame["configuration"], seconds, strict=True):
        if np.isfinite(one):
            times[problem, name].append(one)
    found: dict[str, dict[str, Curves]] = {}
    for family, problems in members.items():
        letters = list(told[problems[0]][1])
        usual = {
            letter: Counter(told[p][1].get(letter) for p in problems).most_common(1)[0][0]
            for letter in letters
        }
        for letter in letters:
            points: dict[int, list[int]] = defaultdict(list)
            for p in problems:
                own = told[p][1]
                if {**usual, letter: own.get(letter)} == own:
                    points[own[letter]].append(p)
            if len(points) > 1:
                found.setdefault(family, {})[letter] = _curves(points, times, order)
    return found


def _curves(
    points: Mapping[int, list[int]],
    times: Mapping[tuple[int, str], list[float]],
    order: Sequence[str],
) -> Curves:
    curves: Curves = {}
    for name in order:
        at = {
            size: [one for p in points[size] for one in times.get((p, name), [])]
            for size in sorted(points)
        }
        kept = {size: float(np.median(all_)) for size, all_ in at.items() if all_}
        if kept:
            curves[name] = list(kept), list(kept.values())
    return curves
