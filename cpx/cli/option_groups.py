"""Groups of options that commands share: dataclasses whose fields become options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its dataclass parameters as options of its own.

    Typer reads a command's options off its signature. Where several commands take the same
    ones, a dataclass lists them once: a parameter of that type stands for all of its fields,
    and the command gets them as one object.

    Examples
    --------
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
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))

    @wraps(command)
    def flat(**values: Any) -> None:
        for name, group in groups.items():
            own = [field.name for field in fields(group) if field.name in values]
            values[name] = group(**{field: values.pop(field) for field in own})
        command(**values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {p.name: p.annotation for p in parameters}
    return flat


def _parameters(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def given(group: Any, *left_out: str) -> list[str]:
    """Return the options of a group whose value is not the default, except those left out."""
    return [
        "--" + field.name.replace("_", "-")
        for field in fields(group)
        if field.name not in left_out
        and (field.default is MISSING or getattr(group, field.name) != field.default)
    ]
