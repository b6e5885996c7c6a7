"""The application: the list of commands, and the exit code of each error."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cpx.cli.dashes import as_given
from cpx.cli.groups import LazyGroup, Sections, of_families
from cpx.cli.streams import open_streams
from cpx.errors import CpxError, printable, shortened
from cpx.processes import interrupts
from cpx.support.families import ShellCommand

__all__ = ["CommandGroup", "app", "main"]

_EPILOG = """\
\b
Start here:
  cpx demo                                    a real prediction, all engines
  cpx explain table.csv --target y --row 17   explain a row of your table

Exit codes: 0 proved, 3 a solution without proof, 4 nothing found within the limits,
2 wrong input or usage, 1 anything else. The answer goes to standard output, log and
progress to standard error.
"""

_CUT_SHORT = 130  # what typer exits with after a KeyboardInterrupt

_debug = False


def _commands(module: str, **summaries: str) -> dict[str, ShellCommand]:
    return {
        name: ShellCommand(f"cpx.cli.{module}:{name}", told) for name, told in summaries.items()
    }


SECTIONS = {
    "Explain": {
        **_commands("demo", demo="Explain a real prediction with all engines, in seconds."),
        **_commands(
            "explain",
            explain="Explain a model's prediction for one row of a table.",
        ),
    },
    "Instances": {
        **_commands("make", make="Make an instance, to solve later or elsewhere."),
        **_commands(
            "solve",
            solve="Solve a saved instance and print the checked answer.",
            best="List the best rules of a saved instance, or all optimal ones.",
        ),
        **_commands(
            "show",
            check="Check a saved result against its instance.",
            show="Show an instance as mathematics, code, clauses or rows.",
            export="Write an instance in the file format of a solver.",
        ),
        **_commands("encodings", encodings="Measure the encodings of an instance."),
        **_commands("grade", grade="Grade an encoding of your own, with a counterexample."),
    },
    "Experiments": {
        **_commands("library", library="Make instances for experiments: families, sizes, seeds."),
        **_commands("compare", compare="Compare engines on the same instances."),
        **_commands("report", report="Write a page about a comparison, with figures and tables."),
    },
    "Engines": {
        **_commands(
            "engines",
            backends="List the engines, and whether they are installed.",
            doctor="Try every engine in a fresh interpreter.",
        ),
        **_commands("conformance", conformance="Check that an engine keeps the contract."),
    },
}
"""The commands of the core. Those of families that are in no group stand behind them."""


class CommandGroup(TyperGroup):
    """Turns exceptions that leave a command into a message and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        global _debug
        _debug = bool(os.environ.get("CPX_DEBUG"))
        try:
            # Warnings are printed like those of commands, and can still be recorded.
            usual, warnings.formatwarning = warnings.formatwarning, _warning_line  # type: ignore[assignment]
            try:
                return super().main(*args, **kwargs)
            finally:
                warnings.formatwarning = usual
        except BrokenPipeError:
            _close_stdout()
            sys.exit(1)
        except CpxError as error:
            _complain(str(error))
            sys.exit(error.exit_code)
        except MemoryError:
            _complain("there is not enough memory")
            sys.exit(1)
        except Exception as error:
            text = str(error).strip()
            _complain(f"{type(error).__name__}{': ' * bool(text)}{text}")
            if not _debug:
                typer.echo("This is unexpected. 'cpx --debug ...' shows the traceback.", err=True)
            sys.exit(1)


class _Root(CommandGroup, LazyGroup):
    def sections(self) -> Sections:
        first, *_ = SECTIONS
        found = {title: dict(commands) for title, commands in SECTIONS.items()}
        for name, command in of_families().items():
            found[command.section or first][name] = command
        return found


app = typer.Typer(
    name="cpx",
    cls=_Root,
    no_args_is_help=True,
    # Help as plain text comes in half the time, and reads the same in a pipe.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)


def _version(wanted: bool) -> None:
    if wanted:
        from cpx.support.versions import __version__

        typer.echo(f"cpx {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks; also by CPX_DEBUG=1."),
    ] = False,
) -> None:
    """Explain predictions by optimal short rules, and solve them with any engine.

    A problem is stated once, as a constraint model. CP-SAT, MaxSAT and MILP engines solve
    it, and every answer comes with its value, a proven bound, what was proved, and an
    independent check against the data.
    """
    global _debug
    _debug = _debug or debug


def main(application: Callable[[], None] = app) -> None:
    """Run the command line; the entry point of ``cpx``."""
    streams = open_streams()
    try:
        interrupts.install()
        application()
    except (SystemExit, KeyboardInterrupt) as error:
        status = interrupts.exit_status()
        # Before a command begins nobody makes an exit of a KeyboardInterrupt.
        code = error.code if isinstance(error, SystemExit) else _CUT_SHORT
        if code == _CUT_SHORT and status is not None:
            typer.echo("cpx: interrupted", err=True)
            sys.exit(status)
        raise
    finally:
        interrupts.ignore()  # what there was to do is done
        # Python ends as if nobody had caught a KeyboardInterrupt that left a text run as code,
        # as of a dataclass that is being made; unless another text was run since.
        exec("")
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _close_stdout()
        if streams.lost is not None:
            _complain(
                f"cannot write standard output ({streams.lost}): the answer is on standard error"
            )
            sys.exit(1)


def _warning_line(message: Warning | str, *_: Any) -> str:
    return f"cpx: warning: {printable(as_given(message))}\n"


def _complain(message: str) -> None:
    if _debug:
        import traceback

        traceback.print_exc()
    # Names of files are shorter; what is longer is no name.
    message = re.sub(r"\S{1000,}", lambda found: shortened(found[0]), message)
    typer.echo(f"cpx: error: {printable(message)}", err=True)


def _close_stdout() -> None:
    # Python flushes standard output once more at exit, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
