"""Answers questions by DiCE, in an interpreter that has it: python dice_driver.py ASKED TOLD."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import pickle
import sys
import time
import warnings
from pathlib import Path


def main(asked: Path, told: Path) -> None:
    """Read the question, ask each method about each row, and write the changed rows."""
    warnings.simplefilter("ignore")
    import dice_ml
    import pandas as pd

    question = json.loads(asked.read_text())
    model = pickle.loads(base64.b64decode(question["model"]))
    table = pd.DataFrame(question["table"], columns=question["names"])
    names = list(table.columns)
    data = dice_ml.Data(
        dataframe=table.assign(outcome=question["labels"]),
        continuous_features=names,
        outcome_name="outcome",
    )
    answers = {}
    for method in question["methods"]:
        started = time.process_time()
        dice = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)
        prepared = time.process_time() - started
        rows = []
        for row, target in zip(question["rows"], question["targets"]):
            x = pd.DataFrame([row], columns=names)
            options = {} if method == "kdtree" else {"random_seed": 0}
            if method == "genetic":
                options = {}
            started = time.process_time()
            try:
                found = dice.generate_counterfactuals(
                    x, total_CFs=1, desired_class=target, verbose=False, **options
                )
                frame = found.cf_examples_list[0].final_cfs_df
                changed = (
                    None if frame is None or not len(frame) else frame[names].iloc[0].tolist()
                )
            except Exception as error:  # DiCE raises where it finds nothing
                changed = None
                print(method, type(error).__name__, error, file=sys.stderr)
            rows.append([changed, time.process_time() - started])
        answers[method] = {"prepared": prepared, "rows": rows}
    versions = {name: importlib.metadata.version(name) for name in ("dice-ml", "scikit-learn")}
    told.write_text(json.dumps({"answers": answers, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
