"""Machine code made with the package: loaded without Numba, and never the wrong one."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import cpx
from cpx import KMonomial, Samples
from cpx.backends.progress import InnerProgress, Progress
from cpx.backends.search import Search, objective
from cpx.backends.search.bounds import order_by
from cpx.compiled import kernel, machine_code
from cpx.compiled.kernel import Ints, Ints3, Kernel, Words
from cpx.compiled.machine_code import Level
from cpx.compiled.vectors import popcount
from cpx.errors import EngineError
from cpx.options import SolveOptions
from tests.compiled.compiling import compiled

INTS = np.array([3, 1, 2])
BLOCKED = "import sys; sys.modules['numba'] = None\n"


class Pair(NamedTuple):
    size: int
    items: Ints


def everything(
    table: Ints3, flags: kernel.Bools, pair: Pair, up: bool, factor: int, half: float
) -> tuple[int, bool, int]:
    """Take one argument of each kind, write to an array, and return both kinds of results."""
    total = 0
    for x in range(table.shape[0]):
        for y in range(table.shape[1]):
            for z in range(table.shape[2]):
                if flags[y]:
                    total += table[x, y, z] * (x + 1)
    for x in range(pair.size):
        pair.items[x] += factor if up else -factor
    return total + int(2 * half), up, pair.items.size


def any_above(items: Ints, least: int) -> bool:
    above = False
    for x in range(items.size):
        above |= items[x] > least
    return above


def count(words: Words, counts: Ints) -> None:
    for x in range(words.size):
        counts[x] = popcount(words[x])


def raising(x: int) -> int:
    if x < 0:
        raise ValueError("negative")
    return x


def allocating(n: int) -> int:
    return np.zeros(n).size


# ------------------------------------------------------------------ calls


@pytest.fixture(scope="module")
def own():
    return dict(zip(("everything", "any_above", "count"), compiled(everything, any_above, count)))


def test_all_kinds_of_arguments_and_results(own):
    call = own["everything"]
    rng = np.random.default_rng(0)
    table, flags = rng.integers(-9, 9, (2, 3, 4)), np.array([True, False, True])
    items = np.zeros(4, dtype=np.int64)
    expected = sum((x + 1) * int(table[x][flags].sum()) for x in range(2))
    assert call(table, flags, Pair(3, items), True, 5, 0.5) == (expected + 1, True, 4)
    found = call(table, flags, Pair(2, items), np.False_, np.int64(-1), -1.0)
    assert found == (expected - 2, False, 4)
    assert found[1] is False
    assert items.tolist() == [6, 6, 5, 0]
    assert call(table[:0], flags, Pair(0, items[:0]), True, 5, 0.0) == (0, True, 0)
    for least, above in ((2, True), (2**63 - 1, False), (-(2**63), True)):
        assert own["any_above"](INTS, least) is above


def test_popcounts(own):
    words = np.random.default_rng(0).integers(0, 2**64, 100, dtype=np.uint64, endpoint=False)
    words[:3] = 0, 1, 2**64 - 1
    counts = np.zeros(100, dtype=np.int64)
    own["count"](words, counts)
    assert counts.tolist() == [int(word).bit_count() for word in words]


def locked() -> np.ndarray:
    items = INTS.copy()
    items.flags.writeable = False
    return items


@pytest.mark.parametrize(
    "items",
    [INTS.astype(np.int32), INTS.astype(np.uint64), INTS / 2, INTS[:, None], INTS[::2], locked()],
    ids=["int32", "uint64", "float", "two axes", "strided", "read-only"],
)
def test_other_arrays_are_refused(items):
    with pytest.raises(TypeError, match=r"bounds\.order_by"):
        order_by(items, np.arange(3), 3)


@pytest.mark.parametrize(
    "arguments", [(), (1,), (INTS,), (INTS, 2.0), (INTS, 2**63), (INTS, 1, 1)]
)
def test_other_arguments_are_refused(own, arguments):
    with pytest.raises(TypeError, match="any_above"):
        own["any_above"](*arguments)


@pytest.mark.parametrize("function", [raising, allocating])
def test_kernels_that_raise_or_allocate_are_refused(function):
    with pytest.raises(ValueError, match="may allocate or raise"):
        compiled(function)


def test_bound_calls_see_what_the_arrays_hold_now(own):
    items = INTS.copy()
    call = own["any_above"].bind(items, 3)
    assert not call()
    items[1] = 4
    assert call()


def test_every_kernel_is_among_the_compiled_ones():
    package = Path(cpx.__file__).parent
    for folder in machine_code.FOLDERS:
        for path in (package / folder).glob("*.py"):
            if "@kernel" in path.read_text():
                import_module(f"cpx.{folder.replace('/', '.')}.{path.stem}")
    assert len(kernel.registered) > 30
    assert all(kernel.address_of(one.symbol) for one in kernel.registered)
    with pytest.raises(EngineError, match="nothing is not among"):
        kernel.address_of("nothing")


# -------------------------------------------------------------- without Numba

EXPLAINS = """
import cpx
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
X, y = load_iris(return_X_y=True, as_frame=True)
tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
assert cpx.explain(tree, X, X.iloc[70], k=2, time_limit=20).proved
"""

FINDS_A_REASON = """
from cpx import solve
from cpx.testing.minimum_subset import random_votes
for seed in range(3):
    result = solve(random_votes(seed, 7, 6), "hitting-sets")
    assert result.proved and result.verified, result
