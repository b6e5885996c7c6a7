"""Words of claims: of each kind, of files that were altered, of encodings of one's own."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import cpx
from cpx.answers.claim import Claim, Words, competing, exact, source_words, words_of
from cpx.answers.explanation import Explanation, explanation_of
from cpx.answers.rule import Rule
from cpx.errors import InvalidInstance
from cpx.support.families import families

RULE = Explanation(Rule.of([0], ["a"], "yes"), Fraction(1), Fraction(1, 2))
COUNTS = {"covered": 4, "agreeing": 3, "total": 9}


@pytest.mark.parametrize(
    ("kind", "over", "changes", "proved"),
    [
        ("unheard", {}, {}, "value 2 is optimal"),
        ("unheard", {}, {"optimal": False}, "value 2, not proved optimal: the bound is 2"),
        ("unheard", {}, {"optimal": False, "bound": None}, "value 2, without a bound"),
        ("unheard", {}, {"optimal": None}, ""),
        (
            "k-monomial", {"k": 1, "required": 2, "where": 1}, {},
            "loss 2 of 9 is optimal: no rule of at most 1 condition that has what is required and "
            "keeps the side constraints has less on these samples",
        ),
        (
            "max-precision", {"k": 2, "max_coverage": "0"},
            {"optimal": False, "value": Fraction(3, 4), "bound": Fraction(4, 5)},
            "precision 3/4 (0.750), not proved optimal: no rule of at most 2 conditions that "
            "covers a sample and covers at most 0 % of the samples has a precision above "
            "0.8000 (4/5)",
        ),
        (
            "max-precision", {"k": 2, "min_coverage": "1/20"}, {"best_of_ties": True},
            "precision 3/4 (2.000) is optimal: no rule of at most 2 conditions that covers at "
            "least 5 % of the samples is more precise; no rule that is as precise covers more",
        ),
        (
            "max-coverage", {"k": 2, "min_precision": "0"}, {"optimal": False, "bound": 5},
            "coverage 4/9 (0.444), not proved optimal: no rule of at most 2 conditions that "
            "covers a sample covers more than 5",
        ),
    ],
)  # fmt: skip
def test_what_was_proved(
    kind: str, over: dict[str, Any], changes: dict[str, Any], proved: str
) -> None:
    claim = Claim(kind, over, COUNTS, optimal=True, value=2, bound=2)
    claim = replace(claim, **changes)
    found = replace(RULE, claim=claim)
    assert found.proved == proved
    assert Explanation.from_dict(found.to_dict()) == found
    own = replace(found, claim=replace(claim, statement={"encoding": "mine", "marked": True}))
    told = "; the statement is your encoding 'mine', which is marked as another problem"
    assert own.proved == (f"{proved}{told}" if proved else "")


def test_what_competes() -> None:
    assert competing({}, "set") == "set"
    over = {"one_per_group": True, "forbidden": 1, "required": 0}
    told = "set that is red and has nothing forbidden and has at most one condition of each group"
    assert competing(over, "set", before=["is red"]) == told


@pytest.mark.parametrize(
    "over",
    [
        {"k": 1, "min_coverage": "1e999999999"},
        {"k": 1, "min_coverage": "9" * 10_000},
        {"k": 1, "min_coverage": [1]},
        {"k": 1, "min_coverage": 0.5},
    ],
)
def test_numbers_of_an_altered_file_cost_nothing(over: dict[str, Any]) -> None:
    began = time.process_time()
    claim = Claim("max-precision", over, COUNTS, optimal=True, value=1, bound=1)
    assert words_of(claim, RULE).proved == "what is claimed cannot be read"
    assert time.process_time() - began < 5
    with pytest.raises((InvalidInstance, ValueError)):
        exact(over, "min_coverage")


@pytest.mark.parametrize("figures", [{}, {"covered": "x", "total": 0}, {"best": {"rule": 1}}])
def test_figures_of_an_altered_file_end_no_print(figures: dict[str, Any]) -> None:
    for kind in [name for family in families() for name in family.words]:
        claim = Claim(kind, {}, figures, optimal=True, value=1, bound=1)
        assert isinstance(words_of(claim, RULE), Words)


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"problem": 1}, {"problem": "p", "over": 1}, {"problem": "p", "value": 0.5}],
)
def test_what_is_no_claim_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInstance):
        Claim.from_dict(data)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({}, ", and proofs are of it: it is held against no definition"),
        ({"wrong": "too weak"}, ", which is another problem: too weak"),
        ({"cases": 1}, ", and proofs are of it: it agrees with the definition on 1 tiny instance"),
        (
            {"cases": 7, "sets": 30},
            ", and proofs are of it: it agrees with the definition on 7 tiny instances and on 30 "
            "sets of this instance",
        ),
        (
            {"sets": 16, "whole": True},
            ": it agrees with the definition on all 16 sets of this instance",
        ),
    ],
)
def test_what_is_known_of_an_encoding_of_ones_own(known: dict[str, Any], told: str) -> None:
    assert source_words({"encoding": "e", **known}) == f"the statement is your encoding 'e'{told}"


def test_explanations_of_families_are_read_as_they_were_saved() -> None:
    from cpx.models.sufficient_reason.contrast import Contrast

    claim = Claim("contrast", {"weights": 3}, optimal=False, value=4, bound=3)
    found = Contrast(RULE.rule, claim=claim, instead_of="no")
    assert found.proved == "weight 4: not shown to be the least, at least 3 is needed"
    assert (found.weight, found.least, found.minimum) == (4, 3, False)
    assert explanation_of(found.to_dict()) == found
    assert type(explanation_of(RULE.to_dict())) is Explanation


def test_every_kind_of_ours_has_words() -> None:
    kinds = {kind for family in families() for kind in family.problems}
    assert kinds >= {*cpx.models.PROBLEMS}
    assert kinds <= {kind for family in families() for kind in family.words}
