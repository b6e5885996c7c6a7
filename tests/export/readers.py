"""Readers of exported files that share no code with the writers, and brute force.

Each reader takes the bytes of a file and returns the optimal value of the file and the
names of its true variables, or None where the file has no solution.
"""

import re
from itertools import combinations, product

import numpy as np
import pytest

from cpx.export import EXPORT_FORMS

Answer = tuple[int, set[str]] | None

# MiniZinc is a process that takes its time.
FORMS = [
    pytest.param(form, marks=pytest.mark.slow) if form == "minizinc" else form
    for form in EXPORT_FORMS
]


def read_wcnf(data: bytes) -> Answer:
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    formula = WCNF()
    for line in data.decode().splitlines():
        words = line.split()
        if not words or words[0] == "c":
            continue
        assert words[-1] == "0"
        clause = [int(word) for word in words[1:-1]]
        assert clause
        assert 0 not in clause
        if words[0] == "h":
            formula.append(clause)
        else:
            assert int(words[0]) > 0
            formula.append(clause, weight=int(words[0]))
    with RC2(formula) as solver:
        model = solver.compute()
        return None if model is None else (solver.cost, {str(x) for x in model if x > 0})


def parse_opb(data: bytes):
    """Return the objective and the rows as ``(terms, operator, constant)``."""
    lines = data.decode().splitlines()
    header = re.fullmatch(r"\* #variable= (\d+) #constraint= (\d+)", lines[0])
    assert header
    n_variables, n_constraints = map(int, header.groups())
    objective, rows = [], []
    for line in lines:
        if line.startswith("*"):
            continue
        body, end = line[:-1].rstrip(), line[-1]
        assert end == ";"
        is_objective = body.startswith("min:")
        words = body.removeprefix("min:").split()
        operator, constant = None, 0
        if not is_objective:
            *words, operator, side = words
            assert operator in (">=", "=")
            constant = int(side)
        assert words
        assert len(words) % 2 == 0
        terms = []
        for weight, name in zip(words[::2], words[1::2], strict=True):
            assert re.fullmatch(r"[+-]\d+", weight)
            assert 1 <= int(name.removeprefix("x")) <= n_variables
            terms.append((int(weight), name))
        if is_objective:
            assert not rows
            objective = terms
        else:
            rows.append((terms, operator, constant))
    assert len(rows) == n_constraints
    return objective, rows


def read_opb(data: bytes) -> Answer:
    from ortools.sat.python import cp_model

    objective, rows = parse_opb(data)
    model = cp_model.CpModel()
    variables: dict[str, object] = {}

    def total(terms):
        for _, name in terms:
            if name not in variables:
                variables[name] = model.new_bool_var(name)
        return sum(weight * variables[name] for weight, name in terms)

    for terms, operator, constant in rows:
        model.add(total(terms) >= constant if operator == ">=" else total(terms) == constant)
    model.minimize(total(objective))
    return _cp_sat(model, variables)


def read_cp_sat(data: bytes) -> Answer:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    assert model.proto.parse_text_format(data.decode())
    assert model.validate() == ""
    variables = {
        str(place): model.get_int_var_from_proto_index(place)
        for place in range(len(model.proto.variables))
    }
    return _cp_sat(model, variables)


def _cp_sat(model, variables) -> Answer:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    assert status == cp_model.OPTIMAL, solver.status_name(status)
    true = {name for name, variable in variables.items() if solver.value(variable) == 1}
    return round(solver.objective_value), true


def read_highs(data: bytes, suffix: str, directory) -> Answer:
    import highspy

    path = directory / f"problem.{suffix}"
    path.write_bytes(data)
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)
    # Weights may have 13 digits; the file must not depend on that.
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    columns = solver.getLp()
    assert all(kind == highspy.HighsVarType.kInteger for kind in columns.integrality_)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert status == highspy.HighsModelStatus.kOptimal, status
    values = solver.getSolution().col_value
    true = {name for name, v in zip(columns.col_names_, values, strict=True) if round(v) == 1}
    return round(solver.getObjectiveValue()), true


def read_cbc(data: bytes, suffix: str, directory, program: str) -> Answer:
    import subprocess

    path, answer = directory / f"problem.{suffix}", directory / "answer.txt"
    path.write_bytes(data)
    command = [program, str(path), "-ratio", "0", "solve", "printing", "all", "solution"]
    subprocess.run([*command, str(answer)], check=True, capture_output=True, timeout=60)
    first, *lines = answer.read_text().splitlines()
    if "nfeasible" in first:
        return None
    assert first.startswith("Optimal"), first
    rows = [line.split() for line in lines]
    return round(float(first.split()[-1])), {row[1] for row in rows if round(float(row[2])) == 1}


