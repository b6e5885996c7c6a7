"""PyXAI: start its interpreter, and convert its reasons to ours.

The environment variable CPX_PYXAI names a Python that has PyXAI; cpx does not need it.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cpx.models.sufficient_reason.features import conditions
from cpx.trees import Attribute, TreeModel

DRIVER = Path(__file__).with_name("pyxai_driver.py")


@dataclass(frozen=True)
class Call:
    """A method of PyXAI's explainer of forests, on the first ``rows`` rows."""

    method: str
    theory: bool
    options: dict[str, Any]
    rows: int

    @property
    def name(self) -> str:
        """What the tables call it."""
        return f"{self.method}{', theory' if self.theory else ''}"


def interpreter() -> str | None:
    """Return the Python that has PyXAI, if one is named."""
    return os.environ.get("CPX_PYXAI")


def ask(
    trees: Any, rows: np.ndarray, names: list[str], calls: list[Call], cap: float
) -> dict[str, Any]:
    """Return PyXAI's answers; each call is killed after ``cap`` CPU seconds."""
    python = interpreter()
    assert python is not None
    questions = {
        "forest": base64.b64encode(pickle.dumps(trees)).decode(),
        "rows": rows.tolist(),
        "names": names,
        "cap": cap,
        "calls": [
            {"name": c.name, "method": c.method, "theory": c.theory, "options": c.options,
             "rows": c.rows}
            for c in calls
        ],
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "questions.json"), Path(folder, "answers.json")
        asked.write_text(json.dumps(questions))
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment["PYTHONSAFEPATH"] = "1"  # beside the driver is a module called pyxai
        subprocess.run(
            [python, str(DRIVER), str(asked), str(told)],
            cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        answers = json.loads(told.read_text())
    import sklearn

    if answers["versions"]["scikit-learn"] != sklearn.__version__:
        raise RuntimeError(
            f"CPX_PYXAI has scikit-learn {answers['versions']['scikit-learn']}, this Python "
            f"{sklearn.__version__}: the forest may have been read wrongly"
        )
    return answers


def places(model: TreeModel, reason: list[list[Any]]) -> list[tuple[int, int, bool]]:
    """Return PyXAI's literals ``value of a > t`` as cells: a, place of t, whether above."""
    out = []
    for a, threshold, above in reason:
        single = np.float32(threshold)
        if float(single) > threshold:
            single = np.nextafter(single, np.float32(-np.inf))
        at = int(np.searchsorted(model.thresholds[a], float(single)))
        assert model.thresholds[a][at] == float(single), (a, threshold)
        out.append((a, at, above))
    return out


def as_conditions(model: TreeModel, reason: list[list[Any]]) -> tuple[int, ...]:
    """Return the numbers of the conditions of cpx that a reason has."""
    number = {test: i for i, test in enumerate(conditions(model))}
    return tuple(sorted({number[a, j] for a, j, _ in places(model, reason)}))


def as_columns(reason: list[list[Any]]) -> tuple[int, ...]:
    """Return the columns that a reason tests."""
    return tuple(sorted({a for a, _, _ in reason}))


def within(model: TreeModel, reason: list[list[Any]]) -> TreeModel:
    """Return the model over the rows that satisfy a reason, and over no others.

    With a theory a reason of PyXAI speaks of these rows: it is valid when the empty set is a
    sufficient reason there.
    """
    bounds: dict[int, list[float | None]] = {}
    for a, at, above in places(model, reason):
        low, high = bounds.setdefault(a, [None, None])
        limit = np.float32(model.thresholds[a][at])
        if above:
            least = float(np.nextafter(limit, np.float32(np.inf)))
            bounds[a][0] = least if low is None else max(low, least)
        else:
            bounds[a][1] = float(limit) if high is None else min(high, float(limit))
    return model.with_attributes(
        [
            Attribute(attribute.name, lower=bounds[a][0], upper=bounds[a][1])
            if a in bounds
            else attribute
            for a, attribute in enumerate(model.attributes)
        ]
    )
