"""Candidate rules by association mining: literals that often occur together in the class."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpx.errors import DataError, EngineMissing, InvalidOption, shown
from cpx.models.rule_set.methods.candidates.literals import Literals
from cpx.support.validation import positive_integer, real

_MOST_SETS = 2_000_000
_CELLS = 2**25  # of a block of rules against samples


def association_rules(
    literals: Literals, same: Any, *, k: int = 2, min_support: float = 0.1, n: int = 1000
) -> tuple[tuple[int, ...], ...]:
    """Return class association rules, mined by FP-growth of the package mlxtend.

    Parameters
    ----------
    literals : Literals
    same : array of bool, shape (m,)
        Which samples are of the class; both kinds must occur.
    k : int
        Maximum number of literals of a rule.
    min_support : float
        Least share of the samples *of the class* that a rule covers, above 0 and at most 1.
    n : int
        Maximum number of rules.

    Returns
    -------
    tuple of tuples of int
        The rules as literals. First come those that cover more samples of the class, less those
        of other classes; rules where this is not positive are left out, and so are those that
        cover the same as a rule with fewer literals.

    Raises
    ------
    EngineMissing
        Without mlxtend; with the pip line.
    DataError
        When there may be millions of sets: the sets with one literal more are bounded by those
        there are (Kruskal and Katona), before they are mined.

    References
    ----------
    B. Liu, W. Hsu, Y. Ma: Integrating Classification and Association Rule Mining, KDD 1998;
    J. Han, J. Pei, Y. Yin: Mining Frequent Patterns without Candidate Generation, SIGMOD 2000.
    """
    labels = literals.labels(same)
    positive_integer("k", k)
    positive_integer("n", n)
    support = real(min_support)
    if support is None or not 0 < support <= 1:
        raise InvalidOption(f"min_support must be above 0 and at most 1, got {shown(min_support)}")
    sets = _frequent(literals.matrix[labels], support, k)
    sign = np.where(labels, 1, -1)
    found: dict[bytes, tuple[int, tuple[int, ...]]] = {}
    block = max(1, _CELLS // len(labels))
    for first in range(0, len(sets), block):
        part = sets[first : first + block]
        covers = literals.covers(part)
        for rule, cover, gain in zip(part, covers, covers @ sign, strict=True):
            if gain > 0:
                found.setdefault(np.packbits(cover).tobytes(), (-int(gain), rule))
    best = sorted(found.values(), key=lambda rule: (rule[0], len(rule[1]), rule[1]))
    return tuple(rule for _, rule in best[:n])


def _frequent(truth: NDArray[np.bool_], support: float, k: int) -> list[tuple[int, ...]]:
    """Return the frequent sets of at most k literals, short ones first."""
    try:
        from mlxtend.frequent_patterns import fpgrowth
    except ImportError as error:
        raise EngineMissing("association mining needs mlxtend: pip install mlxtend") from error
    table = pd.DataFrame(truth)
    sets: list[tuple[int, ...]] = []
    for size in range(1, k + 1):
        mined = fpgrowth(table, min_support=support, max_len=size)["itemsets"]
        sets = sorted((tuple(sorted(map(int, s))) for s in mined), key=lambda s: (len(s), s))
        most = _at_most(sum(len(s) == size for s in sets), size)
        if size < k and most > _MOST_SETS:
            raise DataError(
                f"up to {most:.2g} sets of {size + 1} literals may hold of {support:g} of the "
                "class: use a higher min_support, a smaller k or fewer literals"
            )
    return sets


def _at_most(count: int, size: int) -> float:
    """Bound the sets with one element more, all of whose parts are among the ``count`` sets.

    Lovász's form of the theorem of Kruskal and Katona: with count = C(x, size) for a real
    x >= size, there are at most C(x, size + 1).
    """
    x = float(size)
    while _choose(x, size) < count:
        x += 1
    return count * max(0.0, x - size) / (size + 1)


def _choose(x: float, size: int) -> float:
    return math.prod(x - i for i in range(size)) / math.factorial(size)
