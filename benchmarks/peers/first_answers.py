"""First answers of cpx, SHAP, Alibi and PyXAI about one forest: lines, seconds, what is proved.

CPX_SHAP, CPX_ALIBI and CPX_PYXAI name Pythons that have these packages. A package without one is
left out of the table.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from benchmarks.tables import show

SETUP = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
data = load_breast_cancer(as_frame=True)
X, y = data.data.astype(np.float32), data.target
forest = RandomForestClassifier(100, max_depth=6, random_state=0).fit(X, y)
"""


class Task(NamedTuple):
    """What is asked of one package, as a person writes it."""

    asked: str
    package: str
    proved: str
    lines: str


_ONE, _MANY, _FORCED = "why this row", "why each of 10 rows", "what forces the class of this row"
TASKS = (
    Task(
        _ONE,
        "cpx",
        "no rule of 3 conditions is more precise on the rows",
        """import cpx
print(cpx.explain(forest, X, X.iloc[19], k=3))""",
    ),
    Task(
        _ONE,
        "shap",
        "the numbers add up to the prediction",
        """import shap
explainer = shap.TreeExplainer(forest)
print(explainer.shap_values(X.iloc[[19]]))""",
    ),
    Task(
        _ONE,
        "alibi",
        "nothing; an estimate of the precision",
        """from alibi.explainers import AnchorTabular
explainer = AnchorTabular(forest.predict, list(X.columns), seed=0)
explainer.fit(X.to_numpy())
found = explainer.explain(X.iloc[19].to_numpy(), threshold=0.95)
print(found)""",
    ),
    Task(
        _MANY,
        "cpx",
        "as for one, of each",
        """import cpx
print(cpx.Explainer(forest, X).rules(X.iloc[:10], k=3))""",
    ),
    Task(
        _MANY,
        "shap",
        "as for one, of each",
        """import shap
print(shap.TreeExplainer(forest).shap_values(X.iloc[:10]))""",
    ),
    Task(
        _MANY,
        "alibi",
        "nothing; estimates",
        """from alibi.explainers import AnchorTabular
explainer = AnchorTabular(forest.predict, list(X.columns), seed=0)
explainer.fit(X.to_numpy())
for row in X.to_numpy()[:10]:
    print(explainer.explain(row, threshold=0.95))""",
    ),
    Task(
        _FORCED,
        "cpx",
        "the class is forced; no fewer columns force it, or how many fewer might",
        """import cpx
print(cpx.Explainer(forest, X).reason(X.iloc[19], time_limit=10).summary())""",
    ),
    Task(
        _FORCED,
        "pyxai",
        "the class of the votes is forced; no condition can be left out",
        """from pyxai import Learning, Explaining
_, model = Learning.ModelIO.import_models(forest, instances_type="tabular")
explainer = Explaining.initialize(model, instance=X.to_numpy()[19])
print(explainer.to_features(explainer.sufficient_reason(time_limit=10)))""",
    ),
)

_TIMED = """
import resource, sys
def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
exec(sys.argv[1], globals())
start = spent()
exec(sys.argv[2], globals())
print("\\nspent", spent() - start)
"""


def seconds(python: str, lines: str) -> float:
    """Return the processor time of the lines, imports included, in a process of its own."""
    done = subprocess.run(
        [python, "-c", _TIMED, SETUP, lines], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{python} ends with {done.returncode}: {done.stderr[-2000:]}")
    (told,) = [line for line in done.stdout.splitlines() if line.startswith("spent ")]
    return float(told.removeprefix("spent "))


def main() -> None:
    """Print the table."""
    rows = []
    for task in TASKS:
        own = sys.executable if task.package == "cpx" else None
        python = os.environ.get(f"CPX_{task.package.upper()}", own)
        if python is not None:
            spent = seconds(python, task.lines)
            rows.append(
                [task.asked, task.package, len(task.lines.splitlines()), spent, task.proved]
            )
    show("first answers", ["asked", "package", "lines", "CPU s", "proved"], rows)


if __name__ == "__main__":
    main()
