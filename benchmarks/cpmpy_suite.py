"""CPMpy's own tests, run on ``CPM_pulp``: every constraint it generates, the interface, hints.

The tests are those of the installed version's source distribution, fetched with pip, or those in
the folder that the environment variable CPX_CPMPY_TESTS names. CPX_CPMPY_SOLVERS has the solvers,
``pulp:highs`` and ``pulp:cbc`` by default, and CPX_CPMPY_EVERY = N takes every N-th test of each
file. This module is also the pytest plugin that gives the tests what CPMpy's own set-up gives
them: the fixture ``solver``, the marker ``generate_constraints`` and the module ``utils``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.tables import show

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = ("test_constraints.py", "test_solverinterface.py", "test_solveAll.py",
         "test_solvers_solhint.py")  # fmt: skip
SOLVERS = os.environ.get("CPX_CPMPY_SOLVERS", "pulp:highs,pulp:cbc").split(",")
EVERY = int(os.environ.get("CPX_CPMPY_EVERY", "1"))
PLUGIN = "benchmarks.cpmpy_suite"
OUTCOMES = ("passed", "failed", "skipped")


def main() -> None:
    """Print one line per solver and file, and name the tests that fail."""
    with _tests() as folder:
        if folder is None:
            print("cpmpy_suite: skipped, pip cannot fetch the sources of cpmpy", file=sys.stderr)
            return
        failures: list[str] = []
        title = f"the tests of CPMpy {version('cpmpy')} on CPM_pulp"
        rows = (_line(folder, name, solver, failures) for solver in SOLVERS for name in FILES)
        show(f"{title}{f', every {EVERY}th' * (EVERY > 1)}",
             ["solver", "file", "tests", *OUTCOMES], rows)  # fmt: skip
    for failure in failures:
        print(f"failed: {failure}")


@contextmanager
def _tests() -> Iterator[Path | None]:
    """Yield the folder of the tests; None when they are not to be had."""
    given = os.environ.get("CPX_CPMPY_TESTS")
    if given is not None:
        yield Path(given).resolve()
        return
    with tempfile.TemporaryDirectory() as place:
        wanted = f"cpmpy=={version('cpmpy')}"
        asked = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
        done = subprocess.run([*asked, "-q", "-d", place, wanted], check=False)
        archives = list(Path(place).glob("cpmpy-*.tar.gz"))
        if done.returncode or not archives:
            yield None
            return
        with tarfile.open(archives[0]) as archive:
            archive.extractall(place, filter="data")
        yield next(Path(place).glob("cpmpy-*/tests"))


def _line(folder: Path, name: str, solver: str, failures: list[str]) -> list[object]:
    """Run one file of tests in a process of its own, and count what became of them."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        # Nothing of the tests' own set-up, or of ours, but this module.
        command = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "--noconftest",
                   "-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider",
                   "--tb", "line", f"--junitxml={report}", str(folder / name)]  # fmt: skip
        root = Path(__file__).parents[1]
        env = {**os.environ, "CPX_CPMPY_SOLVER": solver, "PYTHONPATH": str(root)}
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
        if not report.exists() or done.returncode not in (0, 1):
            raise RuntimeError(f"pytest failed on {name}:\n{done.stdout}{done.stderr}")
        counts: Counter[str] = Counter()
        for case in ET.parse(report).iter("testcase"):
            wrong = case.find("failure") if case.find("error") is None else case.find("error")
            skipped = case.find("skipped") is not None
            counts["skipped" if skipped else "passed" if wrong is None else "failed"] += 1
            if wrong is not None:
                told = (wrong.get("message") or "").splitlines() or [""]
                failures.append(f"{solver}, {case.get('name')}: {told[0]}")
    return [solver, name, counts.total(), *(counts[outcome] for outcome in OUTCOMES)]


# ------------------------------------------------------------------ the plugin


def pytest_configure(config: pytest.Config) -> None:
    """Make the solver known to CPMpy, and helpers to the tests."""
    from cpmpy import SolverLookup

    from cpx.backends.milp.pulp_solver import CPM_pulp

    config.addinivalue_line("markers", "generate_constraints: of the tests of CPMpy")
    config.addinivalue_line("markers", "requires_solver: of the tests of CPMpy")
    theirs = SolverLookup.base_solvers()
    SolverLookup.base_solvers = classmethod(lambda cls: [*theirs, ("pulp", CPM_pulp)])
    helpers = ModuleType("utils")
    helpers.skip_on_missing_pblib = _as_it_is
    sys.modules["utils"] = helpers


def _as_it_is(**_: Any) -> Callable[[Any], Any]:
    return lambda test: test


@pytest.fixture
def solver(request: pytest.FixtureRequest) -> str:
    """The solver that the tests are run on."""
    name = os.environ["CPX_CPMPY_SOLVER"]
    if request.cls is not None:
        request.cls.solver = name
    return name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test the constraints that its marker generates for the solver."""
    marker = metafunc.definition.get_closest_marker("generate_constraints")
    if marker is not None:
        constraints = list(marker.args[0](os.environ["CPX_CPMPY_SOLVER"]))
        metafunc.parametrize("constraint", constraints, ids=str)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take every N-th test."""
    items[:] = items[::EVERY]


if __name__ == "__main__":
    main()
