"""Attributes of a tree model: their names, domains, and tests on them as text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpx.data.condition import Equals, value_text
from cpx.errors import ModelError, shown
from cpx.support.cells import is_missing
from cpx.support.validation import real

Kind = Literal["real", "integer", "boolean", "categorical"]

_KINDS = ("real", "integer", "boolean", "categorical")

OTHER = "another category"
"""What a category is called that the model does not know."""


@dataclass(frozen=True)
class Attribute:
    """A column of the table, with the values it can take.

    Readers make real attributes without bounds, because models do not store more. What is
    declared here restricts the rows that a sufficient reason speaks of.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"real", "integer", "boolean", "categorical"}
        Boolean values are 0 and 1. Categories are numbers without an order of their own, which
        the trees compare with thresholds nevertheless; they need ``values``.
    lower, upper : float, optional
        Inclusive bounds of a real or integer attribute.
    values : tuple of float, optional
        All values there are; increasing, each once. Not together with bounds.
    labels : tuple of str, optional
        What the values of a categorical attribute are called, in their order; all different.
    missing : bool
        Whether a value may be missing (NaN).
    label, unit : str
        What the column is called for people, and what its numbers are in; empty for none.

    Raises
    ------
    ModelError
        Naming the attribute and the argument that does not fit.

    Examples
    --------
    >>> Attribute("doors", "integer", lower=2, upper=5).possible(np.array([1.5, 3.2, 3.8]))
    array([False,  True, False,  True])
    """

    name: str
    kind: Kind = "real"
    lower: float | None = None
    upper: float | None = None
    values: tuple[float, ...] | None = None
    missing: bool = False
    labels: tuple[str, ...] | None = None
    label: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"the name of an attribute must be a string, got {shown(self.name)}")
        if self.kind not in _KINDS:
            raise self._error(f"kind must be one of {', '.join(_KINDS)}, got {shown(self.kind)}")
        if not isinstance(self.missing, bool):
            raise self._error(f"missing must be true or false, got {shown(self.missing)}")
        for text in ("label", "unit"):
            if not isinstance(getattr(self, text), str):
                raise self._error(f"{text} must be a string, got {shown(getattr(self, text))}")
        for bound in ("lower", "upper"):
            value = getattr(self, bound)
            if value is not None:
                object.__setattr__(self, bound, self._number(bound, value))
        if self.values is not None:
            values = tuple(self._number("values", value) for value in self.values)
            if not values or any(a >= b for a, b in itertools.pairwise(values)):
                raise self._error(f"values must be increasing and at least one, got {values}")
            object.__setattr__(self, "values", values)
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(self.labels))
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        bounded = self.lower is not None or self.upper is not None
        if bounded and (self.values is not None or self.kind in ("boolean", "categorical")):
            raise self._error("bounds are for real and integer attributes without values")
        if self.kind == "boolean" and self.values is not None:
            raise self._error("a boolean attribute has the values 0 and 1, leave values out")
        if self.kind == "categorical" and self.values is None:
            raise self._error("a categorical attribute needs its values")
        if self.kind == "integer" and any(v != math.floor(v) for v in self.values or ()):
            raise self._error(f"values must be integers, got {self.values}")
        if self.labels is not None:
            count = len(self.values or ()) if self.kind == "categorical" else 0
            texts = all(isinstance(label, str) for label in self.labels)
            if not texts or len({*self.labels}) < len(self.labels) or len(self.labels) != count:
                raise self._error(
                    "labels must be different strings, one for each value of a categorical "
                    f"attribute, got {shown(self.labels)}"
                )
        low, high = self.interval
        if low > high:
            raise self._error(f"no value lies between {self.lower} and {self.upper}")

    def _number(self, what: str, value: object) -> float:
        number = real(value)
        if number is None or not math.isfinite(number):
            raise self._error(f"{what} must be finite numbers, got {shown(value)}")
        return number + 0.0  # -0.0 becomes 0.0, so that equal attributes are saved alike

    def _error(self, what: str) -> ModelError:
        return ModelError(f"attribute {shown(self.name)}: {what}")

    @property
    def interval(self) -> tuple[float, float]:
        """Least and greatest value; the largest finite numbers stand for bounds not given."""
        largest = float(np.finfo(np.float64).max)
        low = -largest if self.lower is None else self.lower
        high = largest if self.upper is None else self.upper
        if self.kind == "integer":
            return float(math.ceil(low)), float(math.floor(high))
        return low, high

    @property
    def ends(self) -> list[float]:
        """The least and the greatest value, where a bound was given."""
        given = (self.lower, self.upper)
        return [end for end, bound in zip(self.interval, given) if bound is not None]

    @property
    def words(self) -> dict[str, Any]:
        """Label and unit, for conditions on the column."""
        return {"label": self.label, "unit": self.unit}

    @property
    def title(self) -> str:
        """What the column is called for people."""
        return self.label or self.name

    def in_words(self, value: float) -> str:
        """Return a value as people read it, with its unit."""
        if self.labels is not None and value in (self.values or ()):
            return self.called(value)
        return Equals(self.name, None if math.isnan(value) else value, unit=self.unit).told

    def called(self, value: float, digits: str = "") -> str:
        """Return what a value is called: its label, or its digits in some format."""
        if self.labels is None or self.values is None or value not in self.values:
            return format(value, digits) if digits else value_text(value)
        return self.labels[self.values.index(value)]

    def knowing(self, value: float) -> Attribute:
        """Return a categorical attribute with one more value, if it is none already.

        >>> Attribute("city", "categorical", values=(0,), labels=("Lens",)).knowing(1).labels
        ('Lens', 'another category')
        """
        values, labels = self.values or (), self.labels
        if value in values:
            return self
        if labels is not None:
            numbers = all(value_text(v) == label for v, label in zip(values, labels))
            called = dict(zip(values, labels)) | {value: value_text(value) if numbers else OTHER}
            labels = tuple(called[v] for v in sorted(called))
        return replace(self, values=tuple(sorted((*values, value))), labels=labels)

    def possible(
        self, thresholds: NDArray[np.float64], cast: type[np.floating[Any]] = np.float64
    ) -> NDArray[np.bool_]:
        """Say of each cell between thresholds whether a value of the attribute lies in it.

        Parameters
        ----------
        thresholds : (t,) array of float64
            Increasing. Cell i has the values v with ``thresholds[i-1] < v <= thresholds[i]``.
        cast : type
            What values are rounded to before they are compared, ``np.float32`` or
            ``np.float64``; the thresholds are such numbers.

        Returns
        -------
        (t + 1,) array of bool
        """
        cells = np.arange(len(thresholds) + 1)
        listed = (0.0, 1.0) if self.kind == "boolean" else self.values
        if listed is not None:
            return np.isin(cells, cells_of(np.array(listed), thresholds, cast))
        low, high = self.interval
        if self.kind == "real":
            first, last = cells_of(np.array([low, high]), thresholds, cast)
            # Each cell but the last has its right threshold in it, the last the bound.
            return np.asarray((first <= cells) & (cells <= last))
        first, last = cells_of(np.array([low, high]), thresholds, cast)
        above = np.floor(np.concatenate(([-np.inf], thresholds))) + 1
        upto = np.floor(np.concatenate((thresholds, [np.inf])))
        inner = np.maximum(above, low) <= np.minimum(upto, high)
        return np.asarray((first <= cells) & (cells <= last) & inner)

    def to_dict(self) -> dict[str, Any]:
        """Return the attribute as JSON values; numbers as hexadecimal floats, exactly."""
        data: dict[str, Any] = {"name": self.name}
        if self.kind != "real":
            data["kind"] = self.kind
        for bound in ("lower", "upper"):
            if getattr(self, bound) is not None:
                data[bound] = getattr(self, bound).hex()
        if self.values is not None:
            data["values"] = [value.hex() for value in self.values]
        if self.labels is not None:
            data["labels"] = list(self.labels)
        if self.missing:
            data["missing"] = True
        data |= {key: text for key, text in self.words.items() if text}
        return data

    @classmethod
    def from_dict(cls, data: object) -> Attribute:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        ModelError
            Naming what is wrong.
        """
        if not isinstance(data, Mapping) or "name" not in data:
            raise ModelError(f"an attribute must be an object with a name, got {shown(data)}")
        known = ("name", "kind", "lower", "upper", "values", "labels", "missing", "label", "unit")
        for key in data:
            if key not in known:
                raise ModelError(f"attribute {shown(data['name'])}: unknown key {shown(key)}")
        arguments: dict[str, Any] = dict(data)
        if not isinstance(data.get("labels", []), list):
            raise ModelError(f"attribute {shown(data['name'])}: labels must be a list")
        try:
            for bound in ("lower", "upper"):
                if bound in data:
                    arguments[bound] = float.fromhex(data[bound])
            if "values" in data:
                arguments["values"] = tuple(float.fromhex(value) for value in data["values"])
        except (TypeError, ValueError, OverflowError) as error:
            raise ModelError(
                f"attribute {shown(data['name'])}: no exact number: {error}"
            ) from error
        return cls(**arguments)


def cells_of(
    values: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    cast: type[np.floating[Any]],
) -> NDArray[np.int64]:
    """Return the cell of each value, rounded to the type of the thresholds."""
    with np.errstate(over="ignore"):  # beyond float32 is infinity, in the last cell
        return np.searchsorted(thresholds, values.astype(cast), side="left")


def label_of(value: Any) -> str:
    """Return what a category is called: a text as it is, a number in its digits, a day as one.

    >>> label_of("a"), label_of(70), label_of(70.0), label_of(np.True_), label_of(date(2024, 3, 1))
    ('a', '70', '70', 'True', '2024-03-01')
    """
    if isinstance(value, date) and not is_missing(value):
        whole = not isinstance(value, datetime) or value.time() == time()
        return f"{value:%Y-%m-%d}" if whole else str(value)
    value = value.item() if isinstance(value, np.generic) else value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value_text(float(value)) if number else str(value)
