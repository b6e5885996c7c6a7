"""``-`` in the place of a file: standard input where one is read, standard output where written.

Commands see ordinary files: what is read from standard input lies in a temporary one, and what is
written to standard output goes to one first. Nothing below the shell knows of ``-``.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from cpx.errors import CpxError, DataError, InvalidOption, OutputError

# Options that name files to be written; of 'check' all files are read.
_WRITTEN = ("output", "proof", "plot", "instance", "result")
# Options that may name a file or be something else.
_PERHAPS = ("hint", "candidates")

# What is packed is known by its first bytes, and by the readers by the end of its name.
_PACKED = {b"\x1f\x8b": ".json.gz", b"PK\x03\x04": ".zip", b"BZh": ".bz2", b"\xfd7zXZ": ".xz"}


class FileCommand(TyperCommand):
    """A command whose files may be ``-``."""

    def invoke(self, ctx: Any) -> Any:
        """Put files in the places of ``-``, run the command, and print what it wrote there."""
        places: list[_Place] = [
            (parameter, i) for parameter in self.params for i in _dashes(parameter, ctx)
        ]
        if not places:
            return super().invoke(ctx)
        written = [place for place in places if _is_written(place[0], self.name)]
        read = [place for place in places if place not in written]
        for group, what in ((read, "standard input"), (written, "standard output")):
            if len(group) > 1:
                names = " and ".join(_name(parameter) for parameter, _ in group)
                raise InvalidOption(f"{names}: '-' is {what}, and can be given once")
        for parameter, _ in places:
            if getattr(parameter, "metavar", None) == "DIR":
                raise InvalidOption(f"{_name(parameter)} is a directory, and cannot be '-'")
        return self._with_files(ctx, read, written)

    def _with_files(self, ctx: Any, read: list[_Place], written: list[_Place]) -> Any:
        from cpx.processes.children import scratch

        with scratch("cpx-dash-") as folder:
            output = folder / "standard-output"
            # What is printed is not the file, and goes where remarks go.
            aside = redirect_stdout(sys.stderr) if written else nullcontext()
            try:
                for place in read:
                    data = _standard_input()
                    path = folder / f"standard-input{_suffix(data, self.name)}"
                    path.write_bytes(data)
                    _put(ctx, place, path, "standard input")
                for place in written:
                    _put(ctx, place, output, "standard output")
                with aside:
                    return super().invoke(ctx)
            except CpxError as error:
                error.args = (as_given(str(error)),)
                raise
            finally:
                _names.clear()
                if output.exists():
                    _print(output.read_bytes())


# Parameter, and the place in its list of files.
_Place = tuple[Any, int | None]

_names: dict[str, str] = {}


def as_given(text: object) -> str:
    """Return a text in which temporary files are called what they stand for."""
    words = str(text)
    for path, name in _names.items():
        words = words.replace(path, name)
    return words


def _dashes(parameter: Any, ctx: Any) -> list[int | None]:
    """Return where the value is a file called ``-``: as a whole, or a place in a list."""
    value = ctx.params.get(parameter.name or "")
    if isinstance(value, list | tuple):
        return [i for i, part in enumerate(value) if part == Path("-")]
    perhaps = parameter.name in _PERHAPS and value == "-"
    return [None] if value == Path("-") or perhaps else []


def _is_written(parameter: Any, command: str | None) -> bool:
    named = parameter.param_type_name == "option" and parameter.name in _WRITTEN
    return named and command != "check"


def _name(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    return str(max(parameter.opts, key=len) if option else parameter.metavar)


def _put(ctx: Any, place: _Place, path: Path, name: str) -> None:
    """Give the command a file in the place of ``-``."""
    parameter, i = place
    _names[str(path)] = name
    given = ctx.params[parameter.name]
    if i is None:
        ctx.params[parameter.name] = type(given)(path)
    else:
        ctx.params[parameter.name] = [*given[:i], path, *given[i + 1 :]]


def _standard_input() -> bytes:
    try:
        data: bytes = sys.stdin.buffer.read()
    except (AttributeError, OSError) as error:  # without descriptor there is no stream
        raise DataError("standard input cannot be read") from error
    if not data:
        raise DataError("standard input is empty")
    return data


def _suffix(data: bytes, command: str | None) -> str:
    packed = [suffix for start, suffix in _PACKED.items() if data.startswith(start)]
    if packed:
        return packed[0]
    if data.lstrip()[:1] == b"{":
        return ".json"
    return ".toml" if command == "compare" else ""


def _print(data: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write standard output: {error.strerror}") from error
