"""What a column holds, and the values people may write for it."""

from __future__ import annotations

import datetime
from enum import Enum
from fractions import Fraction
from typing import TypeAlias, final

from discreet import exact
from discreet.errors import Invalid

Value: TypeAlias = bool | int | Fraction | str | datetime.date | datetime.datetime
_LONGEST = 10_000  # characters of a text value that a person writes


@final
class Kind(Enum):
    """The six kinds of values; every engine's own types are read as one of them."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        """Whether one may compute with it."""
        return self in (Kind.INTEGER, Kind.REAL)

    def read(self, value: object, name: str = "a value") -> Value:
        """Read what a person wrote as a value of this kind; a real number is read as the decimal that was typed.

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
    """As engines hold it: in UTC, without a zone."""
    try:
        return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:
        raise Invalid("timestamps must lie in the years 1 to 9999, in UTC") from None


_ARTICLE = {
    Kind.BOOLEAN: "a",
    Kind.INTEGER: "an",
    Kind.REAL: "a",
    Kind.TEXT: "a",
    Kind.DATE: "a",
    Kind.TIMESTAMP: "a",
}


def is_storable(text: str) -> bool:
    """Whether a text can be stored by every engine: NUL and halves of surrogate pairs cannot.

    >>> is_storable("Zoë"), is_storable("a\\x00"), is_storable("a\\udcff")
    (True, False, False)
    """
    return not any(one == "\x00" or "\ud800" <= one <= "\udfff" for one in text)
