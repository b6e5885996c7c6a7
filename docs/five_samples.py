"""Writes the page ``docs/_static/five-samples.html``: one instance in all its states.

    python docs/five_samples.py

Five samples, each in or out, and k from 0 to 3: of each state the statement as formulas, clauses
and rows, the value of the linear relaxation and the optimum are made here, by the code that
engines get them from. The page only shows them.
"""

from __future__ import annotations

import json
import re
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

import cpx
from cpx.compare import encodings_table
from cpx.export import show

HERE = Path(__file__).parent
PATH = HERE / "_static" / "five-samples.html"
TEMPLATE = HERE / "five_samples_template.html"

FEATURES = ("young", "owner", "employed", "debts")
AGREEMENT = ((0, 0, 0, 1), (1, 0, 1, 0), (1, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1))
SAME = (1, 1, 0, 0, 0)
LARGEST = 3
AT_MOST = "pairwise"  # without auxiliary variables


def state(inside: tuple[int, ...], k: int) -> dict[str, Any]:
    """Return what the page shows of the samples that are in, by their numbers from 1."""
    rows = [i for i in range(5) if inside[i]]
    samples = cpx.Samples([AGREEMENT[i] for i in rows], [SAME[i] for i in rows], features=FEATURES)
    problem = cpx.KMonomial(samples, k=k)
    result = cpx.solve(problem, "search")
    assert result.explanation is not None
    names = {
        "X": FEATURES,
        "C": [str(i + 1) for i in rows if not SAME[i]],
        "U": [str(i + 1) for i in rows if SAME[i]],
    }
    roots = encodings_table(problem, ["clausal"], ["lp"]).to_frame()["root"]
    return {
        "mathematics": _mathematics(show(problem, "cpmpy", "clausal", full=True), names),
        "clauses": _clauses(show(problem, "wcnf", "clausal", full=True, at_most=AT_MOST), names),
        "rows": _rows(show(problem, "lp", "clausal", full=True), names),
        "root": round(float(roots.iloc[0]), 4),
        "optimum": result.objective,
        "rule": [FEATURES[j] for j in result.explanation.features],
    }


def _named(text: str, names: dict[str, Any]) -> str:
    """Return a line as HTML, with the names of features and the numbers of samples."""

    def name(found: re.Match[str]) -> str:
        letter, index = found[1], int(found[2] or found[3])
        return f"{letter}<sub>{names[letter][index]}</sub>"

    return re.sub(r"\b([XCU])(?:\[(\d+)\]|_(\d+)_)", name, escape(text))


def _mathematics(text: str, names: dict[str, Any]) -> list[str]:
    """Return the statement in the signs of mathematics."""
    lines = [line for line in map(str.strip, text.splitlines()) if not line.startswith("#")]
    out = []
    for line in lines:
        head, _, rest = line.partition(" ")
        if head == "minimise":
            out.append("minimise " + _joined(rest, " + "))
        elif line != "subject to":
            sign = " ∨ " if "or" in line else " + "
            if "->" in line:
                left, _, right = line.partition("->")
                out.append(f"{_joined(left, '')} → {_joined(right, ' ∧ ')}")
            elif "<=" in line:
                left, _, right = line.partition("<=")
                out.append(f"{_joined(left, sign)} ≤ {right.strip()}")
            else:
                out.append(_joined(line, sign))
    return [_named(line, names) for line in out]


def _joined(text: str, sign: str) -> str:
    """Return the variables of a sum, a disjunction or a conjunction, joined by a sign."""
    found = re.findall(r"~?[XCU]\[\d+\]", text)
    return sign.join(one.replace("~", "¬") for one in found) or text.strip()


def _clauses(text: str, names: dict[str, Any]) -> list[str]:
    """Return the clauses with names for numbers, the soft ones with what they cost."""
    known = dict(re.findall(r"^c (\d+) = ([XCU]\[\d+\])", text, re.M))
    out = []
    for mark, literals in re.findall(r"^(h|\d+) ([-\d ]+) 0", text, re.M):
        words = [
            "¬" * (literal < 0) + known[f"{abs(literal)}"]
            for literal in map(int, literals.split())
        ]
        cost = "" if mark == "h" else f"  or pay {mark}"
        out.append(_named(" ∨ ".join(words), names) + cost)
    return out


def _rows(text: str, names: dict[str, Any]) -> list[str]:
    """Return the lines of the program, without its comments."""
    lines = [line.partition("\\")[0] for line in text.splitlines()]
    lines = [re.sub(r"^ c\d+:", "", line).strip() for line in lines]  # numbers tell nothing
    signs = [line.replace("<=", "≤").replace(">=", "≥") for line in lines if line]
    return [_named(line, names) for line in signs]


def states() -> dict[str, Any]:
    """Return all states, by which samples are in and k: lines are numbers in one list."""
    lines: dict[str, int] = {}
    found = {}
    for inside in product((0, 1), repeat=5):
        for k in range(LARGEST + 1) if any(inside) else ():
            one = state(inside, k)
            for part in ("mathematics", "clauses", "rows"):
                one[part] = [lines.setdefault(line, len(lines)) for line in one[part]]
            found["".join(map(str, inside)) + str(k)] = one
    samples = [{"agrees": agrees, "same": same} for agrees, same in zip(AGREEMENT, SAME)]
    return {"features": FEATURES, "samples": samples, "lines": [*lines], "states": found}


def page(data: dict[str, Any]) -> str:
    """Return the page with its data in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("/* DATA */", text)


if __name__ == "__main__":
    PATH.write_text(page(states()), encoding="utf-8")
