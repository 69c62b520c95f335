"""Types of columns and constructors of values, as PEP 249 names them. A column's type code is the word for its kind, such as "integer"."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, final

from attrs import frozen

from discreet.tables.kind import Kind


@final
@frozen(eq=False)
class TypeObject:
    """Equal to the type codes of several kinds.

    >>> NUMBER == "integer", NUMBER == "text"
    (True, False)
    """

    codes: frozenset[str]

    def __eq__(self, other: object) -> bool:
        return other in self.codes if isinstance(other, str) else self is other

    def __hash__(self) -> int:
        return hash(self.codes)


STRING = TypeObject(frozenset({Kind.TEXT.value}))
BINARY = TypeObject(frozenset())
NUMBER = TypeObject(frozenset({Kind.INTEGER.value, Kind.REAL.value, Kind.BOOLEAN.value}))
DATETIME = TypeObject(frozenset({Kind.DATE.value, Kind.TIMESTAMP.value}))
ROWID = TypeObject(frozenset())

Date, Time, Timestamp = datetime.date, datetime.time, datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:  # as PEP 249 names it
    """The date of a time in seconds since 1970."""
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:
    """The time of day of a time in seconds since 1970."""
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """The timestamp of a time in seconds since 1970."""
    return datetime.datetime.fromtimestamp(ticks)


_KINDS = {
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    float: Kind.REAL,
    str: Kind.TEXT,
    datetime.datetime: Kind.TIMESTAMP,
    datetime.date: Kind.DATE,
}


def type_code(values: Sequence[Any]) -> str | None:
    """The type code of released values; None if all of them are NULL.

    >>> type_code([None, 3, 2.5]), type_code([None])
    ('real', None)
    """
    found = {_KINDS[kind] for kind in set(map(type, values)) - {type(None)}}
    if found == {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL.value
    return next(iter(found)).value if found else None
