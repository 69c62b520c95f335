"""Marks of an axis: round numbers over a range, and how they are written."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

from discreet.plots.table import format_value

_STEPS = (1, 2, 2.5, 5, 10)
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most `most` round numbers within [low, high], equally far apart.

    >>> round_ticks(0, 97), round_ticks(-3, 3, 4)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [-2.0, 0.0, 2.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (*(factor * power for factor in _STEPS), 20 * power):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return list(dict.fromkeys(round(place * step, 12 - math.floor(math.log10(step))) for place in range(first, last + 1)))
    return [low, high]


def tick_label(value: float, largest: float | None = None) -> str:
    """A number on an axis: grouped from 10,000 on, for four digits may be a year, and abbreviated where the largest is a million or more.

    >>> tick_label(600_000.0), tick_label(600_000.0, 1_200_000.0), tick_label(0.0, 5e9)
    ('600,000', '0.6M', '0')
    >>> tick_label(1_000_001.0), tick_label(1e200)
    ('1.000001M', '1e+200')
    >>> tick_label(1995.0), tick_label(8000.0, 12_000.0)
    ('1995', '8,000')
    >>> tick_label(0.25), tick_label(12500.0), tick_label(3e6), tick_label(1e15), tick_label(-0.0)
    ('0.25', '12,500', '3M', '1,000T', '0')
    """
    for size, prefix in _PREFIXES:
        if value and max(abs(value), abs(largest or 0.0)) >= size:
            return f"{value / size:,.10g}{prefix}" if abs(value) / size < 1e4 else f"{value:.3g}"
    return _grouped(value, 10, largest)


def _grouped(value: float, figures: int, largest: float | None = None) -> str:
    comma = "," if max(abs(value), abs(largest or 0.0)) >= 10_000 else ""
    return f"{value + 0.0:{comma}.{figures}g}"


def edge_label(value: Any) -> str:
    """The edge of a bin: a number, or a date.

    >>> edge_label(20.0), edge_label(datetime.date(2024, 1, 1)), edge_label(0.1 + 0.2)
    ('20', '2024-01-01', '0.3')
    >>> edge_label(2.0**-20), edge_label(1234.5678)
    ('9.54e-07', '1234.57')
    """
    if isinstance(value, datetime.date):
        return format_value(value)
    number = float(value)
    return tick_label(float(f"{number:.3g}")) if abs(number) >= 1e6 else _grouped(number, 6 if abs(number) >= 0.001 else 3)


def spaced(labels: Sequence[str], room: float) -> int:
    """Every how many-th label fits, if `room` characters fit between two neighbours.

    >>> spaced(["0", "20", "40"], 8), spaced(["2024-01-01", "2024-02-01"], 5)
    (1, 3)
    """
    longest = max((len(label) for label in labels), default=0)
    return max(1, math.ceil((longest + 1.5) / max(room, 0.1))) if longest else 1
