"""Five kinds of explanations of rows of forests over ten tables, and how they agree.

CPX_DATA is a folder of tables with ``index.json``; without it three of scikit-learn are taken.
CPX_FIVE_KINDS names some tables, with commas, CPX_FIVE_KINDS_ROWS is the number of rows of each
(5), CPX_FIVE_KINDS_LIMIT the seconds for each kind (100). CPX_FIVE_KINDS_WRITE=1 writes the tables
into docs/records/five-kinds.md, and the figure of one row into docs/_static.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.choice import chosen
from benchmarks.tables import markdown
from cpx import Explainer
from cpx.compare.plots import written

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "records" / "five-kinds.md"
PICTURE = ROOT / "docs" / "_static" / "five-kinds-{}.svg"

OWN = ("iris", "wine", "breast cancer")
FILES = ("australian", "car", "compas", "credit_approval", "diabetes", "heart_statlog", "tae")
ROWS = int(os.environ.get("CPX_FIVE_KINDS_ROWS", "5"))
LIMIT = float(os.environ.get("CPX_FIVE_KINDS_LIMIT", "100"))
TREES, DEPTH = 20, 5
KINDS = ("rule", "certificate", "expectation", "reason", "contrast")
DRAWN = "breast cancer", 1
"""Table and place, among the rows that are asked, of what the figure shows."""


def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return columns and target of a table; rows that lack a value are left out."""
    if name in OWN:
        from sklearn import datasets

        own = getattr(datasets, f"load_{name.replace(' ', '_')}")(as_frame=True)
        names = np.array([str(one) for one in own.target_names])
        return own.data, pd.Series(names[own.target])
    folder = Path(os.environ["CPX_DATA"])
    about = json.loads((folder / "index.json").read_text(encoding="utf-8"))[name]
    texts = dict.fromkeys([*about["categorical_columns"], "target"], str)
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=texts).dropna().reset_index(drop=True)
    return table.drop(columns="target"), table["target"]


def fitted(X: pd.DataFrame, y: pd.Series) -> Any:
    """Return a forest, behind an encoder where there are texts."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0)
    texts = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    if not texts:
        return forest.fit(X, y)
    encoder = make_column_transformer((OneHotEncoder(), texts), remainder="passthrough")
    return make_pipeline(encoder, forest).fit(X, y)


def asked(name: str) -> tuple[tuple[int, int], list[Any]]:
    """Return the shape of a table, and all kinds of some of its rows."""
    X, y = load(name)
    explainer = Explainer(fitted(X, y), X)
    places = np.random.default_rng(0).choice(len(X), ROWS, replace=False)
    return X.shape, [explainer.all_kinds(int(i), time_limit=LIMIT) for i in places]


# ------------------------------------------------------------------- figures


def mean(values: Iterable[float]) -> float | None:
    """Return a mean; None of nothing."""
    listed = [*values]
    return statistics.fmean(listed) if listed else None


def sizes(found: Sequence[Any]) -> Iterator[object]:
    """Yield of each kind how many columns it names, how many are proved, and seconds."""
    for kind in KINDS:
        those = [one[kind] for one in found]
        yield mean(len(one.columns) for one in those if not one.why)
        yield f"{sum(one.proved for one in those)}/{len(those)}"
        yield mean(one.seconds for one in those)


def shared(found: Sequence[Any]) -> Iterator[object]:
    """Yield of two kinds each how many columns they share, of those that one of them names."""
    for a, b in combinations(KINDS, 2):
        pairs = [
            ({*one[a].columns}, {*one[b].columns})
            for one in found
            if one[a].columns and one[b].columns
        ]
        yield mean(len(A & B) / len(A | B) for A, B in pairs)


STEPS = "nothing", "certificate", "rule", "expectation", "reason", "all columns"


def expected(found: Sequence[Any]) -> Iterator[object]:
    """Yield what is expected with the columns of each kind known, and what the laws say."""
    for of in STEPS:
        yield mean(one.expected for row in found for one in row.known if one.of == of)
    yield f"{sum(_rises(row) for row in found)}/{len(found)}"
    yield mean(len(row["reason"].found.rows.agreeing) for row in found if not row["reason"].why)
    for kind in ("rule", "certificate"):
        told = [
            "keeps" in one.text
            for row in found
            for one in row.relations
            if one.kinds == (kind, "contrast")
        ]
        yield f"{sum(told)}/{len(told)}"
    yield sum(one.law for row in found for one in row.relations)


def _rises(row: Any) -> bool:
    """Whether it rises from nothing to the certificate to the reason."""
    of = {one.of: one.expected for one in row.known}
    steps = [of[name] for name in ("nothing", "certificate", "reason") if name in of]
    return steps == sorted(steps)


Lines = Callable[[Sequence[Any]], Iterator[object]]

TABLES: dict[str, tuple[tuple[str, ...], Lines]] = {
    "Columns named, rows proved, processor seconds": (
        tuple(head for kind in KINDS for head in (kind, "proved", "s")),
        sizes,
    ),
    "Share of columns in common": (
        tuple(f"{a}, {b}" for a, b in combinations(KINDS, 2)),
        shared,
    ),
    "Expected probability with the values in these columns known, and relations": (
        (*STEPS, "rises", "rows of reason", "change keeps rule", "certificate", "laws checked"),
        expected,
    ),
}


def main() -> None:
    """Print the tables; write them and the figure where that is asked for."""
    known = OWN + FILES * ("CPX_DATA" in os.environ)
    found: dict[str, tuple[tuple[int, int], list[Any]]] = {}
    for name in chosen("CPX_FIVE_KINDS", known):
        found[name] = asked(name)
        print(f"{name}: {ROWS} rows", flush=True)
    text = ""
    for title, (heads, lines) in TABLES.items():
        rows = [[n, f"{s[0]} x {s[1]}", *lines(rows)] for n, (s, rows) in found.items()]
        every = [row for _, rows in found.values() for row in rows]
        rows.append(["all", "", *lines(every)])
        text += f"## {title}\n\n{markdown(('table', 'size', *heads), rows)}\n"
    print(f"\n{text}")
    if os.environ.get("CPX_FIVE_KINDS_WRITE"):
        write(text, found)


def write(text: str, found: dict[str, tuple[tuple[int, int], list[Any]]]) -> None:
    """Write the tables after the line that the record has for them, and the figure."""
    import matplotlib as mpl

    mark = "<!-- tables: written by the script -->\n"
    before, _, _ = RECORD.read_text(encoding="utf-8").partition(mark)
    RECORD.write_text(f"{before}{mark}\n{text.rstrip()}\n", encoding="utf-8")
    name, place = DRAWN
    if name in found:
        shown = found[name][1][place]
        for ground, ink in (("light", "#1f2328"), ("dark", "#e6edf3")):
            colours = dict.fromkeys(
                ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"),
                ink,
            )
            with mpl.rc_context({**colours, "savefig.transparent": True}):
                drawn = shown.plot(f"A row of {name}: {shown.headline()}")
                svg = written(drawn, "svg", svg_fonttype="none").decode()
            path = Path(str(PICTURE).format(ground))
            path.write_text(re.sub(r"[ \t]+\n", "\n", svg), encoding="utf-8")
