"""The commands ``cpx backends`` and ``cpx doctor``: list the engines, and try each of them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpx.backends.base import versions_of
from cpx.compiled.library import has_kernels
from cpx.errors import EngineError, printable

if TYPE_CHECKING:
    from cpx.backends import Backend

# Loading an engine for the first time on a cold disk is slow; the tiny solve is not.
_PATIENCE = 120.0


def backends(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list of objects instead of the table.")
    ] = False,
) -> None:
    r"""List the engines and heuristics: installed or not, versions, options they honour.

    Nothing is loaded to find out; 'cpx doctor' tries them.

    \b
    Examples:
      cpx backends
      cpx backends --json

    Exit codes: 0; 1 anything unexpected.
    """
    from cpx.backends import names

    found = [_describe(name) for name in names()]
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    for entry in found:
        head = typer.style(f"{entry['name']:<14}", bold=True)
        typer.echo(f"{head} {entry['summary']}")
        if entry["solvers"]:
            first, *rest = entry["solvers"]
            _detail("solvers", ", ".join([f"{first} (default)", *rest]))
        if entry["members"] and not entry["in_all"]:
            _detail("ready", ", ".join(entry["members"]))
        if "error" in entry:
            _detail("broken", entry["error"])
            typer.echo()
            continue
        if entry["installed"]:
            _detail("installed", ", ".join(f"{n} {v}" for n, v in entry["versions"].items()))
        else:
            _detail("missing", entry["install"])
        _detail("options", ", ".join(["time_limit", *entry["supported_options"]]))
        if not entry["exact"]:
            asks = ", asks the classifier" if entry["asks_classifier"] else ""
            _detail("heuristic", f"proves nothing{asks}")
        typer.echo()


def doctor() -> None:
    r"""Try every engine and heuristic in a fresh interpreter on a tiny problem.

    Its answer is known: an engine has to prove it, a heuristic to find it.

    Shows how long each takes to load and to solve, whether all of them can be loaded into
    one process, and whether the installed versions are those cpx is tested with.

    \b
    Example:
      cpx doctor

    Exit codes: 0 all installed engines work; 1 one does not.
    """
    import platform

    from cpx.backends import backend_class, names
    from cpx.support.versions import __version__

    typer.echo(f"cpx {__version__}, Python {platform.python_version()}, {platform.platform()}")
    typer.echo(f"{sys.executable}\n")
    good = True
    installed = []
    typer.secho(f"{'engine':<20} {'answer':<15} {'load':>8} {'solve':>8}", bold=True)
    for name in names():
        try:
            cls = backend_class(name)
            members = cls.installed()
        except EngineError as error:
            typer.echo(f"{name:<20} {typer.style('FAILED', fg='red')} {printable(error)}")
            good = False
            continue
        if not cls.available():
            typer.echo(f"{name:<20} not installed: {_install(cls)}")
            continue
        for engine in members:
            installed += [engine] * cls._in_all
            good &= _try([engine], engine, "" if cls.exact else "heuristic")
    if len(installed) > 1:
        good &= _try(installed, "all in one process")
    typer.echo()
    good &= _versions()
    typer.echo("All installed engines work." if good else "Something is wrong; see above.")
    raise typer.Exit(0 if good else 1)


def _describe(name: str) -> dict[str, Any]:
    from cpx.backends import backend_class

    try:
        cls = backend_class(name)
        members = cls.installed()
    except EngineError as error:
        return {
            "name": name,
            "summary": "",
            "solvers": [],
            "members": [],
            "in_all": False,
            "installed": False,
            "install": "",
            "versions": {},
            "supported_options": [],
            "exact": True,
            "asks_classifier": False,
            "error": str(error),
        }
    supported = sorted({*cls.supported_options, *(("encoding",) if cls.needs_model else ())})
    return {
        "name": cls.name,
        "summary": cls.summary,
        "solvers": list(cls.solvers),
        "members": members,
        "in_all": cls._in_all,
        "installed": cls.available(),
        "install": _install(cls),
        "versions": versions_of(cls),
        "supported_options": supported,
        "exact": cls.exact,
        "asks_classifier": cls._asks_classifier,
    }


def _install(cls: type[Backend]) -> str:
    if cls._needs_kernels and not has_kernels():
        return "pip install --force-reinstall --no-deps cpx-explain"
    return "pip install " + " ".join(f"'{pip}'" for pip in cls.requires.values())


def _detail(name: str, text: str) -> None:
    if text:
        typer.echo(f"{'':<14} {name:<10} {text}")


def _try(engines: list[str], label: str, remark: str = "") -> bool:
    """Probe engines in a fresh interpreter and print a line; return whether all is well."""
    from cpx.cli.progress import phase

    with phase(f"trying {label}"):
        answer = _probe(engines)
    good: bool = answer["error"] == ""
    word = typer.style(f"{'ok' if good else 'FAILED':<15}", fg="green" if good else "red")
    times = ""
    if "load" in answer:
        times = f" {answer['load']:>6.2f} s {answer['solve']:>6.2f} s"
    typer.echo(f"{label:<20} {word}{times}  {remark}".rstrip())
    for line in str(answer["error"]).splitlines():
        typer.echo(f"    {printable(line)}")
    return good


def _probe(engines: list[str]) -> dict[str, Any]:
    from cpx.cli.probe import probe
    from cpx.processes.calls import Overdue, call

    try:
        return call(probe, engines, seconds=_PATIENCE, quiet=True)
    except Overdue:
        return {"error": f"no answer within {_PATIENCE:g} s"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _versions() -> bool:
    """Print the installed versions that are not the tested ones; return whether none is."""
    from importlib.metadata import PackageNotFoundError, requires, version

    try:
        from packaging.requirements import Requirement
    except ImportError:
        typer.echo("versions: not compared with the tested ones (pip install packaging)\n")
        return True
    try:
        lines = requires("cpx-explain") or []
    except PackageNotFoundError:
        typer.echo("versions: not compared with the tested ones (cpx-explain is not installed)\n")
        return True
    good = True
    shown = []
    for wanted in (Requirement(line) for line in lines):
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            number = version(wanted.name)
        except PackageNotFoundError:
            number = ""
        if number and wanted.specifier.contains(number, prereleases=True):
            shown.append(f"{wanted.name} {number}")
            continue
        good = False
        typer.secho(
            f"{wanted.name} is {number or 'missing'}, tested with {wanted.specifier}", fg="red"
        )
    typer.echo("versions: " + ", ".join(sorted(shown)) + "\n")
    return good
