"""``cpx explain --kind sufficient``: what forces the class that a tree model gives a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.cli import options as opt
from cpx.cli.asking import Source, Wanted, read_source
from cpx.cli.reasons import DefinitionName, LevelName, features, given
from cpx.errors import DataError, InvalidOption, UnknownName, shown

if TYPE_CHECKING:
    import pandas as pd

    from cpx.models.sufficient_reason.problem import SufficientReason
    from cpx.trees import TreeModel

__all__ = ["Kind", "reason_of_row"]

KINDS = ("rule", "sufficient")


@dataclass(frozen=True)
class Kind:
    """What kind of explanation is wanted."""

    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="rule: the best short rule on samples; sufficient: the fewest columns that "
            "force the class, for the models tree, forest and boosting.",
            autocompletion=opt.choices(KINDS),
        ),
    ] = "rule"
    level: LevelName = None
    definition: DefinitionName = None

    def check(self) -> None:
        """Raise for a kind that is not known, and for options of the other kind."""
        if self.kind not in KINDS:
            raise UnknownName("kind", self.kind, KINDS)
        if self.kind == "rule" and (options := given(self)):
            raise InvalidOption(f"{options[0]} is for --kind sufficient")


def reason_of_row(source: Source, kind: Kind, wanted: Wanted) -> tuple[SufficientReason, str]:
    """Train the model and state the problem; return it and what is explained, in words.

    Raises
    ------
    InvalidOption
        For options that are for rules, and a model that is no tree model.
    DataError
        When a column has no numbers.
    """
    from cpx.cli.progress import phase
    from cpx.models.sufficient_reason.problem import SufficientReason

    refused = [*given(source, "table", "target", "row", "model", "seed")]
    for option in (*refused, *given(wanted, "require", "forbid")):
        raise InvalidOption(f"{option} is for --kind rule")
    if source.model not in opt.TREES:
        raise InvalidOption(
            f"--kind sufficient is for tree models: --model {', '.join(opt.TREES)}, "
            f"got {shown(source.model)}"
        )
    source.check()
    X, y, x = read_source(source)
    with phase(f"training {source.model} on {len(X)} rows"):
        model = _trained(source, X, y)
    level: Any = kind.level or "attributes"
    definition: Any = kind.definition or "sufficient"
    problem = SufficientReason(
        model,
        x,
        level,
        definition,
        required=features(wanted.require),
        forbidden=features(wanted.forbid),
        name=f"{source.table.name.partition('.')[0]}-{source.row}",
    )
    words = ", ".join([problem.kind, *problem.brief()])
    return problem, f"class {problem.label} by {source.model}: {words}"


def _trained(source: Source, X: pd.DataFrame, y: pd.Series[Any]) -> TreeModel:
    from cpx.data.classifiers import tree_classifier
    from cpx.trees import read_model

    _refuse_words(source.table, X)
    model = read_model(tree_classifier(source.model, source.seed).fit(X, y))
    lacking = X.isna().any().tolist()
    attributes = [
        replace(attribute, missing=gone and not model.refuses_missing(a))
        for a, (attribute, gone) in enumerate(zip(model.attributes, lacking, strict=True))
    ]
    return model.with_attributes(attributes)


def _refuse_words(table: Path, X: pd.DataFrame) -> None:
    from pandas.api.types import is_numeric_dtype

    for name, kind in X.dtypes.items():
        if not is_numeric_dtype(kind):
            raise DataError(
                f"{table}: column {shown(name)} has no numbers, which a tree model of --kind "
                "sufficient needs; encode it, or train a model of your own and use 'cpx make'"
            )
