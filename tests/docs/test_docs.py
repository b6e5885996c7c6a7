"""The documentation does what it says: its code is run, the examples too."""

from __future__ import annotations

import importlib
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as benchmarks
from cpx.cli import engines
from cpx.cli.probe import probe
from cpx.models import PROBLEMS
from tests.apart import apart
from tests.docs.fences import Fence, Page, commands, fences
from tests.engines import OURS

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts),
]
# Of a second and more, before a release: what they show has tests of its own.
LONG = {
    "decision-sets.md",
    "experiments.md",
    "learning-rules.md",
    "probabilistic-explanations.md",
    "rule-learners.md",
    "rule-set-classifier.md",
}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each page and example a folder, and let the next one not know what it registers."""
    monkeypatch.chdir(tmp_path)
    with apart():
        yield


@pytest.mark.usefixtures("_apart")
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=pytest.mark.slow) if p.name in LONG else p for p in PAGES],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_page(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    # A fresh interpreter for each engine takes half a minute; see test_doctor for those.
    monkeypatch.setattr(engines, "_probe", probe)
    Page(path).run()


@pytest.mark.usefixtures("_apart")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("engine", "chosen"),
    [
        ("search", "hint or gap or ties"),
        *(pytest.param(e, "test", marks=pytest.mark.slow) for e in OURS),
    ],
)
def test_the_printed_test_module_passes_for_our_engines(
    engine: str, chosen: str, tmp_path: Path
) -> None:
    """What the page tells others to run, for engines of which we know that they are right."""
    page = (ROOT / "docs" / "extend" / "adding-a-backend.md").read_text(encoding="utf-8")
    (module,) = (fence.code for fence in fences(page) if "import pytest" in fence.code)
    assert '"exhaustive"' in module
    path = tmp_path / "test_printed.py"
    path.write_text(module.replace('"exhaustive"', repr(engine)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name, "-k", chosen],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    assert sum(map(int, re.findall(r"(\d+) (?:passed|deselected)", done.stdout))) > 140, (
        done.stdout
    )


def test_links_to_files_of_the_repository() -> None:
    for path in (*PAGES, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


ENTRY_POINTS = ("cpx.backends", "cpx.families")
DOTTED = re.compile(r"\b(?:cpx|benchmarks)(?:\.[A-Za-z_]\w*)+")


def test_names_on_pages_exist() -> None:
    """Modules, classes and functions: a page names them as they are called now."""
    for path in (*PAGES, ROOT / "CONTRIBUTING.md"):
        for name in sorted(set(DOTTED.findall(path.read_text(encoding="utf-8")))):
            if name.endswith((".md", ".py")) or name in ENTRY_POINTS:
                continue
            assert _exists(name), f"{path}: {name}"


def _exists(name: str) -> bool:
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        try:
            for part in parts[n:]:
                found = getattr(found, part)
        except AttributeError:
            return isinstance(found, type)  # attributes that only instances have
        return True
    return False


def test_formulas_are_in_the_part_of_latex_that_becomes_mathml() -> None:
    math = pytest.importorskip("docutils.utils.math.latex2mathml")
    found = 0
    for page in PAGES:
        text = re.sub(r"^```.*?^```|`[^`]*`", "", page.read_text(), flags=re.S | re.M)
        for formula in re.findall(r"\$\$(.+?)\$\$", text, re.S):
            math.tex2mathml(formula, as_block=True)
            found += 1
        for formula in re.findall(r"\$([^$\n]+)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.S)):
            math.tex2mathml(formula, as_block=False)
            found += 1
    assert found > 100


def test_benchmarks_on_pages_are_known() -> None:
    known = {*benchmarks.NAMES, *benchmarks.TOOLS, *benchmarks.PAPERS, "NAME"}
    for path in (*PAGES, ROOT / "CONTRIBUTING.md"):
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"python -m benchmarks((?: \w[\w-]*)*)", text):
            words = line.split()
            if words and words[0] in (*benchmarks.TOOLS, *benchmarks.PAPERS):
                del words[1:]  # arguments of its own
            assert known.issuperset(words), f"{path}: python -m benchmarks{line}"


def test_the_pages_on_problems_and_encodings_print_the_package_of_the_examples() -> None:
    pages = [
        ROOT / "docs" / "extend" / f"adding-{what}.md" for what in ("a-problem", "an-encoding")
    ]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    package = ROOT / "examples" / "careful-rules"
    printed = dict(
        fence.code.split("\n", 1) for fence in fences(texts[0]) if fence.language in ("py", "toml")
    )
    registered: list[dict[str, Any]] = []
    for first, code in printed.items():
        path = package.parent / first.removeprefix("# ")
        if path.name == "__init__.py":
            for source in (code, path.read_text(encoding="utf-8")):
                exec(source, names := {})
                registered.append(vars(names["FAMILY"]))
        else:
            assert path.read_text(encoding="utf-8") == code, path
    assert len(printed) == 6
    # What the page registers is a part of what the package does.
    fewer, all_ = registered
    assert {name for name in all_ if fewer[name] != all_[name]} == {"encodings", "proofs", "brute"}
    assert (package / "careful_rules" / "encoding.py").read_text(encoding="utf-8") in texts[1]


def test_the_tables_of_parameters_are_those_of_the_declarations() -> None:
    spec = spec_from_file_location("parameters", ROOT / "docs" / "_ext" / "parameters.py")
    assert spec is not None
    assert spec.loader is not None
    tables = module_from_spec(spec)
    spec.loader.exec_module(tables)
    text = "".join(path.read_text(encoding="utf-8") for path in tables.PAGES)
    assert tables.with_tables(text) == text, "run: python docs/_ext/parameters.py"
    for kind in PROBLEMS:
        assert re.search(rf"<!-- parameters [a-z -]*\b{kind}\b", text), kind


@pytest.mark.slow
def test_build(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-b", "html", "docs", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ the runner itself


def test_fences_are_found_with_their_lines() -> None:
    text = "a\n```python\nx = 1\n```\n```text\nno\n```\n````console\n$ true\n```\n````\n"
    assert list(fences(text)) == [
        Fence("python", "x = 1\n", 3),
        Fence("console", "$ true\n```\n", 9),
    ]


def test_fences_in_lists_are_found_without_their_indent() -> None:
    text = "- a\n\n  ```python\n  if x:\n      y\n  ```\n- b\n"
    assert list(fences(text)) == [Fence("python", "if x:\n    y\n", 4, "  ")]


def test_commands_and_their_outputs() -> None:
    first, second = commands(Fence("console", "$ a\n1\n2\n$ b\n", 10))
    assert (first.text, first.shown, first.line) == ("a", "1\n2\n", 10)
    assert (second.text, second.shown, second.line) == ("b", "", 13)


@pytest.mark.parametrize(
    "code",
    [
        "```console\n$ echo 1\n2\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ true\n$ echo $?\n1\n```\n",
        "```console\n$ cpx nonsense\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\nassert False\n```\n",
        "1. one\n\n   ```python\n   assert False\n   ```\n",
        "- one\n\n  ```console\n  $ echo 1\n  2\n  ```\n",
    ],
)
def test_what_is_wrong_is_seen(code: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(code)
    with pytest.raises(AssertionError):
        Page(page).run()


def test_outputs_are_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo 1\n2\n3\n$ false\n$ echo $?\n0\n```\nend\n", encoding="utf-8"
    )
    wanted = "```console\n$ echo 1\n1\n$ false\n$ echo $?\n1\n```\nend\n"
    assert Page(page).refreshed() == wanted
    page.write_text("- a\n  ```console\n  $ echo 1\n  2\n  ```\n", encoding="utf-8")
    assert Page(page).refreshed() == "- a\n  ```console\n  $ echo 1\n  1\n  ```\n"
