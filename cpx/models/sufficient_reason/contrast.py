"""What would have to change for another class, one row after the other: the door ``contrast``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Any, ClassVar

import numpy as np

from cpx.answers.claim import Claim
from cpx.answers.explanation import Explanation, LeastExplanation
from cpx.answers.result import Result, Status, Termination, Times
from cpx.answers.rule import Literal, Rule
from cpx.answers.text import Block, Paragraph
from cpx.answers.values import class_words, plural
from cpx.errors import EngineError, Infeasible, InvalidOption, printable
from cpx.explainers.about_row import of_trees
from cpx.explainers.class_names import class_name
from cpx.explainers.doors import Answer
from cpx.explainers.options import WEIGHTS, Option, built, features
from cpx.explainers.preparation import counted, left_of
from cpx.explainers.rows import row_of
from cpx.modelling.row import row_values
from cpx.models.sufficient_reason.explainer import ReadModel, mapped_weights, several
from cpx.models.sufficient_reason.features import Features
from cpx.models.sufficient_reason.methods.smallest_change import SmallestChange, contrastive
from cpx.options import TIME_LIMIT
from cpx.support.validation import seconds
from cpx.trees import MISSING, TreeModel
from cpx.trees.hold import held_against

_MOST = 4096
"""Rows that are asked about to say from where to where values may change."""


@dataclass(frozen=True)
class Contrast(LeastExplanation):
    """The fewest columns whose change gives a row another class; its rule has the new values.

    Attributes
    ----------
    instead_of : str
        The class of x.

    Examples
    --------
    >>> rule = Rule.of([0], ["a > 1 (now 0.5)"], "yes")
    >>> claim = Claim("contrast", optimal=True, value=1, bound=1)
    >>> found = Contrast(rule, claim=claim, instead_of="no")
    >>> print(found)
    a > 1 (now 0.5) gives yes in place of no
    >>> found.proved, found.minimum
    ('1 column: no smaller change gives another class', True)
    """

    instead_of: str = field(kw_only=True)

    def __str__(self) -> str:
        changed, now = " and ".join(self.rule.words), class_words(self.rule.conclusion)
        give = "give" + "s" * (len(self.rule.words) == 1)
        return printable(f"{changed} {give} {now} in place of {class_words(self.instead_of)}")

    def headline(self) -> list[Block]:
        """Return the sentence that says what gives another class."""
        return [Paragraph(str(self), "strong")]

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain JSON values."""
        return {**super().to_dict(), "instead_of": self.instead_of}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Contrast:
        """Read what :meth:`to_dict` wrote."""
        plain = Explanation.from_dict(data)
        return cls(
            plain.rule,
            claim=plain.claim,
            remarks=plain.remarks,
            instead_of=data["instead_of"],
        )


@dataclass(frozen=True)
class ContrastQuestion:
    """Which change is wanted; see :meth:`ContrastExplainer.explain`."""

    actionable: Annotated[
        object, Option("Columns that may change: all.", "COLUMN", many=True, read=features)
    ] = None
    frozen: Annotated[
        object, Option("Columns that may not change.", "COLUMN", many=True, read=features)
    ] = ()
    weights: Annotated[Sequence[int] | Mapping[Any, int] | None, WEIGHTS] = None
    time_limit: Annotated[float | None, Option("Seconds.", "SECONDS", shell=None)] = TIME_LIMIT

    def kept(self, columns: Features) -> tuple[int, ...]:
        """Return the columns that may not change."""
        frozen = {*columns.numbers("frozen", several(self.frozen))}
        if self.actionable is not None:
            free = {*columns.numbers("actionable", several(self.actionable))}
            if both := sorted(free & frozen):
                raise InvalidOption(
                    f"actionable and frozen both have {columns.model.attributes[both[0]].name!r}"
                )
            frozen |= {*range(len(columns))} - free
        return tuple(sorted(frozen))


