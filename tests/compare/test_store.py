from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import cpx
from cpx.answers.result import Status, Termination
from cpx.compare import Comparison, Run, store
from cpx.compare.records import Skipped
from cpx.compare.store import Stored, Writer
from cpx.errors import CpxError, InvalidInstance, OutputError
from tests.processor_time import processor_seconds

from .helpers import run, tiny


def _runs(n: int) -> list[Run]:
    return [
        run("FEASIBLE", 7 + i, 3, name=f"i{i % 3}", backend="milp", options={"seed": i})
        for i in range(n)
    ]


def _write(folder: Path, runs: list[Run], **more: object) -> None:
    writer = Writer(folder, {"plan": "p"}, **more)
    for place, one in enumerate(runs):
        writer.add(one, place)
    writer.close()


def test_lines_are_only_added_and_read_in_the_order_of_the_plan(tmp_path: Path) -> None:
    a, b, c = _runs(3)
    writer = Writer(tmp_path, {"plan": "p"})
    writer.add(c, 2)
    before = (tmp_path / store.NAME).read_bytes()
    writer.add(a, 0)
    assert (tmp_path / store.NAME).read_bytes().startswith(before)
    # Readers need no leave.
    assert store.read(tmp_path).runs == (a, c)
    writer.add(b, 1)
    writer.close()
    found = store.read(tmp_path)
    assert found.runs == (a, b, c)
    assert not found.complete


@pytest.mark.parametrize("cut", [1, 10, 200, -1])
def test_a_last_line_that_was_cut_short_is_no_line(tmp_path: Path, cut: int) -> None:
    a, b, c = _runs(3)
    _write(tmp_path, [a, b])
    path = tmp_path / store.NAME
    whole = path.read_bytes()
    last = json.dumps({"run": c.to_dict(), "place": 2}).encode()
    path.write_bytes(whole + last[:cut])
    assert store.read(tmp_path).runs == (a, b)
    _write(tmp_path, [c], resume=True)
    assert path.read_bytes().startswith(whole)
    found = store.read(tmp_path).runs
    assert len(found) == 3
    assert all(one in found for one in (a, b, c))


def test_a_line_in_the_middle_is_never_skipped(tmp_path: Path) -> None:
    _write(tmp_path, _runs(2))
    path = tmp_path / store.NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:30] + b"\n", lines[2]]))
    with pytest.raises(InvalidInstance, match=r"runs\.jsonl, line 2: no JSON"):
        Comparison.load(tmp_path)
    with pytest.raises(InvalidInstance, match="line 2"):
        Writer(tmp_path, {}, resume=True)


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    for text, message in (
        ('{"run": 3}\n', "line 1"),
        ('{"session": {}}\n', "format"),
        ('{"format": "cpx-runs", "version": 2, "session": {}}\n', "version 2"),
        ('{"format": "cpx-runs", "version": 1, "session": []}\n', "object"),
        ("[]\n", "not an object"),
        ("{}\n", "neither a run nor a session"),
    ):
        (tmp_path / store.NAME).write_text(text)
        with pytest.raises(InvalidInstance, match=message):
            store.read(tmp_path)
    (tmp_path / store.NAME).write_bytes(b"\xff\n")
    with pytest.raises(InvalidInstance, match="line 1"):
        store.read(tmp_path)


@pytest.mark.parametrize("wrong", ["OPTIMAL", [1.5], True])
@pytest.mark.parametrize("name", ["load", "cores", "memory"])
def test_loads_and_cores_of_machines_are_numbers(name: str, wrong: object) -> None:
    (one,) = _runs(1)
    data = replace(one, machine={"load": 1.5, "cores": 2}).to_dict()
    assert Run.from_dict(data).machine["cores"] == 2
    data["machine"][name] = wrong
    with pytest.raises(InvalidInstance, match=f"the {name} of a machine must be a number"):
        Run.from_dict(data)


