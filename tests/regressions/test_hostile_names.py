"""Names, classes and sentences of files that forge lines, or act on what shows them."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import cpx
from cpx.cli import app
from cpx.errors import CpxError, DataError, printable
from cpx.export import SHOW_FORMS
from cpx.export import show as text_of
from cpx.modelling.instances import load, loads
from cpx.support.files import csv_text
from cpx.support.warnings import warn

FORGED = "FORGED status OPTIMAL"
NAMES = [
    "\u202egnp.exe \u0007 \u001b[31mred\u001b]0;title\u0007",
    f'"quoted", comma\n{FORGED}',
    f"zero\u200bwidth\r{FORGED}\u2028{FORGED}\x85{FORGED}",
]
CLASS = f"cl\u001b[32mass\n{FORGED}"
INSTANCE: dict[str, Any] = {
    "format": "cpx-instance",
    "version": 1,
    "name": f"name\u009b31m\n{FORGED}",
    "problem": "k-monomial",
    "parameters": {"k": 3, "required": [0, 1, 2]},
    "samples": ["111", "110", "011", "101"],
    "labels": "1000",
    "features": NAMES,
    "context": {"class": CLASS},
}

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line, and return all that it prints."""
    monkeypatch.chdir(tmp_path)
    Path("inst.json").write_text(json.dumps(INSTANCE))

    def call(*args: object) -> str:
        done = CliRunner().invoke(app, [str(arg) for arg in args])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return str(done.output)

    return call


def require_clean(text: str) -> None:
    for line in text.split("\n"):
        assert not line.lstrip().startswith("FORGED"), line
        assert line.isprintable(), ascii(line)


@pytest.mark.parametrize("backend", ["search", "cpsat"])
def test_answers_forge_no_lines(run: Run, backend: str) -> None:
    said = run("solve", "inst.json", "-b", backend, "--no-isolate", "-o", "result.json")
    require_clean(said)
    assert FORGED in said
    require_clean(run("check", "inst.json", "result.json"))
    saved = json.loads(Path("result.json").read_text())["explanation"]
    assert saved["rule"]["literals"] == [[j, name] for j, name in enumerate(NAMES)]
    assert CLASS in saved["text"]
    assert NAMES[0] in saved["text"]


def test_lists_of_rules_forge_no_lines(run: Run) -> None:
    require_clean(run("best", "inst.json"))
    found, _ = json.JSONDecoder().raw_decode(run("best", "inst.json", "--json"))
    assert CLASS in found["rules"][0]["text"]


def test_sentences_of_results_forge_no_lines(run: Run) -> None:
    run("solve", "inst.json", "-b", "search", "--no-isolate", "-o", "result.json")
    result = json.loads(Path("result.json").read_text())
    found, forged = result["explanation"], f"x\nOK {FORGED}"
    for change in (
        {"claim": found["claim"] | {"problem": forged}},
        {"claim": found["claim"] | {"over": {"k": forged}}},
        {"remarks": [forged]},
        {"proved": forged, "text": forged},  # words of earlier versions are ignored
    ):
        Path("changed.json").write_text(json.dumps(result | {"explanation": found | change}))
        said = run("check", "inst.json", "changed.json")
        assert (FORGED in said) == ("proved" not in change)
        assert not any(line.startswith(f"OK {FORGED}") for line in said.splitlines())
        require_clean(said)


@pytest.mark.parametrize("form", SHOW_FORMS)
def test_no_form_has_forged_lines(form: str) -> None:
    text = text_of(loads(json.dumps(INSTANCE)), form)
    for line in text.split("\n"):
        assert not line.lstrip().startswith("FORGED"), line
        assert line.replace("\t", " ").isprintable(), ascii(line)


