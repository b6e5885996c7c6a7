"""The 25 data sets of Koriche et al., Table 2, with the published figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cpx.errors import InvalidOption, UnknownName

__all__ = ["DATASETS", "FIGURE_DATASETS", "Dataset", "Published", "choose"]


@dataclass(frozen=True)
class Published:
    """What the paper reports of one method on one data set, over 100 instances.

    ``error`` and ``deviation`` are mean and standard deviation of the precision error,
    ``seconds`` the mean time of the solver, None where the paper gives none.
    """

    error: float
    deviation: float
    seconds: float | None = None


@dataclass(frozen=True)
class Dataset:
    """A row of Table 2.

    Attributes
    ----------
    name : str
        Name in the table.
    openml_id : int
        OpenML identifier in the table.
    file : str
        Stem of its file in a directory of tables: ``<file>.csv.gz``.
    drop : tuple of str
        Columns that name the rows and are no features, where a source has them.
    cop, sat, anchors : Published
        The paper's figures.
    """

    name: str
    openml_id: int
    file: str
    cop: Published
    sat: Published
    anchors: Published
    drop: tuple[str, ...] = ()


# Koriche, Lagniez, Mengel, Tran: Learning Model Agnostic Explanations via Constraint
# Programming (ECML PKDD 2024), Table 2: m = 1000, k = 5, 60 s, means over 100 instances.
# Error and deviation of Cop, of Sat, of Anchors; seconds of Cop, of Sat.
_TABLE_2 = """
ada prior|1037|ada_prior|0.14 0.20|0.19 0.24|0.43 0.11|60.06|12.02
adult census|1119|adult|0.19 0.21|0.24 0.26|0.44 0.12|60.05|18.02
aids|346|aids|0.05 0.05|0.04 0.04|0.59 0.41|1.73|0.06
australian|40981|australian|0.14 0.12|0.20 0.13|0.51 0.42|60.05|7.13
bank marketing|1461|bank_marketing|0.05 0.07|0.13 0.08|0.49 0.11|60.04|1.84
baseball|185|baseball|0.19 0.15|0.23 0.15|0.77 0.16|60.01|1.96
california housing|45578|california_housing|0.09 0.08|0.10 0.10|0.52 0.45|28.97|0.42
cardiotocography|1466|cardiotocography|0.35 0.23|0.47 0.29|0.74 0.13|60.00|36.33
compas|42192|compas|0.09 0.07|0.14 0.09|0.59 0.43|60.01|0.16
credit approval|29|credit_approval|0.12 0.10|0.18 0.13|0.97 0.30|60.02|2.99
dermatology|35|dermatology|0.58 0.38|0.64 0.32|0.75 0.27|60.02|31.30
diabetes|37|diabetes|0.08 0.06|0.10 0.07|0.62 0.37|31.91|0.03
hepatitis|55|hepatitis|0.14 0.15|0.16 0.17|0.28 0.38|59.97|6.75
heart disease|43944|heart_cleveland|0.17 0.12|0.19 0.10|0.32 0.41|60.01|1.79
iris|61|iris|0.02 0.04|0.03 0.06|0.41 0.27|0.33|0.06
lymph|10|lymph|0.19 0.13|0.24 0.14|0.32 0.26|60.01|5.26
mushroom|43922|mushroom|0.18 0.09|0.28 0.12|0.53 0.36|60.04|0.85
nomao|1486|nomao|0.22 0.14|0.35 0.16|0.30 0.31|60.06|15.53
postoperative|34|postoperative|0.11 0.17|0.17 0.17|0.46 0.29|26.92|0.10
primary tumor|171|primary_tumor|0.66 0.39|0.69 0.35|0.96 0.11|60.01|32.95
shuttle|172|shuttle_landing_control|0.09 0.08|0.10 0.08|0.30 0.35|1.88|0.04
stock|841|stock|0.08 0.07|0.11 0.08|0.45 0.40|54.91|0.45
tae|48|tae|0.23 0.21|0.30 0.28|0.38 0.36|0.46|0.07
veteran|719|veteran|0.17 0.25|0.19 0.29|0.30 0.44|8.83|0.11
vote|56|vote|0.07 0.08|0.06 0.06|0.30 0.19|60.01|0.16
"""

# Row names that some copies have as a column.
_DROP = {"baseball": ("Player",)}


def _row(line: str) -> Dataset:
    name, number, file, *figures = (part.strip() for part in line.split("|"))
    (cop, sat, anchors), times = figures[:3], [float(text) for text in figures[3:]]
    return Dataset(
        name,
        int(number),
        file,
        _published(cop, times[0]),
        _published(sat, times[1]),
        _published(anchors),
        _DROP.get(name, ()),
    )


def _published(text: str, seconds: float | None = None) -> Published:
    error, deviation = (float(part) for part in text.split())
    return Published(error, deviation, seconds)


DATASETS: tuple[Dataset, ...] = tuple(_row(line) for line in _TABLE_2.strip().splitlines())
"""The data sets in the order of the table."""

FIGURE_DATASETS = ("compas", "diabetes", "heart disease", "vote")
"""Names of the data sets of Figures 1 and 2."""


def choose(names: Iterable[str] | None = None) -> tuple[Dataset, ...]:
    """Return the named data sets, each once, in the order of the table; all for None.

    A name is that of the table or of the file.

    Raises
    ------
    UnknownName
        With the nearest name.
    InvalidOption
        When the list is empty.

    Examples
    --------
    >>> [d.name for d in choose(["vote", "adult", "adult census"])]
    ['adult census', 'vote']
    """
    if names is None:
        return DATASETS
    known = {key: d for d in DATASETS for key in (d.name, d.file)}
    wanted = list(names)
    for name in wanted:
        if name not in known:
            raise UnknownName("data set", name, known)
    chosen = {known[name].name for name in wanted}
    if not chosen:
        raise InvalidOption("datasets must name at least one data set")
    return tuple(d for d in DATASETS if d.name in chosen)
