"""Exported files, read back by readers of their own: the same optimum."""

import itertools

import numpy as np
import pytest

from cpx import KMonomial, Samples
from cpx.backends.milp.cbc import cbc_path
from cpx.errors import DataError, UnknownName
from cpx.export import export_bytes, read_legend
from cpx.modelling.encodings import stated_in
from cpx.modelling.ratio import RatioProblem
from cpx.models import NegativeOnly
from cpx.testing import cases
from tests.export.readers import (
    FORMS,
    optimum,
    parse_opb,
    read,
    read_cbc,
    read_fzn_gecode,
    read_minizinc,
)
from tests.seeds import some

ENCODINGS = [encoding.name for encoding in KMonomial.encodings]


def instance(seed: int, kind: type = KMonomial):
    """Return one of the random instances: weights, groups and fixed features in turn."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    samples = Samples(
        rng.random((m, d)) < 0.6,
        rng.random(m) < (0.5, 0.2, 0.9)[seed % 3],
        weights=rng.integers(1, 10, m),
        groups=np.arange(d) // 2,
    )
    fixed = rng.permutation(d)
    return kind(
        samples,
        k=int(rng.integers(0, d + 1)),
        required=[int(fixed[0])] if seed % 4 == 1 else [],
        forbidden=[int(fixed[1])] if seed % 4 in (1, 2) else [],
        one_per_group=seed % 2 == 1,
    )


def agrees(problem, form, encoding, answer, data):
    """Check an answer of an outside solver against brute force."""
    best = optimum(problem, encoding)
    if best is None:
        assert answer is None
        return
    value, true = answer
    legend = read_legend(data)
    assert legend.objective(value) == best
    explanation = problem.explanation(legend.features(true))
    found = problem.evaluate(explanation)
    assert found.feasible
    if encoding != "table1-literal":
        assert found.objective == best


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", [KMonomial, NegativeOnly])
@pytest.mark.parametrize("n", some(2, 8))
def test_random_instances(form, encoding, kind, n, tmp_path):
    for seed in range(n):
        problem = instance(seed, kind)
        data = export_bytes(problem, form, encoding)
        agrees(problem, form, encoding, read(form, data, tmp_path), data)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("form", "ask"), [("minizinc", read_minizinc), ("flatzinc", read_fzn_gecode)]
)
def test_gecode_reads_it(encoding, form, ask, tmp_path):
    problem = instance(1)
    data = export_bytes(problem, form, encoding)
    agrees(problem, form, encoding, ask(data, tmp_path), data)


MINIZINC = r"""
% ---- data
array[0..1] of string: X_names = array1d(0..1, [
  "age <= 30",
  "colour is \"red\""
]);
% which X[j] belong to C[i]
array[0..2] of set of int: C_X = array1d(0..2, [
  {1},
  {0},
  {0, 1}
]);

% ---- variables
array[0..1] of var bool: X;
array[0..2] of var bool: C;
array[0..1] of var bool: U;

% ---- constraints
% C_i or OR_{j in M_i} X_j
constraint forall(i in index_set(C_X)) (C[i] \/ exists(j in C_X[i])(X[j]));
% sum_j X_j <= k
constraint sum(X) <= 1;
% X_j -> AND_{i : j in M_i} U_i: colour is "red", sample 4
constraint X[1] -> U[1];

var int: value = C[0] + 2 * C[1] + C[2] + sum(U);
solve minimize value;

output
  ["objective = \(fix(value))\n"]
  ++ ["X[\(j)]: \(X_names[j])\n" | j in index_set(X) where fix(X[j])]
