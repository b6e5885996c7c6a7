"""A row and the tree model that it is asked about: trained on a table, or of a file."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import given
from cpx.cli.reading import require_two_classes
from cpx.errors import InvalidOption, UnknownName, shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TreeRow:
    """A row of a table or of a file of its own, and a tree model."""

    title: ClassVar[str] = "Row and model"

    table: opt.Table
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="tree, forest or boosting: trained on the table; or the file of a model of "
            "scikit-learn (skops, joblib), XGBoost, LightGBM or cpx.",
            autocompletion=opt.choices(opt.TREES),
        ),
    ] = "forest"
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with the classes, that a model is trained on."
        ),
    ] = None
    row: Annotated[
        str | None,
        typer.Option(
            metavar="N|FILE",
            help="Row to explain: its number in the table, from 0, or a CSV file with one row.  "
            "[default: the only one]",
        ),
    ] = None
    missing: opt.Missing = None
    missing_in: opt.MissingIn = None
    seed: opt.Seed = 0

    @property
    def trained(self) -> bool:
        """Whether the model is trained here."""
        return self.model in opt.TREES

    def check(self, file: ModelFile) -> None:
        """Raise for a model that is not known, and for what does not go with it."""
        if self.trained:
            for option in given(file):
                raise InvalidOption(f"{option} is for the file of a model, not for {self.model}")
            if self.target is None:
                raise InvalidOption("--target is missing: which of the table's?")
        elif not os.path.isfile(self.model):
            raise UnknownName("tree model, nor a file", self.model, opt.TREES)

    def read(self, file: ModelFile, encoded: Callable[[pd.DataFrame], pd.DataFrame]) -> Asked:
        """Read the table and the row, and read or train the model.

        What a model is trained on is encoded before.
        """
        from cpx.cli.progress import phase
        from cpx.data.classifiers import tree_classifier
        from cpx.data.tables import read_rows, read_table

        missing = opt.words(self.missing)
        with phase(f"reading {self.table}"):
            if self.trained:
                X, y = read_table(self.table, str(self.target), missing=missing)
                require_two_classes(self.table, y)
                X = encoded(X)
            else:
                X = read_rows(self.table, self.target, missing=missing)
            x, place = self._row(X, missing)
        if self.trained:
            with phase(f"training {self.model} on {len(X)} rows", long=True):
                model = tree_classifier(self.model, self.seed).fit(X, y)
        else:
            model = file.read(Path(self.model))
        stem = self.table.name.partition(".")[0]
        by = f" by {self.model}" if self.trained else ""
        return Asked(model, X, x, f"{stem}-{place}" if place else stem, by)

    def _row(self, X: pd.DataFrame, missing: list[str]) -> tuple[dict[str, Any], str]:
        """Return the row and what it is called in the name of an instance."""
        from cpx.data import row
        from cpx.data.tables import read_row

        if self.row is not None and os.path.isfile(self.row):
            if self.trained:
                raise InvalidOption("--row: a model that is trained explains a row of the table")
            path = Path(self.row)
            return read_row(path, missing=missing), path.name.partition(".")[0]
        if self.row is None and len(X) != 1:
            raise InvalidOption(f"--row is missing: {self.table} has {len(X)} rows")
        place = self.row or "0"
        if not place.isdecimal():
            raise InvalidOption(f"--row must be a number from 0 or a file, got {shown(place)}")
        x = row(X, int(place))
        return {str(name): column.tolist()[0] for name, column in x.items()}, self.row or ""


@dataclass(frozen=True)
class Columns:
    """Which columns an explanation must and must not have."""

    title: ClassVar[str] = "Explanation"

    required: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="One that it must have, or its number. Repeatable."),
    ] = None
    forbidden: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="One that it must not have.")
    ] = None
    where: opt.Where = None


@dataclass(frozen=True)
class Asked:
    """A model, the rows of its table, the row to explain, and what these are called."""

    model: Any
    rows: pd.DataFrame
    x: dict[str, Any]
    name: str
    by: str


def encoded(X: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return columns of texts as 0/1 columns, and these by the name of theirs."""
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    groups: dict[str, list[str]] = {}
    parts: list[Any] = []
    for name, column in X.items():
        if is_numeric_dtype(column.dtype):
            parts.append(column)
            continue
        texts = column.astype(object).where(column.notna(), "missing").astype(str)
        bits = pd.get_dummies(texts, prefix=str(name), prefix_sep=" = ").astype("int8")
        groups[str(name)] = [str(title) for title in bits.columns]
        parts.append(bits)
    return pd.concat(parts, axis=1), groups
