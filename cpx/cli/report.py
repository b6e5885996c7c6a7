"""The command ``cpx report``: a page about the results of a comparison, its figures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cpx.cli import options as opt
from cpx.support.validation import choice

if TYPE_CHECKING:
    from cpx.compare import Comparison

_FIGURES = ("pdf", "png", "svg")


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Results of 'cpx compare --output DIR'.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page.  [default: DIR/report.html]"
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    figures: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Also draw DIR/figures/*: pdf, png, svg."),
    ] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Also write DIR/tables/*.csv.")] = False,
) -> None:
    r"""Write a page about a comparison: findings, scores, figures and all runs.

    The page is one file that opens in any browser without a network. Its tables sort and
    filter, its figures can be zoomed. A comparison that still runs can be reported, too.

    \b
    Examples:
      cpx report results/
      cpx report results/ --title "Planted rules" -o page.html
      cpx report results/ --figures pdf,svg --tables

    Exit codes: 0 the page is written; 2 wrong input; 1 anything else.
    """
    from cpx.cli.output import note
    from cpx.compare import Comparison
    from cpx.compare.report import as_html, require_report
    from cpx.support.files import ensure_writable, write_atomic

    forms = opt.split(figures) or []
    for form in forms:
        choice("figures", form, _FIGURES)
    require_report()
    comparison = Comparison.load(directory)
    page = ensure_writable(output or directory / "report.html")
    write_atomic(page, as_html(comparison, title).encode())
    note(f"wrote {page}")
    if forms:
        _draw(comparison, directory / "figures", forms)
    if tables:
        _tabulate(comparison, directory / "tables")


def _draw(comparison: Comparison, folder: Path, forms: list[str]) -> None:
    from cpx.cli.output import note
    from cpx.compare.plots import figures, written
    from cpx.support.files import ensure_directory, write_atomic

    ensure_directory(folder)
    count = 0
    order = [str(name) for name in comparison.scores().index]
    for name, figure in figures(comparison.cases(), order):
        for form in forms:
            write_atomic(folder / f"{name}.{form}", written(figure, form))
            count += 1
    note(f"wrote {count} figures in {folder}")


def _tabulate(comparison: Comparison, folder: Path) -> None:
    from cpx.cli.output import note
    from cpx.compare.report_tables import as_csv, grids
    from cpx.support.files import ensure_directory, write_atomic

    ensure_directory(folder)
    made = grids(comparison.cases(), comparison.scores())
    for name, grid in made.items():
        write_atomic(folder / f"{name}.csv", as_csv(grid).encode())
    note(f"wrote {len(made)} tables in {folder}")
