"""Kernels: their calls, and the library that they are in; never the wrong one."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from cpx.compiled import kernel, library, tables
from cpx.compiled.kernel import Ints, Ints3, Words
from cpx.errors import EngineError, EngineMissing
from cpx.models.monomial.search.bounds import order_by
from tests.compiled.compiling import COMPILER, ROOT, compiled

INTS = np.array([3, 1, 2])


class Pair(NamedTuple):
    size: int
    items: Ints


def everything(
    table: Ints3, flags: kernel.Bools, pair: Pair, up: bool, factor: int, half: float
) -> tuple[int, bool, int]:
    """Take one argument of each kind, write to an array, and return both kinds of results."""


def any_above(items: Ints, least: int) -> bool: ...


def arithmetic(a: int, b: int) -> tuple[int, int, int]: ...


def popcounts_of(words: Words, counts: Ints, by_vectors: Ints) -> None: ...


# ------------------------------------------------------------------ calls


@cache
def own(flags: str = ""):
    functions = everything, any_above, arithmetic, popcounts_of
    made = compiled(*functions, flags=flags.split())
    return {one.function.__name__: one for one in made}


def test_all_kinds_of_arguments_and_results():
    call = own()["everything"]
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
        assert own()["any_above"](INTS, least) is above


def test_arithmetic_is_that_of_python():
    ends = [-(2**63), -(2**62) - 1, -7, -3, -1, 0, 1, 2, 3, 8, 2**40, 2**63 - 1]
    for a in ends:
        for b in (x for x in ends if x != 0 and (a, x) != (-(2**63), -1)):
            assert own()["arithmetic"](a, b) == (a // b, min(a, b), max(a, b))


@pytest.mark.parametrize("flags", ["", "-mssse3", "-mavx2", "-march=native", "-DONE_BY_ONE"])
def test_popcounts(flags):
    if flags.startswith("-m") and not supported(flags):
        pytest.skip(f"not for this processor: {flags}")
    words = np.random.default_rng(0).integers(0, 2**64, 104, dtype=np.uint64, endpoint=False)
    words[:3] = 0, 1, 2**64 - 1
    counts = np.zeros((2, 104), dtype=np.int64)
    own(flags)["popcounts_of"](words, *counts)
    assert counts.tolist() == [[int(word).bit_count() for word in words]] * 2


def supported(flags: str) -> bool:
    lines = Path("/proc/cpuinfo")
    return flags == "-march=native" or (lines.exists() and flags[2:] in lines.read_text())


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
    with pytest.raises(TypeError, match=r"bounds_order_by"):
        order_by(items, np.arange(3), 3)


@pytest.mark.parametrize(
    "arguments", [(), (1,), (INTS,), (INTS, 2.0), (INTS, 2**63), (INTS, 1, 1)]
)
def test_other_arguments_are_refused(arguments):
    with pytest.raises(TypeError, match="any_above"):
        own()["any_above"](*arguments)


def test_bound_calls_see_what_the_arrays_hold_now():
    items = INTS.copy()
    call = own()["any_above"].bind(items, 3)
    assert not call()
    items[1] = 4
    assert call()


def test_threads_may_make_the_first_call_at_once():
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n" + FIRST_CALLS
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


FIRST_CALLS = """
import threading
import numpy as np
from cpx.models.monomial.search.bounds import order_by
results, start = [], threading.Barrier(8)
def call():
    items = np.arange(3)
    start.wait()
    order_by(np.array([3, 1, 2]), items, 3)
    results.append(items.tolist())