def test_each_experiment_is_counted_once(tmp_path: Path) -> None:
    (one,) = _runs(1)
    failed = replace(one, result=replace(one.result, status=Status.ERROR))
    cut = replace(one, result=replace(one.result, termination=Termination.INTERRUPTED))
    again = replace(one, result=replace(one.result, objective=99))
    _write(tmp_path, [failed, cut, one, again, failed])
    assert store.read(tmp_path).runs == (one,)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    writer = Writer(tmp_path, {"plan": "p", "pid": 77, "host": "there"})
    with pytest.raises(OutputError, match="in use: process 77 on 'there' has it"):
        Writer(tmp_path, {}, resume=True)
    code = f"from cpx.compare.store import Writer; Writer({str(tmp_path)!r}, {{}}, True)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "is in use" in done.stderr
    writer.close()
    Writer(tmp_path, {}, resume=True).close()


def test_completeness_and_shards(tmp_path: Path) -> None:
    for shards, complete in (
        ((), False), (("1/1",), True), (("1/2",), False), (("1/2", "2/2"), True),
        (("1/3", "2/3", "2/2"), False), (("0/0", "x", "/"), False),
    ):  # fmt: skip
        stored = Stored(sessions=[{"plan": "p"}], done={("p", shard) for shard in shards})
        assert stored.complete is complete
        assert not Stored(sessions=[{"plan": "q"}], done=stored.done).complete


def test_shards_merge_to_the_whole(tmp_path: Path) -> None:
    problems = {"a": tiny(), "b": tiny(k=2)}
    asked = {"backends": "maxsat,cpsat", "seeds": range(3), "time_limit": 30}
    whole = cpx.compare(problems, output=tmp_path / "whole", **asked)
    parts = [tmp_path / f"part{i}" for i in (1, 2, 3)]
    for i, part in enumerate(parts, start=1):
        found = cpx.compare(problems, output=part, shard=f"{i}/3", **asked)
        assert len(found.runs) == 4
        assert found.complete  # all of what was asked
    merged = Comparison.merge(parts, tmp_path / "merged")
    assert [run.key for run in merged.runs] == [run.key for run in whole.runs]
    assert merged.complete
    assert whole.complete
    assert not Comparison.merge(parts[:2], tmp_path / "two").complete
    # One that is there twice counts once.
    again = Comparison.merge([*parts, tmp_path / "merged", parts[0]], tmp_path / "again")
    assert again.runs == merged.runs
    with pytest.raises(OutputError, match="has results already"):
        Comparison.merge(parts, tmp_path / "merged")
    assert (tmp_path / "merged" / "results.csv").read_text().count("\n") == 13


@pytest.mark.parametrize("shard", ["", "3", "0/3", "4/3", "1/0", "a/b", "1/3/5", "-1/3"])
def test_wrong_shards(shard: str) -> None:
    with pytest.raises(CpxError, match="shard must be like 3/10"):
        cpx.compare([tiny()], "search", shard=shard)


def test_runs_with_each_seed_of_an_engine_that_ignores_it_are_kept(tmp_path: Path) -> None:
    # One experiment each, however they came there.
    made = [cpx.compare([tiny()], "search", seeds=[seed]) for seed in (0, 1)]
    Comparison((*made[0].runs, *made[1].runs)).save(tmp_path)
    ran: list[tuple[str, int]] = []
    found = cpx.compare(
        [tiny()], "search,cpsat", seeds=[0, 1, 2], output=tmp_path, resume=True,
        on_result=lambda run, _: ran.append((run.engine, run.seed)),
    )  # fmt: skip
    assert ran == [("cpsat", 0), ("cpsat", 1), ("cpsat", 2)]
    assert [run.seed for run in found.runs if run.engine == "search"] == [0, 1]
    assert [run.seed for run in found.cases().runs if run.engine == "search"] == [0, 1, 2]


def test_resume_makes_what_is_missing(tmp_path: Path) -> None:
    ran: list[object] = []

    def compare(backends: str, **more: object) -> Comparison:
        ran.clear()
        return cpx.compare(
            {"a": tiny(), "b": tiny(k=2)}, backends, output=tmp_path, time_limit=30,
            on_result=lambda run, _: ran.append(run.configuration), **more,
        )  # fmt: skip

    compare("search")
    assert ran == ["search", "search"]
    with pytest.raises(OutputError, match="has results already"):
        compare("search")
    assert compare("search", resume=True).complete
    assert ran == []
    found = compare("search,search{beam_width=1}", resume=True)
    assert ran == ["search{beam_width=1}"] * 2
    assert len(found.runs) == 4
    assert Comparison.load(tmp_path) == found


