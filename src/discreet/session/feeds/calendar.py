"""The days, weeks or months of a feed."""

from __future__ import annotations

import datetime
from functools import cached_property
from typing import Any, Literal, TypeAlias, final, get_args

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.tables.kind import Kind

Every: TypeAlias = Literal["day", "week", "month"]
MOST_DAYS = 100_000


@final
@frozen(slots=False)
class Calendar:
    """So many days, weeks (from Monday) or months from a first day on.

    >>> Calendar(datetime.date(2026, 1, 1), 3, "month").first_days[-1]
    datetime.date(2026, 3, 1)
    """

    start: datetime.date
    count: int
    every: Every

    @classmethod
    def of(cls, start: Any, count: int, every: Any) -> Calendar:
        """Read it as people give it."""
        if every not in get_args(Every):
            raise Invalid('every must be "day", "week" or "month"')
        first = _date(start, "start")
        if (every == "week" and first.weekday()) or (every == "month" and first.day > 1):
            raise Invalid("start must be a Monday for weeks, and the first of a month for months")
        if exact.whole(count, "days") > MOST_DAYS:
            raise Invalid(f"days must be at most {MOST_DAYS:,}")
        made = cls(first, count, every)
        try:
            assert made.last
        except OverflowError:
            raise Invalid("these days go beyond the year 9999: start earlier, or ask for fewer days") from None
        return made

    def _at(self, step: int) -> datetime.date:
        if self.every != "month":
            return self.start + datetime.timedelta(days=step * (7 if self.every == "week" else 1))
        months = self.start.year * 12 + self.start.month - 1 + step
        if months >= 12 * 10_000:
            raise OverflowError
        return datetime.date(months // 12, months % 12 + 1, 1)

    @cached_property
    def first_days(self) -> tuple[datetime.date, ...]:
        """The first day of each step."""
        return tuple(map(self._at, range(self.count)))

    @property
    def last(self) -> datetime.date:
        """The last day of all."""
        return self._at(self.count) - datetime.timedelta(days=1)

    def complete(self, until: Any) -> int:
        """How many steps are over at the end of a day."""
        day = _date(until, "until")
        if day > self.last:
            raise Invalid(f"this feed ends on {self.last}: give an earlier day, or open another feed for later days")
        over = sum(self._at(step + 1) <= day + datetime.timedelta(days=1) for step in range(self.count))
        if not over:
            raise Invalid(f"no {self.every} of this feed is over by that day, because it begins on {self.start}: give a later day")
        return over


def _date(value: Any, name: str) -> datetime.date:
    found = Kind.DATE.read(value, name)
    assert isinstance(found, datetime.date)
    return found