"""

SELECTS_RULES = """
from cpx import solve
from cpx.testing.rule_sets import random_selection
for seed in range(3):
    result = solve(random_selection(seed), "search")
    assert result.proved and result.verified, result
"""


def test_a_fresh_process_needs_no_numba():
    code = BLOCKED + FINDS_A_REASON + SELECTS_RULES + EXPLAINS
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "compiling" not in done.stderr


# ------------------------------------------------------------------- files


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Nothing is loaded, nothing is built, and two folders may have files."""
    places = [tmp_path / "built", tmp_path / "kept"]
    monkeypatch.setattr(machine_code, "BUILT", places[0])
    monkeypatch.setattr(machine_code, "_places", lambda: places)
    monkeypatch.setattr(kernel, "_loaded", [])
    monkeypatch.setattr(kernel, "seconds_compiling", 0.0)
    return places


@pytest.fixture
def fake(monkeypatch, elsewhere):
    """Compilation that takes no time; the levels that were compiled."""
    code, wanted = real_code(), []

    def compile_objects(folder, levels):
        time.sleep(0.3)
        for level in levels:
            wanted.append(level.name)
            (folder / machine_code.file_of(level)).write_bytes(code)

    monkeypatch.setattr(machine_code, "compile_objects", compile_objects)
    return wanted


def real_code() -> bytes:
    name = machine_code.file_of(machine_code.level())
    [path] = [path for place in REAL_PLACES if (path := place / name).exists()][:1]
    return path.read_bytes()


REAL_PLACES = machine_code._places()


def cost_of_five() -> int:
    """Call a kernel as a new process does."""
    values = np.zeros(1, dtype=np.int64)
    numbers = objective.Objective(alpha=3, beta=2, bad=1, good=1).numbers()
    one = np.ones(1, dtype=np.int64)
    Kernel(objective.costs.function)(numbers, one, one, values)
    return int(values[0])


def test_what_is_not_there_is_compiled_once_and_this_is_said(fake, elsewhere, capsys):
    assert cost_of_five() == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert "cpx: compiling once, about" in said.err
    assert machine_code.level().name in said.err
    assert fake == [machine_code.level().name]
    kernel._loaded.clear()
    assert cost_of_five() == 5
    assert len(fake) == 1
    assert capsys.readouterr().err == ""
    assert [len(list(place.iterdir())) for place in elsewhere if place.exists()] == [1]


def test_seconds_of_compilation_are_not_those_of_the_solve(fake):
    rows = np.random.default_rng(0).random((60, 6)) < 0.6
    problem = KMonomial(Samples(rows, rows[:, 0]), k=2)
    start = time.perf_counter()
    progress = Progress(problem, SolveOptions(time_limit=60))
    kernel.load()
    waited = time.perf_counter() - start
    assert len(fake) == 1
    assert 0.3 <= kernel.seconds_compiling <= waited
    inner = InnerProgress(problem, progress.options, progress)  # the same clock
    # One after the other, with any time between.
    looks = [progress.elapsed, 60 - progress.remaining, inner.elapsed, progress.elapsed]
    assert looks == sorted(looks)
    assert looks[-1] <= time.perf_counter() - start - kernel.seconds_compiling + 1e-6


def test_edited_sources_are_compiled_anew(fake, monkeypatch, capsys):
    assert cost_of_five() == 5
    kernel._loaded.clear()
    monkeypatch.setattr(machine_code, "_sources", lambda: "0" * 32)
    assert cost_of_five() == 5
    assert len(fake) == 2
    assert capsys.readouterr().err.count("compiling once") == 2


