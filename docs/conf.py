"""Sphinx configuration; ``make docs`` builds the pages to ``docs/_build/html``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.append(str(Path(__file__).parents[1]))  # benchmarks is not installed

from cpx import __version__

project = "cpx"
author = "The cpx authors"
project_copyright = "The cpx authors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "console",
    "mathml",
]
exclude_patterns = ["_build", "_ext", "_static"]
language = "en"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",  # made when the pages are built
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "capture_repr": (),  # axes are seen, not read
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = False
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_title = f"cpx {version}"
html_static_path = ["_static"]
html_css_files = ["cpx.css"]
html_math_renderer = "mathml"
html_theme_options = {"top_of_page_buttons": []}
highlight_language = "text"
# Words of types, such as "columns" in "array of shape (n, columns)", are no references.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]


def _own_references(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Give the numbered references of a docstring labels that are unique on the page."""
    label = name.rpartition(".")[2]
    lines[:] = [re.sub(r"\[(\d+)\](?=_| )", rf"[{label}\1]", line) for line in lines]


def setup(app: Any) -> None:
    """Connect what is above."""
    app.connect("autodoc-process-docstring", _own_references)
