"""The live model that trees were read from, to be asked what it predicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cpx.data.oracle import labels
from cpx.errors import ClassifierError, shortened
from cpx.trees.categories import Categories
from cpx.trees.front import Front

Link = Literal["average", "sigmoid", "softmax", "unknown"]


class Sums(Protocol):
    """What makes tree models of a sum of functions of one column each."""

    def covering(self, model: Any, rows: NDArray[np.float64]) -> Any:
        """Return a tree model like another one, over the values of some rows too."""

    def added(self, pools: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Return what values of each column add to the scores, shape (values, scores)."""

    def told(self, names: Sequence[str]) -> str:
        """Say which numbers columns of these names may have."""


@dataclass(frozen=True, eq=False)
class LiveModel:
    """What a tree model was read from, to be asked.

    classes: As ``predict`` answers, in the order of the classes of the trees.
    link: How probabilities are made of scores.
    scale: What scores are multiplied by before.
    title: What it is called in messages; by default the name of its class.
    columns: Columns of categories, by position, where it takes frames with these.
    sparse_is_missing: Whether it takes what a sparse row leaves out as missing, and not as 0.
    held: The rows that it was asked about, and how many rows near them rounding decides.
    said: What it says of the scores of these rows, where it says it.
    front: The transformers that rows pass first, in which categories are numbers.
    sums: Where it is a sum of functions of columns: what makes tree models over their values.
    method: What says the numbers that are held against the scores.
    """

    method: ClassVar[str] = "predict_proba"

    model: Any
    classes: tuple[Any, ...]
    link: Link
    scale: float = 1.0
    title: str = ""
    sparse_is_missing: bool = False
    columns: Mapping[int, Categories] = field(default_factory=dict, repr=False)
    held: dict[Any, int] = field(default_factory=dict, repr=False)
    said: dict[bytes, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    front: Front | None = field(default=None, repr=False)
    sums: Sums | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the model is called in messages."""
        return self.title or type(self.model).__name__

    def predict(
        self, rows: NDArray[np.float64], given: Sequence[Any]
    ) -> tuple[NDArray[np.int64], list[Any]]:
        """Return the index of the class of each row, -1 for a label unknown, and the labels.

        A subclass may also predict by what a person calls the classes, ``given``.
        """
        said = self._ask(lambda table: labels(self.model, table), rows).tolist()
        numbers = {label: i for names in (given, self.classes) for i, label in enumerate(names)}
        return np.array([numbers.get(label, -1) for label in said]), said

    def probabilities(self, rows: NDArray[np.float64], width: int) -> NDArray[np.float64] | None:
        """Return what ``predict_proba`` says, for each score; None where there is none."""
        ask = getattr(self.model, "predict_proba", None)
        if ask is None:
            return None
        try:
            said = self._ask(ask, rows)
        except Exception as error:
            raise ClassifierError(
                f"{self.name}.predict_proba raised {type(error).__name__}: {shortened(error)}"
            ) from error
        if said is None:
            return None
        array = np.asarray(said, dtype=np.float64).reshape(len(rows), -1)
        return array[:, -1:] if width == 1 else array

    def scores(self, rows: NDArray[np.float64], width: int) -> NDArray[np.float64] | None:
        """Return the numbers that ``link`` makes of the scores; None where there are none."""
        return self.probabilities(rows, width)

    def _ask(self, ask: Callable[[Any], Any], rows: NDArray[np.float64]) -> Any:
        names = getattr(self.model, "feature_names_in_", None)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if self.front is not None:
                return ask(self.front.table(rows))
            if names is None:
                return ask(rows)
            import pandas as pd

            frame = pd.DataFrame(rows, columns=list(names))
            for c, categories in self.columns.items():
                frame.isetitem(c, categories.column(rows[:, c]))
            try:
                return ask(frame)
            except Exception:
                if self.columns:
                    raise
                # A frame needs the categories of a column that no tree tests, an array has none.
                with suppress(Exception):
                    return ask(rows)
                raise
