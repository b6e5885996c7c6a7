"""How times grow with the sizes in the names of instances."""

from __future__ import annotations

import pytest

from cpx.compare import Comparison
from cpx.compare.growth import growth, sizes_in
from cpx.compare.plots import figures

from .helpers import run


def test_sizes_are_read_from_names() -> None:
    assert sizes_in("my-parity-m100-d5-k2-s7") == ("my-parity", {"m": 100, "d": 5, "k": 2})
    assert sizes_in("m-d-k3x") == ("m-d-k3x", {})
    assert sizes_in("") == ("", {})


def _comparison() -> Comparison:
    runs = []
    for m, d, seconds in ((10, 5, 1.0), (20, 5, 3.0), (10, 9, 4.0), (20, 9, 7.0)):
        for seed, more in enumerate((0.0, 0.5, 5.0)):
            name = f"one-m{m}-d{d}-s{seed}"
            runs.append(run("OPTIMAL", 5, 5, name=name, seconds=seconds + more))
            open_ = run("FEASIBLE", 7, 3, name=name, backend="milp", solver="highs", seconds=10)
            runs.append(open_)
    runs.append(run("OPTIMAL", 5, 5, name="one-m10-d5-s3", seconds=1.0))
    return Comparison((*runs, run("OPTIMAL", 5, 5, name="other")))


def test_one_size_grows_at_a_time_and_no_proof_counts_with_the_limit() -> None:
    comparison = _comparison()
    order = ["cpsat", "milp:highs"]
    found = growth(comparison.cases(), order)
    assert list(found) == ["one"]
    # From the point with most instances; medians of 1.0, 1.5, 6.0 and 1.0, and of the others.
    assert found["one"]["m"]["cpsat"] == ([10, 20], [pytest.approx(1.25), 3.5])
    assert found["one"]["d"]["cpsat"] == ([5, 9], [pytest.approx(1.25), 4.5])
    assert found["one"]["m"]["milp:highs"] == ([10, 20], [10.0, 10.0])
    drawn = dict(figures(comparison.cases(), order))
    assert [ax.get_xlabel() for ax in drawn["growth-one"].axes] == ["m", "d"]
    assert "growth-other" not in drawn
