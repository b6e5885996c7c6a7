"""What importing cpx costs: no engine is loaded before it is asked to solve."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys

import pytest

import cpx
from cpx.models import public
from cpx.support.families import public_names

ENGINES = ("cpmpy", "ortools", "pysat", "pindakaas", "pulp", "highspy")
HEAVY = (*ENGINES, "sklearn", "pandas", "scipy")


def _modules(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_import_loads_no_engine_and_nothing_heavy() -> None:
    assert not _modules("import cpx").intersection(HEAVY)


def test_no_name_loads_what_is_heavy_but_those_that_scikit_learn_must_know() -> None:
    estimators = {"Binarizer", "RuleSetClassifier"}
    code = f"import cpx\nfor n in set(cpx.__all__) - {estimators}: getattr(cpx, n)"
    assert not _modules(code).intersection(HEAVY)


def test_no_module_outside_an_engine_loads_one() -> None:
    names = [m.name for m in pkgutil.walk_packages(cpx.__path__, "cpx.")]
    inside = [n for n in names if n.startswith("cpx.backends.") and n.count(".") > 2]
    # These are as good as inside: they are imported where something is solved or exported.
    left_out = {
        *inside,
        "cpx.backends.linear_program",
        "cpx.backends.normal_forms",
        "cpx.export.latex",
        "cpx.export.minizinc",
        "cpx.modelling.blocks",
        "cpx.modelling.literals",
        "cpx.models.rule_set.methods.column_generation.master",
    }
    wanted = [n for n in names if n not in left_out and not n.endswith("__main__")]
    assert len(wanted) > 250
    loaded = _modules(f"import {', '.join(wanted)}")
    assert loaded.issuperset(wanted)
    assert not loaded.intersection(ENGINES)


def test_listing_backends_loads_no_engine() -> None:
    code = "import cpx.backends as b\nfor n in b.names(): b.backend_class(n).available()"
    assert not _modules(code).intersection(ENGINES)


def test_compare_is_a_function_in_its_package() -> None:
    code = "import cpx.compare as c\nassert not isinstance(c.compare, type(c)), c.compare"
    assert "cpx.compare.run" in _modules(code)


def _cpu() -> float:
    """Processor time of finished child processes: other work on the machine does not count."""
    spent = os.times()
    return spent.children_user + spent.children_system


def test_import_is_fast() -> None:
    def seconds(code: str) -> float:
        times = []
        for _ in range(5):
            start = _cpu()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(_cpu() - start)
        return min(times)

    assert seconds("import cpx") - seconds("pass") < 0.2


def test_a_name_of_a_room_says_which() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Binarizer'; cpx.data has it"):
        _ = cpx.Binarizer
    with pytest.raises(AttributeError, match=r"no attribute 'NegativeOnly'; cpx.models has it"):
        _ = cpx.NegativeOnly
    assert cpx.models.NegativeOnly.kind == "negative-only"
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        _ = cpx.nothing


def test_public_names_are_few_and_checkers_of_types_know_them() -> None:
    assert len(cpx.__all__) <= 23
    assert set(cpx.__all__) <= set(dir(cpx))
    assert sorted(public.__all__) == sorted(dict(public_names()))
    assert all(getattr(cpx, name) is getattr(public, name) for name in public.__all__)
