"""The kinds of values, and reading a value that a person wrote."""

from __future__ import annotations

import datetime
from enum import Enum
from fractions import Fraction
from typing import TypeAlias, final

from discreet import exact
from discreet.errors import Invalid

Value: TypeAlias = bool | int | Fraction | str | datetime.date | datetime.datetime
_LONGEST = 10_000  # characters of a text value that a person may write


@final
class Kind(Enum):
    """The six kinds of values; the types of every engine are read as one of them."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self in (Kind.INTEGER, Kind.REAL)

    def read(self, value: object, name: str = "a value") -> Value:
        """Read a value that a person wrote; a float means the decimal that was typed.

        >>> Kind.REAL.read(0.1), Kind.DATE.read("2026-11-15")
        (Fraction(1, 10), datetime.date(2026, 11, 15))
        """
        match self, value:
            case Kind.BOOLEAN, bool():
                return value
            case Kind.TEXT, str() if len(value) <= _LONGEST and is_storable(value):
                return value
            case Kind.INTEGER, _ if not isinstance(value, bool | str):
                number = exact.rational(value, name)  # type: ignore[arg-type]
                if number.denominator == 1 and abs(number) < 2**63:
                    return int(number)
            case Kind.REAL, _ if not isinstance(value, bool | str):
                return exact.rational(value, name)  # type: ignore[arg-type]
            case Kind.TIMESTAMP, datetime.datetime():
                return _in_utc(value)
            case Kind.DATE, datetime.date() if not isinstance(value, datetime.datetime):
                return value
            case ((Kind.DATE | Kind.TIMESTAMP), str()):
                return _moment(value, self, name)
        raise Invalid(f"{name} must be {_ARTICLE[self]} {self.value}")


def _moment(text: str, kind: Kind, name: str) -> Value:
    try:
        return datetime.date.fromisoformat(text) if kind is Kind.DATE else _in_utc(datetime.datetime.fromisoformat(text))
    except Invalid:
        raise
    except ValueError:
        raise Invalid(f"{name} must be written like 2026-11-15{' 08:30:00' if kind is Kind.TIMESTAMP else ''}") from None


def _in_utc(moment: datetime.datetime) -> datetime.datetime:
    """A naive timestamp in UTC, as engines store it."""
    try:
        return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:
        raise Invalid("timestamps must be within the years 1 to 9999 in UTC: give another") from None


_ARTICLE = {
    Kind.BOOLEAN: "a",
    Kind.INTEGER: "an",
    Kind.REAL: "a",
    Kind.TEXT: "a",
    Kind.DATE: "a",
    Kind.TIMESTAMP: "a",
}


def can_be_read(value: Value | None, kind: Kind) -> bool:
    """Whether a value from the data can also be written in a declaration: not a text that is very long, or that engines cannot store.

    >>> can_be_read("York", Kind.TEXT), can_be_read(None, Kind.TEXT), can_be_read("x" * 20_000, Kind.TEXT)
    (True, True, False)
    """
    try:
        return value is None or kind.read(value) == value
    except Invalid:
        return False


def is_storable(text: str) -> bool:
    """Whether every engine can store a text: NUL and lone surrogates cannot be stored.

    >>> is_storable("Zoë"), is_storable("a\\x00"), is_storable("a\\udcff")
    (True, False, False)
    """
    return not any(one == "\x00" or "\ud800" <= one <= "\udfff" for one in text)
