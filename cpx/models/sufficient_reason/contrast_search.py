"""Changes that give another class of any classifier, found by a search on rows: no proof.

Each column may change to the values that it has in the table. All changes of one column are asked
about, then those of two while there is time, and rows of the class are made like x step by step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpx.answers.claim import Claim
from cpx.answers.result import Result, Status, Termination, Times
from cpx.answers.rule import Literal, Rule
from cpx.answers.values import class_words, plural
from cpx.data.condition import valued
from cpx.data.frames import array_row_like, instance, row_like
from cpx.data.oracle import contrary, labels
from cpx.data.other_frames import as_pandas, printed_names
from cpx.data.targets import asked_about, target_of
from cpx.data.words import Words, with_label
from cpx.errors import DataError, InvalidOption, shown
from cpx.explainers.about_row import of_rows
from cpx.explainers.class_names import ClassNames, class_name, classes_of, label_of
from cpx.explainers.doors import Answer
from cpx.explainers.preparation import left_of
from cpx.models.sufficient_reason.contrast_answer import Contrast
from cpx.models.sufficient_reason.contrast_question import ContrastQuestion
from cpx.support.validation import integer_in, seconds, weight_map
from cpx.support.warnings import warn

__all__ = ["FoundChange", "RowSearch", "Searching"]

_VALUES = 60
"""Values of a column that are tried alone; of two columns the square root of a batch."""

_BATCH = 4_096
_DONORS = 12

Places = NDArray[np.int64]


@dataclass(frozen=True)
class FoundChange:
    """A change: its columns, what each is in the changed row, and the class of that row."""

    columns: tuple[int, ...]
    values: tuple[Any, ...]
    label: Any
    weight: int
    places: tuple[int, ...]
    """Rows of the table that have the values."""


class RowSearch:
    """A row, and the table whose values it may take; a row is where each value comes from.

    classifier: Anything that :func:`cpx.data.labels` asks.
    X: The table.
    x: The row.
    """

    def __init__(self, classifier: Any, X: Any, x: Any) -> None:
        self.pool: Any
        self.classifier, table = classifier, as_pandas(X)
        self.framed = hasattr(table, "iloc")
        if self.framed:
            import pandas as pd

            row = row_like(instance(x, list(table.columns), True), table)
            self.pool = pd.concat([row, table], ignore_index=True)
            self.names = printed_names(self.pool.columns)
            columns = [self.pool.iloc[:, c] for c in range(self.pool.shape[1])]
        else:
            table = np.asarray(table)
            self.names = [f"x{c}" for c in range(table.shape[1])]
            given = instance(x, self.names, False)
            own = array_row_like([given[name].iloc[0] for name in self.names], table)
            self.pool = np.vstack([own, table])
            columns = [*self.pool.T]
        self.codes = np.stack([*map(_codes, self.names, columns)], axis=1)
        self.n_columns = len(self.names)
        self.label = self.classes(np.zeros((1, self.n_columns), dtype=np.int64))[0]

    def rows(self, places: Places) -> Any:
        """Return rows as the classifier takes them."""
        if not self.framed:
            return np.stack([self.pool[places[:, c], c] for c in range(self.n_columns)], axis=1)
        import pandas as pd

        parts = [
            self.pool.iloc[:, c].take(places[:, c]).reset_index(drop=True)
            for c in range(self.n_columns)
        ]
        return pd.concat(parts, axis=1)

    def classes(self, places: Places) -> NDArray[Any]:
        """Return the class of each row."""
        return labels(self.classifier, self.rows(places))

    def value(self, place: int, column: int) -> Any:
        """Return a value of the pool."""
        found = self.pool.iloc[place, column] if self.framed else self.pool[place, column]
        return found.item() if isinstance(found, np.generic) else found

    def find(
        self,
        n: int,
        free: Sequence[int],
        cost: Sequence[int],
        wanted: Callable[[NDArray[Any]], NDArray[np.bool_]],
        may_be: Callable[[int, Any], bool],
        ends: float,
    ) -> list[FoundChange]:
        """Return changes of few columns, the lightest first, none with all columns of another.

        free: The columns that may change.
        cost: What the change of each column costs.
        wanted: Says which classes are wanted.
        may_be: Whether a column may change to a value.
        ends: When to stop, on the clock of ``time.monotonic``.
        """
        found: list[FoundChange] = []

        def late() -> bool:
            return time.monotonic() > ends

        allowed = {c: self._places(c, may_be) for c in free}
        for places in self._asked(allowed, late):
            said = self.classes(places)
            for i in np.flatnonzero(wanted(said)).tolist():
                found.append(self._change(places[i], said[i], cost))
            found = _lightest(found)
            if len(found) >= n and all(len(change.columns) == 1 for change in found):
                return found[:n]
        for row in self._donors(allowed, wanted):
            if late() and found:
                break
            row = self._restored(row, cost, wanted)
            found.append(self._change(row, self.classes(row[None, :])[0], cost))
        return _lightest(found)[:n]

    def _places(self, column: int, may_be: Callable[[int, Any], bool]) -> list[int]:
        """Return a row of the table for each value that a column may change to."""
        first = np.unique(self.codes[:, column], return_index=True)[1]
        return [
            int(place)
            for place in np.sort(first)
            if self.codes[place, column] != self.codes[0, column]
            and may_be(column, self.value(int(place), column))
        ]

    def _asked(self, allowed: dict[int, list[int]], late: Callable[[], bool]) -> Iterator[Places]:
        """Yield rows that differ from x in one column, then in two."""
        random = np.random.default_rng(0)

        def some(places: list[int], most: int) -> list[int]:
            return places if len(places) <= most else random.choice(places, most, False).tolist()

        alone = [(c, place) for c, places in allowed.items() for place in some(places, _VALUES)]
        for start in range(0, len(alone), _BATCH):
            part = alone[start : start + _BATCH]
            rows = np.zeros((len(part), self.n_columns), dtype=np.int64)
            rows[np.arange(len(part)), [c for c, _ in part]] = [place for _, place in part]
            yield rows
        most = int(_BATCH**0.5) // 4
        for one, other in combinations(allowed, 2):
            if late():
                return
            pairs = [(i, j) for i in some(allowed[one], most) for j in some(allowed[other], most)]
            rows = np.zeros((len(pairs), self.n_columns), dtype=np.int64)
            if pairs:
                rows[:, [one, other]] = pairs
                yield rows

    def _donors(
        self, allowed: dict[int, list[int]], wanted: Callable[[NDArray[Any]], NDArray[np.bool_]]
    ) -> list[Places]:
        """Return x with the values of rows of the table that make it of a wanted class."""
        table = np.arange(1, len(self.codes))
        rows = np.zeros((len(table), self.n_columns), dtype=np.int64)
        for c, places in allowed.items():
            fine = np.isin(self.codes[1:, c], self.codes[places, c])
            rows[fine, c] = table[fine]
        rows = rows[np.flatnonzero(wanted(self.classes(rows)))]
        differs = np.array([self._differs(row).sum() for row in rows])
        return list(rows[np.argsort(differs, kind="stable")[:_DONORS]])

    def _differs(self, row: Places) -> NDArray[np.bool_]:
        columns = np.arange(self.n_columns)
        return np.asarray(self.codes[row, columns] != self.codes[0])

    def _restored(
        self,
        row: Places,
        cost: Sequence[int],
        wanted: Callable[[NDArray[Any]], NDArray[np.bool_]],
    ) -> Places:
        """Give columns the value of x again while the class stays wanted, the dearest first."""
        while True:
            changed = np.flatnonzero(self._differs(row)).tolist()
            rows = np.tile(row, (len(changed), 1))
            rows[np.arange(len(changed)), changed] = 0
            fine = np.flatnonzero(wanted(self.classes(rows))).tolist()
            if not fine:
                return row
            row = rows[max(fine, key=lambda i: cost[changed[i]])]

    def _change(self, row: Places, label: Any, cost: Sequence[int]) -> FoundChange:
        columns = np.flatnonzero(self._differs(row)).tolist()
        values = tuple(self.value(int(row[c]), c) for c in columns)
        weight, places = sum(cost[c] for c in columns), tuple(int(row[c]) for c in columns)
        return FoundChange(tuple(columns), values, label, weight, places)

    def is_steady(self, change: FoundChange) -> bool:
        """Whether the changed row has its class when it is asked about alone, too."""
        row = np.zeros((1, self.n_columns), dtype=np.int64)
        row[0, [*change.columns]] = change.places
        return bool(self.classes(row)[0] == change.label)

    def column(self, which: str, name: Any) -> int:
        """Return a column by its name or number; raise DataError for another one."""
        if name in self.names:
            return self.names.index(name)
        if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < self.n_columns:
            return name
        raise DataError(f"{which}: {name!r} is no column of X")


def _lightest(found: list[FoundChange]) -> list[FoundChange]:
    """Return changes by weight, without those that have all columns of a lighter one."""
    kept: list[FoundChange] = []
    for change in sorted(found, key=lambda c: (c.weight, len(c.columns), c.columns)):
        if not any({*one.columns} <= {*change.columns} for one in kept):
            kept.append(change)
    return kept


def _codes(name: str, column: Any) -> NDArray[np.int64]:
    """Return a number for each value of a column, the same of equal ones.

    Raises DataError: When values are lists and the like.
    """
    import pandas as pd

    try:
        return np.asarray(pd.factorize(column)[0])
    except TypeError as error:
        raise DataError(
            f"column {shown(name)} holds {column[0].__class__.__name__} objects, which cannot be "
            "treated: turn them into numbers or text"
        ) from error


class Searching:
    """What searches for changes of rows of any classifier.

    model, X: The classifier and the table.
    why: Why it is not read as trees.
    options: Of :func:`cpx.read_model`; of these only limits of predicted numbers count.
    class_names: What classes are called.
    words: What columns are called.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        why: str,
        options: Mapping[str, Any],
        class_names: ClassNames,
        words: Words,
    ) -> None:
        limits = {name: options.get(name) for name in ("above", "below", "between")}
        given = [n for n, v in options.items() if n not in limits and v is not None]
        if given:
            raise InvalidOption(f"{given[0]} is for tree models: {why}")
        self.classifier = asked_about(model, target_of(**limits))
        self.X, self.why, self.class_names, self.words = X, why, class_names, words

    def answer(self, question: ContrastQuestion, x: Any) -> Answer:
        """Search for changes of a row."""
        if question.rarest is not None:
            raise InvalidOption("plausible is for tree models: a search takes values of X anyway")
        started, limit = time.monotonic(), seconds(question.time_limit)
        left = left_of(limit)
        search = RowSearch(self.classifier, self.X, x)
        kept = _kept(search, question)
        free = [c for c in range(search.n_columns) if c not in kept]
        wanted, target = self._wanted(search, question)
        found = search.find(
            integer_in("n", question.n, 1, 100),
            free,
            _weights(search, question.weights),
            wanted,
            _ranges(search, question.ranges),
            float("inf") if left is None else started + left,
        )
        own = self._called(search.label)
        spent = time.monotonic() - started
        result = Result(
            Status.FEASIBLE if found else Status.UNKNOWN,
            Termination.COMPLETED,
            objective=found[0].weight if found else None,
            times=Times(solve=spent, total=spent),
            backend="row-search",
            options={"time_limit": limit},
            verified=bool(found),
        )
        brief = "contrast", "search on rows", f"{plural(len(free), 'column')} may change"
        if not found:
            gives = (target and class_words(target)) or f"another class than {class_words(own)}"
            told = f"no change to {gives} was found by a search on rows; one may be there"
            return Answer(result.with_warnings(told), own, brief)
        if not all(map(search.is_steady, found)):
            warn(contrary(self.classifier, "a changed row"))
        told_of = [self._told(search, change, question, target, own) for change in found]
        first = replace(told_of[0], others=tuple(told_of[1:]))
        return Answer(replace(result, explanation=first), own, brief)

    def _called(self, label: Any) -> str:
        return class_name(label, self.class_names, classes_of(self.classifier))

    def _wanted(
        self, search: RowSearch, question: ContrastQuestion
    ) -> tuple[Callable[[NDArray[Any]], NDArray[np.bool_]], str]:
        """Return what says which classes are wanted, and what a single one is called."""
        if question.target is None:
            return lambda said: np.asarray(said != search.label), ""
        classes = classes_of(self.classifier)
        if classes is None:
            every = np.zeros((len(search.codes), search.n_columns), dtype=np.int64)
            every += np.arange(len(search.codes))[:, None]
            classes = np.unique(search.classes(every)).tolist()
        label = classes[label_of(question.target, self.class_names, classes)]
        if label == search.label:
            raise InvalidOption(f"target is the class of x, {class_words(self._called(label))}")
        return lambda said: np.asarray(said == label), self._called(label)

    def _told(
        self,
        search: RowSearch,
        change: FoundChange,
        question: ContrastQuestion,
        target: str,
        own: str,
    ) -> Contrast:
        said, names = [], search.names
        for c, new in zip(change.columns, change.values):
            said.append(with_label(valued(names[c], new), names[c], self.words))
        now = [valued("", search.value(0, c)).told for c in change.columns]
        means = (replace(one, now=value) for one, value in zip(said, now))
        over: dict[str, Any] = {"target": target} if target else {}
        over |= {} if question.weights is None else {"weights": search.n_columns}
        asked = search.rows(np.zeros((1, search.n_columns), dtype=np.int64))
        return Contrast(
            Rule(tuple(map(Literal, change.columns, means)), self._called(change.label)),
            claim=Claim("contrast", over, optimal=False, value=change.weight),
            remarks=(
                "values of X; the classifier gives the changed row this class",
                f"not read as trees: {self.why}",
            ),
            instead_of=own,
            values={search.names[c]: v for c, v in zip(change.columns, change.values)},
            told=tuple(said),
            row=of_rows(self.classifier, asked, [search.label])[0],
        )


