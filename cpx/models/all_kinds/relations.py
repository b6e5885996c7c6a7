"""How the kinds relate on a row: laws are checked on it, and what differs is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from cpx.answers.claim import exact
from cpx.answers.values import class_words, listed, plural
from cpx.data.oracle import PrecisionEstimate
from cpx.data.other_frames import as_pandas
from cpx.errors import CheckFailed, CpxError
from cpx.explainers import Explainer
from cpx.models.all_kinds.parts import Known, OneKind, Relation
from cpx.models.expected_prediction.answer import ExpectedExplanation
from cpx.models.expected_prediction.same_decision import SameDecision
from cpx.models.expected_prediction.text import SHARES
from cpx.support.shares import percent, share_text, significant

_LAST = {"nothing": -1, "all columns": 1}


def greatest_expected(found: ExpectedExplanation) -> float | None:
    """Return what no set of values has an expectation above; None where nothing is proved.

    Engines count in units, by whose rounding the bound may be less than the value.
    """
    claim = found.claim
    if claim is None or claim.bound is None:
        return None
    unit = exact(claim.over, "unit")
    greatest = max(found.expected, float((claim.bound + claim.figures["within"]) * unit))
    return min(greatest, 1.0) if found.measure in SHARES else greatest


class Related:
    """What is known of a row by all kinds, and what holds between them.

    on_rows: Who was asked for rule and certificate.
    k: Most values of the expectation.
    kinds: The answers, by kind.
    """

    def __init__(
        self,
        explainer: Explainer,
        on_rows: Explainer,
        row: Any,
        k: int,
        kinds: Mapping[str, OneKind],
    ) -> None:
        self.explainer, self.on_rows, self.row, self.k = explainer, on_rows, row, k
        self.kinds = {name: one for name, one in kinds.items() if not one.why}
        found = kinds["expectation"].found
        self.expected = found if isinstance(found, ExpectedExplanation) else None
        self.measure = "" if self.expected is None else self.expected.measure

    # ------------------------------------------------- what is expected

    @cached_property
    def _same(self) -> SameDecision:
        assert self.expected is not None
        return SameDecision(self.expected.problem)

    def _places(self, name: str) -> tuple[int, ...] | None:
        """Return the attributes of the distribution that the columns of a kind are."""
        names = [*self._same.problem.coding.names]
        columns = self.kinds[name].columns
        if not all(names.count(column) == 1 for column in columns):
            return None
        return tuple(sorted(names.index(column) for column in columns))

    def known(self) -> tuple[Known, ...]:
        """Return what is expected when columns of each kind are known, fewest columns first."""
        if self.expected is None:
            return ()
        every = tuple(range(len(self._same.problem.codes)))
        sets: dict[str, tuple[int, ...] | None] = {"nothing": (), "all columns": every}
        sets |= {name: self._places(name) for name in self.kinds if name != "contrast"}
        found = [self._known(of, S) for of, S in sets.items() if S is not None]
        return tuple(sorted(found, key=lambda one: (one.columns, _LAST.get(one.of, 0))))

    def _known(self, of: str, S: tuple[int, ...]) -> Known:
        exactly, estimate = self._same.exact(S), None
        if exactly is None:
            estimate = self._sampled(S)
        return Known(of, len(S), float(self._expectation(S)), exactly, estimate)

    def _sampled(self, S: tuple[int, ...]) -> PrecisionEstimate:
        return self._same.sampled(S, seed=self.explainer.options.get("seed", 0))

    def _expectation(self, S: tuple[int, ...]) -> Fraction:
        found: Fraction = self._same.problem.scores.expected(S)
        return found

    # ------------------------------------------------- relations

    def relations(self) -> tuple[Relation, ...]:
        """Return what holds, laws first.

        Raises CheckFailed: When a law does not hold: then an answer is wrong.
        """
        pairs = (
            (self._reason_as_rule, ("reason",)),
            (self._certificate_and_rule, ("rule", "certificate")),
            (self._contrast_hits_reason, ("reason", "contrast")),
            (self._reason_is_sure, ("reason", "expectation")),
            (self._most_expected, ("expectation",)),
            (self._rising, ("expectation",)),
            (self._changed_row, ("contrast",)),
        )
        found = [
            one
            for relate, needed in pairs
            if all(name in self.kinds for name in needed)
            for one in relate()
        ]
        return tuple(sorted(found, key=lambda one: not one.law))

    def _reason_as_rule(self) -> Iterator[Relation]:
        """A reason forces the class of all rows, so of those of X."""
        rows, label = self.kinds["reason"].found.rows, self._label
        if rows is None:
            return
        count = len(self.explainer.of("reason").rows)
        covered = len(rows.agreeing) + len(rows.disagreeing)
        _hold(not rows.disagreeing, f"the reason covers rows of another class than {label}")
        as_rule = "covers no row of X" if not covered else "has precision 1"
        told = f"the reason, read as a rule, {as_rule}: {covered} of {count} rows of X have its "
        yield Relation(("reason", "rule"), f"{told}values, and all of them get {label}", True)

    def _certificate_and_rule(self) -> Iterator[Relation]:
        """A rule that covers few others is a certificate, and a small certificate is a rule."""
        rule, certificate = self.kinds["rule"].found, self.kinds["certificate"].found
        if rule.claim is None or certificate.claim is None:
            return
        on_rule, on_set = rule.claim.figures, certificate.claim.figures
        if on_rule.get("total") != on_set["total"]:
            return
        both, size = ("rule", "certificate"), len(rule.features)
        others = on_rule["covered"] - on_rule["agreeing"]
        fewest, least = len(certificate.features), certificate.claim.bound
        if others <= on_set["tolerated"] and least is not None:
            _hold(least <= size, "the rule is a smaller certificate than the fewest conditions")
            told = f"the rule, of {plural(size, 'condition')}, is a certificate as well, of which "
            yield Relation(both, f"{told}the smallest that was found has {fewest}", True)
        floor = exact(rule.claim.over, "min_coverage")
        precision, bound = certificate.precision, rule.claim.bound
        if (
            fewest <= self.k
            and certificate.coverage is not None
            and certificate.coverage.exact >= floor
            and precision is not None
            and bound is not None
        ):
            _hold(precision.exact <= bound, "the certificate is more precise than any rule")
            told = f"the certificate covers {percent(certificate.coverage.exact)} and is one of "
            told += f"the rules compared: its precision of {share_text(precision)} is at most "
            yield Relation(both, f"{told}{share_text(bound)}, the bound of the rule", True)

    def _contrast_hits_reason(self) -> Iterator[Relation]:
        """With all but the changed columns known, the class is not forced."""
        changed, kept = self.kinds["contrast"].columns, self.kinds["reason"].columns
        both = [column for column in changed if column in kept]
        _hold(bool(both), "the contrast changes no column of the reason")
        one = "the column changed is" if len(changed) == 1 else "one of the columns changed is"
        told = f"{one} in each reason, minimum or not, for the row changed has all other values "
        told += f"and another class; in this one: {listed(both, len(both))}"
        yield Relation(("contrast", "reason"), told, True)

    def _reason_is_sure(self) -> Iterator[Relation]:
        """What forces the class leaves no probability to others."""
        S = self._places("reason")
        if S is None:
            return
        exactly = self._same.exact(S)
        estimate = None if exactly is not None else self._sampled(S)
        sure = exactly == 1.0 if estimate is None else estimate.agreeing == estimate.drawn
        _hold(sure, "under the distribution the reason leaves a probability to other classes")
        how = "exact" if estimate is None else f"all of {estimate.drawn} rows drawn"
        told = f"under the distribution the reason makes {self._label} certain: probability 1"
        yield Relation(("reason", "expectation"), f"{told} ({how})", True)

    def _most_expected(self) -> Iterator[Relation]:
        """No set of at most k columns has a greater expectation than the bound."""
        greatest = None if self.expected is None else greatest_expected(self.expected)
        if greatest is None:
            return
        told, names = list[str](), list[str]()
        for name in ("rule", "certificate", "reason"):
            S = self._places(name) if name in self.kinds else None
            if S is None or len(S) > self.k:
                continue
            expected = self._expectation(S)
            what = f"the values in the columns of the {name} are expected more than is possible"
            _hold(float(expected) <= greatest, what)
            told.append(f"{significant(float(expected))} for those of the {name}")
            names.append(name)
        if told:
            most = significant(greatest)
            have = "value of the row has" if self.k == 1 else f"{self.k} values of the row have"
            text = f"no {have} an expected {self.measure} above {most}: {listed(told)}"
            yield Relation(("expectation", *names), text, True)

    def _rising(self) -> Iterator[Relation]:
        """Whether what is expected rises with the columns known; that is no law."""
        steps = self.known()
        falls = [f"from {a.of} to {b.of}" for a, b in pairwise(steps) if b.expected < a.expected]
        path = ", ".join(f"{one.of} {significant(one.expected)}" for one in steps)
        how = "rises with the columns known" if not falls else f"falls {listed(falls)}"
        told = f"the expected {self.measure} {how}: {path}"
        yield Relation(("expectation", "reason"), told, False)

    def _changed_row(self) -> Iterator[Relation]:
        """Whether the row with another class still has what rule and others name."""
        changed = self.kinds["contrast"].columns
        row = self._with_changes()
        for name in ("rule", "certificate"):
            if name in self.kinds and row is not None:
                try:
                    keeps = bool(self.kinds[name].found.rule.mask(row)[0])
                except CpxError:
                    continue
                yield Relation((name, "contrast"), self._keeping(name, keeps), False)
        if "expectation" in self.kinds:
            known = self.kinds["expectation"].columns
            if not known.keys() & changed.keys():
                told = self._keeping("expectation", True)
                yield Relation(("expectation", "contrast"), told, False)

    def _keeping(self, name: str, keeps: bool) -> str:
        if keeps:
            return (
                f"the row changed keeps the {name} and has another class: the {name} does not "
                f"force {self._label}"
            )
        return f"the row changed breaks the {name}"

    def _with_changes(self) -> Any:
        """Return the changed row as a table like X; None where it has other columns."""
        values: Mapping[str, Any] = getattr(self.kinds["contrast"].found, "values", {})
        row = as_pandas(self.row)
        if hasattr(row, "items"):
            if getattr(row, "ndim", 1) == 2:
                table = row.copy()
            else:
                table = pd.DataFrame([dict(row.items())])
            names: Sequence[str] = [*map(str, table.columns)]
            if not all(names.count(name) == 1 for name in values):
                return None
            for name, value in values.items():
                table[table.columns[names.index(name)]] = [value]
            return table
        array = np.array(row, dtype=object).reshape(1, -1)
        model = self.explainer.of("contrast").model
        names = [a.name for a in model.attributes]
        if len(names) != array.shape[1] or not all(names.count(name) == 1 for name in values):
            return None
        for name, value in values.items():
            array[0, names.index(name)] = value
        return array

    @property
    def _label(self) -> str:
        """The class of the row in words."""
        conclusion = next(
            one.found.rule.conclusion for name, one in self.kinds.items() if name != "contrast"
        )
        return class_words(conclusion) or "the class of x"


def _hold(law: bool, otherwise: str) -> None:
    """Raise where a law does not hold."""
    if not law:
        raise CheckFailed(f"check of all kinds failed: {otherwise}")
