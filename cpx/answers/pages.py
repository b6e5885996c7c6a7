"""Pages of HTML that need no network, in one style: filled from templates that packages have."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cpx.answers.axes import require_matplotlib
from cpx.errors import EngineMissing, InvalidOption, shown
from cpx.support.versions import installed_version

__all__ = ["filled_page", "require_form", "require_pages", "trusted"]

FIGURES = ".svg", ".pdf", ".png"
"""How files of figures end."""


def require_pages() -> None:
    """Raise EngineMissing with the pip line unless jinja2 is installed."""
    if find_spec("jinja2") is None:
        raise EngineMissing("pages need jinja2: pip install jinja2")


def require_form(path: Path) -> None:
    """Raise unless a path ends like a page, a figure or JSON, and what makes that is installed."""
    if path.suffix == ".html":
        require_pages()
    elif path.suffix in FIGURES:
        require_matplotlib()
    elif path.suffix != ".json":
        forms = ", ".join((".html", *FIGURES, ".json"))
        raise InvalidOption(f"{shown(str(path))} must end with one of {forms}")


def filled_page(package: str, name: str, data: Any, **values: Any) -> str:
    """Return a page: ``name.html`` in the folder ``page`` of a package, filled.

    Parameters
    ----------
    package : str
        Whose ``name.html`` and ``name.js`` are taken; frame, style and tables are common to all.
    name : str
    data : JSON values
        What the script reads; it cannot end the script that it stands in.
    **values
        For the template. Texts are escaped.
    """
    require_pages()
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    own = "cpx.answers"
    common = FunctionLoader(lambda shared: _file(own, shared))
    page = Environment(loader=common, autoescape=True, undefined=StrictUndefined)
    return page.from_string(_file(package, f"{name}.html")).render(
        css=trusted(_file(own, "page.css")),
        js=trusted(_file(own, "grid.js") + _file(package, f"{name}.js")),
        data=trusted(_json(data)),
        version=installed_version("cpx-explain") or "",
        **values,
    )


def trusted(text: str) -> Any:
    """Return a text that is markup, and is not escaped."""
    from markupsafe import Markup

    return Markup(text)


@cache
def _file(package: str, name: str) -> str:
    return (resources.files(package) / "page" / name).read_text(encoding="utf-8")


def _json(data: object) -> str:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
