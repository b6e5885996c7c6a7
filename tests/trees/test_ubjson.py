"""Models in Universal Binary JSON: those of XGBoost, and what is left of damaged ones."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from cpx.errors import CpxError, ModelError
from cpx.trees import read_model
from cpx.trees.ubjson import parse_ubjson
from tests.trees.rows import table

X, Y = table("iris")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    xgboost = pytest.importorskip("xgboost")
    path: Path = tmp_path_factory.mktemp("models") / "model.ubj"
    boosted = xgboost.XGBClassifier(n_estimators=3, max_depth=3).fit(X, Y)
    boosted.save_model(path)
    boosted.save_model(path.with_suffix(".json"))
    return path


def test_equal_to_json_and_without_xgboost(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    assert read_model(model) == read_model(model.with_suffix(".json"))


def test_damaged_models_are_read_or_refused_by_name(model: Path, tmp_path: Path) -> None:
    whole = model.read_bytes()
    path = tmp_path / "damaged.ubj"
    refused: list[str] = []
    for seed in range(200):
        rng = random.Random(seed)
        data = bytearray(whole)
        at = rng.randrange(1, len(data))
        if seed % 4 == 0:
            del data[at:]
        elif seed % 4 == 1:
            del data[at : at + rng.choice([1, 8, 100])]
        else:
            for _ in range(rng.choice([1, 2, 30])):
                data[rng.randrange(1, len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            found = read_model(path)
        except CpxError as error:
            refused.append(str(error))
        else:
            assert len(found.predict(np.zeros((2, len(found.attributes))))) == 2
    assert 100 < len(refused) < 200
    assert all(text.startswith(f"{path}: ") and len(text) < 500 for text in refused)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{L\0\0\0\0\0\0\0\1x", "it ends too early, at byte"),
        (b"{L\xff\xff\xff\xff\xff\xff\xff\xff", "a length is negative"),
        (b"{L\x7f\xff\xff\xff\xff\xff\xff\xff", "it ends too early"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "it ends too early"),
        (b"[#L\x7f\xff\xff\xff\xff\xff\xff\xff", "it ends too early"),
        (b"[$S#i\1", "an array of one type must be of numbers"),
        (b"[" * 10**6, "it is nested too deeply"),
        (b"{i\1aTi\1aF}", "the key 'a' occurs twice"),
        (b"{i\1\xffT}", "a text is not UTF-8"),
        (b"{dabcd", "a length is an integer"),
        (b"x", "b'x' is no type"),
        (b"{}}", "there is more after the end"),
    ],
)
def test_what_is_no_ubjson(data: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=f"no UBJSON: {message}"):
        parse_ubjson(data)


def test_all_types() -> None:
    data = b"[ZTFi\xffU\xffI\xff\xfel\0\0\0\1L\0\0\0\0\0\0\0\1d\x3f\xc0\0\0D\x3f\xf8\0\0\0\0\0\0]"
    assert parse_ubjson(data) == [None, True, False, -1, 255, -2, 1, 1, 1.5, 1.5]
