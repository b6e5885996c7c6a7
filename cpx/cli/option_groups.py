"""Groups of options that commands share: dataclasses whose fields become options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from typing import Annotated, Any, Protocol, get_args, get_type_hints, overload

from typer.models import OptionInfo

Command = Callable[..., None]


class Options(Protocol):
    """Options that a command gets as one object, and the title above them in help."""

    title: str | None

    def parameters(self) -> list[inspect.Parameter]:
        """Return them as parameters of a command."""

    def read(self, values: dict[str, Any]) -> Any:
        """Return the object."""


@overload
def grouped(command: Command, /, **more: Options) -> Command: ...
@overload
def grouped(command: None = None, /, **more: Options) -> Callable[[Command], Command]: ...
def grouped(command: Command | None = None, /, **more: Options) -> Any:
    """Give a command the fields of its dataclass parameters as options of its own.

    Typer reads a command's options off its signature. Where several commands take the same
    ones, a dataclass lists them once: a parameter of that type stands for all of its fields,
    and the command gets them as one object. Other options stand in help under the title of the
    group that follows them.

    **more: What a parameter stands for, where that is not the whole of a dataclass.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int
    ...     height: int = 1
    >>> @grouped
    ... def draw(size: Size, colour: str = "red") -> None:
    ...     print(size, colour)
    >>> list(inspect.signature(draw).parameters)
    ['width', 'height', 'colour']
    >>> draw(width=3, colour="blue")
    Size(width=3, height=1) blue
    """
    if command is None:
        return partial(grouped, **more)
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Options] = {n: Group(t) for n, t in hints.items() if is_dataclass(t)}
    groups.update(more)
    parameters: list[inspect.Parameter] = []
    title = None
    for name, parameter in reversed([*inspect.signature(command).parameters.items()]):
        if name in groups:
            title = groups[name].title
            parameters = [*groups[name].parameters(), *parameters]
        else:
            parameters = [option(name, hints[name], parameter.default, title), *parameters]

    @wraps(command)
    def flat(**values: Any) -> None:
        objects = {}
        for name, group in groups.items():
            own = [p.name for p in group.parameters() if p.name in values]
            objects[name] = group.read({option: values.pop(option) for option in own})
        command(**values, **objects)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {p.name: p.annotation for p in parameters}
    return flat


class Group:
    """The fields of a dataclass, but for those left out; its ``title`` stands above them in help.

    Those that must be given come first.
    """

    def __init__(self, cls: Any, *left_out: str, title: str | None = None) -> None:
        self._cls, self._left_out = cls, left_out
        self.title = title or getattr(cls, "title", None)

    def parameters(self) -> list[inspect.Parameter]:
        """Return the fields as parameters of a command."""
        hints = get_type_hints(self._cls, include_extras=True)
        found = [
            option(field.name, hints[field.name], field.default, self.title)
            for field in fields(self._cls)
            if field.name not in self._left_out
        ]
        return sorted(found, key=lambda p: p.default is not inspect.Parameter.empty)

    def read(self, values: dict[str, Any]) -> Any:
        """Return the object."""
        return self._cls(**values)


def option(name: str, hint: Any, default: Any, title: str | None = None) -> inspect.Parameter:
    """Return a parameter of a command; in help an option stands under the title."""
    kind, *told = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    if title is not None:
        told = [copy(one) for one in told]
        for one in told:
            if isinstance(one, OptionInfo) and one.rich_help_panel is None:
                one.rich_help_panel = title
        hint = Annotated[kind, *told]
    empty = inspect.Parameter.empty
    default = empty if default is MISSING else default
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=hint)


def given(group: Any, *left_out: str) -> list[str]:
    """Return the options of a group whose value is not the default, except those left out."""
    return [
        "--" + field.name.replace("_", "-")
        for field in fields(group)
        if field.name not in left_out
        and (field.default is MISSING or getattr(group, field.name) != field.default)
    ]
