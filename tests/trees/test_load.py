from __future__ import annotations

import gzip
import importlib
import json
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

import cpx
from cpx.errors import EngineMissing, InvalidOption, ModelError, UnsupportedModel
from cpx.trees import TreeModel, read_model
from tests.trees.rows import table

X, Y = table("iris")
FOREST = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, Y)


def test_live_models() -> None:
    model = read_model(FOREST)
    assert model.predict(X).tolist() == FOREST.predict(X).tolist()
    assert read_model(model) is model
    assert cpx.read_model is read_model
    assert read_model(FOREST, rule="vote").rule == "vote"
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    boosted = xgboost.XGBClassifier(n_estimators=2).fit(X, Y)
    assert read_model(boosted).source == "xgboost XGBClassifier"
    assert read_model(boosted.get_booster()).source == "xgboost Booster"
    light = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, Y)
    assert read_model(light).source == "lightgbm LGBMClassifier"
    assert read_model(light.booster_).source == "lightgbm Booster"


@pytest.mark.parametrize(
    "source", [3, None, {"learner": 1}, KNeighborsClassifier(), FOREST.predict]
)
def test_what_is_no_model(source: Any) -> None:
    with pytest.raises(UnsupportedModel, match=r"is no (model|tree model)"):
        read_model(source)


@pytest.mark.parametrize("name", ["model.json", "model.json.gz", "model"])
def test_saved_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    data = json.dumps(read_model(FOREST).to_dict()).encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert read_model(path) == read_model(FOREST)
    assert read_model(str(path)) == read_model(FOREST)
    with pytest.raises(InvalidOption, match="classes is no option of a saved TreeModel"):
        read_model(path, classes=3)


def test_options_of_another_reader() -> None:
    with pytest.raises(InvalidOption, match=r"rounds is no option of read_sklearn.* it has: rule"):
        read_model(FOREST, rounds=3)
    with pytest.raises(InvalidOption, match=r"rul is no .* \(did you mean 'rule'\?\)"):
        read_model(FOREST, rul="vote")


@pytest.mark.parametrize("write", [joblib.dump, lambda m, p: p.write_bytes(pickle.dumps(m))])
@pytest.mark.parametrize("name", ["model.joblib", "model.pkl", "model.bin"])
def test_joblib(write: Any, name: str, tmp_path: Path) -> None:
    write(FOREST, tmp_path / name)
    with pytest.raises(ModelError, match=f"{name}: .* can run any code .* say trusted=True"):
        read_model(tmp_path / name)
    with pytest.raises(ModelError, match="can run any code"):
        read_model(tmp_path / name, trusted=["sklearn"])
    assert read_model(tmp_path / name, trusted=True) == read_model(FOREST)


def test_joblib_compressed(tmp_path: Path) -> None:
    joblib.dump(FOREST, tmp_path / "model.gz", compress=("gzip", 3))
    assert read_model(tmp_path / "model.gz", trusted=True) == read_model(FOREST)


def test_untrusted_code_is_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "exploded",))

    for name in ("model.pkl", "model", "model.txt"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ModelError, match="can run any code"):
            read_model(tmp_path / name)
    assert not (tmp_path / "exploded").exists()


def test_joblib_with_something_else(tmp_path: Path) -> None:
    joblib.dump({"a": 1}, tmp_path / "model.joblib")
    with pytest.raises(UnsupportedModel, match="dict is no model that cpx reads"):
        read_model(tmp_path / "model.joblib", trusted=True)
    (tmp_path / "model.joblib").write_bytes(b"\x80\x04nonsense")
    with pytest.raises(ModelError, match="joblib cannot read it"):
        read_model(tmp_path / "model.joblib", trusted=True)


@pytest.mark.parametrize("kind", ["forest", "histogram"])
def test_skops(kind: str, tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    classifier = FOREST
    if kind == "histogram":
        classifier = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    path = tmp_path / "model.skops"
    io.dump(classifier, path)
    unknown = io.get_untrusted_types(file=path)
    if unknown:
        with pytest.raises(ModelError, match=f"types that are not trusted: .*{unknown[0]}"):
            read_model(path)
    for trusted in (unknown, True):
        assert read_model(path, trusted=trusted) == read_model(classifier)


def test_skops_with_unknown_types(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    io.dump({"steps": Odd()}, path)
    with pytest.raises(ModelError, match=r"not trusted: .*Odd.* say trusted=\[\.\.\.\]"):
        read_model(path)
    with pytest.raises(UnsupportedModel, match="dict is no model"):
        read_model(path, trusted=True)


class Odd:
    def __init__(self) -> None:
        self.value = 1


def test_skops_damaged(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    with zipfile.ZipFile(tmp_path / "model.skops", "w") as archive:
        archive.writestr("other.txt", "x")
    with pytest.raises(ModelError, match="skops cannot read it"):
        read_model(tmp_path / "model.skops")


def test_a_library_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").write_bytes(b"PK\x03\x04rest")
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(EngineMissing, match="needs skops to be read; pip install skops"):
        read_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not recognised as a tree model"),
        (b"a,b\n1,2\n", "not recognised as a tree model: neither"),
        (b"\xff\xfe\x00", "not recognised as a tree model"),
        (b"{}", "no XGBoost model: the key 'learner' is missing"),
        (b'{"learner": 3}', "no XGBoost model"),
        (b'{"learner"', "no JSON"),
        (b'{"format": "cpx-tree-model"}', "the key 'version' is missing"),
        (b"\x1f\x8bnonsense", "truncated or damaged gzip"),
        (b"booster[0]:\n0:leaf=1\n", "does not say how many classes"),
        (b"tree\nversion=v4\n", "the file ends before the trees do"),
    ],
)
def test_files_that_are_no_model(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read: No such file or directory"):
        read_model(tmp_path / "nothing.json")
    with pytest.raises(ModelError, match="cannot be read: Is a directory"):
        read_model(tmp_path)


def test_no_library_is_loaded() -> None:
    import subprocess

    code = "import cpx, sys; cpx.read_model; cpx.trees.TreeModel; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cpx.trees.load" in loaded
    assert not loaded & {"sklearn", "xgboost", "lightgbm", "skops", "joblib", "pandas", "scipy"}


def test_public_names() -> None:
    home = importlib.import_module("cpx.trees")
    for name in home.__all__:
        assert getattr(home, name) is not None
    assert set(home.__all__) <= set(dir(home))
    with pytest.raises(AttributeError, match="has no attribute 'oak'"):
        _ = home.oak
    assert isinstance(np.asarray(read_model(FOREST).classes), np.ndarray)
    assert TreeModel is cpx.trees.TreeModel
