"""Peers, by packages that pretend to be them, and by themselves where they are installed."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.rule_learners import _columns, bayesian_rules, brcg_rules, skope_rules
from cpx.errors import DataError, EngineError, EngineMissing, InvalidInstance, InvalidOption
from cpx.models.rule_set.methods.candidates import Literals

BRCG = """
import json, pandas as pd
class BooleanRuleCG:
    def __init__(self, **asked):
        self.asked = asked
    def fit(self, X, y):
        with open({told!r}, "w") as file:
            json.dump([self.asked, X.columns.tolist(), X.to_numpy().tolist(), y.tolist()], file)
        # Conjunctions: none, literals 0 and 3, literal 1 (not selected), literal 4.
        self.z = pd.DataFrame(0, index=X.columns, columns=range(4))
        for j, c in [(0, 1), (3, 1), (1, 2), (4, 3)]:
            self.z.iloc[j, c] = 1
        self.w = [0, 1, 0, 1]
"""
IMODELS = """
import random
import numpy as np
from itertools import combinations
class SkopeRulesClassifier:
    def __init__(self, **asked):
        self.asked = asked
    def fit(self, X, y, feature_names):
        depth = self.asked["max_depth"]
        self.rules_ = ["f0 > 0.5 and f4 <= 0.5", "f2 <= 0.5"] if depth == 3 else []
        if depth == 1:
            self.rules_ = ["f0 > 0.5 and g"]
class BayesianRuleSetClassifier:
    def __init__(self, maxlen):
        self.maxlen = maxlen
    def fit(self, X, y, feature_names):
        # As in the package: counted once before candidates are made, once after.
        self.attr_names = list(feature_names)
        for times in 2, 4:
            self._set_pattern_space()
            names = range(times * len(feature_names))
            sizes = range(1, self.maxlen + 1)
            counted = [sum(1 for _ in combinations(names, size)) for size in sizes]
            assert list(self.pattern_space) == [0, *counted], self.pattern_space
        wanted = [["f1_neg", "f3"], [f"f{random.randrange(5)}"]]
        self.rules_ = [["f0"]] * 9000
        if self.maxlen == 1:
            self.rules_ = []
        else:
            self.rules_[0], self.rules_[8999] = wanted
        self._screen_rules(X, y, False)
        assert self.RMatrix.sum() == 2 * len(X), self.RMatrix
        assert self._propose([0], [1], 0.1, y) == ([0], [1], 0.1, y.tolist())
    def _propose(self, rules_curr, rules_norm, q, y):
        return rules_curr, rules_norm, q, y.tolist()
    def _screen_rules(self, df, y, verbose):
        # The best two are those that are not f0.
        assert len(self.rules_) < 5000, "too many at once"
        if not self.rules_:
            raise ValueError("no candidate rules")
        self.rules_ = sorted(self.rules_, key=lambda rule: rule == ["f0"])[:2]
        self.RMatrix = np.array([[rule != ["f0"] for rule in self.rules_]] * len(df))
