"""Periods after which the budget of an analyst renews: calendar weeks and months in UTC."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final, final

from attrs import field, frozen

from discreet.errors import Invalid

EVERY: Final = ("week", "month")
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_FIRST, _LAST = datetime.date.min.toordinal(), datetime.date(9998, 12, 31).toordinal()


def _every(value: Any) -> str:
    if value not in EVERY:
        raise Invalid('a budget renews every "week" (on Monday) or every "month" (on its first day), in UTC: give one of these')
    return str(value)


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Invalid("a period is numbered from 0 on")
    return value


@final
@frozen(order=False)
class Period:
    """One period, by its number: months since the year 0, or weeks since the first Monday of the year 1."""

    every: str = field(converter=_every)
    index: int = field(converter=_index)

    @classmethod
    def at(cls, every: str, seconds: float) -> Period:
        """The period of a time in seconds since 1970; times beyond the calendar count as its ends.

        >>> Period.at("month", 0.0).start, Period.at("week", 0.0).start
        (datetime.date(1970, 1, 1), datetime.date(1969, 12, 29))
        """
        day = min(max(_EPOCH + int(min(max(seconds, -1e12), 1e12) // 86400), _FIRST), _LAST)
        if every == "week":
            return cls(every, (day - 1) // 7)  # day 1, the first of January of the year 1, was a Monday
        date = datetime.date.fromordinal(day)
        return cls(every, 12 * date.year + date.month - 1)

    @property
    def start(self) -> datetime.date:
        """Its first day."""
        if self.every == "week":
            return datetime.date.fromordinal(7 * self.index + 1)
        return datetime.date(self.index // 12, self.index % 12 + 1, 1)

    @property
    def next(self) -> Period:
        """The period after it."""
        return Period(self.every, self.index + 1)

    def as_every(self, every: str) -> Period:
        """The period of another length that has its last day.

        >>> Period.at("week", 0.0).as_every("month").start, Period.at("month", 0.0).as_every("week").start
        (datetime.date(1970, 1, 1), datetime.date(1970, 1, 26))
        """
        return Period.at(every, float(self.next.start.toordinal() - 1 - _EPOCH) * 86400)

    def to_json(self) -> dict[str, Any]:
        """Write the period as plain values."""
        return {"every": self.every, "period": self.index}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Period | None:
        """Read back what to_json wrote; None if the record names no period."""
        if "every" not in record and "period" not in record:
            return None
        return cls(record["every"], record["period"])
