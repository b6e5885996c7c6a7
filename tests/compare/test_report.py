"""The report: a page without network, in which no name is markup, and the same in other forms."""

from __future__ import annotations

import io
import json
import re
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from cpx.answers.explanation import Explanation
from cpx.answers.result import Termination, TracePoint
from cpx.answers.rule import Rule
from cpx.compare import Comparison, Run
from cpx.compare.plots import COLOURS, draw_runs, drawn, figures
from cpx.compare.report import as_html

from ..browser import Browser, Reader, found
from .helpers import run

HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><img src=x onerror=window.pwned=1>",
    r"\input{/etc/passwd} \write18{id} ^^41",
    "$x^2$ & 100 % # _ ~ { } \\\\",
    "[3pt] * \"quoted\" 'and' `so` -- ?` ,,",
    "=1+1 {{ 7 * 7 }} %{x} <extra>no</extra> <b>bold</b>",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    "_first a|b [link](http://example.org) https://example.org www.example.org",
    "long " * 200,
    "two\nlines\tand \x1b[31mcolour",
)


def explained(name: str, backend: str, status: str, bound: int, seconds: float) -> Run:
    rule = Rule.of([0], [f"{name} <= 1"], "yes")
    found = Explanation(rule, Fraction(9, 10), Fraction(1, 3))
    trace = (
        TracePoint(seconds / 4, 9, 0),
        TracePoint(seconds / 2, 5, 3),
        TracePoint(seconds, 5, bound),
    )
    sizes = {"variables": 10 * len(name), "clauses": 100}
    return run(
        status, 5, bound, name=name, backend=backend, seconds=seconds, explanation=found,
        trace=trace, sizes=sizes, memory=50_000_000, versions={"cpx-explain": "1", backend: "2"},
    )  # fmt: skip


