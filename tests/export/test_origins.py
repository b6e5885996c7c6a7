"""Where each clause and row comes from: its line of the mathematics, and its sample or feature."""

from __future__ import annotations

import re
from itertools import zip_longest

import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.backends.cpsat.compile import compile_cp_model
from cpx.export import SHOW_FORMS, export_bytes, read_legend, show
from cpx.export.cp_sat import _compiled
from cpx.export.latex import _line
from cpx.testing.cases import stated

FOUR = KMonomial(
    Samples(
        agreement=[[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]],
        same=[1, 0, 0, 0],
        features=("a", "b", "c", "d"),
    ),
    k=2,
)
MARKS = {"wcnf": "c ", "cnf": "c ", "opb": "* ", "lp": "\\ ", "mps": "* ", "cp-sat": "# "}


def _with_comments(form: str, encoding: str) -> list[tuple[str, str]]:
    """Return each line of the text that is no comment, with the comment above it."""
    last, found = "", []
    for line in show(FOUR, form, encoding, full=True).splitlines():
        if line.startswith(MARKS[form]):
            last = line.removeprefix(MARKS[form])
        else:
            found.append((line, last))
    return found


def test_a_line_for_each_constraint_which_is_a_formula() -> None:
    lines = set()
    for case, encoding in stated():
        step = getattr(case.problem, "first_step", None)
        problem = case.problem if step is None else step()
        statement = problem.model(encoding)
        beyond = len(statement.model.constraints) - len(statement.lines)
        assert beyond == 0 or problem.side_constraints, (case, encoding)
        lines |= {line.partition("; ")[0] for line in statement.lines}
        for array in statement.means.keys() & statement.variables.keys():
            for element in range(len(list(statement.variables[array]))):
                assert statement.means[array](element)
    assert len(lines) > 30
    for line in lines:
        formula = _line(line)
        assert formula.count("{") == formula.count("}")
        assert not re.search(r"\b(?<!\\)(?:sum|OR|AND)_|<[-=]|->", formula)


def test_clauses_name_the_samples_of_their_variables() -> None:
    legend = read_legend(export_bytes(FOUR, "wcnf")).names
    sample = {("C", 0): 1, ("C", 1): 2, ("C", 2): 3, ("U", 0): 0}
    seen = set()
    for line, comment in _with_comments("wcnf", "clausal"):
        if not line.startswith("h"):
            continue
        named = {legend.get(word.lstrip("-")) for word in line.split()[1:-1]}
        for place, i in sample.items():
            if place in named:
                assert comment.endswith(f"sample {i}")
                seen.add(i)
    assert seen == {0, 1, 2, 3}


@pytest.mark.parametrize("form", ["wcnf", "cnf", "opb", "lp", "mps", "cp-sat"])
def test_what_is_said_of_samples_and_features(form: str) -> None:
    said = [comment for _, comment in _with_comments(form, "clausal")]
    assert "sum_j X_j <= k" in said
    assert "C_i or OR_{j in M_i} X_j: sample 2" in said
    assert "X_j -> AND_{i : j in M_i} U_i: d, sample 0" in said
    both = [comment for _, comment in _with_comments(form, "reified")]
    assert {f"V_i <-> not OR_{{j in M_i}} X_j: sample {i}" for i in range(4)} <= {*both}


def test_auxiliary_variables_are_explained() -> None:
    text = show(FOUR, "wcnf", "channelling", full=True)
    ranges = re.findall(r"^c (\d+)(?: to (\d+))?: auxiliary, of (.*)$", text, re.MULTILINE)
    told = {n: of for low, high, of in ranges for n in range(int(low), int(high or low) + 1)}
    assert told[max(told)].startswith("L_i <-> sum_j a_ij X_j")
    legend = read_legend(text.encode())
    used = {abs(int(w)) for w in re.findall(r"-?\d+", "".join(re.findall(r"^h.*$", text, re.M)))}
    known = {int(name) for name in legend.names}
    bits = {int(w) for w in re.findall(r"is \d+ where -?(\d+)$", text, re.MULTILINE)}
    assert used - {0} - known - bits <= set(told)
    assert "x9 to x15: auxiliary, of sum_j X_j <= k" not in show(FOUR, "opb")
    assert "x9 to x12: auxiliary, of sum_j X_j <= k" in show(FOUR, "opb", at_most="sequential")


def test_of_large_instances_only_lines_are_named() -> None:
    rng = np.random.default_rng(0)
    large = KMonomial(Samples(rng.random((300, 40)) < 0.5, rng.random(300) < 0.5), k=3)
    text = export_bytes(large, "wcnf", "reified").decode()
    hard = sum(line.startswith("h") for line in text.splitlines())
    comments = re.findall(r"^c (?:sum_j|V_i) .*$", text, re.MULTILINE)
    assert hard > 5000
    assert comments == ["sum_j X_j <= k", "V_i <-> not OR_{j in M_i} X_j"] or len(comments) == 2


@pytest.mark.parametrize("form", SHOW_FORMS)
def test_every_form_says_that_an_encoding_is_not_the_problem(form: str) -> None:
    assert "study" in show(FOUR, form, "table1-literal")
    assert "study" not in show(FOUR, form, "channelling")


@pytest.mark.parametrize("encoding", ["clausal", "channelling", "reified", "pairs"])
def test_the_model_shown_is_the_one_that_cp_sat_solves(encoding: str) -> None:
    problem = KMonomial(FOUR.samples, k=2, min_coverage=0.25)
    text = show(problem, "cp-sat", encoding, full=True)
    assert "922337203" not in text
    solved = compile_cp_model(problem.model(encoding))[0].proto
    shown, _, places = _compiled(problem.model(encoding))
    assert len(places) == len(shown.proto.constraints)
    for one, other in zip_longest(solved.constraints, shown.proto.constraints):
        assert str(one) == str(other)
    assert str(solved.objective) == str(shown.proto.objective)


def test_latex_has_the_instance_and_the_mathematics() -> None:
    text = show(FOUR, "latex")
    assert r"& C_{0} \lor X_{2} && C_i \lor \bigvee_{j \in M_i} X_j && \text{sample 1} \\" in text
    assert r"& X_{0} + X_{1} + X_{2} + X_{3} \le 2 && \sum_j X_j \le k \\" in text
    odd = Samples([[1, 0], [0, 1]], [1, 0], features=("a_1 & 50% {", "b\\\n% X"))
    text = show(KMonomial(odd, k=1), "latex")
    body = text[text.index(r"\begin") :]
    assert body.count("{") - body.count(r"\{") == body.count("}") - body.count(r"\}")
    assert r"\text{b\textbackslash{}" in body
    assert all(line[0] in "%\\&" for line in text.splitlines())
