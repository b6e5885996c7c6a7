"""Ask a peer for rules: ``python rule_driver.py QUESTION ANSWER``, both JSON files.

Runs in an interpreter that has the peer, so it imports nothing of cpx. Literal 2 b says that
feature b is true, literal 2 b + 1 that it is false.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from math import comb
from typing import Any

import numpy as np

Found = tuple[list[list[int]], float]
"""Rules, and the processor seconds of finding them."""

_BLOCK = 4000
"""Candidate rules that a Bayesian rule set screens at once."""


def brcg(features: Any, same: Any, asked: dict[str, Any]) -> Found:
    """Return the rules of AIX360's BooleanRuleCG, without a price on literals."""
    import pandas as pd
    from aix360.algorithms.rbm.boolean_rule_cg import BooleanRuleCG

    m, q = features.shape
    matrix = np.stack([features, 1 - features], axis=2).reshape(m, 2 * q)
    # By column, sign and value the beam search knows which literals are no use together.
    labels = pd.MultiIndex.from_tuples(
        [tuple(column) for column in asked["columns"]], names=["feature", "operation", "value"]
    )
    learner = BooleanRuleCG(
        lambda0=asked["penalty"],
        lambda1=0.0,
        D=asked["k"],
        timeMax=asked["time_limit"],
        solver=asked["solver"],
        silent=True,
    )
    spent = _seconds(learner.fit, pd.DataFrame(matrix, columns=labels), same)
    chosen = learner.z.to_numpy()[:, np.asarray(learner.w) > 0.5]
    return [np.flatnonzero(rule > 0).tolist() for rule in chosen.T], spent


def skope(features: Any, same: Any, asked: dict[str, Any]) -> Found:
    """Return the rules of imodels' SkopeRulesClassifier, best first."""
    from imodels import SkopeRulesClassifier

    names = [f"f{b}" for b in range(features.shape[1])]
    learner = SkopeRulesClassifier(
        max_depth=asked["k"],
        precision_min=asked["min_precision"],
        n_estimators=asked["trees"],
        random_state=asked["seed"],
    )
    spent = _seconds(learner.fit, features.astype(float), same, names)
    return [
        [_literal(test) for test in str(rule).split(" and ")] for rule in learner.rules_
    ], spent


def _literal(test: str) -> int:
    read = re.fullmatch(r"f(\d+) (<=|>) 0\.5", test)
    if read is None:
        raise ValueError(f"a test of SkopeRules that is none of ours: {test!r}")
    return 2 * int(read[1]) + (read[2] == "<=")


def bayesian(features: Any, same: Any, asked: dict[str, Any]) -> Found:
    """Return the rules of imodels' BayesianRuleSetClassifier."""
    from imodels import BayesianRuleSetClassifier

    class Learner(BayesianRuleSetClassifier):
        """The same rules and prior, of long rules too, in less time and memory."""

        attr_names: list[str]
        rules_: list[Any]
        RMatrix: Any

        def _set_pattern_space(self) -> None:
            # All subsets of names are as many as if they were gone through one by one, and each
            # name has one level. The package, too, doubles its names each time.
            self.attr_names = self.attr_names * 2
            sizes = range(1, self.maxlen + 1)
            self.pattern_space = np.array([0.0, *(comb(len(self.attr_names), n) for n in sizes)])

        def _screen_rules(self, df: Any, y: Any, verbose: bool) -> None:
            # Of the best rules so far and the next ones, the best: not all rules at once.
            rules, self.rules_ = self.rules_, []
            for first in range(0, max(1, len(rules)), _BLOCK):
                self.rules_ = self.rules_ + rules[first : first + _BLOCK]
                super()._screen_rules(df, y, verbose)
            self.RMatrix = self.RMatrix.astype(np.int8)

        def _propose(self, current: Any, normal: Any, q: float, y: Any) -> Any:
            return super()._propose(current, normal, q, y.astype(np.int8))

    random.seed(asked["seed"])
    names = [f"f{b}" for b in range(features.shape[1])]
    learner = Learner(maxlen=asked["k"])
    learner.random_state = asked["seed"]
    spent = _seconds(learner.fit, features, same, names)
    rules = [
        [2 * int(re.findall(r"\d+", name)[0]) + name.endswith("_neg") for name in rule]
        for rule in learner.rules_
    ]
    return rules, spent


def _seconds(fit: Callable[..., Any], *arguments: Any) -> float:
    """Fit, and return the processor time, that of imports left out."""
    start = time.process_time()
    fit(*arguments)
    return time.process_time() - start


METHODS = {"brcg": brcg, "skope": skope, "bayesian": bayesian}
PACKAGES = ("aix360", "imodels", "cvxpy", "numpy", "pandas", "scikit-learn")


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return rules, processor seconds and versions, or what is missing."""
    m, q = asked["shape"]
    bits = np.frombuffer(base64.b64decode(asked["features"]), dtype=np.uint8)
    features = np.unpackbits(bits, count=m * q).reshape(m, q).astype(int)
    same = np.array([int(s) for s in asked["same"]])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rules, spent = METHODS[asked["method"]](features, same, asked)
    except ImportError as error:
        return {"missing": str(error)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"rules": rules, "seconds": spent, "versions": _versions()}


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main(question: str, told: str) -> None:
    """Answer one question."""
    with open(question) as file:
        asked = json.load(file)
    found = answer(asked)
    with open(told, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
