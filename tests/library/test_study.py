"""The experiment that the repository names: its design can be read and leads to runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpx import save
from cpx.compare import Design
from cpx.compare.plan import plan
from cpx.library import families, suite
from tests.engines import ENGINES

FOLDER = Path(__file__).parents[2] / "examples" / "which_engine"


@pytest.mark.skipif(len(ENGINES) < 7, reason="not all engines are installed")
def test_the_design_gives_each_instance_to_each_engine_in_its_encodings(tmp_path) -> None:
    (tmp_path / "instances").mkdir()
    for entry in suite("try"):
        save(entry.problem(), tmp_path / "instances" / f"{entry.name}.json.gz")
    for name in ("design.toml", "defaults.toml"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    design = Design.load(tmp_path / "design.toml")
    runs = [(task.instance, task.engine, task.form) for task in plan(design).tasks]
    assert len(set(runs)) == len(runs)
    assert {engine for _, engine, _ in runs} == set(design.backends)
    for family in families():
        forms = {form for name, engine, form in runs if name.startswith(family) and form}
        wanted = {"rules": {"channelling", "signature"}, "reason": {"order", "direct"}}
        assert forms == wanted.get(family, {"clausal", "pairs", "channelling"})
    # Without encodings: each engine once, in its own.
    alone = Design.load(tmp_path / "defaults.toml")
    assert alone.backends == design.backends
    tasks = plan(alone).tasks
    named = [(task.instance, task.engine) for task in tasks]
    assert len(set(named)) == len(named)
    assert {name for _, name in named} == set(design.backends)
    forms = {task.form for task in tasks if task.engine == "maxsat:rc2"}
    assert forms == {"triples", "clausal", "narrowed", "order"}
