"""A file among instances that is cut short is an error, and not passed over as a foreign one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpx.compare.sources import with_files
from cpx.errors import InvalidInstance
from cpx.modelling.instances import save
from cpx.models.monomial.cases import medium


@pytest.mark.parametrize("kept", [0, 1, 15])
def test_what_is_no_json_is_refused_by_name(tmp_path: Path, kept: int) -> None:
    save(next(medium(0, 20, 5)), tmp_path / "whole.json")
    text = (tmp_path / "whole.json").read_text()
    (tmp_path / "cut.json").write_text(text[:kept])
    with pytest.raises(InvalidInstance, match=r"cut\.json: no JSON"):
        with_files([tmp_path])


def test_what_is_other_json_is_passed_over_and_named(tmp_path: Path) -> None:
    save(next(medium(0, 20, 5)), tmp_path / "whole.json")
    (tmp_path / "other.json").write_text(json.dumps({"a": 1}))
    found, told = with_files([tmp_path])
    assert [Path(str(each)).name for each in found] == ["whole.json"]
    assert [Path(each.instance).name for each in told] == ["other.json"]
