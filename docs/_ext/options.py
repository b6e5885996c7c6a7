"""What is written of the kinds of explanations and their options: one table for all doors.

``python docs/_ext/options.py`` writes docs/reference/options.md anew; a test compares it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cpx.explainers.doors import kinds
from cpx.modelling.parameters import parameters_of
from cpx.modelling.registry import PROBLEMS
from cpx.support.families import families

PAGE = Path(__file__).parents[1] / "reference" / "options.md"

_HEAD = """\
# Options of explanations

Each option is declared once, in the family that offers the kind of explanation. From there it
goes to {class}`cpx.Explainer` and {func}`cpx.explain`, to `cpx explain` in the shell, and to help
and errors. This page is written by `python docs/_ext/options.py`.

## Kinds

"""

_OPTIONS = """
## Options

"All rows" are options of `Explainer(model, X, ...)`, the others of its methods; `cpx.explain`
takes both. The column "in files" has the name of the same thing in a
[saved instance](file-format.md). Options of a model file, such as `--rounds`, are those of
{func}`cpx.read_model`.

"""


def page() -> str:
    """Return the text of the page."""
    first = [["`kind`", "many rows", "in the shell", "tells"]]
    first += [
        [f"`{k.name}`", f"`{k.door.plural}`", f"`--kind {k.name}`", k.door.about] for k in kinds()
    ]
    head = ["in Python", "in the shell", "in files", "unless given", "of", "meaning"]
    return _HEAD + _table(first) + _OPTIONS + _table([head, *rows()])


def rows() -> list[list[str]]:
    """Return a row of the table for each option."""
    found: dict[str, list[Any]] = {}
    for kind in kinds():
        for name, declared in kind.options.items():
            if declared.option is None:
                continue
            new = name not in found
            entry = found.setdefault(name, [declared.option, [], [], declared.prepared])
            entry[1].append(kind.name)
            entry[2].append(_default(declared.default))
            assert new or entry[3] == declared.prepared, name
    return [
        [
            f"`{name}`" + (", all rows" if prepared else ""),
            _shell(name, option.shell),
            _saved(name),
            _defaults(of, defaults),
            ", ".join(of) if len(of) < len([*kinds()]) else "all",
            option.about,
        ]
        for name, (option, of, defaults, prepared) in found.items()
    ]


def _shell(name: str, shell: str | None) -> str:
    # The limit and the worker process are those of every command that solves.
    own = {"time_limit": "--time-limit", "isolate": "--isolate", "backend": "--backend"}
    if shell is None and name not in own:
        return ""
    called = own.get(name) or (f"-{name}" if len(name) == 1 else f"--{shell or name}")
    return f"`{called.replace('_', '-')}`"


def _saved(name: str) -> str:
    """Return the name in files of the problems of the families that offer explanations."""
    for family in families():
        for kind in family.problems if family.doors else ():
            declared = parameters_of(PROBLEMS[kind])
            own = declared.get({"where": "side_constraints"}.get(name, name))
            # What has the name of another thing in files is left out.
            if own is not None and name not in ("distribution", "samples"):
                return f"`{own.key or own.name}`"
    return ""


def _default(value: Any) -> str:
    if value is None or value == ():
        return ""
    return f"`{value}`" if value != "" else ""


def _defaults(of: list[str], defaults: list[str]) -> str:
    if len({*defaults}) == 1:
        return defaults[0]
    return "; ".join(f"{text or 'none'} ({kind})" for kind, text in zip(of, defaults))


def _table(rows: list[list[str]]) -> str:
    head, *others = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *others]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
