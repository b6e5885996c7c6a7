"""Problems to read."""

import re

import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.errors import InvalidOption, UnknownName
from cpx.export import EXPORT_FORMS, SHOW_FORMS, export_bytes, show

ENCODINGS = [encoding.name for encoding in KMonomial.encodings]


@pytest.fixture
def tiny():
    samples = Samples(
        [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]],
        [1, 0, 1, 0],
        weights=[2, 1, 1, 3],
        features=("petal length <= 1.9", "petal width <= 0.6", "sepal width > 3.1"),
        groups=[0, 0, 1],
        context={"distribution": "uniform", "class": "setosa"},
    )
    return KMonomial(samples, k=2, required=[0], name="tiny")


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(5)
    return KMonomial(Samples(rng.random((300, 30)) < 0.5, rng.random(300) < 0.5), k=3)


@pytest.mark.parametrize("form", SHOW_FORMS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tiny_has_names_and_literals(tiny, form, encoding):
    text = show(tiny, form, encoding)
    assert "k-monomial 'tiny'" in text
    assert encoding in text
    assert all(literal in text for literal in tiny.samples.features)
    assert "objective = value" in text
    if encoding == "clausal":
        assert "more" not in text


@pytest.mark.parametrize("form", EXPORT_FORMS)
def test_shown_in_full_is_the_file(tiny, form):
    assert show(tiny, form, full=True).encode() == export_bytes(tiny, form)
    assert show(tiny, form) == show(tiny, form, full=True)


@pytest.mark.parametrize("form", SHOW_FORMS)
def test_large_is_cut_and_counted(large, form):
    text = show(large, form, limit=40)
    assert len(text.splitlines()) < 130
    assert max(map(len, text.splitlines())) < 300
    assert " more " in text


def test_cut_counts_are_right(large):
    full = export_bytes(large, "wcnf").decode().splitlines()
    hard = sum(line.startswith("h ") for line in full)
    soft = sum(not line.startswith(("h ", "c ")) for line in full)
    text = show(large, "wcnf", limit=40)
    shown = sum(line.startswith("h ") for line in text.splitlines())
    assert f"c ... {hard - shown:,} more hard clauses, {hard:,} in all\n" in text
    assert f"more soft clauses, {soft:,} in all\n" in text
    assert f"{hard} hard clauses, {soft} soft clauses" in text


def test_statement_has_the_numbers(tiny):
    text = show(tiny, "statement")
    for part in (
        "m = 4, weight 7",
        "2 samples, weight 3",
        "d = 3",
        "|S| <= 2, S contains {0}",
        "distribution uniform",
        "class        setosa",
        "2[0 not covered] + [1 covered] + [2 not covered] + 3[3 covered]",
        "X_j  ->  AND_{i : j in M_i} U_i",
        "X (3), C (2), U (2)",
    ):
        assert part in text
    assert ":func:" not in show(tiny, "statement", "channelling")
    assert "for study" in show(tiny, "statement", "table1-literal")


def test_cnf_is_dimacs_with_names(tiny):
    text = show(tiny, "cnf")
    assert "p cnf 7 " in text
    (line,) = [line for line in text.splitlines() if line.endswith("c C[0] or X[0]")]
    assert line.split()[:3] == ["4", "1", "0"]
    # Whichever Boolean encoding CPMpy chooses for the integer.
    assert re.search(r"K\[0\]>?=2 or", show(tiny, "cnf", "channelling", full=True))


def test_wrong_arguments(tiny):
    with pytest.raises(UnknownName, match=r"unknown form 'cpsat'.*did you mean 'cp-sat'"):
        show(tiny, "cpsat")
    with pytest.raises(UnknownName, match="unknown encoding"):
        show(tiny, "cnf", "clause")
    with pytest.raises(InvalidOption, match="limit"):
        show(tiny, "cnf", limit=0)
