"""Predicted numbers as classes: above a limit, below one, or between two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cpx.data.oracle import classifier_name, numbers_of
from cpx.errors import InvalidOption, shown
from cpx.support.validation import real

__all__ = [
    "AskedNumbers",
    "Prediction",
    "Target",
    "asked_about",
    "predicts_numbers",
    "refuse_target",
    "require_target",
    "target_of",
]


@dataclass(frozen=True)
class Target:
    """What is asked about a predicted number v, exactly one of three questions.

    Parameters
    ----------
    above : float, optional
        Whether v > above.
    below : float, optional
        Whether v < below.
    between : (float, float), optional
        Whether low <= v <= high, and if not, on which side v is.

    Raises
    ------
    InvalidOption
        When it is none of them or several, or a limit is no finite number.

    Examples
    --------
    >>> target = Target(above=50_000)
    >>> target.classes, target.classify(np.array([50_000, 50_000.5])).tolist()
    (('at most 50,000', 'above 50,000'), [0, 1])
    >>> Target(between=(1, 2)).classes
    ('between 1 and 2', 'below 1', 'above 2')
    """

    above: float | None = None
    below: float | None = None
    between: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        given = [name for name, value in vars(self).items() if value is not None]
        if len(given) != 1:
            told = "one of above, below and between is asked"
            raise InvalidOption(f"{told}, got {' and '.join(given) or 'none'}")
        (name,) = given
        value = getattr(self, name)
        if name == "between":
            if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
                raise InvalidOption(f"between must be two numbers, got {shown(value)}")
            low, high = (_limit(name, one) for one in value)
            if low > high:
                raise InvalidOption(f"between: {shown(low)} is more than {shown(high)}")
            object.__setattr__(self, name, (low, high))
        else:
            object.__setattr__(self, name, _limit(name, value))

    @property
    def limits(self) -> tuple[float, ...]:
        """The one or two limits."""
        if self.between is not None:
            return self.between
        return tuple(t for t in (self.above, self.below) if t is not None)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of :meth:`classify`."""
        words = [limit_text(t) for t in self.limits]
        if self.between is not None:
            low, high = words
            return f"between {low} and {high}", f"below {low}", f"above {high}"
        (word,) = words
        if self.above is not None:
            return f"at most {word}", f"above {word}"
        return f"below {word}", f"at least {word}"

    @property
    def decision(self) -> Literal["first", "positive", "nonnegative"]:
        """How the class follows from the scores, as :class:`cpx.trees.TreeModel` has it."""
        if self.between is not None:
            return "first"
        return "positive" if self.above is not None else "nonnegative"

    @property
    def scores(self) -> tuple[tuple[int, float], ...]:
        """Sign and constant of each score, which is sign * v + constant."""
        if self.between is not None:
            return (0, 0.0), (-1, self.between[0]), (1, -self.between[1])
        return ((1, -self.limits[0]),)

    def classify(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the index of the class of each number."""
        if self.between is not None:
            low, high = self.between
            return np.where(values < low, 1, np.where(values > high, 2, 0))
        (limit,) = self.limits
        return np.asarray(values > limit if self.above is not None else values >= limit, dtype=int)

    def text(self, value: float) -> str:
        """Return a number in few digits, on the side of each limit that it is on.

        >>> Target(above=50_000).text(61234.5678), Target(above=50_000).text(50_000.001)
        ('61,234.6', '50,000.001')
        """
        own = self.classify(np.array([value]))
        for digits in range(6, 17):
            text = f"{value:,.{digits}g}" if "e" not in f"{value:.{digits}g}" else f"{value:,.0f}"
            read = float(text.replace(",", ""))
            if abs(value) >= 1e16 or self.classify(np.array([read])) == own:
                return text if abs(value) < 1e16 else f"{value:g}"
        return repr(value)

    def told(self, value: float) -> str:
        """Return a number and on which side of limits it is.

        >>> Target(above=50_000).told(61_200)
        'predicts 61,200: above 50,000'
        """
        side = self.classes[int(self.classify(np.array([value]))[0])]
        return f"predicts {self.text(value)}: {side}"


@dataclass(frozen=True)
class Prediction:
    """How a predicted number follows from the scores of a model that was asked about it.

    target: What is asked.
    trees: How many trees its sum is divided by.
    """

    target: Target
    trees: int = 1

    def value(self, scores: Sequence[Fraction]) -> Fraction:
        """Return the number that belongs to exact scores.

        >>> Prediction(Target(above=3.0), 2).value([Fraction(1)])
        Fraction(7, 2)
        """
        sign, constant = self.target.scores[-1]
        return sign * (scores[-1] / self.trees - Fraction(constant))

    def expected(self, score: float, label: int) -> str:
        """Say what number is expected where the score of a class, of one limit, is this.

        >>> Prediction(Target(above=50_000.0), 20).expected(224_000.0, 1)
        'the expected number is 61,200: the score is its distance from 50,000, times 20 trees'
        """
        (limit,) = self.target.limits
        away = score / self.trees if label == 1 else -score / self.trees
        times = f", times {self.trees} trees" if self.trees > 1 else ""
        number = self.target.text(limit + away)
        told = f"the score is its distance from {limit_text(limit)}{times}"
        return f"the expected number is {number}: {told}"


def _limit(name: str, value: object) -> float:
    number = real(value)
    if number is None or not math.isfinite(number):
        raise InvalidOption(f"{name} must be a finite number, got {shown(value)}")
    return float(number) + 0.0


def limit_text(limit: float) -> str:
    """Return a limit with separators of thousands, in all of its digits.

    >>> limit_text(50_000.0), limit_text(-1234.5), limit_text(0.1)
    ('50,000', '-1,234.5', '0.1')
    """
    whole = limit.is_integer() and abs(limit) < 1e16
    return f"{int(limit):,}" if whole else f"{limit:,}"


def target_of(
    above: float | None = None,
    below: float | None = None,
    between: tuple[float, float] | None = None,
) -> Target | None:
    """Return what is asked, None where nothing is."""
    if above is None and below is None and between is None:
        return None
    return Target(above, below, between)


def predicts_numbers(model: Any) -> bool:
    """Whether a model says of itself that it is a regressor."""
    if isinstance(model, type) or hasattr(model, "classes_"):
        return False
    if getattr(model, "_estimator_type", None) == "regressor":
        return True
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is None:
        return False
    try:
        return bool(tags().estimator_type == "regressor")
    except Exception:  # what an unfitted meta-estimator raises is not documented
        return False


ASK = "say what is asked of them: above=50_000, below=... or between=(low, high)"
"""What is told where numbers are predicted, and nothing is asked of them."""


def require_target(target: Target | None, name: str) -> Target:
    """Return what is asked of a model that predicts numbers; raise where nothing is."""
    if target is None:
        raise InvalidOption(f"{name} predicts numbers: {ASK}")
    return target


def refuse_target(target: Target | None, name: str) -> None:
    """Raise where something is asked of the numbers of a model that predicts classes."""
    if target is not None:
        asked = next(name for name, value in vars(target).items() if value is not None)
        raise InvalidOption(f"{asked} is for models that predict numbers, {name} has classes")


class AskedNumbers:
    """A model that predicts numbers, as a classifier that says on which side of limits they are.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Answers with a number per row.
    target : Target

    Examples
    --------
    >>> classifier = AskedNumbers(lambda rows: 2 * rows[:, 0], Target(above=3))
    >>> classifier.predict(np.array([[1.0], [2.0]])).tolist()
    ['at most 3', 'above 3']
    """

    def __init__(self, model: Any, target: Target) -> None:
        if hasattr(model, "classes_"):
            refuse_target(target, type(model).__name__)
        self.model, self.target = model, target
        self.classes_ = np.array(target.classes)

    def values(self, rows: Any) -> npt.NDArray[np.float64]:
        """Return the number of each row."""
        return numbers_of(self.model, rows)

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        """Return the class of each row."""
        return self.classes_[self.target.classify(self.values(rows))]

    def fit(self, X: Any, y: Any) -> AskedNumbers:
        """Train the model on numbers."""
        self.model.fit(X, y)
        return self


def asked_about(model: Any, target: Target | None) -> Any:
    """Return a model as a classifier: itself, or what says of its numbers what is asked.

    Raises InvalidOption: When it predicts numbers and nothing is asked, or classes and it is.
    """
    if target is not None:
        return AskedNumbers(model, target)
    if predicts_numbers(model):
        require_target(None, classifier_name(model))
    return model
