"""Fit BRCG (AIX360) on folds of a table: ``python brcg_folds.py QUESTION ANSWER``, both JSON.

Runs in an interpreter that has AIX360, so it imports nothing of cpx. Everything is as the package
has it by default: nine quantiles of a numeric column, all categories, their negations, prices.
Missing numbers become the mean, and categories that a fold does not have the most frequent one,
which the package cannot do without.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any


def main(question: Path, answer: Path) -> None:
    """Write the accuracy on the held-out rows and the number of rules, for each fold."""
    import numpy as np
    import pandas as pd
    from aix360.algorithms.rbm import BooleanRuleCG, FeatureBinarizer

    warnings.simplefilter("ignore")
    asked: dict[str, Any] = json.loads(question.read_text())
    same = np.array(asked["same"], dtype=int)
    found = []
    for out in asked["folds"]:
        held_out = np.zeros(len(same), dtype=bool)
        held_out[out] = True
        table = pd.DataFrame(asked["columns"])
        for name in table.columns:
            if name in asked["categorical"]:
                known = table[name][~held_out]
                table[name] = table[name].where(table[name].isin(known), known.mode()[0])
            else:
                numbers = table[name].astype(float)
                table[name] = numbers.fillna(numbers[~held_out].mean())
        binarizer = FeatureBinarizer(colCateg=asked["categorical"], negations=True)
        seen = binarizer.fit_transform(table[~held_out])
        learner = BooleanRuleCG(silent=True)
        learner.fit(seen, same[~held_out])
        right = learner.predict(binarizer.transform(table[held_out])) == same[held_out]
        found.append((float(right.mean()), len(learner.explain()["rules"])))
    answer.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