threads = [threading.Thread(target=call) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert results == [[1, 2, 0]] * 8
"""


# ----------------------------------------------------------------- tables


def test_the_declarations_in_c_are_those_in_python():
    """Run python -m cpx.compiled.tables after a change of a declaration."""
    made = tables.headers(tables.all_kernels())
    assert len(made) > 4
    for path, text in made.items():
        assert path.read_text() == text, path


def words_of(one: kernel.Kernel) -> int:
    """Return the words of a table: of numbers and results one, of arrays one and their lengths."""
    kinds = [kind for kind in one._kinds if not hasattr(kind, "_fields")]
    return len(one._convert) + sum(kind if isinstance(kind, int) else 1 for kind in kinds)


def test_the_sources_are_standard_c_outside_of_the_ground():
    """Microsoft's compiler takes them: what only GCC and Clang know has another way beside it."""
    sources = sorted((ROOT / "cpx").rglob("*.[ch]"))
    own = re.compile(r"__(builtin|attribute|asm|typeof|extension)")
    assert {path.parent.name for path in sources if own.search(path.read_text())} == {"compiled"}
    if COMPILER is None or sys.platform == "win32":
        pytest.skip("no C compiler")
    strict = ["-std=c11", "-pedantic-errors", "-Werror=vla", "-DONE_BY_ONE", '-DCPX_SOURCES="x"']
    files = [str(path) for path in sources if path.suffix == ".c"]
    subprocess.run([COMPILER, "-fsyntax-only", *strict, f"-I{ROOT}", *files], check=True)


def test_every_kernel_is_in_the_library_with_its_table():
    made = tables.all_kernels()
    assert len(made) > 30
    for one in made:
        size = words_of(one)
        assert library.entry_of(one.symbol, size)
        with pytest.raises(EngineError, match=f"the table of {one.symbol} has {size} words in C"):
            library.entry_of(one.symbol, size + 1)
    with pytest.raises(EngineError, match="nothing is not among"):
        library.entry_of("nothing", 1)


def test_python_and_c_have_the_same_lanes():
    header = Path(kernel.__file__).with_name("vectors.h").read_text()
    assert f"#define LANES {kernel.LANES}\n" in header


# ---------------------------------------------------------------- library


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Nothing is loaded, and the library is looked for in a folder that is empty."""
    (tmp_path / "compiled").mkdir()
    monkeypatch.setattr(library, "_PACKAGE", tmp_path)
    for function in (library._library, library.load):
        function.cache_clear()
    yield tmp_path / "compiled"
    for function in (library._library, library.load):
        function.cache_clear()


def test_without_a_library_its_absence_is_told_with_what_to_do(elsewhere):
    assert not library.has_kernels()
    with pytest.raises(EngineMissing, match="C compiler"):
        library.entry_of("cpx_models_monomial_search_bounds_order_by", 5)


def test_a_library_that_was_made_from_other_sources_is_refused(elsewhere):
    for path in Path(library.__file__).parent.glob("kernels.*.so"):
        (elsewhere / path.name).write_bytes(path.read_bytes())
    assert library.load()  # without sources beside it, as in a wheel
    (elsewhere / "edited.c").write_text("")
    library.load.cache_clear()
    with pytest.raises(EngineError, match="made from other sources"):
        library.load()


def test_libraries_of_levels_that_this_processor_has_not_are_passed_over(elsewhere, monkeypatch):
    class Library:
        def __init__(self, path):
            self.level = Path(path).stem.removeprefix("kernels.")

        def cpx_runs_here(self):
            return self.level in ("any", "v2", "v3")

    for level in ("v3", "any", "v4", "v2"):
        (elsewhere / f"kernels.{level}.so").write_text("")
    monkeypatch.setattr(library.ctypes, "CDLL", Library)
    assert library._library().level == "v3"


WITHOUT = """
from cpx.compiled import library
library._PACKAGE = library._PACKAGE / "none"
import cpx
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
X, y = load_iris(return_X_y=True, as_frame=True)
tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
rule = cpx.explain(tree, X, X.iloc[70], k=2, time_limit=20)
assert rule.proved and rule.result.backend == "cpsat", rule.result
explainer = cpx.Explainer(tree, X)
assert explainer.explain(X.iloc[70], k=2).proved
assert cpx.explain(tree, X, 70, kind="reason").proved
problem = explainer.problem(X.iloc[70], k=2)
assert cpx.solve(problem).proved
try:
    cpx.solve(problem, "search")
except cpx.errors.EngineMissing as error:
    print(error)
"""


def test_without_kernels_the_other_engines_answer():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "backend 'search' is not there" in done.stdout
    assert "C compiler" in done.stdout
