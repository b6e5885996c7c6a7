"""The data of Polato and Aiolli, enumerated or drawn in code: rows of bits and a known rule."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from cpx.data.bits import Bits
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.models.kernel_rule.form import DNF, canonical, true_of
from cpx.support.validation import integer_in, open_unit, valid_seed


@dataclass(frozen=True, eq=False)
class BooleanDataset:
    """Rows of bits, their classes, and the rule that tells the classes apart.

    Attributes
    ----------
    name : str
    X : ndarray of bool, shape (n, d)
        As many ones in every row.
    y : ndarray of bool, shape (n,)
        True for the positive class.
    features : tuple of str
        What each bit means.
    rule : DNF
        True of the positive rows and of no other.
    """

    name: str
    X: Bits
    y: Bits
    features: tuple[str, ...]
    rule: DNF


_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_PLACES = [f"{row}-{column}" for row in ("top", "middle", "bottom")
           for column in ("left", "middle", "right")]  # fmt: skip


def tic_tac_toe() -> BooleanDataset:
    """Return the 958 boards at which a game of tic-tac-toe ends; positive: x has won.

    Three bits per square: x, o, blank.

    Examples
    --------
    >>> data = tic_tac_toe()
    >>> data.X.shape, int(data.y.sum()), len(data.rule)
    ((958, 27), 626, 8)
    """
    boards = np.array(sorted(_ends()))
    X = np.asarray(boards[:, :, None] == np.arange(3), dtype=np.bool_).reshape(len(boards), 27)
    features = tuple(f"{place} = {mark}" for place in _PLACES for mark in ("x", "o", "blank"))
    rule: DNF = tuple(sorted(tuple(3 * square for square in line) for line in _LINES))
    won = [_has_line(board, 0) for board in boards.tolist()]
    return BooleanDataset("tic-tac-toe", X, np.array(won), features, rule)


def _ends() -> set[tuple[int, ...]]:
    """Return the boards at which games end: 0 is x, who begins, 1 is o, 2 is blank."""
    ends: set[tuple[int, ...]] = set()
    boards: set[tuple[int, ...]] = {(2,) * 9}
    for move in range(9):
        player = move % 2
        after = {
            (*board[:square], player, *board[square + 1 :])
            for board in boards
            for square in range(9)
            if board[square] == 2
        }
        over = {board for board in after if move == 8 or _has_line(board, player)}
        ends |= over
        boards = after - over
    return ends


def _has_line(board: tuple[int, ...], player: int) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


_SIZES = (3, 3, 2, 3, 4, 2)


def monks(number: int) -> BooleanDataset:
    """Return the 432 rows of monk's problem 1 or 3, without noise.

    Six attributes a1 to a6 with 3, 3, 2, 3, 4 and 2 values, one bit per value. Problem 1 is
    ``a1 = a2 or a5 = 1``, problem 3 ``(a5 = 3 and a4 = 1) or (a5 != 4 and a2 != 3)`` [1]_.

    Parameters
    ----------
    number : {1, 3}

    References
    ----------
    .. [1] S. B. Thrun et al.: The MONK's Problems: A Performance Comparison of Different
       Learning Algorithms, CMU-CS-91-197, 1991.

    Examples
    --------
    >>> data = monks(1)
    >>> data.X.shape, int(data.y.sum()), data.rule
    ((432, 17), 216, ((0, 3), (1, 4), (2, 5), (11,)))
    """
    if number not in (1, 3):
        raise InvalidOption(f"number must be 1 or 3, got {shown(number)}")
    a = np.array(list(product(*(range(1, size + 1) for size in _SIZES))))
    X = np.column_stack(
        [a[:, i] == v for i, size in enumerate(_SIZES) for v in range(1, size + 1)]
    )
    features = tuple(
        f"a{i + 1} = {v}" for i, size in enumerate(_SIZES) for v in range(1, size + 1)
    )
    if number == 1:
        y = (a[:, 0] == a[:, 1]) | (a[:, 4] == 1)
        rule: DNF = ((0, 3), (1, 4), (2, 5), (11,))
    else:
        y = ((a[:, 4] == 3) & (a[:, 3] == 1)) | ((a[:, 4] != 4) & (a[:, 1] != 3))
        pairs = [(second, fifth) for second in (3, 4) for fifth in (11, 12, 13)]
        rule = (*pairs, (8, 13))
    return BooleanDataset(f"monks-{number}", X, y, features, rule)


_ROWS, _WIDTH = 1000, 30

_PRINTED: dict[str, DNF] = {
    "art-d2-c4": ((1, 9, 11, 14), (17, 27)),
    "art-d3-c3": ((3, 28), (7, 14, 26), (27,)),
    "art-d4-c2": ((0, 7), (3,), (5, 9), (8,)),
    "art-d4-c3": ((0, 26), (5, 15, 19), (8, 20, 21), (21, 25)),
}
# Clauses and most literals of the rules that the paper does not print.
_UNPRINTED = {"art-d5-c4": (5, 4), "art-d5-c5": (5, 5)}

ARTIFICIAL = (*_PRINTED, *_UNPRINTED)
"""Names of the artificial data sets."""


def artificial(name: str, ones: int = 10, seed: int = 0) -> BooleanDataset:
    """Return 1000 different random rows of 30 bits, labelled by an artificial rule of the paper.

    Each row has the same number of ones, as in the paper, which does not tell how many. It prints
    four of the rules; for ``art-d5-c4`` and ``art-d5-c5`` one is drawn: five clauses, the longest
    of as many literals as the name says, the others of at least two.

    Parameters
    ----------
    name : str
        ``art-d2-c4``, ``art-d3-c3``, ``art-d4-c2``, ``art-d4-c3``, ``art-d5-c4``, ``art-d5-c5``.
    ones : int
        Ones in a row, from 5 to 25.
    seed : int

    Examples
    --------
    >>> data = artificial("art-d3-c3")
    >>> data.X.shape, data.rule, set(data.X.sum(axis=1).tolist())
    ((1000, 30), ((3, 28), (7, 14, 26), (27,)), {10})
    """
    if name not in ARTIFICIAL:
        raise UnknownName("artificial data set", name, ARTIFICIAL)
    ones = integer_in("ones", ones, 5, 25)
    rng = np.random.default_rng(valid_seed(seed))
    rule = _PRINTED.get(name) or _drawn_rule(*_UNPRINTED[name], rng)
    rows: dict[bytes, Bits] = {}
    while len(rows) < _ROWS:
        row = np.zeros(_WIDTH, dtype=np.bool_)
        row[rng.choice(_WIDTH, ones, replace=False)] = True
        rows.setdefault(row.tobytes(), row)
    X = np.array(list(rows.values()))
    return BooleanDataset(name, X, true_of(rule, X), tuple(f"x{j}" for j in range(_WIDTH)), rule)


def _drawn_rule(clauses: int, literals: int, rng: np.random.Generator) -> DNF:
    sizes = [literals, *rng.integers(2, literals, clauses - 1, endpoint=True).tolist()]
    drawn = [rng.choice(_WIDTH, size, replace=False).tolist() for size in sizes]
    return canonical(drawn)


def with_noise(y: Bits, share: float, seed: int) -> Bits:
    """Return labels of which a share, rounded to a number of rows, is turned around.

    Examples
    --------
    >>> int(with_noise(np.zeros(100, dtype=bool), 0.05, seed=0).sum())
    5
    """
    share = open_unit("share", share)
    rng = np.random.default_rng(valid_seed(seed))
    turned = np.zeros(len(y), dtype=np.bool_)
    turned[rng.choice(len(y), round(share * len(y)), replace=False)] = True
    return np.asarray(y ^ turned)


DATASETS = ("tic-tac-toe", "monks-1", "monks-3", *ARTIFICIAL)
"""Names of the data sets, in the order of the paper's Table 1."""


def dataset(name: str, seed: int = 0) -> BooleanDataset:
    """Return a data set by its name; ``seed`` draws those that are artificial.

    Raises
    ------
    UnknownName
        With the nearest name.
    """
    if name not in DATASETS:
        raise UnknownName("data set", name, DATASETS)
    if name == "tic-tac-toe":
        return tic_tac_toe()
    return artificial(name, seed=seed) if name in ARTIFICIAL else monks(int(name[-1]))
