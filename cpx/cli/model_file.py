"""The file of a tree model on the command line: what its reader is told, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cpx.cli import options as opt
from cpx.errors import InvalidOption, ModelError, UnsupportedModel, shown

if TYPE_CHECKING:
    from cpx.trees import TreeModel

_SAID = {
    "trusted=": "--trust",
    "rounds=": "--rounds",
    "give classes": "--classes",
    "as attributes": "--columns",
    "output=": "--which-output",
    "above=": "--above, --below or --between",
}
"""What an error of a reader asks for, and the option that it is here."""


@dataclass(frozen=True)
class ModelFile:
    """How the file of a tree model is read."""

    title: ClassVar[str] = "Model of a file"

    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Open a joblib or pickle file, which can run any code: only if you know where "
            "it is from.",
        ),
    ] = False
    rounds: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Of XGBoost: how many rounds count, best (up to the best "
            "iteration, as XGBClassifier predicts) or all (as Booster does).",
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The classes in their order, with commas, or of a dump of XGBoost how many "
            "there are.",
        ),
    ] = None
    which_output: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Of a tree or forest that predicts several columns: which of them, from 0.",
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Of a dump of XGBoost: all columns of the model in their order, with commas.",
        ),
    ] = None
    base: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Of a dump of XGBoost: what scores start from, with commas where there is "
            "one for each class.  [default: 0]",
        ),
    ] = None

    def read(self, path: Path, asked: Mapping[str, Any] = MappingProxyType({})) -> TreeModel:
        """Read the model, asked about limits or over rows; say where nothing asks its predict.

        Raises UnsupportedModel: Where it is no tree model; see :meth:`opened`.
        """
        from cpx.cli.output import note
        from cpx.cli.progress import phase
        from cpx.trees import read_model
        from cpx.trees.hold import held_against

        given: dict[str, Any] = {
            "rounds": _number(self.rounds),
            "classes": self._classes(),
            "output": self.which_output,
            "attributes": opt.split(self.columns),
            "base": self._base(),
        }
        given = {name: value for name, value in given.items() if value is not None}
        try:
            with phase(f"reading {path}"):
                model = read_model(path, trusted=self.trust, **asked, **given)
        except (ModelError, InvalidOption) as error:
            options = [option for words, option in _SAID.items() if words in str(error)]
            if not options:
                raise
            raise type(error)(f"{error}; on the command line that is {options[0]}") from error
        if model.live is None:
            for text in held_against(model):
                note(text)
        return model

    def opened(self, path: Path, error: UnsupportedModel) -> Any:
        """Return the classifier of such a file; raise the error if there is none."""
        from cpx.trees.load import open_estimator

        asked = self.rounds, self.classes, self.which_output, self.columns, self.base
        model = None if any(v is not None for v in asked) else open_estimator(path, self.trust)
        if not hasattr(model, "predict"):
            raise error
        return model

    def _classes(self) -> Any:
        names = opt.split(self.classes)
        if names is None:
            return None
        labels = [_number(name) for name in names]
        if any(isinstance(label, str) for label in labels):
            return names
        return labels[0] if len(labels) == 1 else labels

    def _base(self) -> list[float] | None:
        try:
            return None if self.base is None else [float(v) for v in opt.split(self.base) or ()]
        except ValueError:
            raise InvalidOption(
                f"--base must be numbers with commas, got {shown(self.base)}"
            ) from None


def _number(text: str | None) -> int | str | None:
    """Return a whole number as such, and any other text as it is."""
    return int(text) if text is not None and text.isdecimal() else text
