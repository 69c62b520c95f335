"""Groups of options: an attrs class declares them once, and every command with a parameter of that class takes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from attrs import NOTHING, Attribute, Factory, fields, has


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command have parameters that are groups of options.

    Typer reads the signature of a function and knows no groups. So it is given a flat signature, in which the fields of a group stand where
    the group stands, each with its own annotation and default; when the command is called, the groups are built from their fields.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters = signature(command).parameters
    groups: dict[str, type] = {name: hints[name] for name in parameters if has(hints[name])}

    @wraps(command)
    def flat(**typed: Any) -> None:
        built = {name: group(**{one.name: typed.pop(one.name) for one in fields(group)}) for name, group in groups.items()}
        command(**built, **typed)

    shown: list[Parameter] = []
    for name, one in parameters.items():
        if name in groups:
            shown += _flattened(groups[name])
        else:
            shown.append(one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
    flat.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    return flat


def _flattened(group: type) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [Parameter(one.name, Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name]) for one in fields(group)]


def _default(one: Attribute[Any]) -> Any:
    default: Any = one.default
    if default is NOTHING:
        return Parameter.empty
    return default.factory() if isinstance(default, Factory) else default  # type: ignore[arg-type]
