"""Explainer and explain: one order of arguments, kinds by families, options declared once."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, get_type_hints

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import cpx
from cpx.answers.explanation import Explanation
from cpx.answers.rule import Rule
from cpx.errors import CpxError, DataError, EngineError, InvalidOption, UnknownName
from cpx.explainers.doors import Alike, kinds
from cpx.explainers.options import Engine, Option, built
from cpx.explainers.rows import row_of
from cpx.options import RUN_LIMIT, TIME_LIMIT
from cpx.solving.run import default_engine
from cpx.support import families as registry
from cpx.support.families import Door, Family
from tests.defaults import as_written

X, Y = load_iris(return_X_y=True, as_frame=True)
FOREST = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
NAMES = ["setosa", "versicolor", "virginica"]
KINDS = [kind.name for kind in kinds()]


def test_the_kinds_are_those_of_the_families() -> None:
    assert KINDS == ["rule", "reason", "contrast", "expectation"]
    assert {*KINDS, "rules", "reasons", "contrasts", "expectations"} <= {
        *dir(cpx.Explainer(FOREST))
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_method_and_the_call_answer_the_same(kind: str) -> None:
    asked: dict[str, Any] = {"k": 2} if kind in ("rule", "expectation") else {}
    explainer = cpx.Explainer(FOREST, X, class_names=NAMES, seed=1)
    by_call = cpx.explain(FOREST, X, X.iloc[60], kind=kind, class_names=NAMES, seed=1, **asked)
    method = getattr(explainer, kind)
    assert method(X.iloc[60], **asked) == by_call == explainer.explain(60, kind=kind, **asked)
    assert str(by_call.status) == "OPTIMAL"
    assert by_call.why == ""
    again = pickle.loads(pickle.dumps(explainer))
    assert again.explain(60, kind=kind, **asked) == by_call


@pytest.mark.parametrize("kind", KINDS)
def test_methods_show_their_arguments_and_defaults(kind: str) -> None:
    explainer = cpx.Explainer(FOREST, X)
    method = getattr(explainer, kind)
    shown = inspect.signature(method).parameters
    assert next(iter(shown)) == "x"
    given = {name: p.default for name, p in shown.items() if p.default is not p.empty}
    assert method(X.iloc[0], **given) == method(X.iloc[0])
    assert shown["time_limit"].default == 10.0
    told = method.__doc__.partition("Returns\n")[0]
    assert [name for name in shown if name not in told] == []


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: cpx.Explainer(X, FOREST), InvalidOption, "the order is model, X, x"),
        (lambda: cpx.Explainer(FOREST, X, seed=-1), InvalidOption, "seed must be"),
        (
            lambda: cpx.Explainer(FOREST, X).rules(X.iloc[0]),
            InvalidOption,
            "one row is explained by",
        ),
        (lambda: cpx.Explainer(FOREST, X).rules([1, 2]), InvalidOption, "not where they are"),
        (lambda: cpx.Explainer(None, X), InvalidOption, "model is None: give a fitted model"),
        (lambda: cpx.explain(X, FOREST, 0), InvalidOption, "the order is model, X, x"),
        (lambda: cpx.explain(FOREST, X.iloc[0], X), InvalidOption, "the order is model, X, x"),
        (lambda: cpx.explain(FOREST, X.iloc[[0]], X), DataError, "the order is model, X, x"),
        (lambda: cpx.explain(FOREST, X, X), DataError, "got a table of 150; many are explained"),
        (lambda: cpx.explain(FOREST, X), InvalidOption, "x is missing, the row to explain"),
        (lambda: cpx.Explainer(FOREST, "X"), InvalidOption, "X must be rows.*got 'X'"),
        (lambda: cpx.Explainer(FOREST).rule(X.iloc[0]), InvalidOption, "kind='rule' needs X"),
        (lambda: cpx.Explainer(FOREST, X).rule(150), DataError, "no row of X has the label 150"),
        (lambda: cpx.Explainer(FOREST).reason(3), DataError, "there is no X"),
        (lambda: cpx.Explainer(FOREST, X).rules(X.iloc[0]), InvalidOption, "X must be a table"),
        (lambda: cpx.Explainer(FOREST, X, bins=3), InvalidOption, "did you mean 'n_bins'"),
        (
            lambda: cpx.Explainer(FOREST, X).rule(0, engine="cpsat"),
            InvalidOption,
            "no option 'engine': backend is one of .*cpsat.*search",
        ),
        (lambda: cpx.Explainer(FOREST, X).rule(0, n_bins=3), InvalidOption, r"X, n_bins=\.\.\."),
        (
            lambda: cpx.Explainer(FOREST, X).rule(0, level="x"),
            InvalidOption,
            "kind='reason', this",
        ),
        (lambda: cpx.explain(FOREST, X, 0, kind="why"), UnknownName, "known: contrast, expect"),
        (
            lambda: cpx.Explainer(lambda rows: [0] * len(rows), X).problem(0, kind="contrast"),
            InvalidOption,
            "a change is a problem of tree models",
        ),
    ],
)
def test_mistakes_are_named(call: Any, error: type[CpxError], told: str) -> None:
    with pytest.raises(error, match=told):
        call()


def test_a_row_by_position_or_label() -> None:
    dates = pd.date_range("2026-01-01", periods=150)
    texts = [f"p{i}" for i in range(150)]
    for index, label in (
        (X.index, 60),
        (X.index[::-1], 89),
        (dates, dates[60]),
        (dates, "2026-03-02"),
        (texts, "p60"),
        (texts, 60),
        (texts, np.int64(60)),
    ):
        table = X.set_axis(index, axis=0)
        assert row_of(table, label).to_numpy().tolist() == [X.iloc[60].tolist()]
    assert row_of(X.to_numpy(), 60).tolist() == X.iloc[60].tolist()
    assert row_of(X, X.iloc[60]) is not None
    twice = X.set_axis([0] * 150, axis=0)
    with pytest.raises(DataError, match="150 rows of X have the label 0"):
        row_of(twice, 0)
    # A number is no position where numbers are labels.
    with pytest.raises(DataError, match="no row of X has the label 3"):
        row_of(X.set_axis(range(1000, 1150), axis=0), 3)
    for wrong in (-1, 150, "a"):
        with pytest.raises(DataError, match="positions 0 to 149"):
            row_of(X.to_numpy(), wrong)


def test_what_explains_in_one_way_takes_a_position_too() -> None:
    explainer = cpx.Explainer(FOREST, X, distribution="factorised")
    for kind in KINDS:
        by = explainer.of(kind)
        assert by.explain(60) == by.explain(X.iloc[60])
        assert by.answer(60).label == by.answer(X.iloc[[60]]).label
    rules, expected = cpx.Explainer(FOREST, X).of("rule"), explainer.of("expectation")
    best = rules.explain(60)
    assert rules.score(best, 60) == rules.score(best, X.iloc[60])
    assert rules.samples(60).total == len(X)
    assert str(expected.frontier(60, 1)) == str(expected.frontier(X.iloc[60], 1))


def test_an_explainer_says_what_it_explains() -> None:
    told = repr(cpx.Explainer(FOREST, X, class_names=NAMES, seed=3))
    assert told.startswith(
        "Explainer(RandomForestClassifier, 150 rows of 4 columns, class_names=["
    )
    assert told.endswith("seed=3)")
    assert repr(cpx.Explainer(len)) == "Explainer(len)"
    assert repr(cpx.Explainer("model.json", [[1, 2]])) == "Explainer('model.json', 1 row)"
    assert str(cpx.Explainer(FOREST)) == "Explainer(RandomForestClassifier)"


def test_a_problem_of_the_door_is_solved_as_it_answers() -> None:
    explainer = cpx.Explainer(FOREST, X)
    for kind in ("rule", "reason", "expectation"):
        problem = explainer.problem(60, kind=kind)
        found = explainer.solve(60, kind=kind)
        assert found.verified
        assert cpx.solve(problem, found.engine).objective == found.objective


@dataclass(frozen=True)
class EchoQuestion:
    loud: Annotated[bool, Option("Whether it shouts.", kind=bool)] = False


class Echo(Alike):
    """A kind of explanation of another package."""

    asks = (EchoQuestion,)

    def __init__(self, model: Any, X: Any = None, *, class_names: Any = None) -> None:
        self.model = model

    def explain(self, x: Any, **asked: Any) -> Explanation:
        """Say what the model says; loud: whether it shouts."""
        said = str(self.model.predict(x)[0])
        if said == "2":
            raise EngineError("no echo of class 2")
        said = said + "!" * built(EchoQuestion, asked).loud
        return Explanation(Rule((), said))


def test_a_family_of_another_package_has_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(f"{__name__}:Echo", plural="echoes", about="an echo")
    monkeypatch.setattr(registry, "_others", lambda: (Family("echo", {}, doors={"echo": door}),))
    explainer = cpx.Explainer(FOREST, X)
    assert explainer.echo(0).rule.conclusion == "0"
    assert cpx.explain(FOREST, None, X.iloc[[60]], kind="echo", loud=True).rule.conclusion == "1!"
    found = explainer.echoes(X.iloc[[0, 60, 140]])
    assert [one.rule.conclusion for one in found.answered] == ["0", "1"]
    assert found[2].why == "no echo of class 2"
    assert "echo" in dir(explainer)
    with pytest.raises(InvalidOption, match="loud is for kind='echo', this is kind='rule'"):
        explainer.rule(0, loud=True)


# ------------------------------------------------------- the row that is explained


@pytest.mark.parametrize("kind", KINDS)
def test_every_explanation_shows_its_row(kind: str) -> None:
    said = FOREST.predict_proba(X)
    margin = np.sort(said, axis=1)[:, -1] - np.sort(said, axis=1)[:, -2]
    explainer = cpx.Explainer(FOREST, X, class_names=NAMES)
    for place in (int(margin.argmin()), int(margin.argmax())):
        for found in (
            explainer.explain(place, kind=kind),
            explainer.solve(place, kind=kind).explanation,
            explainer.explain_many(X.iloc[[place]], kind=kind)[0],
        ):
            assert found is not None
            row: Any = found.row
            assert row.probability == pytest.approx(said[place].max())
            assert row.next == pytest.approx(np.sort(said[place])[-2])
            assert row.near == (margin[place] < 0.2)
            assert ("near the boundary" in found.summary()) == row.near
            words = " and ".join(found.rule.words)
            if kind != "contrast":  # it has the values in its words
                assert {name for name, _ in row.values} == {name for name in X if name in words}
            for name, value in row.values:
                assert float(value) == X[name].iloc[place]
            # What is saved and compared is the explanation.
            assert "row" not in found.to_dict()


def test_what_has_no_probabilities_shows_values_alone() -> None:
    table = pd.DataFrame({"colour": np.where(Y == 0, "red", None)})
    found = cpx.explain(lambda rows: np.asarray(rows["colour"] == "red"), table, 0, k=1)
    assert str(found.row) == "colour = red"
    gone = cpx.explain(lambda rows: np.asarray(rows["colour"] == "red"), table, 149, k=1)
    assert str(gone.row) == "colour is missing"
    regression = cpx.explain(lambda rows: np.asarray(rows > 3)[:, 0], X.to_numpy(), 0, k=0)
    assert str(regression.row) == ""
    assert "row " not in regression.summary()


# -------------------------------------------------- one declaration for all doors


def _page() -> Any:
    path = Path(__file__).parents[2] / "docs" / "_ext" / "options.py"
    spec = spec_from_file_location("options", path)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def _shell() -> dict[str, Any]:
    """The options of cpx explain by their flags."""
    from typer.main import get_command

    from cpx.cli import app

    root: Any = get_command(app)
    command = root.get_command(None, "explain")
    return {flag: one for one in command.params for flag in one.opts if flag.startswith("-")}


def test_the_page_of_options_is_that_of_the_declarations() -> None:
    page = _page()
    with as_written():
        told = page.page()
    assert page.PAGE.read_text(encoding="utf-8") == told, "run: python docs/_ext/options.py"


def test_all_calls_and_commands_have_the_same_defaults() -> None:
    page, hints = _page(), get_type_hints(Engine)
    with as_written():
        python = {call: page.in_python(call) for call in page.CALLS}
    for call, own in python.items():
        shell = page.in_shell(call)
        wanted = RUN_LIMIT if call == "compare" else TIME_LIMIT
        assert own["time_limit"] == shell["time_limit"] == wanted, call
        for name in page.SHARED:
            # Comparisons leave engines to themselves; the shell has a worker to kill.
            if name not in ("isolate", "warm_start", "time_limit"):
                assert own.get(name) == python["solve"][name] or name not in own, (call, name)
                assert shell.get(name) in (own.get(name), None), (call, name)
    for call in (cpx.solve, cpx.solutions):
        of_call = get_type_hints(call, localns={"cpmpy": SimpleNamespace(Model=object)})
        shared = of_call.keys() & hints.keys() - {"hint"}
        assert shared >= {"backend", "time_limit", "threads", "encoding"}
        assert all(of_call[name] == hints[name] for name in shared)


def test_an_engine_that_is_not_named_is_the_same_from_every_door() -> None:
    explainer = cpx.Explainer(FOREST, X)
    for kind in ("rule", "reason", "expectation"):
        found = explainer.explain(60, kind=kind)
        assert found.result.engine == default_engine(explainer.problem(60, kind=kind))


def test_all_doors_have_the_options_that_are_declared() -> None:
    shell, explainer = _shell(), cpx.Explainer(FOREST, X)
    asked: dict[str, dict[str, Any]] = {
        "rule": {"k": 2, "one_per_group": True, "min_coverage": 0.1, "max_coverage": 0.9},
        "reason": {"level": "conditions", "definition": "sufficient", "weights": None},
        "expectation": {"k": 1, "forbidden": 0},
    }
    saved = {kind: explainer.problem(60, kind=kind, **own) for kind, own in asked.items()}
    for called, flag, in_files, _, of, meaning in _page().rows():
        name = called.split("`")[1]
        owners = [k for k in kinds() if name in k.options and k.options[name].option is not None]
        assert [k.name for k in owners] == (KINDS if of == "all" else of.split(", "))
        assert meaning
        if flag:
            assert name in str(shell[flag.strip("`")].name) or name == "missing"
        for kind in owners:
            declared = kind.options[name]
            where = cpx.Explainer if declared.prepared else getattr(explainer, kind.name)
            shown = inspect.signature(kind.explainer if declared.prepared else where).parameters
            assert shown[name].default == declared.default, (kind.name, name)
            if flag and declared.default not in (None, (), "", False) and kind is owners[0]:
                given = shell[flag.strip("`")]
                assert f"[default: {declared.default}]" in given.help or (
                    given.default == declared.default
                )
        for kind in owners:
            if in_files and asked.get(kind.name, {}).get(name) is not None:
                written = saved[kind.name].to_dict()
                assert in_files.strip("`") in {**written, **written.get("parameters", {})}, name


def test_what_is_not_given_in_the_shell_has_the_defaults_of_python() -> None:
    for flag, one in _shell().items():
        if one.name in ("kind", "model", "isolate", "time_limit", "row", "help"):
            continue
        assert one.default in (None, False), flag
    assert _shell()["--time-limit"].default == 10.0
    assert _shell()["--kind"].default == inspect.signature(cpx.explain).parameters["kind"].default


def test_kinds_of_tree_models_share_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from cpx.trees import load

    read: list[Any] = []
    live = load._live
    monkeypatch.setattr(load, "_live", lambda *asked: read.append(asked) or live(*asked))
    explainer = cpx.Explainer(FOREST, X)
    alone = [cpx.Explainer(FOREST, X).explain(0, kind=kind) for kind in ("reason", "contrast")]
    read.clear()
    assert [explainer.explain(0, kind=kind) for kind in ("reason", "contrast")] == alone
    assert len(explainer.expectation(0, k=1).features) == 1
    assert len(read) == 1
