"""The experiments of the papers as commands of ``python -m benchmarks``."""

from __future__ import annotations

import typer

from benchmarks.papers.ads.command import ads
from benchmarks.papers.kernels.command import kernels
from benchmarks.papers.koriche.command import koriche
from benchmarks.papers.koriche.equal_calls.command import equal_calls
from benchmarks.papers.sufficient.command import sufficient
from benchmarks.papers.sufficient.published_circuit import published_circuit
from cpx.cli.app import CommandGroup, main
from cpx.cli.groups import help_text

__all__ = ["app", "run"]

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for _command, _summary in (
    (koriche, "Table 2 and Figures 1, 2 of Koriche et al. (ECML PKDD 2024)."),
    (equal_calls, "The methods of Koriche et al. at equal numbers of classifier calls."),
    (ads, "Decision sets for a network on Adult, of Lu and Ester (2019)."),
    (kernels, "Table 2 of Polato and Aiolli (ESANN 2018): rules of kernel machines."),
    (sufficient, "Tables and figures of Wang et al. (IJCAI 2021): probabilistic explanations."),
    (published_circuit, "Table 1 of Wang et al. from the authors' circuit, forest and images."),
):
    _name = _command.__name__.replace("_", "-")
    app.command(_name, short_help=_summary, help=help_text(_command))(_command)


def run(arguments: list[str]) -> None:
    """Run the command that the arguments name, with messages and exit codes as ``cpx`` has."""
    main(lambda: app(arguments, prog_name="python -m benchmarks"))
