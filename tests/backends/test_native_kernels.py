"""Machine code from a file: the same results as Numba's, and never the wrong code."""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

from cpx import KMonomial, Samples, best_rules, solve
from cpx.backends import backend
from cpx.backends.search import Search, bounds, cache, compiling, jit
from cpx.backends.search import bitsets as bits
from cpx.backends.search import objective as goal
from cpx.errors import EngineError

INTS = np.array([3, 1, 2])


class Pair(NamedTuple):
    size: int
    items: np.ndarray


@jit.kernel
def everything(table, flags, pair, up, factor):
    """Take one argument of each kind, write to an array, and return two kinds of results."""
    total = 0
    for x in range(table.shape[0]):
        for y in range(table.shape[1]):
            for z in range(table.shape[2]):
                if flags[y]:
                    total += table[x, y, z] * (x + 1)
    for x in range(pair.size):
        pair.items[x] += factor if up else -factor
    return total, up, pair.items.size


@jit.kernel
def any_above(items, least):
    above = False
    for x in range(items.size):
        above |= items[x] > least
    return above


@jit.kernel
def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x


@jit.kernel
def half(x):
    return x / 2


@jit.kernel
def factorial(x):
    return int(math.gamma(x + 1))


def forbid_numba(monkeypatch):
    """Make calls that need Numba an error from now on."""

    def refuse(*arguments, **options):
        raise AssertionError(f"compiled anew: {arguments}")

    monkeypatch.setattr(compiling, "compile_native", refuse)
    monkeypatch.setattr(jit.Kernel, "dispatcher", property(refuse))


@pytest.fixture
def place(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "places", lambda: [tmp_path])
    return tmp_path


def fresh(kernel):
    """Return a kernel as a new process sees it."""
    return jit.Kernel(kernel.function)


def cost_of_five():
    return fresh(goal.cost)(goal.Goal(alpha=3, beta=2, bad=1, good=1).numbers(), 1, 1)


# ------------------------------------------------------------------ calls


def test_all_kinds_of_arguments_and_results(monkeypatch):
    monkeypatch.setattr(jit.Kernel, "dispatcher", None)
    rng = np.random.default_rng(0)
    table, flags = rng.integers(-9, 9, (2, 3, 4)), np.array([True, False, True])
    items = np.zeros(4, dtype=np.int64)
    expected = sum((x + 1) * int(table[x][flags].sum()) for x in range(2))
    assert everything(table, flags, Pair(3, items), True, 5) == (expected, True, 4)
    assert everything(table, flags, Pair(2, items), np.False_, np.int64(-1)) == (
        expected,
        False,
        4,
    )
    assert items.tolist() == [6, 6, 5, 0]
    assert everything(table[:0], flags, Pair(0, items[:0]), True, 5) == (0, True, 0)
    result = any_above(INTS, 2)
    assert result is True
    assert any_above(INTS, 2**63 - 1) is False
    assert any_above(INTS, -(2**63)) is True


@pytest.mark.parametrize(
    "items",
    [
        INTS.astype(np.int32),
        INTS.astype(np.uint64),
        INTS.astype(float),
        INTS.astype(float) / 2,
        np.repeat(INTS, 3)[::3],
        INTS[::-1],
        (1, 2, 3),
    ],
    ids=["int32", "uint64", "float", "half", "strided", "reversed", "tuple"],
)
def test_other_kinds_of_arguments_have_code_of_their_own(items):
    top = bounds.order_by.function
    keys = np.array([5, 6, 7, 8]) if isinstance(items, tuple) else items
    expected, kept = np.arange(3), np.arange(3)
    top(keys, expected, 3)
    bounds.order_by(keys, kept, 3)
    assert kept.tolist() == expected.tolist()


def test_read_only_arrays_and_large_numbers_go_to_numba():
    locked = INTS.copy()
    locked.flags.writeable = False
    assert any_above(locked, 2) is True
    assert any_above(INTS.astype(np.uint64), 2**64 - 1) is False
    with pytest.raises(TypeError):
        any_above(INTS)


def test_a_kernel_that_raises_is_told():
    assert checked(3) == 3
    with pytest.raises(EngineError, match="checked failed with status"):
        checked(-1)


