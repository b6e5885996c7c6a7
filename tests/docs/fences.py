"""Runs the code of a Markdown page: fences ``python``, ``console``, ``py`` and ``toml``, in order.

python
    Lines that start with ``>>>`` are compared as doctests; other code is executed. All
    fences of a page share their names.
console
    Lines that start with ``$ `` are commands. What follows a command is its output, both
    streams, ``...`` standing for anything; without any, the output is not looked at. A
    command must succeed, unless the next line is ``$ echo $?``: then its exit code is what
    that line prints. ``pip install FOLDER`` installs a package for the commands after it.
py, toml
    Is written to the file that its first line names, in a comment.

The page works in a directory of its own. ``python -m tests.docs.fences PAGE...`` writes the
outputs of console fences anew where they differ.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import types
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.apart import apart

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,})(?P<language>python|console|py|toml)[ ]*$")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SHELL = re.compile(r"[|&;<>*$]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\\\]*\"")


@dataclass(frozen=True)
class Fence:
    """One fence of a page; ``line`` is the number of its first line of code, from 1.

    In a list a fence is indented; ``code`` is without ``indent``.
    """

    language: str
    code: str
    line: int
    indent: str = ""


def fences(text: str) -> Iterator[Fence]:
    """Yield the fences of a page that are run."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        at += 1
        if opened is None:
            continue
        start, indent = at, opened["indent"]
        while lines[at] != indent + opened["mark"]:
            at += 1
        code = [line.removeprefix(indent) for line in lines[start:at]]
        yield Fence(opened["language"], "\n".join(code) + "\n", start + 1, indent)


@dataclass
class Command:
    """A command of a console fence, and the output that the page shows."""

    text: str
    shown: str
    line: int


def commands(fence: Fence) -> list[Command]:
    """Return the commands of a console fence."""
    found: list[Command] = []
    for number, line in enumerate(fence.code.splitlines(), start=fence.line):
        if line.startswith("$ "):
            found.append(Command(line[2:], "", number))
        else:
            found[-1].shown += line + "\n"
    return found


class Page:
    """The state of a page while it is run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # A module of its own: dataclasses, for one, look for the module of a class.
        module = sys.modules["page"] = types.ModuleType("page")
        self.names: dict[str, Any] = module.__dict__
        self.checker = doctest.OutputChecker()

    def run(self) -> None:
        """Run all fences; raise AssertionError with the place and the difference."""
        for fence in fences(self.path.read_text(encoding="utf-8")):
            getattr(self, fence.language)(fence)

    def python(self, fence: Fence) -> None:
        """Run a python fence."""
        if not fence.code.startswith(">>>"):
            code = compile("\n" * (fence.line - 1) + fence.code, str(self.path), "exec")
            exec(code, self.names)
            return
        test = doctest.DocTestParser().get_doctest(
            fence.code, {}, self.path.name, str(self.path), fence.line - 1
        )
        test.globs = self.names
        report: list[str] = []
        runner = doctest.DocTestRunner(self.checker, verbose=False, optionflags=_FLAGS)
        failed, _ = runner.run(test, out=report.append, clear_globs=False)
        assert not failed, "".join(report)

    def toml(self, fence: Fence) -> None:
        """Write a file."""
        path = Path(fence.code.splitlines()[0].removeprefix("# "))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fence.code, encoding="utf-8")

    py = toml

    def console(self, fence: Fence) -> None:
        """Run a console fence."""
        todo = commands(fence)
        code = 0
        for this, after in zip(todo, [*todo[1:], None], strict=True):
            place = f"{self.path.name}, line {this.line}: $ {this.text}"
            if this.text == "echo $?":
                assert this.shown.strip() == str(code), f"{place}\nexit code {code}"
                continue
            code, output = execute(this.text)
            asked = after is not None and after.text == "echo $?"
            assert asked or code == 0, f"{place}\nexit code {code}\n{output}"
            if this.shown.strip() and not self.checker.check_output(this.shown, output, _FLAGS):
                raise AssertionError(f"{place}\nthe page shows\n{this.shown}\nit is\n{output}")

    def refreshed(self) -> str:
        """Return the page with the outputs of its console fences as they are now."""
        text = self.path.read_text(encoding="utf-8")
        lines: list[str | None] = list(text.splitlines())
        for fence in fences(text):
            if fence.language != "console":
                getattr(self, fence.language)(fence)
                continue
            code = 0
            for this in commands(fence):
                if this.text == "echo $?":
                    output = f"{code}\n"
                else:
                    code, output = execute(this.text)
                wanted = this.shown.strip()
                if not wanted or self.checker.check_output(this.shown, output, _FLAGS):
                    continue
                end = this.line + this.shown.count("\n")
                lines[this.line : end] = [None] * (end - this.line)
                lines[this.line] = textwrap.indent(output.rstrip("\n"), fence.indent)
        return "\n".join(line for line in lines if line is not None) + "\n"


_INSTALLED = Path("installed")
"""Where a page installs packages: beside its files, and not among those of the tests."""


def execute(command: str) -> tuple[int, str]:
    """Run a command; return its exit code and what it prints on both streams."""
    plain = command.startswith("cpx ") and not _SHELL.search(_QUOTED.sub("", command))
    if command.startswith("pip install "):
        options = f"--quiet --no-deps --no-index --no-build-isolation --target {_INSTALLED}"
        command = command.replace("pip install", f"{sys.executable} -m pip install {options}")
    # What a page has installed is found by new processes only.
    elif plain and not _INSTALLED.is_dir():
        import shlex

        from typer.testing import CliRunner

        from cpx.cli import app

        with apart(files=True) if "--register" in command else nullcontext():
            result = CliRunner().invoke(app, shlex.split(command)[1:])
        return result.exit_code, result.output
    here = os.path.dirname(sys.executable)
    # The page has a folder of its own, and ``python -m benchmarks`` is run in a clone.
    own = str(_INSTALLED.absolute()) if _INSTALLED.is_dir() else None
    clone = os.pathsep.join(filter(None, [own, os.environ.get("PYTHONPATH"), str(ROOT)]))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "PATH": here + os.pathsep + os.environ.get("PATH", ""),
            "PYTHONPATH": clone,
        },
    )
    return done.returncode, done.stdout


if __name__ == "__main__":
    for page in [Page(Path(name).resolve()) for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            page.path.write_text(page.refreshed(), encoding="utf-8")
