"""What importing cpx costs: no engine is loaded before it is asked to solve."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import warnings

import pytest

import cpx
from cpx.backends.base import Backend
from cpx.support.renamed import MOVED_OUT, RENAMED

ENGINES = ("cpmpy", "ortools", "pysat", "pindakaas", "pulp", "highspy", "numba")
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


def test_no_module_outside_an_engine_loads_one() -> None:
    names = [m.name for m in pkgutil.walk_packages(cpx.__path__, "cpx.")]
    inside = [n for n in names if n.startswith("cpx.backends.") and n.count(".") > 2]
    # These are as good as inside: they are imported where something is solved or exported.
    left_out = {
        *inside,
        "cpx.backends.linear_program",
        "cpx.backends.normal_forms",
        "cpx.export.minizinc",
        "cpx.methods.column_generation.master",
    }
    # What compiles the kernels is imported by the build.
    left_out |= {"cpx.compiled.build", "cpx.compiled.instructions"}
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


@pytest.mark.parametrize("old", RENAMED)
def test_old_names_of_documented_modules_are_the_new_modules(old: str) -> None:
    with warnings.catch_warnings():
        # The package that it is in may have an old name as well, and tells of it the first time.
        warnings.simplefilter("ignore")
        importlib.import_module(old.rpartition(".")[0])
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {RENAMED[old]}"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(RENAMED[old])
    assert module.__spec__ is not None
    assert module.__spec__.name == RENAMED[old]


def test_modules_inside_a_renamed_package_are_no_copies() -> None:
    with pytest.warns(DeprecationWarning, match="rulesets"):
        from cpx.models.rulesets.form import RuleSelection
    from cpx.models.rule_set import form

    assert RuleSelection is form.RuleSelection


@pytest.mark.parametrize("name", MOVED_OUT)
@pytest.mark.parametrize("package", ["cpx.baselines", "cpx.methods.rule_learners"])
@pytest.mark.filterwarnings("ignore:cpx.baselines is now:DeprecationWarning")
def test_names_that_left_the_package_say_where_they_are(package: str, name: str) -> None:
    leaf = name.rpartition(".")[2]
    with pytest.raises(ImportError, match=f"{leaf} is no longer .* benchmarks.peers"):
        exec(f"from {package} import {leaf}")
    moved = importlib.import_module(MOVED_OUT[name])
    assert leaf == "peers" or callable(getattr(moved, leaf))


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("cpx.backends.search.max_weight", "heaviest", "max_weight_monomials"),
        ("cpx.backends.search.max_weight", "Heaviest", "MaxWeight"),
        ("cpx.methods.queries", "Asking", "QueryMethod"),
        ("cpx.methods.queries", "Questions", "CountedOracle"),
        ("cpx.check", "complaints", "violations"),
        ("cpx.check", "complaints_each", "violations_each"),
    ],
)
def test_old_names_of_documented_functions(module: str, old: str, new: str) -> None:
    found = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}") as warned:
        assert getattr(found, old) is getattr(found, new)
    assert [one.filename for one in warned] == [__file__]  # it is told where the name is used
    with pytest.raises(AttributeError, match="nothing"):
        _ = found.nothing


def test_old_names_of_the_attributes_of_backends() -> None:
    with pytest.warns(DeprecationWarning, match="is now") as warned:

        class Old(Backend):
            honours = frozenset({"seed"})
            encodes = False
            starts_alone = True

    assert [str(one.message).partition(";")[0] for one in warned] == [
        "Old.honours is now supported_options",
        "Old.encodes is now needs_model",
        "Old.starts_alone is now has_own_start",
    ]
    assert Old.supported_options == {"seed"}
    assert (Old.needs_model, Old.has_own_start) == (False, True)
    with pytest.warns(DeprecationWarning, match="Old.encodes is now needs_model"):
        assert Old.encodes is False
    assert Backend.needs_model is True
    assert Backend.supported_options == frozenset()
