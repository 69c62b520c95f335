"""Days, weeks and months."""

from __future__ import annotations

from discreet.session.feeds.calendar import Calendar


def test_the_calendar() -> None:
    weeks = Calendar.of("2026-01-05", 3, "week")
    assert [weeks.complete(until) for until in ("2026-01-11", "2026-01-17", "2026-01-18", "2026-01-25")] == [1, 1, 2, 3]
