"""What rules are worth on fresh samples of the definition that an instance was made from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from cpx.compare.comparison import Comparison
from cpx.data.samples import Samples
from cpx.library.families import Entry, families
from cpx.modelling.instances import fingerprint

if TYPE_CHECKING:
    import pandas as pd

_NAME = re.compile(r"([a-z]+)-m([0-9]+)-d([0-9]+)-k([0-9]+)-s([0-9]+)")


def fresh_samples(name: str, mark: str | None = None) -> Samples | None:
    """Draw as many samples as an instance has, anew, from its definition.

    Parameters
    ----------
    name : str
        Of an instance of the library.
    mark : str, optional
        The fingerprint that the instance has, where the name may be a chance.

    Returns
    -------
    Samples or None
        None for other names and other instances, and where the samples are the definition: of
        needles, sets of rules and reasons.

    Examples
    --------
    >>> fresh_samples("planted-m50-d6-k2-s1").agreement.shape, fresh_samples("iris")
    ((50, 6), None)
    """
    found = _NAME.fullmatch(name)
    if found is None or found[1] not in families():
        return None
    sizes = [int(text) for text in found.groups()[1:]]
    entry, draw = Entry(found[1], *sizes), families()[found[1]].draw
    if draw is None or (mark is not None and fingerprint(entry.problem()) != mark):
        return None
    again = draw(*sizes).again
    return None if again is None else again(np.random.default_rng([entry.seed, 1]))


def out_of_sample(comparison: Comparison) -> pd.DataFrame:
    """Return :meth:`~cpx.compare.Comparison.to_frame` with what the rules are worth elsewhere.

    Returns
    -------
    DataFrame
        Two columns more, ``fresh_precision`` and ``fresh_coverage``: of the rule of each run on
        fresh samples of the definition of its instance (:func:`fresh_samples`). NaN where there
        is no rule or no definition; the precision also where nothing is covered.

    Examples
    --------
    >>> import cpx
    >>> from cpx.library import make, out_of_sample
    >>> frame = out_of_sample(cpx.compare([make("planted", m=200, d=8, k=2)], "search"))
    >>> bool(abs(frame.fresh_precision[0] - frame.precision[0]) < 0.2)
    True
    """
    frame = comparison.to_frame()
    drawn: dict[tuple[str, str], Samples | None] = {}
    rows = []
    for runs in comparison.by_instance().values():
        for run in runs:
            key = run.instance, run.fingerprint
            if key not in drawn:
                drawn[key] = fresh_samples(*key)
            samples, rule = drawn[key], run.result.explanation
            precision = coverage = np.nan
            if samples is not None and rule is not None:
                covered = samples.weights * samples.covered(rule.features)
                coverage = covered.sum() / samples.total
                if covered.any():
                    precision = covered[samples.same].sum() / covered.sum()
            rows.append((precision, coverage))
    values = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return frame.assign(fresh_precision=values[:, 0], fresh_coverage=values[:, 1])
