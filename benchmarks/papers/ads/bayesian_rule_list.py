"""Scalable Bayesian rule lists (Yang et al. 2017), by the package pysbrl where it is there."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.ads.bayesian_rule_set import frequent
from benchmarks.papers.ads.faithfulness import Labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RuleList", "installed"]

_LENGTH = 2
"""Conditions of a rule, at most, as in the paper of ADS and by default in the package."""

_CANDIDATES = 300
"""Rules for each class that the package chooses from."""

_LAMBDA, _ETA, _STEPS, _CHAINS = 20.0, 1.0, 30_000, 10
"""Expected rules and conditions of the prior, steps, and chains, fewer than by default."""


# A second training in one process ends it.
_TRAINING = """
import json, sys
from pysbrl.train import train_sbrl
*told, seed = json.loads(sys.argv[1])
rules, outputs, _ = train_sbrl(*told, 1, seed)
print(json.dumps([list(map(int, rules)), [list(map(float, row)) for row in outputs]]))
"""


def installed() -> bool:
    """Whether the package is there; it is built against NumPy and the GNU Scientific Library."""
    return find_spec("pysbrl") is not None


class RuleList:
    """A list of rules with probabilities, over thresholds and categories.

    What the package prepares its files by calls names that NumPy no longer has, so the files are
    written here: its candidates are those of :func:`frequent`, for both classes.
    """

    def __init__(
        self, rows: pd.DataFrame, labels: Callable[[pd.DataFrame], Labels], queries: int, seed: int
    ) -> None:
        from cpx.data.binarizer import Binarizer
        from cpx.models.rule_set.methods.candidates.literals import Literals

        self.queries = queries
        self._binarizer: Any = Binarizer(n_bins=5).fit(rows)
        literals = Literals.of_bits(self._binarizer.transform(rows), self._binarizer)
        names = literals.names
        self._kept = [
            j for j, name in enumerate(names) if " != " not in name and "is known" not in name
        ]
        table, same = literals.matrix[:, self._kept], labels(rows)
        found = {
            tuple(rule)
            for own in (same, ~same)
            for rule in frequent(table, own, _LENGTH, _CANDIDATES).rules
        }
        rules = sorted(found)
        with tempfile.TemporaryDirectory() as folder:
            data, classes = Path(folder) / "rules", Path(folder) / "labels"
            data.write_text(_bits(rules, [_covers(table, rule) for rule in rules]))
            classes.write_text(_bits([(0,), (1,)], [~same, same], "label="))
            told = [str(data), str(classes), _LAMBDA, _ETA, _STEPS, _CHAINS, seed]
            done = subprocess.run(
                [sys.executable, "-c", _TRAINING, json.dumps(told)],
                stdout=subprocess.PIPE,
                check=True,
            )
        chosen, outputs = json.loads(done.stdout)
        # The first of its rules is the one that is true of every row.
        self._rules = [() if i == 0 else rules[i - 1] for i in chosen]
        self._positive = np.asarray(outputs)[:, 1] > 0.5

    @property
    def lengths(self) -> list[int]:
        """Numbers of conditions, of all rules but the last, which has none."""
        return [len(rule) for rule in self._rules if rule]

    def predict(self, rows: pd.DataFrame) -> Labels:
        """Return which rows the first rule that is true of them calls positive."""
        from cpx.models.rule_set.methods.candidates.literals import Literals

        bits = Literals.of_bits(self._binarizer.transform(rows), self._binarizer)
        table = bits.matrix[:, self._kept]
        called, open_ = np.zeros(len(table), dtype=bool), np.ones(len(table), dtype=bool)
        for rule, positive in zip(self._rules, self._positive, strict=True):
            here = open_ & _covers(table, rule)
            called[here], open_[here] = positive, False
        return called


def _covers(table: Labels, rule: tuple[int, ...]) -> Labels:
    return np.asarray(table[:, list(rule)].all(axis=1), dtype=bool)


def _bits(rules: list[tuple[int, ...]], covers: list[Labels], prefix: str = "x") -> str:
    """Return rules with the rows that they cover, in the text form of the package."""
    lines = [f"n_items: {len(rules)}", f"n_samples: {len(covers[0])}"]
    for rule, own in zip(rules, covers, strict=True):
        name = ",".join(f"{prefix}{j}" if prefix != "x" else f"x{j}=1" for j in rule)
        lines.append("{" + name + "} " + " ".join(np.where(own, "1", "0").tolist()))
    return "\n".join(lines) + "\n"
