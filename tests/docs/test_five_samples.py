"""The page of five samples shows what cpx makes of an instance, and can be used by keyboard."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.browser import Browser, found

DOCS = Path(__file__).parents[2] / "docs"
PATH = DOCS / "_static" / "five-samples.html"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("five_samples", DOCS / "five_samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["five_samples"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    text = PATH.read_text(encoding="utf-8")
    saved = re.search(r'type="application/json">(.*?)</script>', text, re.S)
    assert saved is not None
    loaded: dict[str, Any] = json.loads(saved[1])
    return loaded


def test_states_are_what_is_shown_of_them_now(data: dict[str, Any]) -> None:
    module = _script()
    assert len(data["states"]) == 31 * 4
    for inside, k in (((1, 1, 1, 1, 1), 2), ((0, 1, 0, 0, 1), 1), ((1, 0, 1, 0, 0), 3)):
        known, now = data["states"]["".join(map(str, inside)) + str(k)], module.state(inside, k)
        for part in ("mathematics", "clauses", "rows"):
            now[part] = [data["lines"].index(line) for line in now[part]]
        assert known == now, "run: python docs/five_samples.py"
    assert PATH.read_text("utf-8") == module.page(data), "run: python docs/five_samples.py"
    assert all(one["root"] <= one["optimum"] + 1e-6 for one in data["states"].values())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if found() is None:
        pytest.skip("no Chromium")
    with Browser() as opened:
        yield opened


def _shown(browser: Browser) -> dict[str, Any]:
    """Return what a person reads."""
    script = """({root: +at("root").textContent, optimum: +at("optimum").textContent,
        bound: +at("bound").textContent, rows: at("rows").innerText.split("\\n").length,
        clauses: at("clauses").children.length, told: at("told").innerText,
        new: document.querySelectorAll("li.new").length})"""
    answer: dict[str, Any] = browser.run(script)
    return answer


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_used_by_keyboard(
    browser: Browser, data: dict[str, Any], width: int, scheme: str
) -> None:
    browser.send(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.send("Emulation.setEmulatedMedia", features=features)
    browser.open(PATH)
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    assert browser.run("document.documentElement.scrollWidth") <= width
    inside = "[...document.querySelectorAll('.panel')].every(p => p.scrollWidth <= p.clientWidth)"
    assert browser.run(inside)
    first, whole = _shown(browser), data["states"]["111112"]
    assert (first["optimum"], first["root"]) == (whole["optimum"], round(whole["root"], 2))
    assert first["clauses"] == len(whole["clauses"])
    assert first["new"] == 0
    browser.press("Tab", "Space")  # sample 1
    state = data["states"]["011112"]
    after = _shown(browser)
    assert (after["optimum"], after["root"]) == (state["optimum"], round(state["root"], 2))
    assert after["clauses"] == len(state["clauses"]) < first["clauses"]
    assert " and ".join(state["rule"] or ["always"]) in after["told"]
    browser.press(*["Tab"] * 5)
    arrow = {"key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37}
    for kind in ("keyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", type=kind, **arrow)
    assert browser.run('at("shown").value') == "1"
    last = _shown(browser)
    assert last["optimum"] == data["states"]["011111"]["optimum"]
    assert last["new"] > 0
    # The last sample stays.
    browser.run("boxes.forEach((box) => box.checked && box.click())")
    assert browser.run("boxes.filter((box) => box.checked).length") == 1
    assert not browser.troubles()
    assert all(one.startswith("file:") for one in browser.asked_for())
