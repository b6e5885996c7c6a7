"""What would have to change for another class, one row after the other: the door ``contrast``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from cpx.answers.claim import Claim
from cpx.answers.result import Result, Status, Termination, Times
from cpx.answers.rule import Literal, Rule
from cpx.answers.values import class_words, plural
from cpx.data.condition import ColumnCondition
from cpx.data.words import words_of_table
from cpx.errors import (
    CheckFailed,
    EngineError,
    Infeasible,
    InvalidOption,
    UnsupportedModel,
)
from cpx.explainers.about_row import of_trees
from cpx.explainers.class_names import class_name, label_of
from cpx.explainers.doors import Answer
from cpx.explainers.options import built
from cpx.explainers.preparation import counted, left_of
from cpx.explainers.rows import row_of
from cpx.modelling.row import row_values
from cpx.models.sufficient_reason.changes import (
    knowing,
    new_values,
    rarity_of,
    restricted,
    within_domains,
)
from cpx.models.sufficient_reason.contrast_answer import Contrast
from cpx.models.sufficient_reason.contrast_question import ContrastQuestion
from cpx.models.sufficient_reason.contrast_search import Searching
from cpx.models.sufficient_reason.explainer import ReadModel, mapped_weights
from cpx.models.sufficient_reason.features import Features
from cpx.models.sufficient_reason.judge_change import Change
from cpx.models.sufficient_reason.methods.smallest_change import (
    SmallestChange,
    contrastive_several,
)
from cpx.models.sufficient_reason.methods.wanted_rows import Rarity
from cpx.support.shares import percent
from cpx.support.validation import integer_in, seconds
from cpx.trees import MISSING, TreeModel
from cpx.trees.conditions import has_value
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
            do is checked by the trees, and by ``predict`` of a live model.

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

    @counted()
    def answer(self, x: Any, **options: Any) -> Answer:
        """Do what :meth:`explain` does, and return the result also where there is no change."""
        question = built(ContrastQuestion, options)
        x = row_of(self._rows, x)
        if self.search is not None:
            return self.search.answer(question, x)
        trees, notes = self.fitted(x)
        asked = _Asked(self, question, trees, x)
        limit = seconds(question.time_limit)
        answers = contrastive_several(
            asked.model,
            asked.x,
            integer_in("n", question.n, 1, 100),
            weights=asked.weights,
            must_keep=asked.kept,
            targets=asked.targets,
            rarity=asked.rarity,
            table=asked.table,
            time_limit=left_of(limit),
            seed=self.seed,
        )
        brief = asked.brief()
        result = _result(answers[0], limit)
        if answers[0].attributes is None:
            return Answer(result.with_warnings(asked.nothing(answers[0])), asked.own, brief)
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
        return Answer(replace(result, explanation=first, verified=True), asked.own, brief)


class _Asked:
    """What is asked about a row of a model, and what is said of a change."""

    def __init__(
        self, by: ContrastExplainer, question: ContrastQuestion, trees: TreeModel, x: Any
    ) -> None:
        self.names, self.question = by.class_names, question
        columns = Features(trees, row_values(trees, x), "attributes")
        self.x, self.kept = columns.x, question.kept(columns)
        self.weights = mapped_weights(columns, question.weights)
        own = int(trees.predict_index(columns.x)[0])
        self.own = self._called(trees, own)
        self.targets = [c for c in range(len(trees.classes)) if c != own]
        if question.target is not None:
            target = label_of(question.target, self.names, trees.classes)
            if target == own:
                raise InvalidOption(f"target is the class of x, {class_words(self.own)}")
            self.targets = [target]
        rarest, self.rarity = question.rarest, None
        self.seen = None if by.rows is None else np.asarray(by.rows, dtype=np.float64)
        if rarest is not None and by.rows is None:
            raise InvalidOption("plausible needs X, rows that say what the data look like")
        ranges = question.numbered_ranges(columns)
        self.model = trees
        if ranges or rarest is not None:
            seen = None if rarest is None else self.seen
            trees = knowing(trees, self.x, ranges, seen)
            self.model = restricted(trees, self.x, ranges, seen)
        if rarest is not None:
            self.rarity = rarity_of(trees, by.rows, self.x, rarest, by.seed)  # type: ignore[arg-type]

    @property
    def table(self) -> Any:
        """Rows of X whose values x may take; None without X."""
        return None if self.seen is None else within_domains(self.model, self.x, self.seen)

    def _called(self, trees: TreeModel, label: int) -> str:
        return class_name(trees.classes[label], self.names, trees.classes)

    @property
    def _wanted(self) -> str:
        one = len(self.targets) == 1 and self.question.target is not None
        return self._called(self.model, self.targets[0]) if one else ""

    def brief(self) -> tuple[str, ...]:
        """Say what is asked, in a few words each."""
        free = plural(self.model.n_attributes - len(self.kept), "column")
        to = (f"to {class_words(self._wanted)}",) if self._wanted else ()
        return "contrast", plural(len(self.model.trees), "tree"), f"{free} may change", *to

    def nothing(self, found: SmallestChange) -> str:
        """Say that there is no change, or none was found."""
        own = class_words(self.own)
        gives = class_words(self._wanted) if self._wanted else f"another class than {own}"
        if not found.proved:
            return f"no change to {gives} was found in time"
        which = "the columns that may change" if self.kept else "columns"
        limits = " within the ranges" * bool(self.question.ranges)
        limits += " that is as plausible" * (self.rarity is not None)
        return f"no change of {which}{limits} gives {gives}"

    def told(self, found: SmallestChange, notes: Sequence[str], i: int, ends: float) -> Contrast:
        """Return a change in words, checked; the first one for being the lightest, too."""
        model, x = self.model, self.x
        changed, cells = found.attributes or (), found.cells or ()
        if found.row is not None and self.rarity is not None:
            label = int(model.predict_index(np.array(found.row))[0])
            new = {a: found.row[a] for a in changed}
            said = {a: has_value(model.attributes[a], v) for a, v in new.items()}
        else:
            label, ranges = _ranges(model, x, changed, cells)
            new = new_values(model, x, ranges, self.seen)
            said = {a: _changed(model, a, r, x[a]) for a, r in ranges.items()}
        row = np.array(x, dtype=np.float64)
        row[[*new]] = [*new.values()]
        hold_change(model, x, cells, row.tolist())
        checked = self._checked(found, row.tolist(), ends)
        over: dict[str, Any] = {"frozen": len(self.kept)} if self.kept else {}
        over |= {} if self.question.weights is None else {"weights": model.n_attributes}
        over |= {"target": self._wanted} if self._wanted else {}
        over |= {"ranges": len(self.question.ranges)} if self.question.ranges else {}
        over |= {"plausible": str(self.question.rarest)} if self.rarity else {}
        over |= {"others": i} if i else {}
        told = ["checked: the trees give every such row this class"]
        if self.rarity is not None:
            told = [_rarity_text(self.rarity, row)]
        if not checked and found.proved:
            told.append("that no change is lighter is the engine's word")
        return Contrast(
            Rule(
                tuple(Literal(a, replace(said[a], now=self._now(a))) for a in new),
                self._called(model, label),
            ),
            claim=Claim(
                "contrast",
                over,
                checked,
                optimal=found.proved,
                value=found.upper,
                bound=found.lower,
            ),
            remarks=(*notes, *told, *held_against(model, x)),
            instead_of=self.own,
            values={model.attributes[a].name: self._named(a, v) for a, v in new.items()},
            told=tuple(has_value(model.attributes[a], v) for a, v in new.items()),
            row=of_trees(model, x, ()),
        )

    def _named(self, a: int, value: float) -> Any:
        attribute = self.model.attributes[a]
        return value if attribute.labels is None else attribute.called(value)

    def _now(self, a: int) -> str:
        return replace(self.model.attributes[a], unit="").in_words(self.x[a])

    def _checked(self, found: SmallestChange, row: list[float], ends: float) -> dict[str, Any]:
        """Let code that no search uses judge a change; return by what it is a least one.

        Raises CheckFailed: When the change is none.
        """
        weights = self.weights or [1] * self.model.n_attributes
        change = Change(
            self.model.to_dict(),
            _saved(self.x),
            _saved(row),
            [self.model.classes[c] for c in self.targets],
            self.kept,
            weights,
        )
        if wrong := change.violations(found.upper):
            raise CheckFailed(f"check of the change failed: {wrong[0]}")
        if not found.proved or found.lower is None:
            return {}
        left = min(max(ends - time.monotonic(), 0.1), _CHECK_SECONDS)
        sets = change.confirmed(found.reasons, found.lower, left)
        if sets is not None:
            return {"reasons": sets}
        return {"gains": True} if change.gains_too_little(found.lower) else {}


def _saved(row: Sequence[float]) -> list[float | None]:
    return [None if np.isnan(v) else float(v) for v in row]


def _rarity_text(rarity: Rarity, row: Any) -> str:
    return (
        f"values of the table; {percent(rarity.share(row), 0)} of its rows are as rare or rarer, "
        "by a mixture fitted to it"
    )


def _result(found: SmallestChange, limit: float | None) -> Result:
    """Return what is known as a result; there is no saved instance, and no proof, of it."""
    none = found.attributes is None
    if found.proved:
        status = Status.INFEASIBLE if none else Status.OPTIMAL
    else:
        status = Status.UNKNOWN if none else Status.FEASIBLE
    return Result(
        status,
        Termination.COMPLETED if found.proved else Termination.TIME_LIMIT,
        objective=found.upper,
        bound=found.lower,
        times=Times(solve=found.seconds, total=found.seconds),
        backend="hitting-sets",
        options={"time_limit": limit},
    )


def _ranges(
    model: TreeModel,
    x: Sequence[float],
    changed: Sequence[int],
    cells: Sequence[int],
) -> tuple[int, dict[int, tuple[int, int]]]:
    """Return the new class, and for each column the cells that give it, whatever the others'.

    Each cell moves as near to that of x as the class allows; then ranges grow away from x, and
    what they give is asked of the trees, all combinations.
    """
    own = model.cells(np.array([x], dtype=np.float64))[0]
    now = own.copy()
    for a in changed:
        now[a] = cells[a]
    label = int(_classes(model, now[None, :])[0])
    for a in changed:
        # A value is told rather than that there is none, where one does.
        now[a] = _nearest(model, now, a, int(own[a]), label)
    ranges = {a: (int(now[a]), int(now[a])) for a in changed}
    for a in changed:
        if now[a] == MISSING:
            continue
        for step in (1, -1) if own[a] == MISSING else (1 if now[a] > own[a] else -1,):
            while (wider := _grown(model, ranges, a, step)) is not None and _gives(
                model, now, wider, label
            ):
                ranges = wider
    return label, ranges


def _classes(model: TreeModel, cells: Any) -> Any:
    return model.decide(model.totals_of(cells))


def _nearest(model: TreeModel, now: Any, a: int, own: int, label: int) -> int:
    """Return the cell of a column next to that of x which keeps the new class."""
    options = np.flatnonzero(model.possible[a])
    options = options[np.argsort(np.abs(options - own), kind="stable")]
    rows = np.tile(now, (len(options), 1))
    rows[:, a] = options
    keeps = options[_classes(model, rows) == label]
    return int(keeps[0]) if len(keeps) else int(now[a])


def _grown(
    model: TreeModel, ranges: dict[int, tuple[int, int]], a: int, step: int
) -> dict[int, tuple[int, int]] | None:
    low, high = ranges[a]
    count = int(np.prod([1 + b - c for c, b in ranges.values()]))
    possible = np.flatnonzero(model.possible[a])
    beyond = possible[possible > high] if step > 0 else possible[possible < low][::-1]
    if not len(beyond) or count > _MOST:
        return None
    return {**ranges, a: (low, int(beyond[0])) if step > 0 else (int(beyond[0]), high)}


def _gives(model: TreeModel, now: Any, ranges: dict[int, tuple[int, int]], label: int) -> bool:
    spans = [range(low, high + 1) for low, high in ranges.values()]
    grid = np.array(list(product(*spans)), dtype=now.dtype)
    rows = np.tile(now, (len(grid), 1))
    rows[:, [*ranges]] = grid
    return bool((_classes(model, rows) == label).all())


def _changed(model: TreeModel, a: int, cells: tuple[int, int], value: float) -> ColumnCondition:
    """Return the new values of a column that has a value now."""
    attribute = model.attributes[a]
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values or ()
    column = np.zeros((len(listed), model.n_attributes))
    column[:, a] = listed
    new = [v for v, c in zip(listed, model.cells(column)[:, a]) if cells[0] <= c <= cells[1]]
    return model.between(a, *cells, new[0] if new else value)
