"""Readers of exported files that share no code with the writers, and brute force.

Each reader takes the bytes of a file and returns the optimal value of the file and the
names of its true variables, or None where the file has no solution.
"""

import re
from itertools import combinations, product

import numpy as np

Answer = tuple[int, set[str]] | None


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
    header = re.fullmatch(
        r"\* #variable= (\d+) #constraint= (\d+) #equal= (\d+) intsize= (\d+)", lines[0]
    )
    assert header
    n_variables, n_constraints, n_equal, intsize = map(int, header.groups())
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
            assert sum(abs(w) for w, _ in terms) + abs(constant) < 2**intsize
    assert len(rows) == n_constraints
    assert sum(operator == "=" for _, operator, _ in rows) == n_equal
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


def read(form: str, data: bytes, directory) -> Answer:
    if form in ("lp", "mps"):
        return read_highs(data, form, directory)
    return {"wcnf": read_wcnf, "opb": read_opb, "cp-sat": read_cp_sat}[form](data)


def subsets(problem):
    """Yield every set of features that satisfies the constraints."""
    for size in range(problem.k + 1):
        for chosen in combinations(range(problem.n_features), size):
            if problem.evaluate(problem.explanation(chosen)).feasible:
                yield list(chosen)


def optimum(problem, encoding: str) -> int | None:
    """Return the best value over all sets; None without one."""
    form = problem.search_form()

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
