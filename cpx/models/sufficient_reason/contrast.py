"""What would have to change for another class, one row after the other: the door ``contrast``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cpx.answers.values import class_words, plural
from cpx.data.other_frames import as_pandas
from cpx.data.words import columns_of, words_of_table
from cpx.errors import (
    CheckFailed,
    EngineError,
    Infeasible,
    InvalidOption,
    UnsupportedModel,
    shown,
)
from cpx.explainers.about_row import of_trees
from cpx.explainers.class_names import class_name, label_of
from cpx.explainers.doors import Answer
from cpx.explainers.options import built
from cpx.explainers.preparation import counted, left_of
from cpx.explainers.rows import row_of
from cpx.modelling.row import row_values
from cpx.models.sufficient_reason.change_problem import MinimumChange
from cpx.models.sufficient_reason.changes import knowing, restricted, within_domains
from cpx.models.sufficient_reason.contrast_answer import Contrast
from cpx.models.sufficient_reason.contrast_question import ContrastQuestion
from cpx.models.sufficient_reason.contrast_search import Searching
from cpx.models.sufficient_reason.explainer import ReadModel
from cpx.models.sufficient_reason.features import Features, mapped_weights
from cpx.models.sufficient_reason.methods.lightest_change import change_of, shown_least
from cpx.models.sufficient_reason.methods.smallest_change import (
    SmallestChange,
    contrastive_several,
)
from cpx.models.sufficient_reason.networks.contrast import network_answer
from cpx.models.sufficient_reason.seen_values import SeenValues
from cpx.support.validation import integer_in, seconds
from cpx.trees import TreeModel
from cpx.trees.attribute import label_of as cell_label
from cpx.trees.hold import held_against, hold_change

_MOST = 4096
"""Rows that are asked about to say from where to where values may change."""

_CHECK_SECONDS = 2.0
"""For the check that no change is lighter, where less is left of the time limit."""


class ContrastExplainer(ReadModel):
    """Explain predictions of a tree model by the fewest columns whose change gives another class.

    :meth:`cpx.Explainer.contrast` asks it. Of any other classifier a change is found by a search
    on the rows of X, and nothing is proved.
    """

    __doc__ = f"{__doc__}{(ReadModel.__doc__ or '').partition(chr(10))[2]}"

    asks: ClassVar = (ContrastQuestion,)

    search: Searching | None = None

    @cached_property
    def seen(self) -> SeenValues:
        """The values of X, and how rare rows are in it."""
        rows = self.rows if self.network is None else self.network.rows
        if rows is None:
            raise InvalidOption("plausible needs X, rows that say what the data look like")
        return SeenValues(self.model, rows, self.seed)

    def _read(self, model: Any, X: Any, options: Mapping[str, Any]) -> None:
        try:
            super()._read(model, X, options)
        except UnsupportedModel as error:
            predicts = hasattr(model, "predict") or callable(model)
            if X is None or not predicts:
                more = "; with X a change is searched for on its rows" * predicts
                raise UnsupportedModel(f"{error}{more}") from None
            words = words_of_table(self._called, X)
            self.search = Searching(model, X, str(error), options, self.class_names, words)

    def explain(self, x: Any, **options: Any) -> Contrast:
        """Say what would have to change for the model to give x another class.

        Parameters
        ----------
        x : one row, or its position or label in X
            The instance: a Series, a dict, a one-row frame or a vector.
        target : label, optional
            The class to reach, by its label or name; by default any other one.
        actionable : str, int, or a sequence of them, optional
            The columns that may change; by default all.
        frozen : str, int, or a sequence of them
            Columns that may not change.
        ranges : mapping, optional
            What columns may change to: ``{"age": (18, 70)}``, both ends among them and None for
            no end, or a list of values. A value that is out of its range may stay.
        weights : sequence or mapping of positive integers, optional
            What the change of a column costs; 1 where nothing is given.
        plausible : float or bool, optional
            Columns change to values that X has, and to a row that is no rarer than this share of
            X, or than x itself, under a mixture fitted to X; 0.05 for True.
        n : int, default=1
            So many changes, the smallest first; the others are in ``others``. None has all columns
            of another one.
        time_limit : float or None, default=10.0
            Seconds; then the best change so far is returned.

        Returns
        -------
        Contrast
            The columns, with the values that give another class while all others stay. That they
            do is checked by exact sums of the model, and by ``predict`` of a live model.

        Raises
        ------
        Infeasible
            When no change of these columns gives the class.
        EngineError
            When none was found within the time limit.
        CheckFailed
            When code that no search uses finds another class, or another weight.
        ModelError, UnsupportedModel, DataError
            When the model cannot be read, or x is no row of it.
        """
        answer = self.answer(x, **options)
        result, found = answer.result, answer.result.explanation
        if isinstance(found, Contrast):
            return replace(found, result=result)
        told = result.warnings[0]
        raise (Infeasible if result.proved else EngineError)(told, result)

    def problem(self, x: Any, name: str = "", **asked: Any) -> MinimumChange:
        """State the problem of changing x, with the options of :meth:`explain`.

        Raises InvalidOption: For ``plausible``, which no saved problem has, and for ``n``.
        """
        question = built(ContrastQuestion, asked)
        if self.search is not None:
            raise InvalidOption(f"a change is a problem of tree models: {self.search.why}")
        if self.network is not None:
            raise InvalidOption(
                "a saved change is of tree models, this is a network: contrast(x) answers it, and "
                "its result is saved by to_json"
            )
        if question.rarest is not None:
            raise InvalidOption("plausible is no part of a problem: it is asked of the rows of X")
        if question.n != 1:
            raise InvalidOption(f"a problem is about one change, got n={shown(question.n)}")
        x = row_of(self._rows, x)
        return _Asked(self, question, self.fitted(x)[0], x, name).problem

    @counted()
    def answer(self, x: Any, **options: Any) -> Answer:
        """Do what :meth:`explain` does, and return the result also where there is no change."""
        question = built(ContrastQuestion, options)
        x = row_of(self._rows, x)
        if self.search is not None:
            return self.search.answer(question, x)
        if self.network is not None:
            return network_answer(self.network, question, x, self.seed, lambda: self.seen)
        trees, notes = self.fitted(x)
        asked = _Asked(self, question, trees, x)
        limit = seconds(question.time_limit)
        form = asked.problem.form()
        answers = contrastive_several(
            form.model,
            form.x,
            integer_in("n", question.n, 1, 100),
            weights=form.weights,
            must_keep=form.frozen,
            targets=form.wanted,
            rarity=asked.rarity,
            table=asked.start(),
            time_limit=left_of(limit),
            seed=self.seed,
        )
        if not asked.says_all:
            least = min(w for a, w in enumerate(form.weights) if a not in form.frozen)
            answers = [found.of_some_rows(least) for found in answers]
        problem = asked.problem
        own, brief = problem.called(problem.label_index), (problem.kind, *problem._brief())
        result = answers[0].as_result(limit)
        if answers[0].attributes is None:
            return Answer(result.with_warnings(asked.nothing(answers[0])), own, brief)
        ends = time.monotonic() + max(left_of(limit) or _CHECK_SECONDS, _CHECK_SECONDS)
        told = [
            asked.told(found, notes, i, ends)
            for i, found in enumerate(answers)
            if found.attributes is not None
        ]
        first = replace(told[0], others=tuple(told[1:]))
        if len(told) < len(answers):
            more = "there is no further one" if answers[-1].proved else "no further one in time"
            first = replace(
                first, remarks=(*first.remarks, f"{plural(len(told), 'change')}: {more}")
            )
        result = replace(result, objective=first.claim.value) if first.claim else result
        return Answer(replace(result, explanation=first, verified=True), own, brief)


class _Asked:
    """What is asked about a row of a model, and what is said of a change."""

    def __init__(
        self,
        by: ContrastExplainer,
        question: ContrastQuestion,
        trees: TreeModel,
        x: Any,
        name: str = "",
    ) -> None:
        self.given = by._rows
        self.question, columns = question, Features(trees, row_values(trees, x), "attributes")
        frozen = question.kept(columns, [a.name for a in trees.attributes])
        target, names = None, by.class_names
        if question.target is not None:
            own = int(trees.predict_index(columns.x)[0])
            wanted = label_of(question.target, names, trees.classes)
            target = trees.classes[wanted]
            if wanted == own:
                called = class_words(class_name(target, names, trees.classes))
                raise InvalidOption(f"target is the class of x, {called}")
        self.table = None if by.rows is None else np.asarray(by.rows, dtype=np.float64)
        ranges, model = question.numbered_ranges(columns), trees
        self.rarity, self.says_all, seen = None, True, None
        if question.rarest is not None:
            seen = by.seen.table(trees, columns.x, ranges)
            self.says_all = by.seen.says_all(trees, target)
            self.rarity = by.seen.rarity(trees, columns.x, question.rarest)
        if ranges or seen is not None:
            trees = knowing(trees, columns.x, ranges, seen)
            model = restricted(trees, columns.x, ranges, seen)
        context: dict[str, Any] = {}
        called_all = [class_name(label, names, trees.classes) for label in trees.classes]
        if called_all != [*map(str, trees.classes)]:
            context = {"classes": called_all}
        self.problem = MinimumChange(
            model,
            columns.x,
            target,
            frozen,
            tuple(ranges),
            mapped_weights(columns, question.weights),
            name=name,
            context=context,
        )

    def start(self) -> Any:
        """Return rows of X whose values x may take, to begin with; None without X."""
        if self.table is None:
            return None
        return within_domains(self.problem.tree_model, self.problem.x, self.table)

    def nothing(self, found: SmallestChange) -> str:
        """Say that there is no change, or none was found."""
        problem = self.problem
        gives = f"another class than {class_words(problem.called(problem.label_index))}"
        if problem.target is not None:
            gives = class_words(problem.called(problem.wanted[0]))
        if not found.proved:
            return f"no change to {gives} was found in time"
        which = "the columns that may change" if problem.frozen else "columns"
        limits = " within the ranges" * bool(problem.ranges)
        limits += " that is as plausible" * (self.rarity is not None)
        return f"no change of {which}{limits} gives {gives}"

    def told(self, found: SmallestChange, notes: Sequence[str], i: int, ends: float) -> Contrast:
        """Return a change in words, checked; the first one for being the lightest, too."""
        problem, model = self.problem, self.problem.tree_model
        whole = found.row if self.rarity is not None else None
        said = problem.change(found.attributes or (), found.cells or (), whole, self.table)
        row = problem.changed_row(said) or []
        if not found.proved:
            # With other values fewer columns may do.
            weights = problem.form().weights
            found = replace(found, upper=sum(weights[a] for a in said.features))
        hold_change(model, problem.x, found.cells or (), row)
        said = self._checked(said, found, row, ends)
        said = replace(said, values=_as_in(self.given, said.values))
        told = ["checked: the trees give every such row this class"]
        if self.rarity is not None:
            told = [self.rarity.told(np.array(row))]
        if found.proved and not said.sets and not said.gains:
            told.append("that no change is lighter is the engine's word")
        claimed = problem._conclude(said, found.proved, found.upper, found.lower)
        assert isinstance(claimed, Contrast)
        assert claimed.claim is not None  # it was just made
        more: dict[str, Any] = {"plausible": str(self.question.rarest)} if self.rarity else {}
        more |= {"others": i} if i else {}
        claim = replace(claimed.claim, over={**claimed.claim.over, **more})
        remarks = *notes, *told, *held_against(model, problem.x)
        return replace(claimed, claim=claim, remarks=remarks, row=of_trees(model, problem.x, ()))

    def _checked(
        self, said: Contrast, found: SmallestChange, row: list[float], ends: float
    ) -> Contrast:
        """Let code that no search uses judge a change; return it with what shows its bound.

        Raises CheckFailed: When the change is none.
        """
        form = self.problem.form()
        change = change_of(form, said.features, row)
        if wrong := change.violations(found.upper):
            raise CheckFailed(f"check of the change failed: {wrong[0]}")
        left = min(max(ends - time.monotonic(), 0.1), _CHECK_SECONDS)
        return shown_least(said, change, found, left)


def _as_in(X: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a table has them: a category that is a number as a number."""
    table = as_pandas(X)
    places = {} if X is None else {name: c for c, name in enumerate(columns_of(X))}
    return {
        name: _in_column(table.iloc[:, places[name]], value)
        if isinstance(value, str) and name in places and hasattr(table, "iloc")
        else value
        for name, value in values.items()
    }


def _in_column(column: Any, label: str) -> Any:
    """Return what a column has in place of a label."""
    from cpx.data.date_columns import is_date  # loads pandas

    if is_date(column):
        return type(column.dropna().iloc[0])(label, tz=getattr(column.dtype, "tz", None))
    known = getattr(column.dtype, "categories", None)
    cells = (column.dropna().unique() if known is None else known).tolist()
    return next((cell for cell in cells if cell_label(cell) == label), label)