@pytest.mark.parametrize(
    ("module", "old", "new", "same"),
    [
        ("trees/sufficiency/boxes", "def total_of(", "def total_of_(", False),
        ("trees/sufficiency/boxes", '"""Boxes of', '"""The boxes of', True),
        ("trees/sufficiency/boxes", "from __future__", "\n# A comment.\nfrom __future__", True),
        ("backends/search/stack", "FIRST_WORDS =", "FIRST_WORDS = 1 *", False),
        ("backends/search/kernel_rules/rows", "inside_ends: Ints", "inside_end: Ints", False),
        ("backends/search/driver", "def ", "def _", True),
        ("compiled/build", "speed_level=level", "speed_level=0", False),
    ],
)
def test_only_the_code_that_kernels_are_made_from_counts(
    monkeypatch, tmp_path, module, old, new, same
):
    package = Path(cpx.__file__).parent
    for folder in machine_code.FOLDERS:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for path in (package / folder).glob("*.py"):
            (tmp_path / folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(machine_code, "_PACKAGE", tmp_path)
    digest = machine_code._sources.__wrapped__
    before = digest()
    changed = tmp_path / f"{module}.py"
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new, 1))
    assert (digest() == before) == same


def test_sources_are_all_that_kernels_are_made_from():
    sources = machine_code.sources()
    for folder in machine_code.FOLDERS:
        for path in (Path(cpx.__file__).parent / folder).glob("*.py"):
            text = path.read_text()
            if "\n@kernel\n" in text or "\n@subroutine\n" in text:
                imports = [node for node in ast.parse(text).body if type(node) is ast.ImportFrom]
                ours = {node.module for node in imports if node.module.startswith("cpx.")}
                ours.add(f"cpx.{folder.replace('/', '.')}.{path.stem}")
                assert ours <= sources.keys()


def test_only_docstrings_and_comments_are_left_out():
    """A source without them has the syntax tree of the source with ``...`` for a docstring."""

    class Docstrings(ast.NodeTransformer):
        def visit_Expr(self, node):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                node.value.value = ...
            return node

    for text in machine_code.sources().values():
        tree = Docstrings().visit(ast.parse(text))
        assert ast.dump(ast.parse(machine_code.code_only(text))) == ast.dump(tree)


@pytest.mark.parametrize(
    ("lacks", "name"),
    [
        ("", "x86-64-v4"),
        ("avx512vpopcntdq", "x86-64-v3"),
        ("bmi2", "x86-64-v2"),
        ("popcnt", "x86_64-baseline"),
    ],
)
def test_the_greatest_level_that_the_processor_has(monkeypatch, lacks, name):
    from llvmlite import binding

    features = {
        feature: feature != lacks for level in machine_code._X86 for feature in level.needs
    }
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(machine_code.platform, "machine", lambda: "x86_64")
    assert machine_code.level().name == name


def test_other_processors_have_one_level(monkeypatch):
    monkeypatch.setattr(machine_code.platform, "machine", lambda: "arm64")
    assert machine_code.levels() == (Level("arm64", "", "", ()),)
    assert machine_code.level().name == "arm64"


def test_where_nothing_can_be_written_code_is_in_memory(fake, elsewhere):
    for place in elsewhere:
        place.write_text("")  # a file where there should be a folder
    assert cost_of_five() == 5
    assert len(fake) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_files_of_others_are_not_trusted(fake, elsewhere, monkeypatch):
    elsewhere[0].write_text("")
    assert cost_of_five() == 5
    assert len(list(elsewhere[1].iterdir())) == 1
    kernel._loaded.clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cost_of_five() == 5
    assert len(fake) == 2


def test_places_are_the_package_and_folders_for_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    built, user = machine_code._places()
    assert built == machine_code.BUILT
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert machine_code._places() == [built, tmp_path / user.name, user]


def test_threads_compile_once(fake):
    results, start = [], threading.Barrier(8)

    def call():
        start.wait()
        results.append(cost_of_five())

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [5] * 8
    assert len(fake) == 1


def test_a_failed_compilation_is_an_error_of_the_engine(elsewhere, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "no compiler")
    monkeypatch.setattr(machine_code.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(EngineError, match="could not be compiled:\nno compiler"):
        cost_of_five()


@pytest.mark.slow
def test_the_real_compilation(elsewhere, capsys):
    Search.preload()
    assert cost_of_five() == 5
    assert "compiling once" in capsys.readouterr().err
    [path] = elsewhere[0].iterdir()
    assert path.name == machine_code.file_of(machine_code.level())