def test_comparisons_and_tables(run: Run) -> None:
    require_clean(run("compare", "inst.json", "-b", "search,greedy", "-o", "out"))
    text = Path("out/results.csv").read_text()
    rows = list(csv.DictReader(StringIO(text, newline="")))
    assert len(rows) == 2
    require_clean("".join(cell for row in rows for cell in row.values()))
    pytest.importorskip("jinja2")
    pytest.importorskip("plotly")
    require_clean(run("report", "out", "--tables"))
    for path in Path("out/tables").iterdir():
        require_clean(path.read_text())
    page = Path("out/report.html").read_text()
    assert not {"\x1b", "\u202e", "\u009b"} & {*page}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    text = [f"red\n{FORGED}", "blue\x1b[31m"]
    return pd.DataFrame(
        {NAMES[1]: rng.normal(size=60), f"{NAMES[2]} colour": rng.choice(text, 60)}
    )


def test_tables_of_files(run: Run) -> None:
    X = table()
    classes = np.where(X.iloc[:, 0] > 0, CLASS, "no\x07")
    X.assign(y=classes).to_csv("table.csv", index=False)
    row = int(np.argmax(X.iloc[:, 0]))
    asked = ("table.csv", "--target", "y", "--row", row, "--model", "tree", "-k", 1)
    require_clean(run("explain", *asked, "--no-isolate"))
    require_clean(run("explain", *asked, "--kind", "expectation", "--no-isolate"))
    require_clean(run("learn", "table.csv", "--target", "y", "--penalty", 0.05))
    require_clean(run("make", "rule", *asked, "-o", f"made{FORGED}\x07.json"))
    require_clean(run("explain", "table.csv", "--target", "z\nOK", "--row", 0))
    require_clean(run("explain", "table.csv", "--target", NAMES[1], "--row", 0))


def test_answers_in_python() -> None:
    X = table()
    model = DecisionTreeClassifier(random_state=0).fit(X.iloc[:, [0]], X.iloc[:, 0] > 0)
    problem = loads(json.dumps(INSTANCE))
    result = cpx.solve(problem, "search")
    names = {True: CLASS}
    x = X.iloc[int(np.argmax(X.iloc[:, 0])), [0]]
    answers = [
        cpx.explain(model, X.iloc[:, [0]], x, k=1, class_names=names),
        cpx.explain(model, None, x, kind="reason", class_names=names),
        cpx.explain(model, X.iloc[:, [0]], x, kind="expectation", class_names=names),
        result,
        result.explanation,
    ]
    for answer in answers:
        require_clean(str(answer))
        require_clean(answer._repr_html_())
    saved = json.loads(json.dumps(answers[0].to_dict()))
    assert CLASS in saved["text"]


def test_errors_and_warnings(tmp_path: Path) -> None:
    assert str(CpxError(f"a\n{FORGED}\x1b[31m")) == f"a {FORGED}\ufffd[31m"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn(f"a\n{FORGED}\x1b")
    assert str(said[0].message) == f"a {FORGED}\ufffd"
    path = tmp_path / "t.csv"
    path.write_text(f'"a\n{FORGED}\x1b",y\n1\n')
    with pytest.raises(DataError) as caught:
        cpx.data.read_table(path, "y")
    require_clean(str(caught.value))


def test_cells_of_tables_are_one_line_and_no_formula() -> None:
    rows = [{"a": "\t=1+1"}, {"a": "x\r\ny\x1b"}, {"a": "\r=1"}, {"a": "\tb"}]
    assert csv_text(["a"], rows) == "a\n' =1+1\nx  y\ufffd\n' =1\n b\n"


def test_printable_is_what_it_says() -> None:
    every = "".join(map(chr, [*range(0x3000), 0xFEFF, 0xD800, 0xE0001, 0x1F600]))
    assert printable(every).isprintable()
    assert len(printable(every)) == len(every)
    assert printable("größe 年齢 😀") == "größe 年齢 😀"


def test_the_file_keeps_the_names(tmp_path: Path) -> None:
    path = tmp_path / "inst.json"
    cpx.save(loads(json.dumps(INSTANCE)), path)
    assert load(path).to_dict()["features"] == NAMES
