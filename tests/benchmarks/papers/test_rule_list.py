"""Rule lists of another package: what it is given, and how its answer is read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers.ads.bayesian_rule_list import RuleList


def test_the_first_rule_that_is_true_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"size": rng.integers(0, 4, 200), "tint": rng.choice(list("rgb"), 200)})
    truth = np.asarray((rows["size"] > 1) & (rows["tint"] == "r"))
    given: list[Any] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        data, classes, *_settings = json.loads(command[-1])
        given[:] = [Path(data).read_text().splitlines(), Path(classes).read_text().splitlines()]
        return SimpleNamespace(
            stdout=json.dumps([[2, 1, 0], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]])
        )

    monkeypatch.setattr(subprocess, "run", run)
    model = RuleList(rows, lambda table: truth, queries=7, seed=0)
    rules, labels = given
    assert rules[:2] == [f"n_items: {len(rules) - 2}", "n_samples: 200"]
    assert labels[2:] == [
        "{label=0} " + " ".join(str(int(not t)) for t in truth),
        "{label=1} " + " ".join(str(int(t)) for t in truth),
    ]
    covers = np.array([[bit == "1" for bit in line.split()[1:]] for line in rules[2:]])
    assert model.queries == 7
    assert len(model.lengths) == 2
    # The second rule says no, what is left of the first yes, and the others no.
    assert (model.predict(rows) == (covers[0] & ~covers[1])).all()
