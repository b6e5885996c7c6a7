"""Saved instances: round trips and everything that is refused."""

from __future__ import annotations

import gzip
import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpx import KMonomial, Samples
from cpx.errors import CpxError, InvalidInstance, OutputError, UnknownName
from cpx.modelling import instances
from cpx.models.monomial.draw import random_problem


def _data() -> dict:
    return {
        "format": "cpx-instance",
        "version": 1,
        "problem": "k-monomial",
        "name": "tiny",
        "parameters": {"k": 1},
        "samples": ["101", "010", "111"],
        "labels": "110",
        "weights": [1, 2, 3],
        "features": ["a", "b", "c"],
        "groups": [0, 0, 1],
        "context": {"class": "yes", "seed": 3},
    }


@given(seed=st.integers(0, 10**6))
def test_round_trip(seed) -> None:
    problem = random_problem(seed)
    again = instances.loads(instances.dumps(problem))
    assert type(again) is type(problem)
    assert again.to_dict() == problem.to_dict()
    assert instances.fingerprint(again) == instances.fingerprint(problem)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_files_round_trip(tmp_path, suffix) -> None:
    problem = instances.from_dict(_data())
    path = tmp_path / f"instance{suffix}"
    instances.save(problem, path)
    assert instances.load(path).to_dict() == problem.to_dict()
    assert os.listdir(tmp_path) == [path.name]
    if suffix == ".json.gz":
        assert path.read_bytes()[:2] == b"\x1f\x8b"


def test_equal_instances_give_equal_files(tmp_path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        instances.save(instances.from_dict(_data()), tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_the_fingerprint_ignores_name_and_context_only() -> None:
    base = instances.fingerprint(instances.from_dict(_data()))
    assert (
        instances.fingerprint(instances.from_dict(_data() | {"name": "x", "context": {}})) == base
    )
    assert instances.fingerprint(instances.from_dict(_data() | {"labels": "111"})) != base


def _without(key):
    return {name: value for name, value in _data().items() if name != key}


REFUSED = {
    "format must be 'cpx-instance', got 'other'": _data() | {"format": "other"},
    "format must be": _without("format"),
    "version 2 is not known; known: 1": _data() | {"version": 2},
    "version True is not known": _data() | {"version": True},
    "version None is not known": _without("version"),
    "the key 'problem' is missing": _without("problem"),
    "unknown problem 'k-monomail' (did you mean 'k-monomial'?)": _data()
    | {"problem": "k-monomail"},
    "unknown problem ['k']": _data() | {"problem": ["k"]},
    "unknown key 'lables' (did you mean 'labels'?)": _data() | {"lables": ""},
    "unknown parameter 'size'": _data() | {"parameters": {"k": 1, "size": 2}},
    "parameters must be an object": _data() | {"parameters": 3},
    "the key 'k' is missing": _data() | {"parameters": {}},
    "the key 'samples' is missing": _without("samples"),
    "the key 'labels' is missing": _without("labels"),
    "samples[1] has length 2, samples[0] has length 3": _data() | {"samples": ["101", "01", "1"]},
    "samples[2] has the character '2' at position 1": _data() | {"samples": ["101", "010", "120"]},
    "samples[0] must be a string": _data() | {"samples": [[1, 0, 1]]},
    "samples must be a list": _data() | {"samples": "101"},
    "samples must not be empty": _data() | {"samples": []},
    "there are no features": _data() | {"samples": ["", "", ""], "features": []},
    "labels has the character 'x' at position 2": _data() | {"labels": "10x"},
    "labels must be a string": _data() | {"labels": [1, 1, 0]},
    "same": _data() | {"labels": "11"},
    "weights": _data() | {"weights": [1, 2]},
    "weights must be a list": _data() | {"weights": {"0": 1}},
    "features": _data() | {"features": ["a", "b"]},
    "groups": _data() | {"groups": [0, 1]},
    "context must be an object": _data() | {"context": [1]},
    "k must be between 0 and the number of features 3, got 4": _data() | {"parameters": {"k": 4}},
    "k must be between": _data() | {"parameters": {"k": -1}},
    "k must be an integer, got 1.5": _data() | {"parameters": {"k": 1.5}},
    "required has the feature 7": _data() | {"parameters": {"k": 1, "required": [7]}},
    "name must be a string": _data() | {"name": 5},
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_by_name(message) -> None:
    with pytest.raises((InvalidInstance, UnknownName), match=re.escape(message)) as caught:
        instances.loads(json.dumps(REFUSED[message]))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("weight", [0, -1, 1.5, "1", True, None, 2**41, 10**30, 1e300])
def test_wrong_weights_are_refused(weight) -> None:
    with pytest.raises(InvalidInstance, match="weight"):
        instances.loads(json.dumps(_data() | {"weights": [1, weight, 1]}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[1, 2]", "an instance is a JSON object, got list"),
        ("3", "an instance is a JSON object, got int"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_texts_that_are_no_instance(text, message) -> None:
    with pytest.raises(InvalidInstance, match=re.escape(message)):
        instances.loads(text)


def test_unreadable_files_are_named(tmp_path) -> None:
    truncated = tmp_path / "cut.json.gz"
    truncated.write_bytes(gzip.compress(json.dumps(_data()).encode())[:-20])
    damaged = tmp_path / "bad.json.gz"
    damaged.write_bytes(b"\x1f\x8b" + b"nonsense" * 9)
    latin = tmp_path / "latin.json"
    latin.write_bytes('{"name": "é"}'.encode("latin-1"))
    for path, word in ((truncated, "gzip"), (damaged, "gzip"), (latin, "UTF-8")):
        with pytest.raises(InvalidInstance, match=f"{path.name}.*{word}"):
            instances.load(path)
    with pytest.raises(InvalidInstance, match=r"missing\.json: cannot be read"):
        instances.load(tmp_path / "missing.json")
    with pytest.raises(InvalidInstance, match="cannot be read"):
        instances.load(tmp_path)


def test_nothing_is_left_of_a_failed_save(tmp_path, monkeypatch) -> None:
    path = tmp_path / "kept.json"
    instances.save(instances.from_dict(_data()), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        instances.save(instances.from_dict(_data() | {"name": "new"}), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["kept.json"]


@pytest.mark.parametrize("path", ["nowhere/x.json", "."])
def test_impossible_targets(tmp_path, path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        instances.save(instances.from_dict(_data()), tmp_path / path)


def test_the_checked_in_schema_is_the_generated_one() -> None:
    from importlib.resources import files

    text = (files("cpx") / "schema" / "cpx-instance-1.schema.json").read_text()
    assert json.loads(text) == instances.schema()


@given(
    data=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*_data(), "other"]), inner, max_size=6)
        ),
        max_leaves=12,
    )
)
def test_arbitrary_json_is_refused_with_our_own_error(data) -> None:
    mutated = data if not isinstance(data, dict) else _data() | data
    try:
        instances.from_dict(mutated)
        refused = None
    except CpxError as error:
        refused = error.exit_code
    assert refused == 2 or (refused is None and isinstance(mutated, dict))


def test_defaults_are_left_out_of_the_file() -> None:
    text = instances.dumps(KMonomial(Samples([[1, 0]], [1]), k=1))
    assert set(json.loads(text)) == {
        "format",
        "version",
        "problem",
        "parameters",
        "samples",
        "labels",
        "features",
    }
