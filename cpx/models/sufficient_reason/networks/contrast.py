"""What would have to change for a network to give another class: the smallest change, checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cpx.answers.claim import Claim
from cpx.answers.rule import Literal, Rule
from cpx.answers.values import class_words, plural
from cpx.errors import CheckFailed, InvalidOption, UnsupportedModel, shown
from cpx.explainers.class_names import class_name, label_of
from cpx.explainers.doors import Answer
from cpx.explainers.preparation import left_of
from cpx.modelling.row import fitted_to
from cpx.models.sufficient_reason.changes import allowed
from cpx.models.sufficient_reason.contrast_answer import Contrast
from cpx.models.sufficient_reason.contrast_question import ContrastQuestion
from cpx.models.sufficient_reason.features import mapped_weights
from cpx.models.sufficient_reason.methods.smallest_change import SmallestChange, changes_of_oracle
from cpx.models.sufficient_reason.networks.explainer import NetworkRows, about_row
from cpx.models.sufficient_reason.networks.judge_change import NetworkChange
from cpx.models.sufficient_reason.networks.live import near_ties
from cpx.models.sufficient_reason.networks.network import Column, Network
from cpx.models.sufficient_reason.networks.oracle import NetworkOracle
from cpx.models.sufficient_reason.networks.parameters import NetworkColumns
from cpx.models.sufficient_reason.networks.plausible import PlausibleRows
from cpx.models.sufficient_reason.networks.problem import valued
from cpx.support.validation import integer_in, seconds, weight_map

if TYPE_CHECKING:
    from cpx.models.sufficient_reason.methods.wanted_rows import Rarity
    from cpx.models.sufficient_reason.seen_values import SeenValues

__all__ = ["network_answer"]

Floats = NDArray[np.float64]

_CHECK_SECONDS = 3.0
"""For the check that no change is lighter, where less is left of the time limit."""

_HALVINGS, _DIGITS = 40, 12
"""Steps towards the row that numbers are brought near to, and digits that they have at most."""


def network_answer(
    rows: NetworkRows,
    question: ContrastQuestion,
    x: Any,
    seed: int,
    seen: Callable[[], SeenValues],
) -> Answer:
    """Answer what would have to change for a network to give a row another class.

    seen: Returns the values of X, for changes that are to be plausible.
    Raises InvalidOption: For ranges that have not the value of x.
    Raises CheckFailed: When code that no search uses finds another class, or another weight.
    """
    asked = _Asked(rows, question, x)
    limit = seconds(question.time_limit)
    oracle = NetworkOracle(asked.searched, asked.inputs)
    left = left_of(limit)
    oracle.deadline = None if left is None else time.monotonic() + left
    weight = weight_map(asked.weights, oracle.n_features)
    cost = {at: weight[a] for at, a in enumerate(oracle.feature) if a not in asked.kept}
    n = integer_in("n", question.n, 1, 100)
    listed, table = None, None
    if question.rarest is not None:
        listed = asked.listed(seen(), oracle.look)
        table = listed.within_pools(seen().numbers)
    answers = changes_of_oracle(oracle, cost, n, seed, listed=listed, table=table)
    result, brief = answers[0].as_result(limit), asked.brief
    if answers[0].attributes is None:
        return Answer(result.with_warnings(asked.nothing(answers[0])), asked.own, brief)
    ends = time.monotonic() + max(left_of(limit) or _CHECK_SECONDS, _CHECK_SECONDS)
    found = [one for one in answers if one.attributes is not None]
    told = [asked.told(one, i, ends) for i, one in enumerate(found)]
    first = replace(told[0], others=tuple(told[1:]))
    if len(told) < len(answers):
        more = "there is no further one" if answers[-1].proved else "no further one in time"
        first = replace(first, remarks=(*first.remarks, f"{plural(len(told), 'change')}: {more}"))
    return Answer(replace(result, explanation=first, verified=True), asked.own, brief)


class _Asked:
    """What is asked about a row of a network, and what is said of a change."""

    def __init__(self, rows: NetworkRows, question: ContrastQuestion, x: Any) -> None:
        self.rows, self.question = rows, question
        network, self.x, self.notes = rows.network(x)
        self.inputs = rows.reader.inputs(self.x)
        columns = NetworkColumns(network)
        self.kept = question.kept(columns, columns.names)
        self.weights = mapped_weights(columns, question.weights)
        label = network.class_of(self.inputs)
        self.own = self._called(network, label)
        self.label = label
        self.rarity: Rarity | None = None
        self.target = None if question.target is None else self._target(network)
        limits = question.numbered_ranges(columns)
        self.network = replace(
            network,
            columns=tuple(
                self._within(a, column, limits[a]) if a in limits else column
                for a, column in enumerate(network.columns)
            ),
        )

        self.searched = self.network
        if self.target is not None and len(network.classes) > 2:
            self.searched = self.network.against_rest(self.target)

    def listed(self, seen: SeenValues, look: Callable[[], None]) -> PlausibleRows:
        """Return the search for rows of values of the table; from then on it is said how rare."""
        assert self.question.rarest is not None  # who calls asks for it
        columns, _ = fitted_to(self.rows.columns, self.x)
        self.rarity = seen.rarity(columns, self.x, self.question.rarest)
        return PlausibleRows(
            self.network,
            self.rows.reader.live,
            self.x,
            [c for c in range(len(self.network.classes)) if c != self.label]
            if self.target is None
            else [self.target],
            self.rarity,
            seen.values,
            self.question.numbered_ranges(NetworkColumns(self.network)),
            look,
        )

    def _target(self, network: Network) -> int:
        target = label_of(self.question.target, self.rows.class_names, network.classes)
        if target == self.label:
            raise InvalidOption(f"target is the class of x, {class_words(self.own)}")
        return target

    def _called(self, network: Network, label: int) -> str:
        return class_name(network.classes[label], self.rows.class_names, network.classes)

    @property
    def _wanted(self) -> str:
        return "" if self.target is None else self._called(self.network, self.target)

    def _within(self, a: int, column: Column, limits: Any) -> Column:
        """Return a column with these values only, that of x among them.

        Raises InvalidOption: When that of x is none, or the column has no such values.
        """
        own, name = column.attribute, shown(column.attribute.name)
        if isinstance(limits, tuple) and len(limits) == 2 and column.ends is not None:
            may = allowed(own, limits)
            assert isinstance(may, tuple)  # as it was given
            low, high = (
                end if given is None else limit
                for given, limit, end in zip(limits, may, own.interval)
            )
            if not low <= self.x[a] <= high:
                raise InvalidOption(f"ranges: {name} of x is {self.x[a]:g}, out of its range")
            images = self.rows.reader.images(a, [low, high]).ravel().tolist()
            own = replace(own, lower=low, upper=high)
            return replace(column, attribute=own, ends=(min(images), max(images)))
        if column.points is None or isinstance(limits, tuple | str):
            raise InvalidOption(f"ranges: {name} takes (low, high) where it is a number, a list")
        known = [own.called(v) if own.labels else v for v in column.listed]
        if strange := [one for one in limits if one not in known]:
            raise InvalidOption(f"ranges: {name} has no value {shown(strange[0])}")
        places = [
            i for i, one in enumerate(known) if one in limits or column.listed[i] == self.x[a]
        ]
        if len(places) > len([*limits]):
            raise InvalidOption(f"ranges: the value of {name} in x is none of its range")
        kind = "real" if own.kind == "boolean" else own.kind
        labels = None if own.labels is None else tuple(own.labels[i] for i in places)
        listed = tuple(column.listed[i] for i in places)
        own = replace(own, kind=kind, values=listed, labels=labels)
        return replace(column, attribute=own, points=column.points[places])

    # ---------------------------------------------------------------- in words

    @property
    def brief(self) -> tuple[str, ...]:
        """Say what is asked, in a few words each."""
        free = plural(len(self.network.columns) - len(self.kept), "column")
        to = (f"to {class_words(self._wanted)}",) if self._wanted else ()
        return "contrast", "network", f"{free} may change", *to

    def nothing(self, found: SmallestChange) -> str:
        """Say that there is no change, or none was found."""
        own = class_words(self.own)
        gives = class_words(self._wanted) if self._wanted else f"another class than {own}"
        if not found.proved:
            return f"no change to {gives} was found in time"
        which = "the columns that may change" if self.kept else "columns"
        limits = "the ranges" if self.question.ranges else "their ranges"
        limits += " that is as plausible" * (self.rarity is not None)
        return f"no change of {which} within {limits} gives {gives}"

    def told(self, found: SmallestChange, i: int, ends: float) -> Contrast:
        """Return a change in words, checked; the first one for being the lightest, too."""
        network, changed = self.network, found.attributes or ()
        row = self._row(changed, np.array(found.cells)) if found.row is None else [*found.row]
        inputs = self.rows.reader.inputs(row)
        if near_ties(network, np.array([inputs]))[0]:
            raise UnsupportedModel(
                "the nearest row of another class that was found has scores so close that "
                "rounding of the library may decide its class; kind='rule' explains any "
                "classifier by its predict alone"
            )
        live = self.rows.reader.live
        live.compare(network, np.array([self.x, row]), must=2)
        sets = self._checked(found, row, inputs, ends)
        over: dict[str, Any] = {"frozen": len(self.kept)} if self.kept else {}
        over |= {} if self.question.weights is None else {"weights": len(network.columns)}
        over |= {"target": self._wanted} if self._wanted else {}
        over |= {"ranges": len(self.question.ranges)} if self.question.ranges else {}
        over |= {"plausible": str(self.question.rarest)} if self.rarity else {}
        over |= {"others": i} if i else {}
        remarks = [
            *self.notes,
            *(() if self.rarity is None else (self.rarity.told(np.array(row)),)),
            "checked: exact sums of the stored weights give the row this class",
        ]
        if not sets and found.proved:
            remarks.append("that no change is lighter is the engine's word")
        said = {a: valued(network.attributes[a], row[a]) for a in changed}
        return Contrast(
            Rule(
                tuple(Literal(a, replace(said[a], now=self._now(a))) for a in changed),
                self._called(network, network.class_of(inputs)),
            ),
            claim=Claim(
                "contrast",
                over,
                optimal=found.proved,
                value=found.upper,
                bound=found.lower,
            ),
            remarks=(*remarks, live.told(self.x)),
            instead_of=self.own,
            sets=sets,
            values={network.attributes[a].name: self._value(a, row[a]) for a in changed},
            told=tuple(said.values()),
            row=about_row(network, self.x, network.class_of(self.inputs), ()),
        )

    def _value(self, a: int, value: float) -> Any:
        attribute = self.network.attributes[a]
        return value if attribute.labels is None else attribute.called(value)

    def _now(self, a: int) -> str:
        return replace(self.network.attributes[a], unit="").in_words(self.x[a])

    # --------------------------------------------------------------- the row

    def _row(self, changed: Sequence[int], point: Floats) -> list[float]:
        """Return a row of another class: near x, of numbers that are short."""
        far = self._values(changed, point)
        near, good = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (near + good) / 2
            if self._changes(self._between(far, middle)):
                good = middle
            else:
                near = middle
        row = self._between(far, good) if good < 1 else far
        for digits in range(2, _DIGITS):
            short = [*row]
            for a in changed:
                if self.network.columns[a].ends is not None:
                    low, high = self.network.attributes[a].interval
                    short[a] = min(max(float(f"{row[a]:.{digits}g}"), low), high)
            if all(short[a] != self.x[a] for a in changed) and self._changes(short):
                return short
        return row

    def _between(self, far: Sequence[float], share: float) -> list[float]:
        """Return a row part of the way from x; listed values are those of the far one."""
        return [
            v + share * (w - v) if column.ends is not None and v != w else w
            for v, w, column in zip(self.x, far, self.network.columns)
        ]

    def _changes(self, row: Sequence[float]) -> bool:
        """Whether a row has another class, and not by rounding."""
        inputs = self.rows.reader.inputs(row)
        if near_ties(self.network, np.array([inputs]))[0]:
            return False
        return self._wants(inputs)

    def _wants(self, inputs: Sequence[float]) -> bool:
        """Whether inputs have the class that is wanted, or any other than x where none is."""
        found = self.network.class_of(inputs)
        return found != self.label if self.target is None else found == self.target

    def _values(self, changed: Sequence[int], point: Floats) -> list[float]:
        """Return the values of columns that give inputs, as near as there are numbers for it."""
        row = [*self.x]
        for a in changed:
            column = self.network.columns[a]
            own = point[[*column.inputs]]
            if column.points is not None:
                at = int((column.points == own).all(axis=1).argmax())
                row[a] = column.listed[at]
            else:
                row[a] = self._inverse(a, column, float(own[0]))
        return row

    def _inverse(self, a: int, column: Column, wanted: float) -> float:
        low, high = column.attribute.interval
        first, last = self.rows.reader.images(a, [low, high]).ravel().tolist()
        if wanted in (first, last):
            return low if wanted == first else high
        for _ in range(200):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            image = float(self.rows.reader.images(a, [middle])[0, 0])
            if (image < wanted) == (first < last):
                low = middle
            else:
                high = middle
        return high

    def _checked(
        self, found: SmallestChange, row: Sequence[float], inputs: Sequence[float], ends: float
    ) -> tuple[tuple[int, ...], ...]:
        """Let code that no search uses judge a change; return sets that show it is a least one.

        Raises CheckFailed: When the change is none.
        """
        weights = self.weights or [1] * len(self.network.columns)
        change = NetworkChange(
            self.searched.to_dict(), [*self.inputs], [*inputs], self.kept, [*weights]
        )
        if not self._wants(inputs):
            raise CheckFailed("check of the change failed: the row has another class")
        if wrong := change.violations(found.upper):
            raise CheckFailed(f"check of the change failed: {wrong[0]}")
        if not found.proved or found.lower is None:
            return ()
        left = min(max(ends - time.monotonic(), 0.1), _CHECK_SECONDS)
        return tuple(map(tuple, change.showing(found.reasons, found.lower, left) or ()))
