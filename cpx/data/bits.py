"""Boolean matrices: validated, packed into 64-bit words, as strings; refused if too large."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpx.errors import CpxError, DataError, InvalidInstance, InvalidOption, shown

__all__ = [
    "Bits",
    "bit_array",
    "bit_row",
    "bit_table",
    "bits_of",
    "by_column",
    "matrix_of",
    "minimal_sets",
    "packed_columns",
    "packed_rows",
    "require_rows_fit",
    "row_hashes",
    "string_of",
    "strings_of",
    "surely_distinct",
    "unpacked_row",
]


Bits = NDArray[np.bool_]

_BLOCK = 256  # rows whose values are moved at a time
_PACKED = 2048  # rows that are packed at a time
_HASHED = 2**16


def bit_array(
    name: str, value: object, ndim: int, *, empty: bool = False, error: type[CpxError] = DataError
) -> Bits:
    """Return an array of 0 and 1 as a fresh array of truth values.

    name: Named in messages.
    ndim: How many dimensions it has.
    empty: Whether it may have no entries.
    error: What is raised for anything else.

    >>> bit_array("X", [[0.0, 1.0]], 2)
    array([[False,  True]])
    """
    try:
        array = np.asarray(value)
    except ValueError as wrong:
        raise error(f"{name}: rows of different lengths ({wrong})") from wrong
    if not empty and array.size == 0 and array.ndim <= ndim:
        what = "samples" if array.ndim < 2 or array.shape[0] == 0 else "features"
        raise error(f"{name}: there are no {what} (shape {array.shape})")
    if array.ndim != ndim:
        raise error(f"{name}: {ndim} dimensions expected, got shape {array.shape}")
    if array.dtype == np.bool_:
        return array.copy()
    if array.dtype.kind not in "iuf":
        found = f" such as {shown(array.ravel()[:1].tolist()[0])}" if array.size else ""
        raise error(f"{name}: entries must be 0 or 1, got {array.dtype}{found}")
    strange = (array != 0) & (array != 1)
    if strange.any():
        where = tuple(int(i) for i in np.argwhere(strange)[0])
        place = where[0] if ndim == 1 else where
        raise error(f"{name}: entries must be 0 or 1, got {shown(array[where].item())} at {place}")
    return array.astype(np.bool_)


def bit_table(name: str, value: ArrayLike, width: int | None = None) -> Bits:
    """Return a table of 0 and 1 as truth values, shape (n, d); it may have no rows.

    Raises DataError: When it is none, has no column, or another number of columns than ``width``.
    """
    table = bit_array(name, value, 2, empty=True)
    if not table.shape[1]:
        raise DataError(f"{name}: there are no features (shape {table.shape})")
    if width is not None and table.shape[1] != width:
        raise DataError(f"{name} must have {width} columns, got {table.shape[1]}")
    return table


def bit_row(name: str, value: object, d: int, *, error: type[CpxError] = DataError) -> Bits:
    """Return d values 0 or 1 as truth values, or raise for anything else.

    >>> bit_row("x", [0.0, 1.0], 2)
    array([False,  True])
    """
    try:
        row = np.asarray(value)
    except ValueError:
        row = np.empty(0)
    if row.shape != (d,) or not np.isin(row, (0, 1)).all():
        raise error(f"{name} must be {d} values 0 or 1, got {shown(value)}")
    return row.astype(np.bool_)


def by_column(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a table with its columns one after the other in memory, shape (n, m).

    Block by block: all at once, each value would be fetched past the cache.

    >>> by_column(np.array([[True, False], [True, True]])).tolist()
    [[True, True], [False, True]]
    """
    turned = np.empty(table.shape[::-1], dtype=np.bool_)
    for at in range(0, len(table), _BLOCK):
        turned[:, at : at + _BLOCK] = table[at : at + _BLOCK].T
    return turned


