"""Python objects of a pandas column as texts; no value raises."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from discreet.tables.kind import Kind

_PLAIN = (str, bool, int, float, Decimal, datetime.date, UUID, np.generic)  # what an object column may hold; other values are NULL
_NUMBERS = (int, float, Decimal, Fraction, np.integer, np.floating, np.bool_)


def to_texts(values: np.ndarray[Any, Any], read: Callable[[Any], str | None]) -> np.ndarray[Any, Any]:
    """A column of texts, with None for values that cannot be read."""
    found = np.empty(len(values), dtype=object)
    found[:] = [_total(read, value) for value in values]
    return found


def as_text(value: Any) -> str | None:
    """A text unchanged, a plain value as Python writes it, and None for anything else."""
    if not isinstance(value, _PLAIN) or value != value:
        return None
    text = str(value)
    # lone surrogates cannot be stored, and an error would reveal that there is one
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def as_identity(kind: Kind) -> Callable[[Any], str | None]:
    """The conversion for values that identify units: two get the same text if and only if Python's == holds them equal.

    A value of another type is None, even if it could be converted: 17 and "17" are different values.
    """
    return _IDENTITY[kind]


def _total(read: Callable[[Any], str | None], value: Any) -> str | None:
    try:
        return read(value)
    except Exception:  # such as integers of more than 4300 digits; the kind of error would reveal something about the value
        return None


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    text = str.__str__(value)  # for a member of an enumeration its value, which it equals
    text.encode()  # a lone surrogate cannot be stored: it raises, and the value is None
    return text


def _number(value: Any) -> Fraction | None:
    if not isinstance(value, _NUMBERS) or value != value or value in (np.inf, -np.inf):
        return None
    return Fraction(int(value)) if isinstance(value, np.integer | np.bool_ | int) else Fraction(*value.as_integer_ratio())


def _whole(value: Any) -> str | None:
    number = _number(value)
    return str(int(number)) if number is not None and number.denominator == 1 and -(2**63) <= number < 2**63 else None


def _real(value: Any) -> str | None:
    number = _number(value)
    return None if number is None or Fraction(float(number)) != number else repr(float(number) + 0.0)


def _truth(value: Any) -> str | None:
    number = _number(value)
    return {0: "false", 1: "true"}.get(int(number)) if number is not None and number.denominator == 1 else None


def _day(value: Any) -> str | None:
    return value.isoformat() if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime) else None


def _moment(value: Any) -> str | None:
    # a zoned timestamp never equals a naive one, and nanoseconds would be truncated
    if not isinstance(value, datetime.datetime) or value.tzinfo is not None or value != value or getattr(value, "nanosecond", False):
        return None
    return value.isoformat(sep=" ")


_IDENTITY: dict[Kind, Callable[[Any], str | None]] = {
    Kind.TEXT: _text,
    Kind.INTEGER: _whole,
    Kind.REAL: _real,
    Kind.BOOLEAN: _truth,
    Kind.DATE: _day,
    Kind.TIMESTAMP: _moment,
}