def read_minizinc(data: bytes, directory) -> Answer:
    """Ask MiniZinc, which may not be there."""
    import json
    import shutil
    import subprocess

    if shutil.which("minizinc") is None:
        pytest.skip("the program minizinc is not installed")
    path = directory / "problem.mzn"
    path.write_bytes(data)
    command = ["minizinc", "--solver", "gecode", "--output-mode", "json"]
    command += ["--output-objective", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    text = done.stdout.decode()
    assert b"rror" not in done.stderr, done.stderr
    if "=====UNSATISFIABLE=====" in text:
        return None
    *_, last = text.split("----------")[:-1]
    values = json.loads(last)
    true = {
        f"{array}[{i}]"
        for array, each in values.items()
        if isinstance(each, list)
        for i, value in enumerate(each)
        if value == 1
    }
    return values.get("_objective", 0), true


def read_flatzinc(data: bytes) -> Answer:
    """Read the declarations, the two linear constraints, and the goal."""
    from ortools.sat.python import cp_model

    model, variables, goal = cp_model.CpModel(), {}, None
    for line in data.decode().splitlines():
        if found := re.fullmatch(r"var (-?\d+)\.\.(-?\d+): (\w+)( ::.*)?;", line):
            low, high, name = int(found[1]), int(found[2]), found[3]
            variables[name] = model.new_int_var(low, high, name)
        elif found := re.fullmatch(
            r"constraint int_lin_(le|eq)\(\[(.*)\],\[(.*)\],(-?\d+)\)( ::.*)?;", line
        ):
            weights = [int(word) for word in found[2].split(",") if word]
            names = [word for word in found[3].split(",") if word]
            pairs = zip(weights, names, strict=True)
            total = sum(weight * variables[name] for weight, name in pairs)
            side = int(found[4])
            model.add(total <= side if found[1] == "le" else total == side)
        elif line == "solve minimize value;":
            goal = variables["value"]
        else:
            assert line.startswith("%"), line
    assert goal is not None
    model.minimize(goal)
    return _cp_sat(model, variables)


def read_fzn_gecode(data: bytes, directory) -> Answer:
    """Ask the program of Gecode for FlatZinc, which may not be there."""
    import shutil
    import subprocess

    if shutil.which("fzn-gecode") is None:
        pytest.skip("the program fzn-gecode is not installed")
    path = directory / "problem.fzn"
    path.write_bytes(data)
    done = subprocess.run(["fzn-gecode", str(path)], check=True, capture_output=True, timeout=60)
    text = done.stdout.decode()
    if "=====UNSATISFIABLE=====" in text:
        return None
    assert text.rstrip().endswith("==========")
    values = dict(re.findall(r"(\w+) = (-?\d+);", text.split("----------")[-2]))
    value = int(values.pop("value"))
    return value, {name for name, number in values.items() if number == "1"}


def read_xcsp3(data: bytes) -> Answer:
    """Read variables, sums and the objective of XCSP3-core."""
    import xml.etree.ElementTree as ET

    from ortools.sat.python import cp_model

    root = ET.fromstring(data)
    assert root.attrib["format"] == "XCSP3"
    model, variables = cp_model.CpModel(), {}
    for var in root.find("variables"):
        low, _, high = var.text.strip().partition("..")
        variables[var.attrib["id"]] = model.new_int_var(int(low), int(high or low), "")

    def total(node):
        names, weights = node.find("list").text.split(), node.find("coeffs").text.split()
        return sum(int(w) * variables[name] for w, name in zip(weights, names, strict=True))

    for row in root.find("constraints"):
        assert row.tag == "sum"
        found = re.fullmatch(r"\((le|ge|eq),(-?\d+)\)", row.find("condition").text.strip())
        side, left = int(found[2]), total(row)
        model.add({"le": left <= side, "ge": left >= side, "eq": left == side}[found[1]])
    goals = root.findall("objectives/*")
    assert (root.attrib["type"] == "COP") == bool(goals)
    for goal in goals:
        assert goal.attrib["type"] == "sum"
        (model.minimize if goal.tag == "minimize" else model.maximize)(total(goal))
    return _cp_sat(model, variables)


def read(form: str, data: bytes, directory) -> Answer:
    if form in ("lp", "mps"):
        return read_highs(data, form, directory)
    if form == "minizinc":
        return read_minizinc(data, directory)
    others = {"flatzinc": read_flatzinc, "xcsp3": read_xcsp3}
    if form in others:
        return others[form](data)
    return {"wcnf": read_wcnf, "opb": read_opb, "cp-sat": read_cp_sat}[form](data)


def subsets(problem):
    """Yield every set of features that satisfies the constraints."""
    for size in range(problem.k + 1):
        for chosen in combinations(range(problem.n_features), size):
            if problem.evaluate(problem.explanation(chosen)).feasible:
                yield list(chosen)


def optimum(problem, encoding: str) -> int | None:
    """Return the best value over all sets; None without one."""
    form = problem.form()

    def value(chosen, size):
        met = form.agreement[:, chosen].sum(axis=1)
        return int(np.where(met >= size, form.cost_covered, form.cost_uncovered).sum())

    # Table 1 as printed may count against any size from |S| to k.
    sizes = range(problem.k + 1) if encoding == "table1-literal" else [None]
    values = [
        value(chosen, len(chosen) if size is None else size)
        for chosen, size in product(subsets(problem), sizes)
        if size is None or size >= len(chosen)
    ]
    return min(values, default=None)