def packed_rows(
    *columns: NDArray[np.bool_],
    rows: NDArray[np.intp] | None = None,
    places: NDArray[np.intp] | None = None,
) -> NDArray[np.uint64]:
    """Return each row of a table packed into words of 64 bits.

    *columns (m, n) or (m,): Tables or single columns, side by side.
    rows, places: Which rows, and which columns of what is side by side; all when not given.
    Returns (rows, words): Behind the bits of a row come zeros. The first bit is the highest one of
        the first byte.

    >>> table = np.array([[True, False, True], [False, False, True]])
    >>> packed = packed_rows(table, table[:, 0])
    >>> packed.shape, packed[:, 0].view(np.uint8)[::8].tolist()
    ((2, 1), [176, 32])
    """
    tables = [column if column.ndim == 2 else column[:, None] for column in columns]
    m = tables[0].shape[0] if rows is None else rows.size
    n = sum(table.shape[1] for table in tables) if places is None else places.size
    # Bits that lie side by side are packed several times faster than row by row.
    padded = np.zeros((min(m, _PACKED), -(-n // 64) * 64), dtype=np.bool_)
    words = np.empty((m, padded.shape[1] // 64), dtype=np.uint64)
    for at, *blocks in zip(range(0, m, _PACKED), *(blocks_of(t, rows) for t in tables)):
        block = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        padded[: len(block), :n] = block if places is None else block[:, places]
        part = words[at : at + _PACKED]
        part[:] = np.packbits(padded[: len(block)].ravel()).view(np.uint64).reshape(part.shape)
    return words


def packed_columns(
    table: NDArray[np.bool_],
    rows: NDArray[np.intp] | None = None,
    places: NDArray[np.intp] | None = None,
    into: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """Return each column of a table packed into bytes, shape (n, bytes); zeros come behind.

    rows, places: Which rows and columns, in their order; all when not given. Nothing is copied
        but a few thousand rows at a time.
    into: Zeros, where they are written; a new array when not given.

    >>> packed_columns(np.array([[True, False], [True, True]])).tolist()
    [[3], [2]]
    """
    m = len(table) if rows is None else rows.size
    n = table.shape[1] if places is None else places.size
    packed = np.zeros((n, -(-m // 8)), dtype=np.uint8) if into is None else into
    for at, block in zip(range(0, m, _PACKED), blocks_of(table, rows)):
        chosen = block if places is None else block[:, places]
        sides = np.packbits(np.ascontiguousarray(chosen.T), axis=1, bitorder="little")
        packed[:, at // 8 : at // 8 + sides.shape[1]] = sides
    return packed


def blocks_of(
    table: NDArray[np.bool_], rows: NDArray[np.intp] | None
) -> Iterator[NDArray[np.bool_]]:
    """Return some rows of a table, or all, a few thousand at a time."""
    for at in range(0, len(table) if rows is None else rows.size, _PACKED):
        block = slice(at, at + _PACKED)
        yield table[block if rows is None else rows[block]]


def unpacked_row(row: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """Return the first n bits of a row that :func:`packed_rows` made.

    >>> unpacked_row(packed_rows(np.array([[True, False, True]]))[0], 3)
    array([ True, False,  True])
    """
    return np.unpackbits(row.view(np.uint8), count=n).view(np.bool_)


def row_hashes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each row, shape (m,); rows with different hashes are different.

    >>> numbers = row_hashes(packed_rows(np.array([[True], [False], [True]])))
    >>> bool(numbers[0] == numbers[2]), bool(numbers[0] == numbers[1])
    (True, False)
    """
    hashes, factors = np.empty(len(words), dtype=np.uint64), _factors(words.shape[1])
    for at in range(0, len(words), _HASHED):
        part = words[at : at + _HASHED]
        np.matmul(part ^ (part >> np.uint64(29)), factors, out=hashes[at : at + _HASHED])
    return hashes


def surely_distinct(words: NDArray[np.uint64]) -> bool:
    """Whether all hashes differ, so that no two rows are equal; decided by sorting.

    >>> surely_distinct(packed_rows(np.array([[True, True], [True, False]])))
    True
    """
    numbers = row_hashes(words)
    numbers.sort()
    return bool((numbers[1:] != numbers[:-1]).all())


@cache
def _factors(width: int) -> NDArray[np.uint64]:
    """Return odd factors, one for each word of a row."""
    return 2 * np.random.default_rng(0).integers(0, 2**63, width, dtype=np.uint64) + 1


def minimal_sets(
    sets: NDArray[np.bool_], weights: NDArray[np.int64] | None = None
) -> NDArray[np.intp]:
    """Return the inclusion-minimal sets; with weights, those that no other set dominates.

    sets: Of equal sets, the first is kept.
    weights: Weights by R measures. A subset dominates a set if it weighs at least as much by each;
        without weights, every proper subset does.
    Returns: Their indices, increasing.

    >>> sets = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1]], dtype=bool)
    >>> minimal_sets(sets), minimal_sets(sets, np.array([[2, 1, 1, 1]]))
    (array([1, 3]), array([0, 1, 3]))
    """
    n = len(sets)
    worths = np.zeros((0, n), dtype=np.int64) if weights is None else weights
    # A set comes after its subsets, and of equal ones the heaviest is first.
    order = np.lexsort((np.arange(n), -worths.sum(axis=0), sets.sum(axis=1)))
    without = ~packed_rows(sets[order])
    worths = worths[:, order]
    kept, waiting = [], np.arange(n)
    while waiting.size:
        first, rest = waiting[0], waiting[1:]
        kept.append(order[first])
        more = (~without[first] & without[rest]).any(axis=1)
        more |= (worths[:, rest] > worths[:, first, np.newaxis]).any(axis=0)
        waiting = rest[more]
    return np.sort(np.array(kept, dtype=np.intp))


def string_of(bits: NDArray[np.bool_]) -> str:
    """Return a vector of bits as a string.

    >>> string_of(np.array([True, False, True]))
    '101'
    """
    return (bits.astype(np.uint8) + ord("0")).tobytes().decode("ascii")


def strings_of(matrix: NDArray[np.bool_]) -> list[str]:
    """Return each row of an ``(m, d)`` matrix of bits as a string."""
    m, d = matrix.shape
    text = np.add(matrix, np.uint8(ord("0")), dtype=np.uint8, order="C").tobytes().decode("ascii")
    return [text[i : i + d] for i in range(0, m * d, d)]


def bits_of(text: object, what: str) -> NDArray[np.bool_]:
    """Read a string of 0 and 1, ``what`` naming it in the error.

    Raises InvalidInstance: When it is no string or has another character.
    """
    if not isinstance(text, str):
        raise InvalidInstance(f"{what} must be a string of 0 and 1, got {type(text).__name__}")
    stray = text.strip("01") and next(c for c in text if c not in "01")
    if stray:
        raise InvalidInstance(
            f"{what} has the character {shown(stray)} at position {text.index(stray)}; "
            "only 0 and 1"
        )
    codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.asarray(codes == ord("1"), dtype=np.bool_)


def matrix_of(rows: object) -> NDArray[np.bool_]:
    """Read samples, equally long strings, as an ``(m, d)`` matrix of bits.

    Raises InvalidInstance: Naming the first row of another length or with another character.
    """
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InvalidInstance(f"samples must be a list of strings, got {type(rows).__name__}")
    if not rows:
        raise InvalidInstance("samples must not be empty")
    width = len(rows[0]) if isinstance(rows[0], str) else -1
    if all(type(row) is str and len(row) == width for row in rows):
        codes = np.frombuffer("".join(rows).encode("ascii", "replace"), dtype=np.uint8)
        # 0 and 1 are neighbours, and below them unsigned numbers begin anew.
        if codes.size == len(rows) * width and not (codes - np.uint8(ord("0")) > 1).any():
            return np.asarray(codes == ord("1")).reshape(len(rows), width)
    # Something is wrong: the first row that is, in words.
    for i, row in enumerate(rows):
        bits_of(row, f"samples[{i}]")
        if len(row) != width:
            raise InvalidInstance(
                f"samples[{i}] has length {len(row)}, samples[0] has length {width}"
            )
    raise AssertionError("rows of equal length, all of 0 and 1")


# Sixteen bytes per entry are less than any way from a sample to an answer takes.
_ENTRY = 16


def _free_memory() -> int | None:
    """Return the bytes that this process may still use; None where the system does not tell."""
    free = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        free.append(limit - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):  # another system, or a group without a limit
        pass
    if not free and hasattr(os, "sysconf"):
        free.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(free, default=None)


def require_rows_fit(name: str, rows: int, columns: int) -> None:
    """Raise for a number of rows that memory cannot hold, before any is made.

    name: The option that asks for them, named in the message.

    >>> require_rows_fit("m", 1000, 90)
    """
    free = _free_memory()
    needed = rows * columns * _ENTRY
    if free is not None and needed > free:
        raise InvalidOption(
            f"{name} is too large: {rows} rows of {columns} features take at least "
            f"{needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free"
        )
