"""A request for a daily feed: what is counted, by which days, and how much of one unit; planned free of charge, opened for a price."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Required, TypedDict, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.hints import suggests_arguments
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED, QueryBuilder
from discreet.session.feeds.calendar import Calendar, Every
from discreet.session.feeds.feed import Feed
from discreet.session.feeds.plan import FeedPlan
from discreet.session.feeds.totals import DailyTotals
from discreet.session.pipeline import Pipeline


class FeedOptions(TypedDict, total=False):
    """What `Session.daily` is told beside the table and the price."""

    day: Required[str]
    start: Required[datetime.date | str]
    days: Required[int]
    every: Every
    value: str | None
    where: str | None
    name: str
    per_day: int
    active_days: int
    windows: Sequence[int]


@final
@frozen(eq=False, repr=False)
class FeedRequest:
    """Running totals that are asked for: `plan` shows their price and error, `open` gives the feed, whose first release pays."""

    pipeline: Pipeline = field()
    totals: DailyTotals
    windows: tuple[int, ...]

    @classmethod
    @suggests_arguments("daily")
    def of(
        cls, pipeline: Pipeline, table: QueryBuilder[Any], *, day: str, start: Any, days: int, every: Any = "day", value: str | None = None,
        where: str | None = None, name: str = "", per_day: int = 1, active_days: int = 1, windows: Sequence[int] = (),
    ) -> FeedRequest:  # fmt: skip
        """Read a feed as people ask for it (`Session.daily`)."""
        calendar = Calendar.of(start, days, every)
        totals = DailyTotals.of(table, pipeline, day, calendar, value, where, per_day, active_days, name)
        lengths = tuple(sorted({exact.whole(w, "a window") for w in windows}))
        if any(length > calendar.count for length in lengths):
            raise Invalid("a window must not be longer than the feed: give a shorter window, or more days")
        totals.statement(1, pipeline.engine.dialect)  # what cannot be written is refused here, before anything is paid
        return cls(pipeline, totals, lengths)

    def plan(self, epsilon: Number, delta: Number | None = None) -> FeedPlan:
        """What would happen at this price; reads and spends nothing."""
        return FeedPlan(self.totals, *self.pipeline.price(epsilon, delta), self.windows)

    def open(self, epsilon: Number, delta: Number | None = None) -> Feed:
        """Open the feed; its first release pays for all days."""
        return Feed(self.plan(epsilon, delta), self.pipeline)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        calendar = self.totals.calendar
        return f"FeedRequest({self.totals.table} by {calendar.every}, {calendar.start} to {calendar.last})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .open(epsilon=…) gives the feed"])
