"""Bins of a key that rounds numbers, such as FLOOR(x / 20) * 20 or WIDTH_BUCKET(x, 0, 100, 10): which range each group stands for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from attrs import evolve, frozen

_NUMBER = re.compile(r"-?[0-9]{1,25}(\.[0-9]{1,25})?(e-?[0-9]{1,2}|/[1-9][0-9]{0,24})?")
_LARGEST = 10**15


@final
@frozen
class Bins:
    """Equal bins of a number. The group `scale * k + shift` is the range from `start + width * k` to `start + width * (k + 1)`."""

    of: str  # the column that is binned
    width: Fraction
    start: Fraction = Fraction(0)
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    number: int | None = None  # of bins, where it is fixed: group 0 is below them all, and the last is above

    def place(self, value: Any) -> int | None:
        """The place k of a group; None if the value is none of these bins."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        place = (Fraction(value).limit_denominator(10**9) - self.shift) / self.scale
        return int(place) if place.denominator == 1 else None

    def edges(self, place: int) -> tuple[float, float]:
        """Both edges of a bin; what lies below or above all bins has an infinite one."""
        low, high = (float(self.start + self.width * k) for k in (place, place + 1))
        if self.number is None:
            return low, high
        return -math.inf if place < 0 else low, math.inf if place >= self.number else high


def bins_of(expr: Any) -> Bins | None:
    """The bins of a key, from its expression as a request keeps it; None if it makes none.

    >>> x, twenty = {"is": "Column", "name": "x"}, {"is": "Literal", "value": 20}
    >>> down = {"is": "Call", "function": "floor", "arguments": [{"is": "Call", "function": "divide", "arguments": [x, twenty]}]}
    >>> bins_of({"is": "Call", "function": "multiply", "arguments": [down, twenty]}).edges(3)
    (60.0, 80.0)
    """
    match expr:
        case {"is": "Call", "function": "floor" | "round" as function, "arguments": [{"function": "divide", "arguments": [of, by]}]}:
            moved, width = _moved(of), _literal(by)
            if moved is None or width is None or width <= 0:
                return None
            return Bins(moved[0], width, moved[1] - (width / 2 if function == "round" else 0))
        case {"is": "Call", "function": "floor" | "round" as function, "arguments": [{"is": "Column", "name": str(of)}]}:
            return Bins(of, Fraction(1), Fraction(-1, 2) if function == "round" else Fraction(0))
        case {"is": "Call", "function": "round", "arguments": [{"is": "Column", "name": str(of)}, digits]}:
            places = _literal(digits)
            if places is None or places.denominator != 1 or not -12 <= places <= 12:
                return None
            width = Fraction(10) ** -int(places)
            return Bins(of, width, -width / 2, width)
        case {"is": "Call", "function": "width_bucket", "arguments": [{"is": "Column", "name": str(of)}, *ends]}:
            return _buckets(of, [_literal(end) for end in ends])
        case {"is": "Call", "function": "subtract", "arguments": [{"is": "Column"} as of, {"function": "modulo", "arguments": [also, by]}]}:
            width = _literal(by)
            return Bins(of["name"], width, Fraction(0), width) if also == of and width is not None and width > 0 else None
        case {"is": "Call", "function": "multiply" | "add" | "subtract" as function, "arguments": [one, other]}:
            return _changed(function, one, other)
        case {"is": "Call", "function": "to_real", "arguments": [inner]}:
            return bins_of(inner)
    return None


def _changed(function: str, one: Any, other: Any) -> Bins | None:
    """Bins whose groups are multiplied by a number, or moved by one."""
    inner, by = bins_of(one), _literal(other)
    if inner is None and function != "subtract":
        inner, by = bins_of(other), _literal(one)
    if inner is None or by is None or inner.number is not None:
        return None
    if function == "multiply":
        return evolve(inner, scale=inner.scale * by, shift=inner.shift * by) if by > 0 else None
    return evolve(inner, shift=inner.shift + (by if function == "add" else -by))


def _buckets(of: str, ends: list[Fraction | None]) -> Bins | None:
    match ends:
        case [Fraction() as low, Fraction() as high, Fraction() as number] if low < high and number >= 1 and number.denominator == 1:
            return Bins(of, (high - low) / number, low, Fraction(1), Fraction(1), int(number))
    return None


def _moved(of: Any) -> tuple[str, Fraction] | None:
    """A column, and where its bins start: that of x - 5 starts at 5."""
    match of:
        case {"is": "Column", "name": str(name)}:
            return name, Fraction(0)
        case {"is": "Call", "function": "subtract" | "add" as function, "arguments": [inner, by]}:
            moved, start = _literal(by), _moved(inner)
            return None if moved is None or start is None else (start[0], start[1] + (moved if function == "subtract" else -moved))
        case {"is": "Call", "function": "to_real", "arguments": [inner]}:
            return _moved(inner)
    return None


def _literal(expr: Any) -> Fraction | None:
    match expr:
        case {"is": "Literal", "value": value}:
            return read_fraction(value)
        case {"is": "Call", "function": "negate", "arguments": [inner]}:
            found = _literal(inner)
            return None if found is None else -found
    return None


def read_fraction(value: Any) -> Fraction | None:
    """A number of a request; None if it is none, or one too long to be an edge on an axis.

    >>> read_fraction({"is": "number", "value": "1/2"}), read_fraction(0.25), read_fraction("1e999999999"), read_fraction(10**400)
    (Fraction(1, 2), Fraction(1, 4), None, None)
    """
    text = str(value.get("value") if isinstance(value, Mapping) else value)
    if isinstance(value, bool) or _NUMBER.fullmatch(text) is None:
        return None
    found = Fraction(text)
    return found if abs(found) <= _LARGEST else None
