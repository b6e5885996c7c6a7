"""How answers read: the same in print, in the shell and in notebooks, and safe as HTML."""

from __future__ import annotations

import json
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import cpx
from cpx import Explanation, KMonomial, MaxPrecision, Result, RuleSetClassifier, Samples
from cpx.answers.html import as_html
from cpx.answers.result import Status, Termination
from cpx.answers.rule import Rule
from cpx.answers.text import Fact, Facts, Paragraph, Table, as_text
from cpx.cli import app
from cpx.compare import compare
from cpx.support.shares import percent

EVIL = "<img src=x onerror='alert(\"1\")'> & </td>"
SAMPLES = Samples(
    np.array([[1, 1], [1, 0], [0, 1]], dtype=bool),
    np.array([True, True, False]),
    features=(EVIL, "b"),
    context={"class": EVIL},
)


class Tags(HTMLParser):
    """The tags of a document, each closed, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert {name for name, _ in attrs} <= {"style"}
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


KNOWN = {"div", "table", "caption", "tr", "td", "th", "span", "b", "i"}


def problem() -> KMonomial:
    return KMonomial(SAMPLES, k=1, name=EVIL)


def rules() -> RuleSetClassifier:
    table = pd.DataFrame({EVIL: [1, 2, 3, 4, 5, 6], "tint": list("aababb")})
    return RuleSetClassifier(k=2).fit(table, ["no", "no", EVIL, EVIL, EVIL, EVIL])


# ------------------------------------------------------------------------- print


def test_a_printed_result_reads_like_the_shell(tmp_path: Path) -> None:
    cpx.save(MaxPrecision(SAMPLES, k=2, min_coverage=0.1), tmp_path / "inst.json")
    args = ["solve", tmp_path / "inst.json", "-b", "search", "-o", tmp_path / "result.json"]
    done = CliRunner().invoke(app, [*map(str, args), "--no-isolate"])
    result = Result.from_json((tmp_path / "result.json").read_text())
    warnings = [f"warning    {text}" for text in result.warnings]
    assert warnings  # k = d; the shell has them on standard error
    assert str(result).splitlines() == done.stdout.rstrip("\n").splitlines() + warnings
    assert result.explanation is not None
    # What is known of the rule is told alike where it stands alone.
    assert set(result.explanation.summary().splitlines()) < set(str(result).splitlines())
    for told in ("value      1, bound 1, gap 0.0 %", "status     OPTIMAL (completed; "):
        assert told in str(result)
    for name in ("precision", "coverage", "proved", "time", "engine", "checked"):
        assert f"\n{name:<11}" in str(result)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (Status.INFEASIBLE, "Nothing satisfies the constraints; this is proved."),
        (Status.UNKNOWN, "Nothing was found within the limits."),
        (Status.ERROR, "The engine failed."),
    ],
)
def test_no_answer_is_told(status: Status, told: str) -> None:
    result = Result(status, Termination.TIME_LIMIT, raw_status="x", bound=Fraction(9, 10))
    # An ERROR has no bound: what was claimed with it is not known to be true.
    bound = "none" if status is Status.ERROR else "0.9000 (9/10)"
    assert str(result).startswith(f"{told}\n\nvalue      none, bound {bound}\n")
    assert f"status     {status} (time limit; the engine said 'x')" in str(result)
    assert told in result._repr_html_()


def test_best_prints_a_ranking(tmp_path: Path) -> None:
    cpx.save(problem(), tmp_path / "inst.json")
    done = CliRunner().invoke(app, ["best", str(tmp_path / "inst.json"), "-n", "3"])
    assert done.stdout.rstrip("\n") == str(cpx.solutions(problem(), 3))


def test_sentences_are_wrapped_and_long_rules_have_a_line_per_condition() -> None:
    rule = Rule.of(range(3), ["a <= 1", "b <= 2", "c <= 3"], "yes")
    told = Facts((Fact("proved", "one two three four five"), Fact("left out", "")))
    assert Facts.of(told.facts) == Facts(told.facts[:1])
    text = as_text([rule, Facts.of(told.facts)], spaced=True, width=25)
    assert text.splitlines() == [
        "      a <= 1",
        "  and b <= 2",
        "  and c <= 3",
        "  => yes",
        "",
        "proved     one two three",
        "           four five",
    ]


def test_the_tone_is_that_of_the_first_word() -> None:
    facts = Facts((Fact("status", "status OPTIMAL OPTIMAL", "good"), Fact("x", "y")))
    text = as_text([Paragraph("p", "strong"), facts], style=lambda text, tone: f"[{tone} {text}]")
    assert text == "[strong p]\nstatus     [good status] OPTIMAL OPTIMAL\nx          y"


def test_columns_of_figures_are_flush_right() -> None:
    table = Table(("", "value", "rule"), (("1.", "9", "a"), ("10.", "123456", "b")), left=(2,))
    assert as_text([table]).splitlines() == [
        "      value  rule",
        " 1.       9  a",
        "10.  123456  b",
    ]
    assert percent(1 / 3) == "33.3 %"


# -------------------------------------------------------------------------- HTML


def shown() -> dict[str, Any]:
    result = cpx.solve(problem(), "search")
    tree = DecisionTreeClassifier(max_depth=1).fit(pd.DataFrame({EVIL: [0, 1]}), [0, 1])
    row = pd.Series({EVIL: 0})
    return {
        "rule": result.explanation.rule,
        "explanation": result.explanation,
        "result": result.with_warnings(EVIL),
        "problem": problem(),
        "ranking": cpx.solutions(problem(), 2),
        "comparison": compare({EVIL: problem()}, ["cpsat"], time_limit=20),
        "reason": cpx.explain(tree, None, row, kind="reason", class_names=[EVIL, "other"]),
        "sufficient reason": cpx.SufficientReason(cpx.read_model(tree), row),
        "classifier": rules(),
        "rules": rules().rule_set_,
    }


def test_everything_is_shown_and_escaped() -> None:
    for what, answer in shown().items():
        page = Tags(answer._repr_html_())
        assert page.seen <= KNOWN, what
        assert EVIL in page.text.replace("\n", " "), what


def test_bars_are_as_long_as_the_share() -> None:
    fact = Fact("coverage", "0.250 of the samples", share=0.25)
    assert "width:25.0%" in as_html([Facts((fact,))])
    assert "width:" not in as_html([Facts((fact._replace(share=None),))]).partition("<table")[2]


def test_a_long_list_of_features_is_cut() -> None:
    samples = Samples(np.ones((2, 30), dtype=bool), [1, 0])
    page = Tags(KMonomial(samples, k=1)._repr_html_())
    assert "... and 20 more" in page.text


def test_wrong_answers_are_told_in_a_comparison() -> None:
    comparison = compare({"tiny": problem()}, ["cpsat"], time_limit=20)
    (run,) = comparison.runs
    lie = json.loads(json.dumps(run.to_dict()))
    lie["result"] |= {"bound": 5, "objective": 5, "solver": "liar"}
    both = type(comparison)((run, type(run).from_dict(lie)), complete=False)
    page = Tags(both._repr_html_())
    for told in ("WRONG", "CONTRADICTION: ", "virtual best", "interrupted: not all runs"):
        assert told in page.text
        assert told in str(both)
    assert "no runs" in type(comparison)()._repr_html_()


def test_a_classifier_is_shown_by_its_rules_once_it_is_fitted() -> None:
    model = rules()
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
    fresh = RuleSetClassifier(k=3)
    assert "RuleSetClassifier" in fresh._repr_html_()
    assert "sk-" in fresh._repr_mimebundle_()["text/html"]


def test_the_blocks_are_those_of_the_rule() -> None:
    rule = Rule.of([0], ["a"], "yes")
    assert Explanation(rule).headline() == rule.blocks() == [rule]
