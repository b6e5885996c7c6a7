"""The page of many explanations: names are no markup, and it is used by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cpx
from cpx.answers.explanations import Explanations

from ..browser import Browser, Reader, found

HOSTILE = "</script><img src=x onerror=window.pwned=1>"


@pytest.fixture(scope="module")
def explained() -> Explanations:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({HOSTILE: rng.normal(size=300), "b": rng.choice(["<i>x</i>", "y"], 300)})
    labels = np.where((table[HOSTILE] > 0) & (table["b"] == "y"), "<b>yes</b>", "no")
    explainer = cpx.Explainer(lambda rows: _said(rows), table)
    assert (labels == _said(table)).all()
    rules: Explanations = explainer.rules(table.iloc[:70], k=2, min_precision="0.9")
    return rules


def _said(rows: pd.DataFrame) -> np.ndarray:
    return np.where((rows.iloc[:, 0] > 0) & (rows["b"] == "y"), "<b>yes</b>", "no")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, explained: Explanations) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(explained.to_page(f"Title {HOSTILE}"), encoding="utf-8")
    return path


def test_the_page_has_no_markup_of_names_and_no_address(
    page: Path, explained: Explanations
) -> None:
    reader = Reader(page.read_text(encoding="utf-8"))
    assert reader.tags.count("script") == 2
    assert all(address.startswith("#") for address in reader.addresses)
    assert not {"img", "i", "b", "iframe", "link", "object"} & set(reader.tags)
    text = " ".join(reader.texts)
    assert f"Title {HOSTILE}" in text
    assert f"70 rows, {len(explained.answered)} explained." in text
    assert "proved: no" in text
    for one in explained:
        assert (one.why or str(one)) in text


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Browser]:
    if found() is None:
        pytest.skip("Chromium is not installed")
    with Browser() as opened:
        opened.open(page)
        yield opened


ROWS = "[...document.querySelectorAll('#rows tbody tr')].map(r => r.cells[2].innerText)"


def test_rows_are_sorted_filtered_and_opened_by_keyboard(
    browser: Browser, page: Path, explained: Explanations
) -> None:
    assert browser.troubles() == []
    assert browser.asked_for() == [page.as_uri()]
    browser.run("document.querySelectorAll('#rows thead button')[2].focus()")
    browser.press("Enter")
    shares = [float(text) for text in browser.run(ROWS)]
    assert len(shares) == 50
    assert shares == sorted(shares)
    browser.run("document.querySelector('#rows input').focus()")
    browser.press(*"yes")
    yes = sum(one.rule.says == "<b>yes</b>" for one in explained)
    assert 0 < yes < 50
    assert len(browser.run(ROWS)) == yes
    browser.run("document.querySelector('#rows button.open').focus()")
    browser.press("Enter")
    place = browser.run("Number(document.querySelector('#rows button.open').dataset.row)")
    assert browser.run("document.querySelector('dialog').open") is True
    assert browser.run("document.getElementById('detail-text').innerText") == str(explained[place])
    drawn = browser.run("document.querySelectorAll('dialog svg').length")
    assert drawn == len(explained[place].panels) > 0
    assert browser.run("document.querySelectorAll('dialog svg .mark').length") >= 2 * drawn
    assert browser.run("document.querySelectorAll('dialog svg .named').length") > 0
    facts = browser.run("document.getElementById('detail-facts').innerText")
    assert explained[place].proved in facts
    before = browser.run("document.getElementById('detail-title').innerText")
    browser.run("document.querySelector('[data-step=\"1\"]').focus()")
    browser.press("Enter")
    assert browser.run("document.getElementById('detail-title').innerText") != before
    browser.run("document.querySelector('[data-close]').click()")
    assert browser.run("document.querySelector('dialog').open") is False
    assert browser.run("document.activeElement.className") == "open"
    assert browser.run("window.pwned") is None
    assert browser.troubles() == []


def test_the_page_fits_a_telephone_and_a_desk_in_light_and_dark(browser: Browser) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    for width in (390, 1280):
        browser.narrow(width)
        seen = set()
        for scheme in ("light", "dark"):
            media = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.send("Emulation.setEmulatedMedia", features=media)
            browser.run("document.querySelector('#rows button.open').click()")
            assert browser.run("document.documentElement.scrollWidth") <= width
            wide = browser.run("document.querySelector('dialog').getBoundingClientRect().width")
            assert wide <= width
            texts = "document.querySelector('dialog svg text').getBoundingClientRect().height"
            assert browser.run(texts) > 9  # as large on a telephone
            browser.run("document.querySelector('dialog').close()")
            seen.add(browser.run(ground))
        assert len(seen) == 2
    browser.send("Emulation.clearDeviceMetricsOverride")
    browser.send("Emulation.setEmulatedMedia", features=[])
