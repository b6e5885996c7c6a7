"""Writers on statements that no monomial problem has: maximisation, integers, constants."""

import cpmpy as cp
import pytest

from cpx import KMonomial, Samples
from cpx.backends.milp.cbc import cbc_path
from cpx.export import _WRITERS, read_legend
from cpx.models import Statement
from tests.export.readers import FORMS, read, read_cbc

PROBLEM = KMonomial(Samples([[1]], [1]), k=1)


def write(statement, form):
    from importlib import import_module

    module, _, function = _WRITERS[form].partition(":")
    writer = getattr(import_module(f"cpx.export.{module}"), function)
    return writer(PROBLEM, statement, "made up").text().encode()


def statement(model, sense="min", offset=0, **variables):
    return Statement(model, variables, complete=lambda chosen: {}, sense=sense, offset=offset)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_constants_integers_and_both_senses(form, sense, tmp_path):
    b = cp.boolvar(shape=(3,), name="b")
    n = cp.intvar(-2, 4, shape=(2,), name="n")
    objective = 3 * b[0] - 2 * ~b[1] + 4 * n[0] - n[1] + 11
    constraints = [n[0] + n[1] >= 1, b[0].implies(n[0] <= 1), n[0] + 2 * b[1] <= 4, n[1] >= n[0]]
    goal = {"minimize" if sense == "min" else "maximize": objective}
    data = write(statement(cp.Model(constraints, **goal), sense, -5, b=b, n=n), form)

    # By hand over all values, written down again: nothing of CPMpy decides the expectation.
    values = [
        3 * b0 - 2 * (1 - b1) + 4 * n0 - n1 + 11 - 5
        for b0 in (0, 1)
        for b1 in (0, 1)
        for n0 in range(-2, 5)
        for n1 in range(-2, 5)
        if n0 + n1 >= 1 and not (b0 and n0 > 1) and n0 + 2 * b1 <= 4 and n1 >= n0
    ]
    best = min(values) if sense == "min" else max(values)
    value, _ = read(form, data, tmp_path)
    assert read_legend(data).objective(value) == best


@pytest.mark.parametrize("form", FORMS)
def test_no_objective_and_a_constant_variable(form, tmp_path):
    b = cp.boolvar(shape=(2,), name="b")
    fixed = cp.cpm_array([cp.intvar(3, 3, name="f[0]"), 5])
    model = cp.Model([b[0] | b[1], ~b[0], b[1] + fixed[0] <= 4])
    data = write(statement(model, offset=2, b=b, f=fixed), form)
    value, true = read(form, data, tmp_path)
    legend = read_legend(data)
    assert legend.objective(value) == 2
    assert legend.features(true, "b") == [1]


@pytest.mark.parametrize("form", FORMS)
def test_a_false_constraint_without_variables(form, tmp_path):
    b = cp.boolvar(shape=(2,), name="b")
    model = cp.Model([b[0] | b[1], cp.sum([0 * b[0]]) >= 1], minimize=cp.sum(b))
    assert read(form, write(statement(model, b=b), form), tmp_path) is None


def test_cbc_maximises(tmp_path):
    program = cbc_path()
    if program is None:
        pytest.skip("no CBC")
    n = cp.intvar(-2, 4, shape=(2,), name="n")
    model = cp.Model(n[0] + n[1] >= 1, n[0] + 2 * n[1] <= 4, maximize=4 * n[1] - n[0])
    for form in ("lp", "mps"):
        data = write(statement(model, "max", n=n), form)
        value, _ = read_cbc(data, form, tmp_path, program)
        assert read_legend(data).objective(value) == 14
