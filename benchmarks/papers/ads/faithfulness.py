"""How faithful a surrogate is to a black box, and what the paper reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ADS", "PUBLISHED", "UNASKED", "Faithfulness", "Labels", "faithfulness", "means"]

ADS = "ADS"
UNASKED = "ADS, beta = 0"

Labels = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Faithfulness:
    """How faithful a surrogate is to a black box on test rows, and how simple.

    Attributes
    ----------
    name : str
    accuracy, f1, recall, precision : float
        Of the surrogate's labels, those of the black box being the truth.
    rules, conditions, longest : float or None
        Number of rules, their mean and their greatest number of conditions.
    queries : float or None
        Synthetic instances that the black box was asked about; None where that is not told.
    seconds : float or None
        Processor time.
    separated : float or None
        Of ADS, the share of iterations that ended because the bounds of the best action were
        separated from those of the others, not at a limit on queries.
    trained : float or None
        Of ADS, the F1 on the rows that it was learned from.
    spread : float or None
        Standard deviation of F1 over the splits.
    lead, error : float or None
        By how much F1 is greater than that of ADS on the same split, on average, and the
        standard error of this mean.
    """

    name: str
    accuracy: float
    f1: float
    recall: float
    precision: float
    rules: float | None = None
    conditions: float | None = None
    longest: float | None = None
    queries: float | None = None
    seconds: float | None = None
    separated: float | None = None
    trained: float | None = None
    spread: float | None = None
    lead: float | None = None
    error: float | None = None


# Lu, Ester: An Active Approach for Model Interpretation (arXiv:1910.12207), the two tables of
# section 5.
PUBLISHED = (
    Faithfulness(ADS, 0.897, 0.741, 0.688, 0.803, 24, 4.375, 6),
    Faithfulness(UNASKED, 0.884, 0.690, 0.602, 0.809, 29, 2.413, 4, 0),
    Faithfulness("ADS+, beta = 0", 0.895, 0.735, 0.678, 0.802, 28, 2.928, 4),
    Faithfulness("BRS+", 0.882, 0.709, 0.666, 0.757, 57, 3.859, 5),
    Faithfulness("BRS", 0.868, 0.695, 0.703, 0.687, 56, 3.663, 5, 0),
    Faithfulness("SBRL+", 0.903, 0.762, 0.720, 0.808, 143, 1.853, 2),
    Faithfulness("SBRL", 0.901, 0.751, 0.699, 0.812, 107, 1.682, 2, 0),
    Faithfulness("SP-Anchor", 0.807, 0.205, 0.116, 0.877, 24, 7.875, 12),
    Faithfulness("DT-Extract", 0.829, 0.357, 0.221, 0.924, 24, 5.375, 8),
    Faithfulness("CART+", 0.911, 0.796, 0.807, 0.786, 7741, 8.664, 12),
    Faithfulness("CART", 0.910, 0.797, 0.820, 0.775, 4406, 8.869, 12, 0),
    Faithfulness("random forest+", 0.932, 0.831, 0.778, 0.891, 82850, 9.322, 12),
    Faithfulness("random forest", 0.929, 0.824, 0.773, 0.882, 44687, 9.571, 12, 0),
    Faithfulness("SVM+", 0.915, 0.791, 0.747, 0.841),
    Faithfulness("SVM", 0.913, 0.788, 0.755, 0.824, queries=0),
    Faithfulness("DNN+", 0.943, 0.869, 0.872, 0.865),
    Faithfulness("DNN", 0.935, 0.854, 0.875, 0.833, queries=0),
)
"""The figures of the paper, its two tables of section 5. A plus means that as many synthetic
instances were added before learning as ADS generates. The machines have 22,689 support vectors
with these and 10,866 without, the networks 28,310 weights; neither has rules."""


def faithfulness(name: str, ours: Labels, theirs: Labels, **more: float | None) -> Faithfulness:
    """Compare the labels of a surrogate with those of the black box.

    Examples
    --------
    >>> ours, theirs = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    >>> found = faithfulness("mine", ours, theirs)
    >>> found.accuracy, found.f1, found.recall, found.precision
    (0.5, 0.5, 0.5, 0.5)
    """
    both, said, true = int((ours & theirs).sum()), int(ours.sum()), int(theirs.sum())
    return Faithfulness(
        name,
        float((ours == theirs).mean()),
        2 * both / (said + true) if said + true else 0.0,
        both / true if true else 0.0,
        both / said if said else 0.0,
        **more,
    )


def means(runs: Sequence[Sequence[Faithfulness]]) -> list[Faithfulness]:
    """Return for each surrogate its means over splits, with its lead over ADS."""
    theirs = next(
        (np.array([one.f1 for one in same]) for same in zip(*runs) if same[0].name == ADS), None
    )
    return [_mean(list(same), theirs) for same in zip(*runs, strict=True)]


def _mean(runs: list[Faithfulness], theirs: FloatArray | None) -> Faithfulness:
    """Return the means over splits, the spread of F1, and its lead over theirs."""
    kept = ("name", "spread", "lead", "error")
    fields = [f for f in Faithfulness.__dataclass_fields__ if f not in kept]
    told = {f: [getattr(run, f) for run in runs] for f in fields}
    found: dict[str, Any] = {
        f: None if None in values else float(np.mean(values)) for f, values in told.items()
    }
    scores = np.array([run.f1 for run in runs])
    lead = None
    if theirs is not None and runs[0].name != ADS:
        lead = scores - theirs
        found["lead"] = float(lead.mean())
    if len(runs) > 1:
        found["spread"] = float(scores.std(ddof=1))
        if lead is not None:
            found["error"] = float(lead.std(ddof=1) / np.sqrt(len(runs)))
    return Faithfulness(runs[0].name, **found)
