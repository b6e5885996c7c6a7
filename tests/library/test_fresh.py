"""Fresh samples of the definitions of instances, and rules measured on them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cpx
from cpx import KMonomial
from cpx.compare import Comparison
from cpx.library import fresh_samples, make, out_of_sample
from cpx.modelling.instances import fingerprint


@pytest.mark.parametrize("family", ["planted", "parity", "dnf", "perceptron", "forest"])
def test_fresh_samples_are_others_of_the_same_definition(family: str) -> None:
    problem = make(family, m=4000, d=8, k=2, seed=3)
    fresh = fresh_samples(problem.name, fingerprint(problem))
    assert fresh.agreement.shape == (4000, 8)
    assert not np.array_equal(fresh.agreement, problem.samples.agreement)
    assert fresh == fresh_samples(problem.name)
    # Each point of {0,1}^8 is drawn some sixteen times: the labels agree as far as noise lets
    # them, which is for one in ten to be wrong.
    weights = 2 ** np.arange(8)
    shares = [
        np.bincount(one.agreement @ weights, one.same, 256)
        / np.maximum(1, np.bincount(one.agreement @ weights, minlength=256))
        for one in (problem.samples, fresh)
    ]
    assert ((shares[0] > 0.5) == (shares[1] > 0.5)).mean() > 0.98


def test_what_has_no_definition_or_is_another_instance_has_none() -> None:
    for name in ("needle-m50-d6-k2-s0", "rules-m50-d6-k2-s0", "iris", "no-m5-d6-k2-s0"):
        assert fresh_samples(name) is None
    assert fresh_samples("planted-m50-d6-k2-s0", "another") is None


def test_rules_are_measured_by_counting() -> None:
    problem = make("planted", m=300, d=6, k=2, seed=1)
    other = KMonomial(problem.samples, 2, name="other")
    found = cpx.compare([problem, other], "search,beam")
    frame = out_of_sample(found)
    fresh = fresh_samples(problem.name)
    for run, row in zip(found.runs, frame.itertuples(), strict=True):
        if run.instance == "other":
            assert math.isnan(row.fresh_precision)
            assert math.isnan(row.fresh_coverage)
            continue
        chosen = list(run.result.explanation.features)
        rows = [i for i in range(300) if all(fresh.agreement[i, chosen])]
        assert row.fresh_coverage == len(rows) / 300
        assert row.fresh_precision == sum(fresh.same[i] for i in rows) / len(rows)
    assert len(out_of_sample(Comparison())) == 0