;
"""


def test_the_text_of_minizinc():
    samples = Samples(
        [[1, 0], [0, 1], [0, 0], [1, 1], [1, 0]],
        [0, 0, 0, 1, 1],
        weights=[1, 2, 1, 1, 1],
        features=("age <= 30", 'colour is "red"'),
    )
    data = export_bytes(KMonomial(samples, k=1), "minizinc", "clausal").decode()
    assert data.endswith(MINIZINC)
    assert '\n% X[1] = X[1]: colour is "red"\n' in data


def read_by_cpmpy(data, tmp_path):
    """Return the optimum of an XCSP3 file and the variables that are 1 in it; None for none."""
    pytest.importorskip("pycsp3", reason="CPMpy reads XCSP3 by the parser of pycsp3")
    pytest.importorskip("lxml")
    from cpmpy.tools.xcsp3 import read_xcsp3
    from cpmpy.transformations.get_variables import get_variables_model

    path = tmp_path / "problem.xml"
    path.write_bytes(data)
    model = read_xcsp3(str(path))
    if not model.solve(solver="ortools"):
        return None
    true = {str(v) for v in get_variables_model(model) if v.value() == 1}
    return (0 if model.objective_ is None else model.objective_value()), true


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_cpmpy_reads_xcsp3(encoding, tmp_path):
    for seed in range(4):
        problem = instance(seed)
        data = export_bytes(problem, "xcsp3", encoding)
        agrees(problem, "xcsp3", encoding, read_by_cpmpy(data, tmp_path), data)


@pytest.mark.parametrize(
    "group",
    [
        name
        for name in cases.names()
        if name not in ("monomial", "sufficient-reason", "network-reason")
    ],
)
def test_cpmpy_reads_xcsp3_of_all_problems(group, tmp_path):
    read_back = 0
    for case in cases.cases(group):
        problem = case.problem
        # The statement of a ratio is that of a step towards it.
        ratio = isinstance(problem, RatioProblem)
        for encoding in () if problem._unstated or ratio else case.encodings:
            if not stated_in(problem, encoding).faithful:
                continue
            data = export_bytes(problem, "xcsp3", encoding)
            answer = read_by_cpmpy(data, tmp_path)
            read_back += 1
            if answer is None:
                assert case.optimum is None, (case, encoding)
                continue
            legend = read_legend(data)
            assert legend.objective(answer[0]) == case.optimum, (case, encoding)
            found = problem.evaluate(problem.explanation(legend.features(answer[1])))
            assert (found.feasible, found.objective) == (True, case.optimum), (case, encoding)
    assert read_back > 5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_degenerate_instances(form, encoding, tmp_path):
    for same, k in itertools.product([[1, 1, 1], [0, 0, 0], [1, 0, 1]], [0, 2]):
        problem = KMonomial(Samples([[1, 0], [1, 0], [0, 0]], same), k=k)
        data = export_bytes(problem, form, encoding)
        agrees(problem, form, encoding, read(form, data, tmp_path), data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_solution(form, encoding, tmp_path):
    samples = Samples([[1, 0], [0, 1]], [1, 0])
    for k, forbidden in ((1, [0]), (0, [])):
        problem = KMonomial(samples, k=k, required=[0], forbidden=forbidden)
        assert optimum(problem, encoding) is None
        assert read(form, export_bytes(problem, form, encoding), tmp_path) is None


@pytest.mark.parametrize("form", ["lp", "mps"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_cbc(form, encoding, tmp_path):
    program = cbc_path()
    if program is None:
        pytest.skip("no CBC")
    for seed in (0, 2, 3, 5):
        problem = instance(seed)
        data = export_bytes(problem, form, encoding)
        agrees(problem, form, encoding, read_cbc(data, form, tmp_path, program), data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["clausal", "reified"])
def test_weights_of_13_digits_are_exact(form, encoding, tmp_path):
    if form == "minizinc":
        pytest.skip("Gecode has integers of 32 bits")
    heavy = 2**39 - 7
    samples = Samples([[1, 0], [0, 1], [1, 1]], [1, 1, 0], weights=[heavy, heavy - 2, 3])
    problem = KMonomial(samples, k=1, required=[0])
    data = export_bytes(problem, form, encoding)
    assert str(heavy - 2).encode() in data
    agrees(problem, form, encoding, read(form, data, tmp_path), data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_equal_problems_give_equal_files(form, encoding):
    first, second = (export_bytes(instance(6), form, encoding) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("form", FORMS)
def test_names_that_are_no_comments(form, tmp_path):
    samples = Samples(
        [[1, 0, 1], [0, 1, 1], [1, 1, 0]],
        [1, 0, 1],
        features=("a\nh 1 0\n+1 x1 >= 1 ;", "größer als 5\r\x85\u2028End\\*/", "\ud800 \x00"),
    )
    problem = KMonomial(samples, k=2, name="one\n\ntwo\nc objective = value + 7")
    data = export_bytes(problem, form)
    agrees(problem, form, "clausal", read(form, data, tmp_path), data)


@pytest.mark.parametrize("form", FORMS)
def test_legend_names_every_feature(form):
    samples = Samples([[1, 0], [0, 1]], [1, 0], features=("a <= 1", "b = red: no"))
    data = export_bytes(KMonomial(samples, k=1), form)
    features = {index for array, index in read_legend(data).names.values() if array == "X"}
    assert features == {0, 1}
    assert b"= X[0]: a <= 1\n" in data
    assert b"= X[1]: b = red: no\n" in data


def test_opb_has_integers_in_bits():
    problem = KMonomial(Samples(np.eye(5, dtype=int), [1, 0, 1, 0, 1]), k=4)
    data = export_bytes(problem, "opb", "channelling")
    assert b"* K[0] is 1 x11 + 2 x12 + 4 x13\n" in data
    _, rows = parse_opb(data)
    assert ([(-1, "x11"), (-2, "x12"), (-4, "x13")], ">=", -4) in rows


def test_unknown_names():
    problem = instance(0)
    with pytest.raises(UnknownName, match=r"'wcfn' \(did you mean 'wcnf'\?\); known: .*opb"):
        export_bytes(problem, "wcfn")
    with pytest.raises(UnknownName, match="unknown form 'statement'"):
        export_bytes(problem, "statement")
    with pytest.raises(UnknownName, match="unknown encoding"):
        export_bytes(problem, "lp", "clausl")
    with pytest.raises(DataError, match="no legend"):
        read_legend(b"p cnf 1 1\n1 0\n")
