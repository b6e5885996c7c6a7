"""What is written of the options of all doors, and of the kinds of explanations.

``python docs/_ext/options.py`` writes docs/reference/options.md anew; a test compares it.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import typer.main

import cpx
from cpx.cli import app
from cpx.explainers.doors import Kind, kinds
from cpx.modelling.parameters import parameters_of
from cpx.modelling.registry import PROBLEMS
from cpx.support.families import families

PAGE = Path(__file__).parents[1] / "reference" / "options.md"

_HEAD = """\
# Options and their defaults

The same name means the same thing in Python and in the shell, and has the same default. This page
is written from the code, by `python docs/_ext/options.py`.

## All that solve

Each column is a call and its command. A cell is the default, empty where the option is not there;
`None` leaves the choice to cpx: the engine that is best for the kind of problem, the encoding that
is best for the engine.

"""

_LIMIT = """
## What a time limit covers

"""

_COVERED = [
    ["who", "inside the limit", "outside of it"],
    [
        "`cpx.solve`",
        "stating, compiling and solving",
        "the check of the answer and of a proof; isolated, the start of a worker",
    ],
    ["`cpx.solve(..., proof=True)`", "as much time again for the proof", ""],
    [
        "`cpx.explain`, methods of `Explainer`",
        "as `cpx.solve`, and the preparation before: cuts, distribution and samples are made, "
        "a model that is no tree model is read. It is counted, not cut short: the engine has a "
        "tenth of the limit at least",
        "reading a tree model and holding it against `predict`, once; afterwards: `predict` of "
        "the `fresh` rows and of those that a rule covers",
    ],
    [
        "with `epsilon`",
        "all rounds of samples and solves; a call of `predict` that has begun ends",
        "as above",
    ],
    [
        "`cpx check`",
        "making a proof, by `--prove`",
        "the check itself, and following a proof: about linear in their length",
    ],
    [
        "`cpx grade`",
        "instances that are begun; as much time again makes the counterexample smaller",
        "imports",
    ],
]

_KINDS = """
## Kinds of explanations

Each option of an explanation is declared once, in the family that offers the kind. From there it
goes to {class}`cpx.Explainer` and {func}`cpx.explain`, to `cpx explain`, and to help and errors.

"""

CALLS = ("solve", "solutions", "explain", "compare")
"""What solves, in Python; most commands have the same name."""

COMMANDS = {"solutions": "best"}

SHARED = ("backend", "encoding", "time_limit", "threads", "seed", "gap", "isolate", "warm_start")
"""What several of them have; a comparison takes several engines, encodings and seeds."""

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
    told = [_HEAD, _table(calls()), _LIMIT, _table(_COVERED), _KINDS, _table(first), _OPTIONS]
    return "".join([*told, _table([head, *rows()])])


def calls() -> list[list[str]]:
    """Return the table of the options that calls and commands share."""
    heads = [f"`cpx.{call}`, `cpx {COMMANDS.get(call, call)}`" for call in CALLS]
    found = [["option", *heads]]
    for name in SHARED:
        cells = []
        for call in CALLS:
            python, shell = in_python(call).get(name, ""), in_shell(call).get(name, "")
            cell = f"`{python}`" if python != "" else ""
            # In the shell, too, nothing given is the default of Python.
            same = shell in (python, "", None)
            cells.append(cell if same else f"{cell}; in the shell `{shell}`")
        found.append([f"`{name}`", *cells])
    return found


def in_python(call: str) -> dict[str, Any]:
    """Return the defaults of the options of a call by their names."""
    if call == "explain":
        rule: Kind = next(kinds())
        return {**rule.asked, **rule.prepared}
    parameters = inspect.signature(getattr(cpx, call)).parameters.values()
    return {_one(p.name): _first(p.default) for p in parameters if p.default is not p.empty}


def in_shell(call: str) -> dict[str, Any]:
    """Return the defaults of the options of the command that is like a call."""
    root: Any = typer.main.get_command(app)
    found = {}
    for option in root.get_command(None, COMMANDS.get(call, call)).params:
        told = re.search(r"\[default: (no|[\d.]+)\]", getattr(option, "help", None) or "")
        value = option.default
        if value is None and told is not None:
            value = False if told[1] == "no" else json.loads(told[1])
        found[_one(str(option.name))] = value
    return found


def _one(name: str) -> str:
    """Return what one of several is called."""
    return name.removesuffix("s") if name in ("backends", "encodings", "seeds") else name


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and value else value


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