def _kept(search: RowSearch, question: ContrastQuestion) -> set[int]:
    """Return the columns that may not change."""

    def columns(which: str, given: Any) -> set[int]:
        names = [given] if isinstance(given, str | int) else given
        return {search.column(which, name) for name in names}

    frozen = columns("frozen", question.frozen)
    if question.actionable is None:
        return frozen
    free = columns("actionable", question.actionable)
    if both := sorted(free & frozen):
        raise InvalidOption(f"actionable and frozen both have {search.names[both[0]]!r}")
    return frozen | ({*range(search.n_columns)} - free)


def _weights(search: RowSearch, given: Any) -> list[int]:
    if isinstance(given, Mapping):
        given = {search.column("weights", name): weight for name, weight in given.items()}
    weight = weight_map(given, search.n_columns)
    return [weight[c] for c in range(search.n_columns)]


def _ranges(search: RowSearch, given: Mapping[Any, Any] | None) -> Callable[[int, Any], bool]:
    """Return what says whether a column may change to a value."""
    limits = {search.column("ranges", name): limit for name, limit in (given or {}).items()}

    def may_be(column: int, value: Any) -> bool:
        limit = limits.get(column)
        if limit is None:
            return True
        if not isinstance(limit, tuple):
            return value in limit
        low, high = limit
        return bool((low is None or value >= low) and (high is None or value <= high))

    return may_be
