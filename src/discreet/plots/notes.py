"""What a receipt wants said below the answers: what its statistics mean, and what was found privately on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.plots.table import format_value, printable

_LIMITS = {  # for one, and for more
    "rows": ("one row of a person counts", "at most {} rows of a person count"),
    "groups": ("a person counts in one group", "a person counts in at most {} groups"),
    "per_group": ("one row of a person counts in each group", "at most {} rows of a person count in each group"),
}


def notes_of(receipt: Mapping[str, Any]) -> list[str]:
    """The sentences for one receipt; none where it has nothing to say.

    >>> found = {"limits": {"rows": 5}, "bounds": {"cost": {"low": "0", "high": "881/2"}}}
    >>> notes_of({"found": found, "notes": ["MAX is the 0.99 quantile"]})
    ['MAX is the 0.99 quantile', 'found privately: at most 5 rows of a person count; cost within 0 … 440.5; who has more counts less']
    """
    notes, found = receipt.get("notes"), receipt.get("found")
    lines = [printable(str(note)) for note in notes] if isinstance(notes, list | tuple) else []
    said = list(_found(found)) if isinstance(found, Mapping) else []
    return [*lines, f"found privately: {'; '.join(said)}"] if said else lines


def _found(found: Mapping[str, Any]) -> Iterator[str]:
    limits, bounds = found.get("limits") or {}, found.get("bounds") or {}
    for name, value in limits.items():
        if name in _LIMITS:
            yield _LIMITS[name][value != 1].format(_number(value))
    for name, value in bounds.items():
        yield f"{format_value(name)} {_ends(value)}"
    if limits:
        yield "who has more counts less"


def _ends(value: Any) -> str:
    """The ends of a range, of which only one may have been open."""
    match value:
        case {"low": low, "high": high}:
            return f"within {_number(low)} … {_number(high)}"
        case {"low": low}:
            return f"from {_number(low)}"
        case {"high": high}:
            return f"up to {_number(high)}"
    return ""


def _number(value: Any) -> str:
    """An exact number as a decimal; a date, or whatever else it is, as it stands."""
    try:
        return format_value(float(Fraction(value)), grouped=True)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return format_value(value)
