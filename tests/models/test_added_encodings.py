"""Encodings of other packages: by name, for their kinds only, and refused when they are none."""

from __future__ import annotations

import numpy as np
import pytest

import cpx
from cpx.errors import InvalidOption, UnknownName
from cpx.modelling import encodings as added
from cpx.modelling.encodings import encoding_names, find_encoding
from cpx.models import Encoding, KMonomial, MaxPrecision, NegativeOnly, add_encoding
from cpx.models.monomial.encodings.clausal import clausal
from cpx.support import families
from cpx.support.families import Family

OURS = tuple(encoding.name for encoding in KMonomial.encodings)


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added, "_registered", {})


def _points(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    named = {f"k-monomial.{name}": value for name, value in values.items()}
    strangers = Family("strangers", problems={}, encodings=named)
    monkeypatch.setattr(families, "_others", lambda: (strangers,))
    added._loaded.cache_clear()


def test_in_this_process() -> None:
    assert encoding_names(KMonomial) == OURS
    add_encoding("k-monomial", Encoding("mine", clausal))
    assert encoding_names(KMonomial) == (*OURS, "mine")
    assert find_encoding(KMonomial, "mine").build is clausal
    assert find_encoding(KMonomial).name == "clausal"
    with pytest.raises(UnknownName, match="unknown encoding of negative-only 'mine'"):
        find_encoding(NegativeOnly, "mine")


def test_the_name_of_ours_stays_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="k-monomial has an encoding 'clausal' of its own"):
        add_encoding("k-monomial", Encoding("clausal", lambda form: None))
    assert find_encoding(KMonomial, "clausal").build is clausal
    _points(monkeypatch, clausal="no_such_module:X")
    assert find_encoding(KMonomial, "clausal").build is clausal
    assert encoding_names(KMonomial) == OURS


def test_what_is_no_encoding_or_no_kind_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown problem 'k-monomail'"):
        add_encoding("k-monomail", Encoding("mine", clausal))
    with pytest.raises(InvalidOption, match="an encoding must be a cpx"):
        add_encoding("k-monomial", clausal)


def test_a_ratio_is_stated_by_steps_in_it() -> None:
    samples = cpx.Samples(np.array([[1, 1], [1, 0], [0, 1]], bool), np.array([1, 1, 0], bool))
    problem = MaxPrecision(samples, k=1)
    add_encoding("max-precision", Encoding("mine", clausal))
    result = cpx.solve(problem, "cpsat", encoding="mine")
    assert (result.objective, result.encoding, result.verified) == (1, "mine", True)


def test_encodings_of_a_family(monkeypatch: pytest.MonkeyPatch) -> None:
    home = "cpx.models.monomial.encodings.clausal"
    _points(monkeypatch, gone="no_such_module:X", none=f"{home}:clausal", lost=f"{home}:lost")
    assert encoding_names(KMonomial) == (*OURS, "gone", "lost", "none")
    for name, why in (
        ("gone", "cannot be loaded: No module named 'no_such_module'"),
        ("lost", "cannot be loaded"),
        ("none", "is no cpx.models.Encoding of that name"),
    ):
        with pytest.raises(InvalidOption, match=f"encoding '{name}' of k-monomial .*{why}"):
            find_encoding(KMonomial, name)
