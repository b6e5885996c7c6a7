"""What is written of the declared parameters of problems: tables in the pages, the JSON Schema.

``python docs/_ext/parameters.py`` writes them anew; tests compare them. In a page, a table
stands between ``<!-- parameters KIND KIND -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING
from pathlib import Path

from cpx.modelling.instances import schema
from cpx.modelling.parameters import Parameter, parameters_of
from cpx.models import PROBLEMS

DOCS = Path(__file__).parents[1]
PAGES = (DOCS / "reference" / "file-format.md", *sorted((DOCS / "problems").glob("*.md")))
SCHEMA = DOCS.parent / "cpx" / "schema" / "cpx-instance-1.schema.json"
_BLOCK = re.compile(r"(<!-- parameters ([a-z -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(kinds: list[str]) -> str:
    """Return the table of the parameters that stand in files of some kinds of problem."""
    lines = ["| Parameter | Values | Unless given | Meaning |", "|---|---|---|---|"]
    first, *others = (parameters_of(PROBLEMS[kind]) for kind in kinds)
    for name, declared in first.items():
        if declared.key is None:
            defaults = [_default(declared)]
            for kind, more in zip(kinds[1:], others, strict=True):
                if (other := _default(more[name])) != defaults[0]:
                    defaults.append(f"{other} for `{kind}`")
            cells = f"`{name}`", declared.kind.range, "; ".join(defaults), declared.meaning
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _default(declared: Parameter) -> str:
    if declared.required:
        return "needed"
    value = declared.default
    if value is MISSING or value is None or value == ():
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_tables(page: str) -> str:
    """Return the text of a page with the tables as they are now."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{table(match[2].split())}\n{match[3]}", page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
    SCHEMA.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
