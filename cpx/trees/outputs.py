"""Models that predict several outputs at once, of which one is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cpx.errors import InvalidOption, UnsupportedModel, shown
from cpx.support.validation import integer


def chosen_output(count: int, output: Any, what: str = "model") -> int | None:
    """Return the number of the output that is read, None of a model that has one."""
    if count > 1 and output is None:
        raise UnsupportedModel(
            f"the {what} has {count} outputs, one is read: say output=0 to {count - 1}"
        )
    number = 0 if output is None else integer(output)
    if number is None or not 0 <= number < count:
        raise InvalidOption(f"output must be 0 to {count - 1}, got {shown(output)}")
    return number if count > 1 else None


@dataclass(frozen=True)
class OneOutput:
    """A model of several outputs as it predicts one of them."""

    model: Any
    output: int

    @property
    def feature_names_in_(self) -> Any:
        """The columns it was trained with."""
        return self.model.feature_names_in_

    def predict(self, rows: Any) -> Any:
        """Return the classes."""
        return np.asarray(self.model.predict(rows))[:, self.output]

    def predict_proba(self, rows: Any) -> Any:
        """Return the probabilities of the classes, or that of the second one."""
        said = self.model.predict_proba(rows)
        return said[self.output] if isinstance(said, list) else np.asarray(said)[:, self.output]