class ContrastExplainer(ReadModel):
    """Explain predictions of a tree model by the fewest columns whose change gives another class.

    :meth:`cpx.Explainer.contrast` asks it.
    """

    __doc__ = f"{__doc__}{(ReadModel.__doc__ or '').partition(chr(10))[2]}"

    asks: ClassVar = (ContrastQuestion,)

    def explain(self, x: Any, **options: Any) -> Contrast:
        """Say what would have to change for the model to give x another class.

        Parameters
        ----------
        x : one row, or its position or label in X
            The instance: a Series, a dict, a one-row frame or a vector.
        actionable : str, int, or a sequence of them, optional
            The columns that may change; by default all.
        frozen : str, int, or a sequence of them
            Columns that may not change.
        weights : sequence or mapping of positive integers, optional
            What the change of a column costs; 1 where nothing is given.
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
            When no change of these columns gives another class.
        EngineError
            When none was found within the time limit.
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
        trees, notes = self.fitted(x)
        columns = Features(trees, row_values(trees, x), "attributes")
        kept, limit = question.kept(columns), seconds(question.time_limit)
        weights = mapped_weights(columns, question.weights)
        found = contrastive(
            trees,
            columns.x,
            weights=weights,
            must_keep=kept,
            time_limit=left_of(limit),
            seed=self.seed,
        )
        own = self._called(trees, int(trees.predict_index(columns.x)[0]))
        free = plural(trees.n_attributes - len(kept), "column")
        brief = ("contrast", plural(len(trees.trees), "tree"), f"{free} may change")
        result = _result(found, limit)
        if found.attributes is None or found.cells is None or found.upper is None:
            which = "the columns that may change" if kept else "columns"
            told = f"no change of {which} gives another class than {class_words(own)}"
            if not found.proved:
                told = f"no change to another class than {class_words(own)} was found in time"
            return Answer(result.with_warnings(told), own, brief)
        new, ranges = _ranges(trees, columns.x, found.attributes, found.cells)
        texts = {a: _text(trees, a, r, columns.x[a]) for a, r in ranges.items()}
        over = {"frozen": len(kept)} if kept else {}
        over |= {} if question.weights is None else {"weights": trees.n_attributes}
        checked = "checked: the trees give every such row this class"
        told_of = Contrast(
            Rule(tuple(Literal(a, texts[a]) for a in ranges), self._called(trees, new)),
            claim=Claim(
                "contrast", over, optimal=found.proved, value=found.upper, bound=found.lower
            ),
            remarks=(*notes, checked, *held_against(trees, columns.x)),
            instead_of=own,
            row=of_trees(trees, columns.x, ()),
        )
        cost = sum(1 if weights is None else weights[a] for a in found.attributes)
        verified = cost == found.upper and told_of.rule.conclusion != own
        return Answer(replace(result, explanation=told_of, verified=verified), own, brief)

    def _called(self, trees: TreeModel, label: int) -> str:
        return class_name(trees.classes[label], self.class_names, trees.classes)


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
    model: TreeModel, x: Sequence[float], changed: Sequence[int], cells: Sequence[int]
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
        if now[a] != MISSING:
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
    low, high = (low, high + 1) if step > 0 else (low - 1, high)
    count = int(np.prod([1 + b - c for c, b in ranges.values()]))
    if low < 0 or high > int(model.sizes[a]) or count > _MOST:
        return None
    return {**ranges, a: (low, high)}


def _gives(model: TreeModel, now: Any, ranges: dict[int, tuple[int, int]], label: int) -> bool:
    spans = [range(low, high + 1) for low, high in ranges.values()]
    grid = np.array(list(product(*spans)), dtype=now.dtype)
    rows = np.tile(now, (len(grid), 1))
    rows[:, [*ranges]] = grid
    return bool((_classes(model, rows) == label).all())


def _text(model: TreeModel, a: int, cells: tuple[int, int], value: float) -> str:
    """Return the new values of a column, and what it has now."""
    attribute = model.attributes[a]
    listed = (0.0, 1.0) if attribute.kind == "boolean" else attribute.values or ()
    column = np.zeros((len(listed), model.n_attributes))
    column[:, a] = listed
    new = [v for v, c in zip(listed, model.cells(column)[:, a]) if cells[0] <= c <= cells[1]]
    now = "missing" if np.isnan(value) else attribute.called(value)
    return f"{model.between(a, *cells, new[0] if new else value)} (now {now})"
