"""The table of encodings: counts, roots and propagation against other ways to find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import highspy
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from cpx import KMonomial, MaxCoverage, Samples
from cpx.backends.maxsat.wcnf import compile_statement
from cpx.compare import encodings_table
from cpx.compare.propagation import UnitPropagation, drawn_choices, feature_literals, fixed_by
from cpx.errors import InvalidOption, UnknownName
from cpx.export import export_bytes, read_legend
from cpx.modelling.base import Problem


def _problem(seed: int, m: int = 12, d: int = 6, k: int = 2) -> KMonomial:
    rng = np.random.default_rng(seed)
    return KMonomial(Samples(rng.random((m, d)) < 0.5, rng.random(m) < 0.5), k=k)


def _propagated(clauses: Iterable[list[int]], decided: Iterable[int]) -> set[int] | None:
    """Unit propagation by going through all clauses until nothing changes."""
    true = set(decided)
    changed = True
    while changed:
        changed = False
        for clause in clauses:
            if any(literal in true for literal in clause):
                continue
            left = [literal for literal in clause if -literal not in true]
            if not left:
                return None
            if len(left) == 1:
                true.add(left[0])
                changed = True
    return None if any(-literal in true for literal in true) else true


def test_unit_propagation_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    outcomes = set()
    for _ in range(300):
        clauses = [
            (rng.choice(8, size, replace=False) + 1).tolist() for size in rng.integers(1, 4, 9)
        ]
        clauses = [[v if rng.random() < 0.5 else -v for v in clause] for clause in clauses]
        variables = rng.choice(8, rng.integers(0, 4), replace=False) + 1
        decided = [int(v) if rng.random() < 0.5 else -int(v) for v in variables]
        with UnitPropagation(clauses) as propagation:
            found = propagation.fixed(decided)
        assert found == _propagated(clauses, decided)
        outcomes.add(None if found is None else len(found) > len(decided))
    assert outcomes == {None, True, False}


@pytest.mark.parametrize("encoding", [e.name for e in KMonomial.encodings])
def test_what_is_fixed_against_all_clauses(encoding: str) -> None:
    problem = _problem(3)
    first = problem.model()
    compiled = compile_statement(first)
    choices = drawn_choices(compiled.clauses, feature_literals(first, compiled), 6, 5)
    assert len(choices) == 6
    for choice in choices:
        assert sum(chosen for _, chosen in choice) <= 2
    statement = problem.model(encoding)
    compiled = compile_statement(statement)
    features = feature_literals(statement, compiled)
    found = fixed_by(compiled, features, choices)["half"]
    assert found is not None
    parts = [
        _propagated(compiled.clauses, [features[j] if on else -features[j] for j, on in c[:3]])
        for c in choices
    ]
    known = [part for part in parts if part is not None]
    assert found.refuted == len(parts) - len(known)
    if known:
        soft = [sum(x in part or -x in part for x in compiled.costs) for part in known]
        assert found.soft == pytest.approx(np.mean(soft))
        assert found.variables == pytest.approx(np.mean([len(part) for part in known]))


@pytest.mark.parametrize(
    "problem",
    [_problem(0), _problem(7, m=20), MaxCoverage(_problem(2).samples, k=2, min_precision=0.6)],
    ids=["loss", "larger", "coverage"],
)
def test_roots_and_sizes_against_the_exported_files(problem: Problem, tmp_path: Path) -> None:
    table = encodings_table(problem, forms=["wcnf", "lp"], samples=2)
    assert len(table.forms) == 2 * len({form.encoding for form in table.forms}) >= 12
    for form in table.forms:
        data = export_bytes(problem, form.form, form.encoding)
        if form.form == "lp":
            assert form.root == pytest.approx(_root(data, tmp_path))
            continue
        lines = [line.split() for line in data.decode().splitlines() if line[0] != "c"]
        hard = Counter(len(line) - 2 for line in lines if line[0] == "h")
        assert (form.lengths, form.soft) == (hard, sum(line[0] != "h" for line in lines))


def _root(data: bytes, directory: Path) -> float:
    """Solve the relaxation of an exported LP file with SciPy."""
    path = directory / "problem.lp"
    path.write_bytes(data)
    highs = highspy.Highs()
    highs.silent()
    highs.readModel(str(path))
    model = highs.getLp()
    parts = model.a_matrix_
    shape = (model.num_row_, model.num_col_)
    matrix = csc_array((parts.value_, parts.index_, parts.start_), shape=shape)
    sign = -1 if model.sense_ == highspy.ObjSense.kMaximize else 1
    found = milp(
        sign * np.array(model.col_cost_),
        bounds=Bounds(model.col_lower_, model.col_upper_),
        constraints=LinearConstraint(matrix, model.row_lower_, model.row_upper_),
    )
    legend = read_legend(data)
    return float(legend.sign * sign * found.fun + legend.offset)


def test_the_two_strengths_rank_clausal_and_reified_oppositely() -> None:
    table = encodings_table(_problem(0, m=100, d=20, k=5), ["clausal", "reified"], ["wcnf", "lp"])
    clausal, reified = (table.to_frame().loc[name].max() for name in ("clausal", "reified"))
    assert clausal["root"] > reified["root"]
    assert clausal["fixed_all"] < reified["fixed_all"] == reified["soft"] == 100
    assert clausal["fixed_half"] < reified["fixed_half"]


def test_engines_are_asked_in_each_encoding() -> None:
    problem = _problem(0)
    names = ["clausal", "reified"]
    table = encodings_table(problem, names, ["lp"], engines=["cpsat", "milp:highs"])
    (optimum,) = {result.objective for result in table.answers.values()}
    assert set(table.to_frame()["cpsat objective"]) == {optimum}
    assert {name for name, _ in table.answers} == set(names)
    assert all(table.answers[n, e].encoding == n for n, e in table.answers)
    assert f"| clausal | cpsat | OPTIMAL | {optimum} | {optimum} |" in table.to_markdown()


def test_what_is_not_known_is_named() -> None:
    problem = _problem(0)
    with pytest.raises(UnknownName, match="clausal"):
        encodings_table(problem, ["clausl"])
    with pytest.raises(UnknownName, match="wcnf"):
        encodings_table(problem, forms=["cnf"])
    with pytest.raises(InvalidOption, match="'search' needs no statement"):
        encodings_table(problem, engines=["search"])
    with pytest.raises(InvalidOption, match="samples must be"):
        encodings_table(problem, samples=0)
    limited = KMonomial(problem.samples, k=2, min_coverage=0.1)
    with pytest.raises(InvalidOption, match="'table1-literal' cannot state limits"):
        encodings_table(limited, ["table1-literal"])
    with pytest.raises(InvalidOption, match="measure both"):
        encodings_table(problem, forms=["lp"]).plot()