"""


@pytest.fixture
def python(tmp_path: Path) -> str:
    """Return an interpreter whose peers are the ones above."""
    home = tmp_path / "aix360" / "algorithms" / "rbm"
    home.mkdir(parents=True)
    told = str(tmp_path / "told.json")
    (home / "boolean_rule_cg.py").write_text(BRCG.replace("{told!r}", repr(told)))
    (tmp_path / "imodels.py").write_text(IMODELS)
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return str(script)


pytestmark = pytest.mark.skipif(os.name == "nt", reason="the interpreter is a shell script")


def test_brcg_is_asked_and_read(
    python: str, tmp_path: Path, literals: Literals, same: np.ndarray
) -> None:
    found = brcg_rules(literals, same, k=3, penalty="1/8", time_limit=7, python=python)
    assert found.rules == ((0, 3), (4,))
    asked, columns, matrix, labels = json.loads((tmp_path / "told.json").read_text())
    assert {key: asked[key] for key in ("lambda0", "lambda1", "D", "timeMax", "solver")} == {
        "lambda0": 0.125, "lambda1": 0, "D": 3, "timeMax": 7, "solver": "ECOS",
    }  # fmt: skip
    assert np.array_equal(matrix, literals.matrix)
    assert np.array_equal(labels, same)
    assert len(set(map(tuple, columns))) == 10
    assert "numpy" in found.versions


def test_columns_of_thresholds_categories_and_gaps() -> None:
    names = ("a b <= 1.5", "a b > 1.5", "c = x", "c != x", "a b is missing", "a b is known")
    literals = Literals(np.zeros((1, 3), dtype=bool), names)
    assert _columns(literals) == [
        ("a b", "<=", 1.5), ("a b", ">", 1.5), ("c", "==", "x"), ("c", "!=", "x"),
        ("a b is missing", "==", "1"), ("a b is missing", "!=", "1"),
    ]  # fmt: skip


def test_imodels_is_read(python: str, literals: Literals, same: np.ndarray) -> None:
    assert skope_rules(literals, same, python=python).rules == ((0, 9), (5,))
    assert skope_rules(literals, same, python=python, n_rules=1).rules == ((0, 9),)
    assert skope_rules(literals, same, k=2, python=python).rules == ()
    first = bayesian_rules(literals, same, seed=3, python=python).rules
    assert first[0] == (3, 6)
    assert bayesian_rules(literals, same, seed=3, python=python).rules == first


def test_failures_are_told(
    python: str, monkeypatch: pytest.MonkeyPatch, literals: Literals, same: np.ndarray
) -> None:
    with pytest.raises(EngineError, match="ValueError: no candidate rules"):
        bayesian_rules(literals, same, k=1, python=python)
    with pytest.raises(EngineError, match="none of ours: 'g'"):
        skope_rules(literals, same, k=1, python=python)
    with pytest.raises(EngineMissing, match="no interpreter /no/python"):
        brcg_rules(literals, same, python="/no/python")
    with pytest.raises(EngineError, match="ends with"):
        brcg_rules(literals, same, python="/bin/false")
    if find_spec("aix360") is None:
        monkeypatch.setenv("CPX_AIX360", sys.executable)
        with pytest.raises(EngineMissing, match=r"aix360\[rbm\].*CPX_AIX360"):
            brcg_rules(literals, same)


def test_bad_input(literals: Literals, same: np.ndarray) -> None:
    with pytest.raises(InvalidOption, match="k must be"):
        bayesian_rules(literals, same, k=0)
    with pytest.raises(InvalidOption, match="min_precision"):
        skope_rules(literals, same, min_precision=2)
    with pytest.raises(InvalidOption, match="time_limit"):
        brcg_rules(literals, same, time_limit=0)
    with pytest.raises(InvalidInstance, match="penalty"):
        brcg_rules(literals, same, penalty=-1)
    for learn in (brcg_rules, skope_rules, bayesian_rules):
        with pytest.raises(DataError, match="one kind"):
            learn(literals, np.zeros(60))


@pytest.mark.slow
@pytest.mark.skipif("CPX_AIX360" not in os.environ, reason="no interpreter with AIX360 is named")
def test_brcg_itself(literals: Literals, same: np.ndarray) -> None:
    found = brcg_rules(literals, same, k=3, penalty="1/50")
    nothing = int(same.sum())
    assert found.rules
    assert all(len(rule) <= 3 for rule in found.rules)
    assert found.hamming < nothing


@pytest.mark.slow
@pytest.mark.skipif(
    "CPX_IMODELS" not in os.environ and find_spec("imodels") is None, reason="no imodels"
)
def test_imodels_itself(literals: Literals, same: np.ndarray) -> None:
    skope = skope_rules(literals, same, k=2)
    assert skope.rules
    bayesian = bayesian_rules(literals, same, k=2)
    assert bayesian.errors < int(same.sum())
    assert bayesian_rules(literals, same, k=2).rules == bayesian.rules
