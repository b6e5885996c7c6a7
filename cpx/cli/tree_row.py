"""A row and the tree model that it is asked about: trained on a table, or of a file."""

from __future__ import annotations

import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.cli.kind_options import check_values
from cpx.cli.model_file import ModelFile
from cpx.cli.option_groups import given
from cpx.cli.reading import read_columns
from cpx.errors import InvalidOption, UnknownName, shown
from cpx.explainers.doors import kind
from cpx.support.validation import valid_seed

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

    @property
    def trained(self) -> bool:
        """Whether the model is trained here."""
        return self.model in opt.TREES

    def ask(self, name: str, file: ModelFile, options: dict[str, Any]) -> Asked:
        """Check the options of a kind, read table, row and model, and make what explains the row.

        Options of all rows are taken out; those of the question are left.
        """
        from cpx.cli.output import note
        from cpx.data.targets import target_of
        from cpx.trees.networks import NetworkModel

        self._check(file)
        one = kind(name)
        check_values(one, options)
        prepared = {n: options.pop(n) for n in [*options] if one.options[n].prepared}
        seed = valid_seed(prepared.get("seed", 0))
        missing = opt.words(self.missing)
        limits = {n: prepared.get(n) for n in ("above", "below", "between")}
        about_numbers = target_of(**limits) is not None
        X, y = read_columns(
            self.table, self.target, missing, trains=self.trained, numbers=about_numbers
        )
        x, place = self._row(X)
        between = False  # whether the table says between which numbers columns vary
        if self.trained:
            model = trained(self.model, seed, X, y, about_numbers)
        else:
            given = {n: prepared.pop(n) for n in limits if n in prepared}
            try:
                model = file.read(Path(self.model), {"rows": X, **given})
            except NetworkModel as error:
                model, between = error.model, True
        rows = (X,) if self.trained or one.needs_rows or between else ()
        explainer = one.explainer(model, *rows, **prepared)
        for text in explainer.notes:
            note(text)
        stem = self.table.name.partition(".")[0]
        by = f" by {self.model}" if self.trained else ""
        return Asked(explainer, x, f"{stem}-{place}" if place else stem, by)

    def _check(self, file: ModelFile) -> None:
        """Raise for a model that is not known, and for what does not go with it."""
        if self.trained:
            for option in given(file):
                raise InvalidOption(f"{option} is for the file of a model, not for {self.model}")
            if self.target is None:
                raise InvalidOption("--target is missing: which of the table's?")
        elif not os.path.isfile(self.model):
            raise UnknownName("tree model, nor a file", self.model, opt.TREES)

    def _row(self, X: pd.DataFrame) -> tuple[dict[str, Any], str]:
        """Return the row and what it is called in the name of an instance."""
        from cpx.data import row
        from cpx.data.tables import read_row

        if self.row is not None and os.path.isfile(self.row):
            if self.trained:
                raise InvalidOption("--row: a model that is trained explains a row of the table")
            path = Path(self.row)
            return read_row(path, missing=opt.words(self.missing)), path.name.partition(".")[0]
        if self.row is None and len(X) != 1:
            raise InvalidOption(f"--row is missing: {self.table} has {len(X)} rows")
        place = self.row or "0"
        if not place.isdecimal():
            raise InvalidOption(f"--row must be a number from 0 or a file, got {shown(place)}")
        x = row(X, int(place))
        return {str(name): column.tolist()[0] for name, column in x.items()}, self.row or ""


@dataclass(frozen=True)
class Asked:
    """What explains rows of a model, the row, and what these are called."""

    explainer: Any
    x: dict[str, Any]
    name: str
    by: str


def trained(name: str, seed: int, X: pd.DataFrame, y: Any, numbers: bool = False) -> Any:
    """Train a tree model on the columns of a table; those of texts are encoded before.

    numbers: Whether the target is one of numbers.
    """
    from pandas.api.types import is_numeric_dtype

    from cpx.cli.progress import training
    from cpx.data.classifiers import tree_classifier

    texts = [c for c, dtype in enumerate(X.dtypes) if not is_numeric_dtype(dtype)]
    model = tree_classifier(name, seed, numbers, texts)
    with training(name, len(X)):
        return model.fit(X, y)
