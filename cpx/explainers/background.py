"""The background of probabilistic explanations: rows of a model, and what is fitted to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cpx.data.coding import Coding
from cpx.data.fitted.circuit import Circuit
from cpx.data.fitted.distribution import StateDistribution, read_distribution
from cpx.data.fitted.held_out import HeldOut
from cpx.data.fitted.mixture_choice import CANDIDATES, Trial, best_of_few, choose_mixture
from cpx.data.fitted.mixture_fit import fit_mixture, structure_of
from cpx.data.fitted.naive_bayes import fit_naive_bayes
from cpx.data.fitted.tree_mixture import TreeMixture
from cpx.data.other_frames import as_pandas
from cpx.data.targets import Target
from cpx.data.words import columns_of, with_label, words_of
from cpx.errors import DataError, InvalidOption, UnknownName, shown
from cpx.explainers.about_row import predicted_by_trees, probabilities_by_trees
from cpx.modelling.columns import column_order, names_of, renamed
from cpx.modelling.row import table_in
from cpx.options import read_named
from cpx.processes.interrupts import interruptible
from cpx.support.validation import positive_integer
from cpx.trees import Attribute, TreeModel, read_model
from cpx.trees.form import Missing
from cpx.trees.hold import hold_rows

if TYPE_CHECKING:
    import pandas as pd

FITTED = ("factorised", "mixture", "chow-liu", "naive-bayes", "fitted")
"""Names of distributions; the last is that of the first three which suits rows kept aside best."""

MOST_VALUES = 256
"""Values of a column of a linear model or naive Bayes, in a background."""

_MANY, _LEAST_ROWS = 50, 50
"""Columns of two states, and rows, from which on it is tried which distribution fits."""

_COMPONENTS = {"mixture": 10, "chow-liu": 1}
_OPTIONS = {"factorised": (), "naive-bayes": (), "fitted": ("max_components",)}


def fitted_distribution(
    distribution: str,
    model: TreeModel,
    coding: Coding,
    rows: Any,
    components: int | None,
    smoothing: float,
    seed: int,
) -> tuple[TreeMixture, tuple[Trial, ...]]:
    """Fit a distribution by its name; return it, and what was tried for ``"fitted"``.

    distribution: One of :data:`FITTED`, with options in braces.
    rows: The background, with the columns of the model.
    Raises UnknownName, InvalidOption, DataError: Naming the argument that is wrong.
    """
    name, options = read_named("distribution", distribution)
    if name not in FITTED:
        raise UnknownName("distribution", name, (*FITTED, "the path of a file"))
    if components is not None:
        options = {"components": components} | options
    own = _OPTIONS.get(name, ("components",))
    if wrong := sorted(options.keys() - {*own, "smoothing"}):
        raise InvalidOption(f"{wrong[0]} is no option of the distribution {shown(name)}")
    options = {"smoothing": smoothing, "seed": seed} | options
    codes, sizes = coding.codes(rows), coding.cardinalities
    with interruptible():
        if name == "naive-bayes":
            labels = model.predict_index(np.asarray(rows, dtype=np.float64))
            return fit_naive_bayes(codes, sizes, labels, smoothing=options["smoothing"]), ()
        if name == "fitted":
            return choose_mixture(codes, sizes, **options)
        count = positive_integer("components", options.pop("components", _COMPONENTS.get(name, 1)))
        structure = structure_of(name, count)
        return fit_mixture(codes, sizes, structure=structure, components=count, **options), ()


def default_distribution(
    coding: Coding, rows: Any, smoothing: float, seed: int
) -> tuple[TreeMixture, tuple[Trial, ...], HeldOut, str] | None:
    """Fit what rows kept aside are most probable under, for many columns of two states.

    Returns with it what was tried, how well it fits, and that in words; None for other tables.
    """
    sizes = coding.cardinalities
    if [*sizes].count(2) < _MANY or len(rows) < _LEAST_ROWS:
        return None
    with interruptible():
        found, trials, fit = best_of_few(coding.codes(rows), sizes, smoothing=smoothing, seed=seed)
    likely = {(t.structure, t.components): f"{t.held_out:.2f}" for t in trials}
    tried = "; ".join(
        f"{words} {likely.get(key, 'not tried, for its time')}"
        for key, words in CANDIDATES.items()
    )
    note = (
        f"distribution: {found.structure}, by the mean log-likelihood of {fit.rows} rows kept "
        f"aside: {tried}"
    )
    return found, trials, fit, note


def given_distribution(distribution: Any) -> StateDistribution | None:
    """Return a distribution that is fitted already, or in a file; None where one is to be fitted.

    Raises DataError: With the path, naming what is wrong in a file.
    """
    if distribution is None or isinstance(distribution, TreeMixture | Circuit):
        return distribution
    if isinstance(distribution, str) and distribution.partition("{")[0] in FITTED:
        return None
    if isinstance(distribution, str | os.PathLike) and os.path.isfile(distribution):
        return read_distribution(distribution)
    path = isinstance(distribution, os.PathLike) or (
        isinstance(distribution, str)
        and bool(os.path.dirname(distribution) or "." in distribution)
    )
    if path and "{" not in str(distribution):
        raise DataError(f"distribution: there is no file {shown(str(distribution))}")
    if not isinstance(distribution, str):
        raise InvalidOption(
            "distribution must be a name, the path of a file, a TreeMixture or a Circuit, got "
            f"{shown(distribution)}"
        )
    return None


def cuts_of(
    trees: TreeModel, rows: pd.DataFrame, distribution: StateDistribution | None
) -> list[Any]:
    """Return where the columns must be cut: at the thresholds of the model.

    Columns of 0 and 1 are cut between these as well where a distribution that is given has two
    states of them: all rows may have the same one.
    """
    cuts: list[Any] = [own if len(own) else [] for own in trees.thresholds]
    sizes = () if distribution is None else distribution.cardinalities
    if len(sizes) == len(cuts):
        table = rows.to_numpy()
        for c, size in enumerate(sizes):
            if size == 2 and not len(cuts[c]) and np.isin(table[:, c], (0, 1)).all():
                cuts[c] = [0.5]
    return cuts


def read_background(
    model: Any, background: Any, reader: Mapping[str, Any], target: Target | None = None
) -> tuple[TreeModel, Any, tuple[str, ...]]:
    """Return the model with the names of the columns, the rows in its order, and notes."""
    from cpx.data.frames import as_table  # loads pandas

    frame = as_table(as_pandas(background))
    trees = read_model(model, rows=frame, **({} if target is None else vars(target)), **reader)
    if trees.live is not None and trees.live.sums is not None:
        _refuse_many_values(trees)
    return fitted_to_rows(trees, frame)


def fitted_to_rows(
    trees: TreeModel, background: Any
) -> tuple[TreeModel, pd.DataFrame, tuple[str, ...]]:
    """Return a model with the names of some rows, these with its columns, and notes.

    Values of columns that some row lacks may be missing, besides those that the model shows.
    """
    import pandas as pd

    from cpx.data.frames import as_table

    frame = as_table(as_pandas(background))
    if not len(frame):
        raise DataError("the background has no rows")
    columns = names_of(frame.columns)
    notes: tuple[str, ...] = ()
    if columns is not None:
        trees, notes = renamed(trees, columns, "the background")
        frame = frame.iloc[:, column_order(trees, columns, "the background")]
    elif frame.shape[1] != trees.n_attributes:
        raise DataError(
            f"the background has {frame.shape[1]} columns, the model {trees.n_attributes}"
        )
    # What is missing is NaN from here on, whatever the frame calls it, and numbers are exact.
    numbers, trees = table_in(trees, frame, "the background")
    boolean = [pd.api.types.is_bool_dtype(dtype) for dtype in frame.dtypes]
    for c, name in enumerate(frame.columns):
        if np.isinf(numbers[:, c]).any():
            raise DataError(
                f"column {shown(str(name))} has an infinite value: replace it by a number or by a "
                "missing value"
            )
    frame = pd.DataFrame(numbers, columns=frame.columns)
    lacking = frame.isna().any().tolist()
    attributes = [
        replace(
            _true_or_false(a) if truth else a,
            missing=a.missing or (gone and not trees.refuses_missing(c)),
        )
        for c, (a, gone, truth) in enumerate(zip(trees.attributes, lacking, boolean, strict=True))
    ]
    trees = trees.with_attributes(attributes)
    hold_rows(trees, frame)
    return trees, frame, notes


def _true_or_false(attribute: Attribute) -> Attribute:
    """Return an attribute whose numbers 0 and 1 are called False and True."""
    listed = (None, (0.0, 1.0)) if attribute.kind in ("real", "boolean") else ()
    if attribute.values not in listed:
        return attribute
    called = ("False", "True")
    return Attribute(
        attribute.name, "categorical", None, None, (0.0, 1.0), attribute.missing, called
    )


def in_words(trees: TreeModel, words: object, X: Any = None) -> TreeModel:
    """Return a model with what its columns are called, by words that are given or those of X."""
    names = [a.name for a in trees.attributes]
    found = words_of(words, X, [*dict.fromkeys([*columns_of(X), *names])])
    if not found.keys() & {*names}:
        return trees
    return trees.with_attributes([with_label(a, a.name, found) for a in trees.attributes])


class TreePredictor:
    """Predicts as a tree model does, of rows that have its columns, in any order."""

    def __init__(self, trees: TreeModel) -> None:
        self.trees = trees
        self.classes_ = np.asarray(trees.classes)

    def predict(self, rows: Any) -> Any:
        """Return a label for each row."""
        numbers = self._numbers(rows)
        return self.trees.covering(numbers).predict(numbers)

    def predict_proba(self, rows: Any) -> Any:
        """Return the probability of each class for each row; None where the model gives none."""
        numbers, live = self._numbers(rows), self.trees.live
        if live is not None:  # asked about all at once: a pipeline takes as long for one row
            width = len(self.trees.classes)
            said = live.probabilities(np.asarray(numbers, dtype=np.float64), width)
            return said if said is not None and said.shape[1] == width else None
        table = [probabilities_by_trees(self.trees, x) for x in numbers]
        return None if None in table else np.array(table, dtype=np.float64)

    def predicted(self, rows: Any) -> list[str] | None:
        """Return the numbers that are predicted, in words; None of a classifier."""
        numbers = self._numbers(rows)
        trees = self.trees.covering(numbers)
        told = [predicted_by_trees(trees, x) for x in numbers]
        known = [one for one in told if one is not None]
        return known if len(known) == len(told) else None

    def _numbers(self, rows: Any) -> Any:
        from cpx.data.frames import as_table

        frame = as_table(as_pandas(rows))
        columns = names_of(frame.columns)
        if columns is not None:
            frame = frame.iloc[:, column_order(self.trees, columns, "the rows")]
        return table_in(self.trees, frame, "the rows")[0]


def rows_that_may_lack(
    trees: TreeModel, rows: pd.DataFrame, missing: Missing
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Return the rows that lack no other values than may be missing, a row that lacks all these,
    and how many are left out.
    """
    may = np.array([a.missing for a in trees.attributes], dtype=bool)
    kept = rows[~(rows.isna().to_numpy() & ~may).any(axis=1)]
    if not len(kept):
        raise DataError(f"missing is {shown(missing)}: each row of the background lacks others")
    also = kept.iloc[[0]].astype(np.float64)
    also.iloc[:, np.flatnonzero(may)] = np.nan
    told = f"{len(rows) - len(kept)} of {len(rows)} rows of the background are left out: they "
    lacking = len(kept) < len(rows)
    return kept, also, (f"{told}lack values that may not be missing",) * lacking


def _refuse_many_values(trees: TreeModel) -> None:
    for attribute in trees.attributes:
        if attribute.values is not None and len(attribute.values) > MOST_VALUES:
            raise DataError(
                f"column {shown(attribute.name)} has more than {MOST_VALUES} values, each of "
                "which is a state of the background: round them, or put them into bins"
            )