def hostile() -> Comparison:
    runs = []
    for i, name in enumerate(HOSTILE):
        runs.append(explained(name, "quick", "OPTIMAL", 5, 0.5 + i / 10))
        runs.append(explained(name, "<i>slow</i>", "FEASIBLE", 3, 9.0))
        runs.append(explained(name, "_other $1$", "OPTIMAL", 5, 2.0 + 0.1 * i))
    crash = {"termination": Termination.SOLVER_ERROR, "error": HOSTILE[0], "trace": ()}
    broken = run("ERROR", None, None, name=HOSTILE[0], backend="ill", **crash)
    liar = explained(HOSTILE[1], "liar", "OPTIMAL", 7, 1.0)
    liar = replace(liar, result=replace(liar.result, objective=7))
    return Comparison((*runs, broken, liar), {"jobs": 1}, True)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(as_html(hostile(), title=f"A title {HOSTILE[0]}"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reader(page: Path) -> Reader:
    return Reader(page.read_text(encoding="utf-8"))


def test_the_page_has_no_markup_of_names_and_no_address(reader: Reader) -> None:
    assert reader.tags.count("script") == 3
    assert not {"img", "i", "b", "extra", "iframe", "link", "object"} & set(reader.tags)
    assert all(address.startswith("#") for address in reader.addresses)
    text = " ".join(reader.texts)
    for name in HOSTILE[:6]:
        assert name in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_the_page_says_first_what_is_refuted_and_found(reader: Reader) -> None:
    text = " ".join(" ".join(reader.texts).split())
    places = [
        text.index(words)
        for words in (
            "1 claim is refuted",
            "quick clausal proves 10 of 10",
            "Click a name in a legend",
        )
    ]
    assert places == sorted(places)
    assert "liar (" in text
    assert "1 run failed: ill clausal 1" in text


def test_the_data_of_the_page_are_the_runs(reader: Reader) -> None:
    data = json.loads(reader.scripts[0])
    columns = {column[0]: c for c, column in enumerate(data["columns"])}
    assert len(data["runs"][columns["seconds"]]) == 32
    assert data["instances"][0] == HOSTILE[0]
    assert data["configurations"][0] == "quick clausal"
    assert data["cactus"][0] == [0.5 + i / 10 for i in range(10)]
    outcomes = [data["lists"][4][o] for o in data["runs"][columns["outcome"]]]
    assert outcomes.count("WRONG") == 1
    assert outcomes.count("ERROR") == 1
    assert data["traces"][0] == [[0.125, 0.25, 0.5], [9, 5, 5], [0, 3, 5]]


def test_a_page_of_next_to_nothing() -> None:
    assert "<h1>" in as_html(Comparison())
    alone = as_html(Comparison((run("OPTIMAL", 5, 5),)))
    assert "cpsat clausal proves 1 of 1" in alone
    unknown = run("UNKNOWN", None, None, trace=(), options={"time_limit": None, "seed": 0})
    assert "proves 0 of 1" in as_html(Comparison((unknown,)))


@pytest.mark.filterwarnings("ignore:Glyph")
def test_figures_take_names_for_names() -> None:
    comparison = hostile()
    cases = comparison.cases()
    order = [str(name) for name in comparison.scores().index]
    names = []
    for name, figure in figures(cases, order):
        names.append(name)
        if name.partition("-")[0] in ("cactus", "heatmap") or name.startswith("runs-2-"):
            written = io.BytesIO()
            figure.savefig(written, format="svg")
            ElementTree.fromstring(written.getvalue())
            assert b"<script" not in written.getvalue()
    kinds = ["cactus", "profile", "anytime", "scatter", "heatmap", "sizes"]
    assert names[:6] == kinds
    assert len(names) == 6 + len(HOSTILE)
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", name) for name in names)
    figure = drawn(draw_runs, cases, order, problem=3)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    told = [text.get_text() for text in legend.get_texts()]
    assert "_other $1$ clausal" in told  # neither left out nor taken for mathematics
    assert not any(text.get_parse_math() for text in legend.get_texts())
    assert figure.axes[0].get_title().startswith("$x^2$ & 100 %")


def test_colours_are_apart_for_colour_blind_readers() -> None:
    """In the simulations of Machado and others (2009), no two lines look alike."""
    import numpy as np

    blind = {
        "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    }
    for matrix in blind.values():
        seen = []
        for colour in COLOURS[:6]:
            rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
            linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
            seen.append(np.clip(np.array(matrix) @ linear, 0, 1) ** (1 / 2.2))
        apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
        assert min(apart) > 0.1


# --------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Browser]:
    if found() is None:
        pytest.skip("Chromium is not installed")
    with Browser() as opened:
        opened.open(page)
        yield opened


def test_the_page_works_without_a_network(browser: Browser, page: Path) -> None:
    assert browser.troubles() == []
    assert browser.asked_for() == [page.as_uri()]
    assert browser.run("window.pwned") is None
    drawn = (
        "[...document.querySelectorAll('.plot')].filter(p => p.querySelector('.main-svg')).length"
    )
    assert browser.run(drawn) == browser.run("document.querySelectorAll('.plot').length") == 8
    assert browser.run("document.querySelectorAll('.legendtext').length") > 10
    assert (
        browser.run("document.querySelectorAll('[data-title*=loud], [data-title*=link]').length")
        == 0
    )


def test_names_are_shown_as_they_are(browser: Browser) -> None:
    text = browser.run("document.body.innerText")
    for name in HOSTILE[:6]:
        assert " ".join(name.split()) in " ".join(text.split())
    legends = browser.run("[...document.querySelectorAll('.legendtext')].map(t => t.textContent)")
    assert "<i>slow</i> clausal" in legends
    assert browser.run("document.querySelectorAll('.legendtext i, .plot script').length") == 0


def test_tables_sort_and_filter_by_keyboard(browser: Browser) -> None:
    cells = "[...document.querySelectorAll('#runs-table tbody tr')].map(r => r.cells[9].innerText)"
    browser.run("document.querySelectorAll('#runs-table thead button')[9].focus()")
    browser.press("Enter")
    seconds = [float(text) for text in browser.run(cells)]
    assert len(seconds) == 32
    assert seconds == sorted(seconds)
    head = "document.querySelectorAll('#runs-table th')[9].ariaSort"
    assert browser.run(head) == "ascending"
    browser.press("Space")
    assert [float(text) for text in browser.run(cells)] == sorted(seconds, reverse=True)
    assert browser.run(head) == "descending"
    browser.run("document.querySelector('#runs-table input').focus()")
    browser.press(*"liar")
    rows = browser.run("document.querySelector('#runs-table tbody').innerText")
    assert "WRONG" in rows
    assert browser.run(cells + ".length") == 1
    status = browser.run("document.querySelector('#runs-table [role=status]').innerText")
    assert status == "1 row"


def test_everything_is_reached_by_the_tabulator(browser: Browser) -> None:
    browser.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    browser.run("document.body.focus(); getSelection().collapse(document.body, 0)")
    reached = set()
    for _ in range(140):
        browser.press("Tab")
        focused = "(e => e.id || e.className || e.tagName)(document.activeElement)"
        reached.add(browser.run(focused))
    assert {"skip", "scroll", "instance", "across", "measure", "BUTTON", "INPUT"} <= reached


def test_a_choice_redraws_its_figure(browser: Browser) -> None:
    title = "document.querySelector('#scatter .ytitle').textContent"
    before = browser.run(title)
    browser.run(
        "(s => { s.selectedIndex = 2; s.dispatchEvent(new Event('change')); })"
        "(document.getElementById('upwards'))"
    )
    assert browser.run(title) != before


def _mean(picture: bytes) -> float:
    image = Image.open(io.BytesIO(picture)).convert("L")
    histogram = image.histogram()
    return sum(level * count for level, count in enumerate(histogram)) / sum(histogram)


GROUND = "getComputedStyle(document.querySelector('#cactus .main-svg')).backgroundColor"
WIDTH = "document.documentElement.scrollWidth"


def _soon(browser: Browser, script: str) -> bool:
    """Whether a script is true within a few seconds."""
    for _ in range(100):
        if browser.run(script):
            return True
        time.sleep(0.05)
    return False


def test_light_dark_narrow_and_paper(browser: Browser) -> None:
    browser.run("window.scrollTo(0, 0)")
    light = browser.run(GROUND)
    assert _mean(browser.picture()) > 200
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.send("Emulation.setEmulatedMedia", features=dark)
    assert _soon(browser, f"{GROUND} !== {light!r}")
    assert _mean(browser.picture()) < 60
    browser.send("Emulation.setEmulatedMedia", features=[])
    browser.narrow(390)
    assert _soon(browser, f"{WIDTH} <= 390")
    browser.send("Emulation.clearDeviceMetricsOverride")
    printed = browser.send("Page.printToPDF")["data"]
    assert len(printed) > 20_000
    assert browser.troubles() == []
