"""Every bad input of the command line: exit code 2, the thing named, nothing written."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, instance
from .test_engines import hide

Change = Callable[[dict[str, Any]], object]

FILES: dict[str, tuple[Change, list[str]]] = {
    "unknown version": (lambda d: d.update(version=2), ["version 2", "known: 1"]),
    "version as text": (lambda d: d.update(version="1"), ["version '1'"]),
    "no format": (lambda d: d.pop("format"), ["format"]),
    "unknown kind": (lambda d: d.update(problem="k-monomail"), ["k-monomail", "'k-monomial'"]),
    "kind of another type": (lambda d: d.update(problem=[1]), ["problem", "[1]"]),
    "no kind": (lambda d: d.pop("problem"), ["problem"]),
    "unknown key": (lambda d: d.update(wieghts=[1] * 4), ["wieghts", "'weights'"]),
    "unknown parameter": (lambda d: d["parameters"].update(K=3), ["parameter 'K'", "k"]),
    "parameters of another type": (lambda d: d.update(parameters=3), ["parameters"]),
    "no samples key": (lambda d: d.pop("samples"), ["samples"]),
    "no labels": (lambda d: d.pop("labels"), ["labels"]),
    "no k": (lambda d: d.update(parameters={}), ["'k'"]),
    "lengths differ": (lambda d: d["samples"].__setitem__(2, "01"), ["samples[2]", "2", "3"]),
    "stray character": (lambda d: d["samples"].__setitem__(1, "1x0"), ["samples[1]", "'x'"]),
    "space in a sample": (lambda d: d["samples"].__setitem__(1, " 10"), ["samples[1]", "' '"]),
    "digit of another script": (lambda d: d["samples"].__setitem__(1, "1٠0"), ["samples[1]"]),
    "sample no string": (lambda d: d["samples"].__setitem__(1, 110), ["samples[1]"]),
    "samples a string": (lambda d: d.update(samples="110"), ["samples"]),
    "labels too short": (lambda d: d.update(labels="110"), ["3", "4"]),
    "labels with a stray character": (lambda d: d.update(labels="11?0"), ["labels", "'?'"]),
    "labels a list": (lambda d: d.update(labels=[1, 1, 0, 0]), ["labels"]),
    "weights too long": (lambda d: d.update(weights=[1] * 5), ["weights", "5", "4"]),
    "features too short": (lambda d: d.update(features=["a"]), ["features", "1", "3"]),
    "feature no text": (lambda d: d.update(features=["a", 2, "c"]), ["features", "2"]),
    "groups too long": (lambda d: d.update(groups=[0] * 4), ["groups", "4", "3"]),
    "group negative": (lambda d: d.update(groups=[0, -1, 0]), ["groups", "-1"]),
    "weight zero": (lambda d: d.update(weights=[1, 0, 1, 1]), ["weights", "0"]),
    "weight negative": (lambda d: d.update(weights=[1, 1, -3, 1]), ["weights", "-3"]),
    "weight fractional": (lambda d: d.update(weights=[1, 1.5, 1, 1]), ["weights", "1.5"]),
    "weight huge": (lambda d: d.update(weights=[1, 1, 1, 2**60]), ["weights", "huge"]),
    "weight beyond 64 bits": (lambda d: d.update(weights=[1, 1, 1, 10**30]), ["weights", "huge"]),
    "weight true": (lambda d: d.update(weights=[1, 1, 1, True]), ["weights", "True"]),
    "weight text": (lambda d: d.update(weights=[1, 1, 1, "2"]), ["weights"]),
    "weights a number": (lambda d: d.update(weights=3), ["weights"]),
    "k negative": (lambda d: d["parameters"].update(k=-1), ["k", "-1"]),
    "k fractional": (lambda d: d["parameters"].update(k=1.5), ["k", "1.5"]),
    "k true": (lambda d: d["parameters"].update(k=True), ["k", "True"]),
    "k text": (lambda d: d["parameters"].update(k="1"), ["k", "'1'"]),
    "k more than d": (lambda d: d["parameters"].update(k=4), ["k", "4", "3"]),
    "k null": (lambda d: d["parameters"].update(k=None), ["k", "None"]),
    "required out of range": (lambda d: d["parameters"].update(required=[3]), ["required", "3"]),
    "forbidden text": (lambda d: d["parameters"].update(forbidden="0"), ["forbidden"]),
    "one_per_group text": (
        lambda d: d["parameters"].update(one_per_group="no"),
        ["one_per_group"],
    ),
    "no samples": (lambda d: d.update(samples=[], labels=""), ["samples"]),
    "no features": (
        lambda d: d.update(samples=[""] * 4, features=[], groups=[], parameters={"k": 0}),
        ["feature"],
    ),
    "context a list": (lambda d: d.update(context=[1]), ["context"]),
    "name a number": (lambda d: d.update(name=3), ["name", "3"]),
}


@pytest.mark.parametrize(("change", "names"), FILES.values(), ids=list(FILES))
def test_bad_instances(run: Run, change: Change, names: list[str]) -> None:
    data = instance()
    change(data)
    Path("bad.json").write_text(json.dumps(data))
    refused(run("solve", "bad.json", "--no-isolate", "-o", "out.json"), "bad.json", *names)
    assert os.listdir() == ["bad.json"]


BYTES = {
    "empty": (b"", ["JSON"]),
    "no JSON": (b"samples: 3", ["JSON"]),
    "truncated JSON": (json.dumps(instance()).encode()[:-9], ["JSON"]),
    "a list": (b"[]", ["object", "list"]),
    "not UTF-8": (b'{"format": "\xff"}', ["UTF-8"]),
    "key twice": (b'{"format": "cpx-instance", "format": "cpx-instance"}', ["twice"]),
    "NaN": (b'{"format": NaN}', ["NaN"]),
    "deep": (b"[" * 100_000, ["nested"]),
    "truncated gzip": (gzip.compress(json.dumps(instance()).encode())[:-12], ["gzip"]),
    "damaged gzip": (b"\x1f\x8b\x08\x00garbage", ["gzip"]),
    "huge number": (b'{"version": ' + b"9" * 5000 + b"}", ["JSON"]),
}


@pytest.mark.parametrize(("content", "names"), BYTES.values(), ids=list(BYTES))
@pytest.mark.parametrize("command", ["solve", "compare", "show", "export", "check"])
def test_bad_files_for_every_command(
    run: Run, command: str, content: bytes, names: list[str]
) -> None:
    Path("bad.json").write_bytes(content)
    more = {
        "solve": ("-o", "out"),
        "compare": ("-b", "cpsat", "-o", "out"),
        "show": (),
        "export": ("--to", "wcnf", "-o", "out"),
        "check": ("bad.json",),
    }
    refused(run(command, "bad.json", *more[command]), "bad.json", *names)
    assert os.listdir() == ["bad.json"]


def test_missing_files(run: Run, inst: Path) -> None:
    for args in (("solve", "none.json"), ("show", "none.json"), ("check", inst, "none.json")):
        refused(run(*args), "none.json")
    refused(run("solve", "."), "directory")


OPTIONS = {
    "unknown backend": (("--backend", "cpsta"), ["cpsta", "did you mean 'cpsat'", "milp"]),
    "unknown solver": (("--backend", "milp:higs"), ["higs", "did you mean 'highs'", "cbc"]),
    "unknown encoding": (("--encoding", "clausel"), ["clausel", "'clausal'", "reified"]),
    "limit 0": (("--time-limit", "0"), ["time_limit", "0"]),
    "limit negative": (("--time-limit", "-1"), ["time_limit", "-1"]),
    "limit NaN": (("--time-limit", "nan"), ["time_limit", "nan"]),
    "limit text": (("--time-limit", "soon"), ["--time-limit", "soon"]),
    "gap negative": (("--gap", "-0.1"), ["gap", "-0.1"]),
    "gap NaN": (("--gap", "nan"), ["gap", "nan"]),
    "threads 0": (("--threads", "0"), ["threads", "0"]),
    "seed negative": (("--seed", "-1"), ["seed", "-1"]),
    "seed text": (("--seed", "x"), ["--seed", "x"]),
    "hint no feature": (("--hint", "9"), ["hint", "9"]),
    "hint no file": (("--hint", "none.json"), ["hint", "none.json"]),
    "hint an instance": (("--hint", "inst.json"), ["inst.json", "cpx-result"]),
}


@pytest.mark.parametrize(("args", "names"), OPTIONS.values(), ids=list(OPTIONS))
def test_bad_options(run: Run, inst: Path, args: tuple[str, ...], names: list[str]) -> None:
    refused(run("solve", inst, *args, "-o", "out.json"), *names)
    assert os.listdir() == ["inst.json"]


def test_engine_not_installed(run: Run, inst: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "ortools")
    for args in (("solve", inst, "-b", "cpsat"), ("compare", inst, "-b", "milp,cpsat")):
        refused(run(*args, "-o", "out"), "'cpsat'", "pip install 'ortools>=")
    assert os.listdir() == ["inst.json"]


OUTPUTS = ["no/such/dir/out.json", ".", "inst.json"]


@pytest.mark.parametrize("path", OUTPUTS)
def test_unwritable_output_is_found_before_the_work(
    run: Run, inst: Path, table: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cpx.modelling.instances

    def no_work(*_: object) -> None:
        raise AssertionError("work was done")

    before = inst.read_bytes()
    monkeypatch.setattr(cpx.modelling.instances, "load", no_work)
    refused(run("solve", inst, "-o", path), path)
    refused(run("export", inst, "--to", "lp", "-o", path), path)
    assert inst.read_bytes() == before


@pytest.mark.parametrize("command", ["make rule", "explain"])
def test_unwritable_output_is_found_before_training(
    run: Run, table: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cpx.data.tables

    monkeypatch.setattr(cpx.data.tables, "read_table", None)
    args = ("--target", "y", "--row", 0)
    refused(run(*command.split(), table, *args, "-o", "no/such/out.json"), "no/such")
    refused(run(*command.split(), table, *args, "-o", "table.csv"), "it is the input")
    assert os.listdir() == ["table.csv"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_write_protected_directory(run: Run, inst: Path) -> None:
    Path("locked").mkdir(mode=0o500)
    refused(run("solve", inst, "-o", "locked/out.json"), "locked")


def test_no_partial_file_when_the_disk_fails(
    run: Run, inst: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    done = run("solve", inst, "--no-isolate", "-o", "out.json")
    assert done.exit_code == 2
    assert done.stdout.startswith("a => yes")  # the answer is not lost with the file
    assert "out.json: No space left" in done.stderr
    assert os.listdir() == ["inst.json"]


TABLES = {
    "no target": (("--target", "z", "--row", 0), ["target", "'z'"]),
    "near target": (("--target", "colur", "--row", 0), ["did you mean 'colour'"]),
    "no row": (("--target", "y", "--row", 80), ["row 80", "0 to 79"]),
    "negative row": (("--target", "y", "--row", -1), ["row -1"]),
    "k negative": (("--target", "y", "--row", 0, "-k", -1), ["k", "-1"]),
    "k more than d": (("--target", "y", "--row", 0, "-k", 99), ["k", "99", "8"]),
    "k fractional": (("--target", "y", "--row", 0, "-k", "1.5"), ["-k", "integer"]),
    "m 0": (("--target", "y", "--row", 0, "-m", 0), ["m", "0"]),
    "n-bins 1": (("--target", "y", "--row", 0, "--n-bins", 1), ["bins", "1"]),
    "model": (("--target", "y", "--row", 0, "--model", "forrest"), ["forrest", "'forest'"]),
    "distribution": (
        ("--target", "y", "--row", 0, "--distribution", "unifrom"),
        ["unifrom", "'uniform'"],
    ),
    "objective": (("--target", "y", "--row", 0, "--objective", "los"), ["'los'", "'loss'"]),
    "min coverage": (("--target", "y", "--row", 0, "--min-coverage", 2), ["min_coverage", "'2'"]),
    "max coverage": (
        ("--target", "y", "--row", 0, "--max-coverage", "half"),
        ["max_coverage", "'half'"],
    ),
    "min precision": (
        ("--target", "y", "--row", 0, "--min-precision", "1/0"),
        ["min_precision", "'1/0'"],
    ),
    "epsilon alone": (("--target", "y", "--row", 0, "--epsilon", 0.1), ["delta is missing"]),
    "delta alone": (("--target", "y", "--row", 0, "--delta", 0.1), ["epsilon is missing"]),
    "epsilon 0": (
        ("--target", "y", "--row", 0, "--epsilon", 0, "--delta", 0.1),
        ["epsilon", "0.0"],
    ),
    "delta 1": (("--target", "y", "--row", 0, "--epsilon", 0.1, "--delta", 1), ["delta", "1.0"]),
    "epsilon and m": (
        ("--target", "y", "--row", 0, "--epsilon", 0.1, "--delta", 0.1, "-m", 9),
        ["m = 9", "epsilon = 0.1"],
    ),
    "require unknown": (
        ("--target", "y", "--row", 0, "--required", "colour = rot"),
        ["required", "colour = rot", "nearest", "'colour = red'"],
    ),
    "required out of range": (("--target", "y", "--row", 0, "--required", 99), ["feature 99"]),
    "forbidden unknown": (
        ("--target", "y", "--row", 0, "--forbidden", "what"),
        ["forbidden", "what"],
    ),
    "strategy": (("--target", "y", "--row", 0, "--strategy", "width"), ["width"]),
    "categorical": (("--target", "y", "--row", 0, "--categorical", "zip"), ["zip"]),
    "seed": (("--target", "y", "--row", 0, "--seed", -1), ["seed", "-1"]),
    "many classes": (("--target", "size", "--row", 0, "--categorical", "sizes"), ["sizes"]),
}


@pytest.mark.parametrize(("args", "names"), TABLES.values(), ids=list(TABLES))
@pytest.mark.parametrize("command", ["make rule", "explain"])
def test_bad_questions_are_refused_before_training(
    run: Run,
    table: Path,
    command: str,
    args: tuple[object, ...],
    names: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cpx.models.monomial.explainers.rule import RuleExplainer

    monkeypatch.setattr(RuleExplainer, "fit", None)
    if "make" in command and {"--epsilon", "--delta"} & {*args}:
        names = ["No such option: --"]  # an instance has all of its samples from the start
    refused(run(*command.split(), table, *args, "-o", "out.json"), *names)
    assert os.listdir() == ["table.csv"]


def false_condition(table: Path) -> str:
    """Return a condition that is false of row 0."""
    colour = table.read_text().splitlines()[1].split(",")[2]
    return f"colour != {colour}"


def test_a_false_condition_is_refused_before_training(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cpx.models.monomial.explainers.rule import RuleExplainer

    monkeypatch.setattr(RuleExplainer, "fit", None)
    args, text = (table, "--target", "y", "--row", 0), false_condition(table)
    refused(run("explain", *args, "--required", text), "required", f"'{text}' is false of x")
    refused(run("score", *args, "--rule", text), f"'{text}' is false of x")
    refused(run("score", *args, "--rule", "what > 3"), "unknown condition 'what > 3'")
    refused(run("score", *args, "--rule", "0 and 4", "-k", 1), "the rule has 2 conditions, k is 1")
    refused(run("score", *args, "--rule", "0", "--backend", "cpsta"), "'cpsat'")
    refused(run("score", *args, "--rule", "0", "--fresh", 0), "fresh")
    refused(run("score", *args), "--rule")


def test_bad_tables(run: Run) -> None:
    for content, name in (
        ("", "empty"),
        ("a,y\n", "rows"),
        ("a,y\n1,u\n2,u\n", "single class"),
        ("a,a,y\n1,2,u\n3,4,v\n", "'a'"),
        ("y\nu\nv\n", "target"),
    ):
        Path("bad.csv").write_text(content)
        refused(run("explain", "bad.csv", "--target", "y", "--row", 0), "bad.csv", name)
    refused(run("explain", "none.csv", "--target", "y", "--row", 0), "none.csv")


def test_explain_options_are_checked_before_the_table(run: Run, table: Path) -> None:
    args = ("explain", table, "--target", "y", "--row", 0)
    refused(run(*args, "--backend", "cpsta"), "'cpsat'")
    refused(run(*args, "--encoding", "clausel"), "'clausal'")
    refused(run(*args, "--time-limit", "0"), "time_limit")
    refused(run(*args, "--fresh", "0"), "fresh")


def test_unknown_forms(run: Run, inst: Path) -> None:
    refused(run("show", inst, "--as", "cmpy"), "cmpy", "'cpmpy'")
    refused(run("export", inst, "--to", "wncf", "-o", "out"), "wncf", "'wcnf'")
    refused(run("show", inst, "--encoding", "x"), "unknown encoding")
    assert os.listdir() == ["inst.json"]


def test_bad_results(run: Run, inst: Path) -> None:
    assert run("solve", inst, "--no-isolate", "-o", "good.json").exit_code == 0
    good = json.loads(Path("good.json").read_text())
    for change in ({"format": "cpx-instance"}, {"version": 9}):
        Path("bad.json").write_text(json.dumps(good | change))
        refused(run("check", inst, "bad.json"), "bad.json")
    bad = {"status": "BEST", "objective": "one", "trace": [[1]], "bound": [2], "times": None}
    for key, value in bad.items():
        Path("bad.json").write_text(json.dumps(good | {key: value}))
        done = run("check", inst, "bad.json")
        assert done.exit_code == 1
        assert done.stdout.startswith(f"FAILED {key}: must be ")
        refused(run("solve", inst, "--hint", "bad.json"), "bad.json")
    del good["times"]
    Path("bad.json").write_text(json.dumps(good))
    assert run("check", inst, "bad.json").stdout == "FAILED times: is missing\n"
    refused(run("solve", inst, "--hint", "bad.json"), "bad.json", "'times'")


def refused(done: Any, *names: str) -> None:
    assert done.exit_code == 2, (done.exit_code, done.output, done.exception)
    assert done.stdout == ""
    for name in names:
        assert name in done.stderr, (name, done.stderr)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 4
