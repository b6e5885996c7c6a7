"""``--where`` in the shell: given to an instance or a table, saved, checked, shown, refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from tests.cli.conftest import Run


def test_solve_takes_them_and_check_needs_them_saved(run: Run, inst: Path) -> None:
    plain = run("solve", inst, "-b", "search", "--json")
    assert json.loads(plain.stdout)["explanation"]["features"] == [0]
    solved = run("solve", inst, "-b", "search", "--where", "not a", "--where", "not c", "--json")
    assert solved.exit_code == 0, solved.output
    answer = json.loads(solved.stdout)
    assert 0 not in answer["explanation"]["features"]
    assert answer["verified"]
    assert answer["explanation"]["claim"]["over"]["where"] == 2
    data = json.loads(inst.read_text())
    inst.write_text(json.dumps(data | {"where": [{"text": "not a"}]}))
    Path("plain.json").write_text(plain.stdout)
    refused = run("check", inst, "plain.json")
    assert refused.exit_code == 1
    assert "FAILED where: 'not a' does not hold" in refused.stdout
    shown = run("show", inst)
    assert "where 1      not a" in shown.stdout


def test_contradictory_and_wrong_ones(run: Run, inst: Path) -> None:
    clash = run("solve", inst, "--where", "a or b", "--where", "c", "--where", "excludes(a, b)")
    assert clash.exit_code == 0, clash.output
    # At most one condition is allowed, and the first two ask for two.
    assert [line for line in clash.stdout.splitlines() if line.startswith("clash")] == [
        "clash      a or b",
        "clash      c",
    ]
    wrong = run("solve", inst, "--where", "not d")
    assert wrong.exit_code == 2
    assert "'d' names nothing" in wrong.output


def test_make_saves_them(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(0, 20, 80), "tint": rng.choice(list("abc"), 80)})
    frame["y"] = np.where((frame["size"] > 9) | (frame["tint"] == "a"), "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    tints = [f"tint == {tint}" for tint in "abc"]
    # One of them is true of the row, the others exist and are not.
    text = f"implies(size, {' or '.join(tints)})"
    made = run(
        *("make", "rule", "table.csv", "--target", "y", "--row", 3, "--model", "tree", "-k", 2),
        *("--where", text, "--where", "at_most(1, size, tint)", "-o", "inst.json"),
    )
    assert made.exit_code == 0, made.output
    saved = json.loads((tmp_path / "inst.json").read_text())
    assert [entry["text"] for entry in saved["where"]] == [text, "at_most(1, size, tint)"]
    assert len(saved["where"][0]["untrue"]) == 2
    solved = run("solve", "inst.json", "-b", "search", "--json")
    assert solved.exit_code == 0, solved.output
    found = json.loads(solved.stdout)["explanation"]
    assert not any("size" in text for _, text in found["rule"]["literals"])


def test_explain_and_reasons_take_them(run: Run, table: Path) -> None:
    ask = (table, "--target", "y", "--row", 3, "--model", "tree")
    rule = ("explain", *ask, "-k", 2, "-m", 200, "--no-isolate", "--json")
    plain = json.loads(run(*rule).stdout)["explanation"]["rule"]["literals"]
    used = plain[0][1].split()[0]
    done = run(*rule, "--where", f"not {used}")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["explanation"]
    assert not any(text.startswith(used) for _, text in found["rule"]["literals"])
    assert found["claim"]["over"]["where"] == 1
    numbers = pd.read_csv(table).assign(colour=lambda rows: (rows.colour == "red") * 1)
    numbers.to_csv(table, index=False)
    reason = ("explain", *ask, "--kind", "reason", "--no-isolate", "--json")
    solved = run(*reason, "--where", "weight")
    assert solved.exit_code == 0, solved.output
    literals = json.loads(solved.stdout)["explanation"]["rule"]["literals"]
    assert "weight" in [means["column"] for _, means in literals]
