"""Grading finds the mistakes that students make, and shows the smallest instance of each."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import cpmpy as cp
import pytest

import cpx
from cpx.errors import InvalidInstance, InvalidOption, UnknownName
from cpx.export import export_bytes
from cpx.models import Encoding, Statement
from cpx.models.monomial.encodings.clausal import clausal
from cpx.testing.exercise import grade
from cpx.testing.tiny import size, tiny
from tests.seeds import every_other
from tests.testing.counter import counter
from tests.testing.mutants import MUTANTS, Mutant, built

FOUR = cpx.Samples(
    [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]],
    [1, 0, 0, 0],
    features=("a", "b", "c", "d"),
)
FEW = {"one too many", "no weights", "full too early", "completes U as C", "maximised"}


def some(mutant: Mutant) -> Any:
    return pytest.param(mutant, marks=[] if mutant.name in FEW else pytest.mark.slow)


@pytest.mark.parametrize("mutant", [some(mutant) for mutant in MUTANTS], ids=str)
def test_each_mistake_is_found_and_said(mutant: Mutant) -> None:
    without = ["limits"] if mutant.encoding == "counter" else []
    # So many that each part has instances; the parts that break are found in a few.
    n = 60 if mutant.name in FEW else 250
    verdict = grade(built(mutant), without=without, n=n, time_limit=None)
    assert not verdict.right
    assert (verdict.fault, ", ".join(verdict.breaks_on)) == (mutant.fault, mutant.breaks_on)
    assert verdict.points < 1
    found = verdict.counterexample
    assert found is not None
    assert sum(found.problem.samples.agreement.shape) <= 6
    assert mutant.fault in str(verdict)
    json.dumps(verdict.to_dict())


def test_there_are_thirty_mistakes_and_more() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30


@pytest.mark.parametrize("name", ["k-monomial", "negative-only", "max-precision", "max-coverage"])
def test_our_own_are_right(name: str) -> None:
    for place, encoding in enumerate(cpx.models.PROBLEMS[name].encodings):
        n = 20 if place == 0 or not encoding.faithful else 6
        verdict = grade(encoding, name, n=n, time_limit=None)
        assert verdict.right == encoding.faithful, f"{verdict}"
        assert verdict.instances == n


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("rule-set", marks=pytest.mark.slow),  # its statements take longer
        "min-certificate",
        "sufficient-reason",
    ],
)
def test_other_kinds_are_graded_as_well(kind: str) -> None:
    ours = cpx.models.PROBLEMS[kind].encodings[0]
    assert grade(ours, kind, n=8, time_limit=None).right

    def nothing(form: Any) -> Statement:
        stated = ours.build(form)
        rows = [*stated.model.constraints, ~cp.any(list(stated.variables["X"]))]
        total, least = stated.model.objective_, stated.model.objective_is_min
        model = cp.Model(rows, **{"minimize" if least else "maximize": total})
        offset = stated.offset
        return Statement(model, stated.variables, stated.complete, stated.sense, offset)

    assert grade(nothing, kind, n=8, time_limit=None).fault == "too strong"


def test_the_counterexample_says_what_forbids_the_set_and_what_becomes_of_the_optimum() -> None:
    mutant = next(m for m in MUTANTS if m.name == "full too early")
    verdict = grade(built(mutant), without=["limits"], n=60, time_limit=None)
    found = verdict.counterexample
    assert found is not None
    # One sample and two features: with fewer nothing is wrong.
    assert found.problem.samples.agreement.shape == (1, 2)
    assert (found.problem.k, found.chosen, found.said) == (2, (0, 1), None)
    texts = [text for _, text in found.rows]
    assert len(texts) == 2
    assert any("~S[0,0]" in text for text in texts)
    printed = str(verdict)
    for told in ("forbids it, by constraint", "allows it, with the value", "{0, 1}, x0 and x1"):
        assert told in printed
    assert verdict._repr_html_().count("<table") >= 2


def test_what_it_breaks_on_can_be_left_out() -> None:
    for left_out, name in (("limits", "no limits"), ("one_per_group", "two of a group")):
        mutant = next(m for m in MUTANTS if m.name == name)
        assert grade(built(mutant), without=left_out, n=50, time_limit=None).right


def test_the_variables_of_complete_are_looked_at() -> None:
    def build(form: Any) -> Statement:
        stated = clausal(form)
        more = cp.boolvar(name="more")
        rows = [*stated.model.constraints, more]
        model = cp.Model(rows, minimize=stated.model.objective_)
        return Statement(model, stated.variables, stated.complete, offset=stated.offset)

    verdict = grade(build, n=10, time_limit=None)
    assert verdict.fault == "wrong complete"
    assert "the variable more is in no array" in str(verdict)

    def without(form: Any) -> Statement:
        stated = counter(form)
        return Statement(stated.model, stated.variables, None, offset=stated.offset)

    verdict = grade(without, without=["limits"], n=30, time_limit=None)
    assert verdict.right
    assert not verdict.completes
    assert "It has no `complete`" in str(verdict)


def test_an_error_is_told_with_its_line() -> None:
    def build(form: Any) -> Statement:
        if form.groups is not None:
            raise NotImplementedError("no groups")
        return clausal(form)

    verdict = grade(Encoding("mine", build), n=40, time_limit=None)
    assert (verdict.fault, verdict.breaks_on) == ("fails", ("one_per_group",))
    assert re.search(r"NotImplementedError in line \d+: no groups", str(verdict))
    few = grade(lambda form: cpx.KMonomial(FOUR, k=2).model("clausal"), n=5, time_limit=None)
    assert "X has 4 variables, and the instance 1 features" in str(few)


def test_nothing_stays_known() -> None:
    from cpx.modelling.encodings import encoding_names

    before = encoding_names(cpx.KMonomial)
    grade(counter, without=["limits"], n=3)
    assert encoding_names(cpx.KMonomial) == before


# ------------------------------------------------------------------ models in files


@pytest.mark.parametrize(
    ("form", "problem"),
    every_other(
        ["wcnf", "lp", "opb", "mps"],
        [cpx.KMonomial(FOUR, k=2), cpx.MaxCoverage(FOUR, k=2, min_precision="1/2")],
    ),
)
def test_files_are_graded_and_each_line_is_needed(form: str, problem: Any, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{form}"
    data = export_bytes(problem, form, "clausal").decode()
    path.write_text(data)
    assert grade(path, problem).right
    if form == "mps":
        return
    rows = re.findall(r"^(?:h .*| c\d+: .*|[+-].* >= .*)$", data, re.MULTILINE)
    assert len(rows) > 4
    rows = rows[:: 1 if form == "lp" else 2]
    wrong = 0
    for row in rows:
        path.write_text(data.replace(f"{row}\n", "", 1))
        wrong += not grade(path, problem).right
    assert wrong > len(rows) // 3  # those of one direction are not needed, as the other one pays


def test_a_file_may_have_variables_without_names_and_continuous_ones(tmp_path: Path) -> None:
    problem = cpx.KMonomial(FOUR, k=1)
    path = tmp_path / "mine.lp"
    path.write_text(
        "Minimize value: C0 + C1 + C2 + U\nSubject To\n k: X0 + X1 + X2 + X3 <= 1\n"
        " C0 + X2 >= 1\n C1 + X1 + X3 >= 1\n C2 + X0 + X3 >= 1\n lost: U - X3 >= 0\n"
        "Binaries X0 X1 X2 X3\nEnd\n"
    )
    assert grade(path, problem).right
    path.write_text(path.read_text().replace("lost: U - X3 >= 0", "lost: 2 U - X3 >= 0"))
    verdict = grade(path, problem)
    assert (verdict.fault, verdict.counterexample.said) == ("wrong objective", 1.5)
    path.write_text(path.read_text().replace("k: ", "k: X0 + X0 <= 1\n k2: "))
    found = grade(path, problem).counterexample
    assert found is not None
    assert found.rows == (("k", "+2 X0 <= 1"),)


def test_soft_clauses_may_be_long_and_weights_above_the_top_are_hard(tmp_path: Path) -> None:
    """With k = 0 only the empty rule is left, which the first clause charges."""
    problem = cpx.KMonomial(cpx.Samples([[1, 0]], [0]), k=0)
    path = tmp_path / "old.wcnf"
    path.write_text("c 1 = X[0]\nc 2 = X[1]\np wcnf 2 3 9\n9 -1 0\n9 -2 0\n1 1 2 0\n")
    assert grade(path, problem).right
    path.write_text("c 1 = X[0]\nc 2 = X[1]\nh -1 0\nh -2 0\n2 1 2 0\n")
    assert grade(path, problem).fault == "wrong objective"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.wcnf", "h 1 2\n", "line 1: cannot be read: 'h 1 2'"),
        ("a.wcnf", "h 1 x 0\n", "line 1: cannot be read"),
        ("a.opb", "* c\n+1 x1 + x2 >= 1 ;\n", "line 2: cannot be read"),
        ("a.opb", "min: +1 x1 ;\n+1 x1 >= 1 ;\n", "which variables are the features"),
        ("a.lp", "Minimize\n x y z\nSubject To\n c: >= 3 x <= <=\nEnd\n", "HiGHS cannot read it"),
    ],
)
def test_files_that_cannot_be_read_are_named(
    name: str, text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidInstance, match=re.escape(told)) as raised:
        grade(path, cpx.KMonomial(FOUR, k=1))
    assert name in str(raised.value)


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def one(form): pass\ndef two(form): pass\n")
    with pytest.raises(InvalidOption, match="which of one, two"):
        grade(path, time_limit=None)
    with pytest.raises(UnknownName, match="three"):
        grade(f"{path}:three", time_limit=None)
    assert grade(f"{path}:one", n=3, time_limit=None).fault == "fails"
    path.write_text("1 / 0\n")
    with pytest.raises(InvalidOption, match=r"mine.py, line 1: ZeroDivisionError"):
        grade(path, time_limit=None)
    with pytest.raises(InvalidOption, match="no model: a file must end in one of"):
        grade("model.txt")
    with pytest.raises(InvalidOption, match="states one instance"):
        grade(tmp_path / "a.lp")
    with pytest.raises(UnknownName, match="clausl"):
        grade("clausl")
    with pytest.raises(UnknownName, match="no such part"):
        grade(clausal, without=["no such part"], n=3)
    with pytest.raises(InvalidOption, match="must be a function"):
        grade(3)
    with pytest.raises(InvalidOption, match="cannot be graded set by set"):
        grade("slots", "kernel-rule")
    many = cpx.KMonomial(cpx.Samples([[1] * 13], [1]), k=1)
    with pytest.raises(InvalidOption, match="13 features"):
        grade(clausal, many)


def test_instances_begin_with_the_smallest_and_stay_the_same() -> None:
    def first() -> list[Any]:
        return [data for _, data in zip(range(60), tiny("k-monomial"), strict=False)]

    assert first() == first()
    assert size(first()[0]) == min(map(size, first()))


# ------------------------------------------------------------------ what does not end


def test_a_function_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(form: Any) -> Statement:
        while form.k == 1:
            pass
        return clausal(form)

    assert grade(build, n=1, time_limit=None).right  # what is imported takes longer
    monkeypatch.setattr("cpx.testing.apart.CPU_SECONDS", 0.3)
    verdict = grade(build, time_limit=None)
    assert (verdict.right, verdict.fault, verdict.points) == (False, "fails", 0)
    assert re.search(r"not ended after 5 s in line \d+: it was stopped", str(verdict))
    assert verdict.counterexample is not None
    assert verdict.counterexample.problem.k == 1


def test_a_file_that_never_gives_way_is_ended_with_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop in compiled code: no other thread of its process gets a turn."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import os\ndef mine(form):\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    return sum(range(10**15))\n"
    )
    monkeypatch.setattr("cpx.testing.apart._SILENT_SECONDS", 6.0)
    verdict = grade(path)
    assert (verdict.fault, verdict.points, verdict.encoding) == ("fails", 0, "mine.py")
    assert "had not ended after 6 s: it was stopped" in str(verdict)
    json.dumps(verdict.to_dict())
    with pytest.raises(ProcessLookupError):  # a zombie would still have its number
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_process_that_dies_and_one_that_takes_all_memory(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import os\ndef dies(form):\n    os._exit(3)\ndef memory(form):\n    return [0] * 10**10\n"
    )
    verdict = grade(f"{path}:dies")
    assert (verdict.points, verdict.why[:5]) == (0, "fails")
    assert "its process ended with status 3" in str(verdict)
    if sys.platform.startswith("linux"):
        assert "MemoryError in line 5" in str(grade(f"{path}:memory", n=2))