def test_what_a_table_cannot_return_is_left_to_numba():
    assert half(3) == 1.5
    assert factorial(5) == 120


def test_bound_calls_see_what_the_arrays_hold_now():
    items = INTS.copy()
    call = jit.bind(any_above, items, 3)
    assert not call()
    items[1] = 4
    assert call()


class Recorder:
    """The first arguments that each kernel is called with."""

    def __init__(self, monkeypatch):
        self.calls = {}
        bind = jit.Kernel.bind

        def recording(kernel, *arguments):
            if kernel.function.__name__ not in self.calls:
                self.calls[kernel.function.__name__] = kernel, copy.deepcopy(arguments)
            return bind(kernel, *arguments)

        monkeypatch.setattr(jit.Kernel, "bind", recording)


def random_problem(seed: int = 0) -> KMonomial:
    rng = np.random.default_rng(seed)
    agreement = rng.random((200, 14)) < 0.6
    same = rng.random(200) < 0.3
    return KMonomial(Samples(agreement, same, weights=rng.integers(1, 4, 200)), k=5)


@pytest.mark.slow
def test_every_kernel_of_a_search_does_what_numba_makes_of_it(monkeypatch):
    recorder = Recorder(monkeypatch)
    solve(random_problem(), "search")
    best_rules(random_problem(), 3)
    calls = dict(recorder.calls)
    assert {"branch", "look_ahead", "collect", "_beam", "dominance", "count"} <= set(calls)
    for name, (kernel, arguments) in calls.items():
        natively, by_numba = copy.deepcopy(arguments), copy.deepcopy(arguments)
        assert kernel(*natively) == kernel.dispatcher(*by_numba), name
        for one, other in zip(natively, by_numba, strict=True):
            np.testing.assert_equal(one, other, err_msg=name)


def test_no_call_of_a_search_needs_numba(monkeypatch):
    Search.preload()
    forbid_numba(monkeypatch)
    for seed in range(5):
        assert solve(random_problem(seed), "search").proved


# ------------------------------------------------------------------ files


def test_a_second_process_needs_no_numba():
    Search.preload()
    code = (
        "import sys, numpy as np; from cpx import KMonomial, Samples, solve;"
        "r = solve(KMonomial(Samples(np.eye(3, dtype=bool), [1, 0, 0]), k=1), 'search');"
        "assert r.objective == 0, r;"
        "assert 'llvmlite' in sys.modules and not {'numba', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_after_preload_sets_of_rules_and_reasons_load_nothing():
    engines = "search", "column-generation", "hitting-sets"
    for engine in engines:
        backend(engine).preload()
    code = (
        "import sys; from cpx import solve; from cpx.backends import backend;"
        "from cpx.backends.search.jit import Kernel;"
        "from cpx.testing.rule_sets import random_selection;"
        "from cpx.testing.smallest import random_votes;"
        f"[backend(engine).preload() for engine in {engines}];"
        "Kernel._code = None;"
        "assert all(solve(random_selection(seed), 'search').verified for seed in range(3));"
        "reasons = [random_votes(seed, 7, 6) for seed in range(3)];"
        "assert all(solve(reason, 'hitting-sets').verified for reason in reasons);"
        "assert 'llvmlite' in sys.modules and 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_code_is_read_from_its_file(place, monkeypatch):
    assert cost_of_five() == 5
    forbid_numba(monkeypatch)
    [path] = place.iterdir()
    assert path.name.startswith("price-")
    assert cost_of_five() == 5
    with pytest.raises(AssertionError, match="compiled anew"):
        fresh(goal.rank)(goal.Goal().numbers(), 1, 1)


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "text", "other"])
def test_damaged_and_foreign_files_are_replaced(place, damage):
    cost_of_five()
    [path] = place.iterdir()
    whole = path.read_bytes()
    if damage == "other":
        fresh(goal.rank)(goal.Goal().numbers(), 1, 1)
        [other] = set(place.iterdir()) - {path}
        wrong = other.read_bytes()
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        wrong = {"empty": b"", "short": whole[:-1], "flipped": flipped, "text": b"#!/bin/sh\n"}[
            damage
        ]
    path.write_bytes(wrong)
    assert cost_of_five() == 5
    entry = cache.Entry(path.name, cache_key(goal.cost))
    assert entry.read() is not None


