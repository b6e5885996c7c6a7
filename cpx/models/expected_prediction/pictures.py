"""Rows whose columns are pixels as pictures, with the chosen pixels over grey."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cpx.answers.axes import axes_or_new
from cpx.errors import InvalidOption, shown
from cpx.support.validation import index_set, integer_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY = "#8d99a6"
"""Pixels that were not chosen: bluish, so that no pixel of a grey picture looks the same."""

_ONE_NUMBER = re.compile(r"(.*?)(\d+)")
_TWO_NUMBERS = re.compile(r"(.*?)(\d+)\D+(\d+)")


def pixel_places(
    names: Sequence[str], shape: Sequence[int] | None = None
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return row and column of the pixel that each column of a table is.

    names: Of the columns. Without a shape they must say where a pixel is: by two numbers, row and
        column, as in ``pixel_0_7``; or by one, which counts the pixels of a square line by line.
    shape: Height and width of the picture, whose pixels the columns are line by line.
    Raises InvalidOption: When the shape does not fit, or there is none and the names do not say
        one.

    >>> [places.tolist() for places in pixel_places(["p_0_0", "p_0_1", "p_1_0", "p_1_1"])]
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> [places.tolist() for places in pixel_places(["a", "b", "c"], (1, 3))]
    [[0, 0, 0], [0, 1, 2]]
    """
    n = len(names)
    if shape is not None:
        pair = tuple(shape) if isinstance(shape, Iterable) else ()
        if len(pair) != 2:
            raise InvalidOption(f"shape must be height and width, got {shown(shape)}")
        height, width = (integer_in("shape", side, 1) for side in pair)
        if height * width != n:
            raise InvalidOption(
                f"shape {height} x {width} has {height * width} pixels, the row has {n} columns"
            )
        rows, columns = np.divmod(np.arange(n), width)
        return rows, columns
    places = _by_two_numbers(names)
    if places is None:
        places = _by_one_number(names)
    if places is None:
        raise InvalidOption(
            f"the names of the columns, {shown(list(names[:3]))}, do not say where a pixel is: "
            "give the shape=(height, width) of the picture"
        )
    return places


def is_picture(names: Sequence[str]) -> bool:
    """Whether the names of columns say where a pixel is.

    >>> is_picture(["p_0_0", "p_0_1"]), is_picture(["age", "size"])
    (True, False)
    """
    return _by_two_numbers(names) is not None or _by_one_number(names) is not None


def _by_two_numbers(
    names: Sequence[str],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]] | None:
    found = [_TWO_NUMBERS.fullmatch(name) for name in names]
    if not all(found) or len({match[1] for match in found if match}) != 1:
        return None
    rows = np.array([int(match[2]) for match in found if match], dtype=np.intp)
    columns = np.array([int(match[3]) for match in found if match], dtype=np.intp)
    rows, columns = rows - rows.min(), columns - columns.min()
    cells = {*zip(rows.tolist(), columns.tolist())}
    whole = (int(rows.max()) + 1) * (int(columns.max()) + 1)
    return (rows, columns) if len(cells) == len(names) == whole else None


def _by_one_number(
    names: Sequence[str],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]] | None:
    found = [_ONE_NUMBER.fullmatch(name) for name in names]
    side = math.isqrt(len(names))
    if not all(found) or side * side != len(names) or side < 2:
        return None
    if len({match[1] for match in found if match}) != 1:
        return None
    numbers = np.array([int(match[2]) for match in found if match], dtype=np.intp)
    numbers -= numbers.min()
    if not np.array_equal(np.sort(numbers), np.arange(len(names))):
        return None
    rows, columns = np.divmod(numbers, side)
    return rows, columns


def plot_pixels(
    values: npt.ArrayLike,
    names: Sequence[str],
    chosen: Iterable[int] | None = None,
    *,
    shape: Sequence[int] | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a row of pixels, the chosen ones over grey.

    Parameters
    ----------
    values : (d,) array of numbers
        The higher, the lighter.
    names, shape
        As for :func:`pixel_places`.
    chosen : iterable of int, optional
        Columns that are drawn; all when not given.
    limits : (float, float), optional
        Values of black and white; by default the least and the greatest of the row.
    title : str
    ax : matplotlib axes, optional
        Where to draw; those of a new figure of pyplot when not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    InvalidOption
        When the columns are no picture.
    EngineMissing
        When matplotlib is not installed; with the pip line.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_pixels([0, 9, 9, 0], ["x0", "x1", "x2", "x3"], [1], ax=Figure().subplots())
    >>> ax.images[0].get_array().shape
    (2, 2)
    """
    row = np.asarray(values, dtype=np.float64)
    rows, columns = pixel_places(names, shape)
    if row.shape != rows.shape:
        raise InvalidOption(f"values must be {len(rows)} numbers, got shape {row.shape}")
    kept = range(len(row)) if chosen is None else chosen
    drawn = np.zeros(len(row), dtype=np.bool_)
    drawn[sorted(index_set("chosen", kept, len(row), error=InvalidOption))] = True
    picture = np.full((int(rows.max()) + 1, int(columns.max()) + 1), np.nan)
    picture[rows[drawn], columns[drawn]] = row[drawn]
    ax = axes_or_new(ax, 3, 3.3)
    from matplotlib import colormaps

    greys: Any = colormaps["gray"].with_extremes(bad=_GREY)
    low, high = limits or (float(np.nanmin(row)), float(np.nanmax(row)))
    shades = np.ma.masked_invalid(picture)
    ax.imshow(shades, cmap=greys, vmin=low, vmax=high, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    if title:
        ax.set_title(title, fontsize=9)
    return ax
