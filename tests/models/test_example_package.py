"""A problem of another package is installed and goes through everything, in its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "careful-rules"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package and its entry points, for PYTHONPATH."""
    base = tmp_path_factory.mktemp("careful")
    source, target = base / "source", base / "installed"
    # The build writes beside the sources.
    shutil.copytree(EXAMPLE, source)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--target", str(target), str(source)),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target


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
