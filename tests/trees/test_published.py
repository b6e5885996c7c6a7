"""The boosted models published with XReason, where they are at hand.

They are looked for in the folder that ``CPX_BOOSTED`` names, or in ``shared/boosted`` beside
the repository: ``NAME.model.txt.gz`` is a text dump with 50 trees per score, ``NAME.log.gz`` the
explained instances with the size of a subset-minimal sufficient reason each.
"""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest

from cpx.trees import TreeModel, read_model

FOLDER = Path(os.environ.get("CPX_BOOSTED") or Path(__file__).parents[3] / "shared" / "boosted")
NAMES = sorted(path.name.removesuffix(".model.txt.gz") for path in FOLDER.glob("*.model.txt.gz"))
CLASSES = {
    "ann-thyroid": 3, "appendicitis": 2, "divorce": 2, "ecoli": 5, "glass2": 2, "ionosphere": 2,
    "promoters": 2, "segmentation": 7, "shuttle": 7, "texture": 11, "threeOf9": 2, "twonorm": 2,
    "vowel": 11, "wdbc": 2, "wine-recognition": 3, "wpbc": 2, "zoo": 7,
}  # fmt: skip

pytestmark = pytest.mark.skipif(not NAMES, reason="the published models are not at hand")


def log(name: str) -> tuple[np.ndarray, list[int]]:
    text = gzip.decompress((FOLDER / f"{name}.log.gz").read_bytes()).decode()
    rows = [line[2:].split(",") for line in text.splitlines() if line.startswith("i:")]
    sizes = [int(line[2:]) for line in text.splitlines() if line.startswith("s:")]
    return np.array(rows, dtype=float), sizes


def read(name: str, columns: int) -> TreeModel:
    return read_model(FOLDER / f"{name}.model.txt.gz", classes=CLASSES[name], attributes=columns)


@pytest.mark.parametrize("name", NAMES)
def test_models_are_read(name: str) -> None:
    rows, _ = log(name)
    model = read(name, rows.shape[1])
    text = gzip.decompress((FOLDER / f"{name}.model.txt.gz").read_bytes()).decode()
    assert len(model.trees) == 50 * len(model.base)
    assert sum(tree.n_leaves for tree in model.trees) == text.count("leaf=")
    predicted = model.predict(rows)
    # Each class but the rarest two of shuttle is the prediction for some explained instance.
    assert set(range(CLASSES[name])) - set(predicted.tolist()) in (set(), {1, 5, 6})
    sums = model.base + np.zeros((len(rows), len(model.base)))
    for tree, leaves in zip(model.trees, model.leaves(rows).T):
        sums[:, tree.outputs] += tree.values[leaves]
    wanted = sums.argmax(axis=1) if CLASSES[name] > 2 else sums[:, 0] > 0
    assert predicted.tolist() == wanted.astype(int).tolist()


@pytest.mark.parametrize("name", [n for n in NAMES if n in ("threeOf9", "promoters", "zoo")])
def test_a_reason_of_the_published_size_exists(name: str) -> None:
    """Enumerate all cells and all sets of attributes."""
    rows, sizes = log(name)
    model = read(name, rows.shape[1])
    used = list(model.used)
    counts = model.sizes[used] + 1
    grid = np.indices(counts).reshape(len(used), -1).T
    cells = np.zeros((len(grid), model.n_attributes), dtype=np.int32)
    cells[:, used] = grid
    assert len(cells) == math.prod(counts.tolist()) < 10**5
    classes = model.decide(model.totals_of(cells))
    for row, size in zip(rows, sizes):
        x = model.cells(row)
        others = cells[classes != model.predict_index(row)[0]]
        agree = (others[:, used] == x[used]) @ (1 << np.arange(len(used)))
        # refuted[S]: a row of another class agrees with x on all of S.
        refuted = np.zeros(2 ** len(used), dtype=bool)
        refuted[agree] = True
        sets = np.arange(2 ** len(used))
        for i in range(len(used)):
            without = sets[sets >> i & 1 == 0]
            refuted[without] |= refuted[without | 1 << i]
        minimal = ~refuted
        for i in range(len(used)):
            inside = sets[sets >> i & 1 == 1]
            minimal[inside] &= refuted[inside & ~(1 << i)]
        found = {int(s).bit_count() for s in np.flatnonzero(minimal)}
        assert size in found
