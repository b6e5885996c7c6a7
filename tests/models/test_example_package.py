"""A problem of another package is installed and goes through everything, in its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "careful-rules"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package and its entry points, for PYTHONPATH."""
    target = tmp_path_factory.mktemp("careful")
    shutil.copytree(EXAMPLE / "careful_rules", target / "careful_rules")
    # As pip writes it, which the page "adding a problem" runs; a build takes seconds.
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = target / "careful_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: careful-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
            for group, points in project["entry-points"].items()
        )
    )
    return target


@pytest.mark.slow
def test_the_package_passes_its_tests(installed: Path, tmp_path: Path) -> None:
    path = shutil.copy(EXAMPLE / "test_careful_rules.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *sys.path])},
    )
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 15, done.stdout