def test_saved_and_loaded_whole(tmp_path: Path) -> None:
    pair = Skipped("i0", "cpsat x", "no such encoding")
    for complete in (True, False):
        made = Comparison(tuple(_runs(4)), {"jobs": 2}, complete, (pair,))
        folder = tmp_path / str(complete)
        folder.mkdir()
        made.save(folder)
        assert Comparison.load(folder) == made


def _mutated(data: bytes, rng: random.Random) -> bytes:
    """Change bytes, cut, repeat, or change one JSON value of one line."""
    kind = rng.randrange(4)
    if kind == 0:
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(changed)
    if kind == 1:
        i, j = sorted(rng.randrange(len(data)) for _ in range(2))
        return data[:i] + data[j:] if rng.random() < 0.5 else data[:j] + data[i:]
    lines = data.splitlines()
    at = rng.randrange(len(lines))
    line = json.loads(lines[at])
    place = line
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = rng.choice(list(keys)) if keys else None
        child = place[key] if key is not None else None
        if key is None or not isinstance(child, dict | list) or rng.random() < 0.2:
            break
        place = child
    if key is not None:
        if isinstance(place, dict) and rng.random() < 0.2:
            del place[key]
        else:
            place[key] = rng.choice(
                [None, True, -1, 2**70, 1.5, 1e308, "", "=1+1", "1/2", "1/0", [], {}, [[]],
                 {"a": 1}, "OPTIMAL", "\ud800", "x" * 300]
            )  # fmt: skip
    lines[at] = json.dumps(line).encode()
    return b"\n".join(lines) + b"\n"


def _fuzz_stores(folder: Path, rounds: int) -> None:
    made = cpx.compare({"a": tiny(), "b": tiny(k=2)}, "search,cpsat", output=folder)
    data = (folder / store.NAME).read_bytes()
    assert made.complete
    rng, refused = random.Random(0), 0
    for _ in range(rounds):
        (folder / store.NAME).write_bytes(_mutated(data, rng))
        try:
            found = Comparison.load(folder)
        except CpxError:
            refused += 1
            continue
        # What is taken can be used.
        assert found.to_csv().startswith("instance,")
        assert str(found)
        assert all(run.configuration for run in found.runs)
    assert 0.1 * rounds < refused < 0.95 * rounds


def test_fuzzed_stores_are_read_or_refused(tmp_path: Path) -> None:
    _fuzz_stores(tmp_path, 40)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_fuzzed_stores_are_read_or_refused(tmp_path: Path) -> None:
    _fuzz_stores(tmp_path, 10_000)


def test_the_runner_forgets_what_it_has_stored(tmp_path: Path) -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("the system does not tell how much memory is in use")

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1])

    pages: list[int] = []
    sizes: list[int] = []

    def hear(*_: object) -> None:
        pages.append(resident())
        sizes.append((tmp_path / "runs" / store.NAME).stat().st_size)

    found = cpx.compare(
        [tiny()], "maxsat", seeds=range(70), jobs=2, output=tmp_path / "runs", on_result=hear
    )
    assert len(found.runs) == 70
    # 50 runs; 2 MB are no more than noise, and each run has as many bytes as the others.
    assert pages[-1] - pages[19] < 500
    steps = [after - before for before, after in pairwise(sizes)]
    assert max(steps) < 2 * min(steps)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_thousand_short_runs(tmp_path: Path) -> None:

    pages: list[int] = []
    solves: list[float] = []

    def hear(run: Run, _: object) -> None:
        pages.append(int(Path("/proc/self/statm").read_text().split()[1]))
        solves.append(run.result.times.cpu)

    start = processor_seconds()
    found = cpx.compare(
        [tiny()], "cpsat", seeds=range(10_000), jobs=2, output=tmp_path / "runs", on_result=hear
    )
    seconds = processor_seconds() - start
    assert found.complete
    assert len(found.runs) == 10_000
    assert pages[9_999] - pages[999] < 1000
    # Between the solves there is a fork, a hundredth of a second on a machine with time for it.
    assert seconds < 1.2 * sum(solves) + 0.015 * 10_000