def cache_key(kernel):
    kinds, _ = jit.pack((goal.Goal().numbers(), 1, 1))
    return cache.entry(kernel.function, kinds).key


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_files_of_others_are_not_trusted(place, monkeypatch):
    cost_of_five()
    [path] = place.iterdir()
    entry = cache.Entry(path.name, cache_key(goal.cost))
    assert entry.read() is not None
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert entry.read() is None


def test_where_nothing_can_be_written_code_is_in_memory(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    second = tmp_path / "second"
    monkeypatch.setattr(cache, "places", lambda: [tmp_path / "file" / "cache"])
    assert cost_of_five() == 5
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    monkeypatch.setattr(cache, "places", lambda: [tmp_path / "file" / "cache", second])
    assert cost_of_five() == 5
    assert len(list(second.iterdir())) == 1


@pytest.mark.parametrize("what", ["_sources", "_surroundings"])
def test_other_sources_or_another_compiler_are_another_file(place, monkeypatch, what):
    entry = cache.entry(goal.cost.function, ("int",))
    other = "0" * 64 if what == "_sources" else lambda: ["another"]
    monkeypatch.setattr(cache, what, other)
    changed = cache.entry(goal.cost.function, ("int",))
    assert changed.name != entry.name
    assert changed.key != entry.key


def test_code_of_older_sources_is_removed_and_of_newer_ones_not_kept(place, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_sources", "0" * 64)
        patch.setattr(cache, "_hash_sources", lambda: "0" * 64)
        cost_of_five()
        [old] = place.iterdir()
        # The sources are edited while the process runs.
        patch.setattr(cache, "_hash_sources", lambda: "1" * 64)
        fresh(goal.rank)(goal.Goal().numbers(), 1, 1)
        assert list(place.iterdir()) == [old]
    (place / "another.file").write_text("stays")
    cost_of_five()
    names = sorted(path.name for path in place.iterdir())
    assert len(names) == 2
    assert old.name not in names
    assert names[0] == "another.file"


@pytest.mark.parametrize("what", ["_sources", "_surroundings"])
def test_without_sources_or_the_version_of_numba_nothing_is_kept(place, monkeypatch, what):
    monkeypatch.setattr(cache, what, None if what == "_sources" else lambda: None)
    assert cost_of_five() == 5
    assert not list(place.iterdir())


def test_kernels_of_other_packages_are_not_kept(place):
    assert fresh(any_above)(INTS, 2) is True
    assert not list(place.iterdir())


def test_places_are_those_of_numba(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    beside, user = cache.places()
    assert beside.name == "__pycache__"
    assert (beside.parent / "cache.py").exists()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert cache.places() == [tmp_path / user.name, beside, user]


# ------------------------------------------------------- several at once

TWO = """
import sys
from pathlib import Path
from cpx.backends.search import cache, goal
cache.places = lambda: [Path(sys.argv[1])]
assert goal.cost(goal.Goal(alpha=3, beta=2, bad=1, good=1).numbers(), 1, 1) == 5
print('numba' in sys.modules)
"""


def test_two_processes_compile_at_once(tmp_path):
    command = [sys.executable, "-c", TWO, str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, _ = process.communicate()
        assert process.returncode == 0
        assert out.strip() in ("True", "False")
    assert len(list(tmp_path.iterdir())) == 1
    third = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert third.stdout.strip() == "False"


def test_threads_compile_once(place, monkeypatch):
    kernel, compiled, results = fresh(bits.stride_of), [], []
    once = compiling.compile_native

    def counting(*arguments):
        compiled.append(arguments)
        return once(*arguments)

    monkeypatch.setattr(compiling, "compile_native", counting)
    start = threading.Barrier(8)

    def call(n):
        start.wait()
        results.append(kernel(n, 0) == -(-n // 8) * 8)

    threads = [threading.Thread(target=call, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
    assert len(compiled) == 1
