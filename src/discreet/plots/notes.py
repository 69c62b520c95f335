"""Notes below an answer, from its receipt: how its statistics are defined, and the limits and bounds that were discovered privately."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet import exact
from discreet.plots.table import format_value, printable

_LIMITS = {  # singular and plural
    "rows": ("at most {} row per unit", "at most {} rows per unit"),
    "groups": ("at most {} group per unit", "at most {} groups per unit"),
    "per_group": ("at most {} row per unit and group", "at most {} rows per unit and group"),
}
_DOWN_WEIGHTED = "rows of heavier contributors are down-weighted"


def notes_of(receipt: Mapping[str, Any]) -> list[str]:
    """The notes for one receipt; none if it has none.

    >>> found = {"limits": {"rows": 5}, "bounds": {"cost": {"low": "0", "high": "881/2"}}}
    >>> notes_of({"found": found, "notes": ["MAX is the 0.99 quantile"]})
    ['MAX is the 0.99 quantile',
     'discovered privately: at most 5 rows per unit; cost clipped to 0 … 440.5; rows of heavier contributors are down-weighted']
    """
    notes, found = receipt.get("notes"), receipt.get("found")
    lines = [printable(str(note)) for note in notes] if isinstance(notes, list | tuple) else []
    said = list(_found(found)) if isinstance(found, Mapping) else []
    return [*lines, f"discovered privately: {'; '.join(said)}"] if said else lines


def _found(found: Mapping[str, Any]) -> Iterator[str]:
    limits, bounds = found.get("limits") or {}, found.get("bounds") or {}
    for name, value in limits.items():
        if name in _LIMITS:
            yield _LIMITS[name][value != 1].format(_number(value))
    for name, value in bounds.items():
        yield f"{format_value(name)} clipped to {_range(value)}"
    if limits:
        yield _DOWN_WEIGHTED


def _range(value: Any) -> str:
    """The bounds; only the one that was not declared, if the other was."""
    match value:
        case {"low": low, "high": high}:
            return f"{_number(low)} … {_number(high)}"
        case {"low": low}:
            return f"at least {_number(low)}"
        case {"high": high}:
            return f"at most {_number(high)}"
    return ""


def _number(value: Any) -> str:
    """An exact number as a decimal; a date or anything else unchanged."""
    try:
        return format_value(float(exact.rational(value)), grouped=True)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return format_value(value)
