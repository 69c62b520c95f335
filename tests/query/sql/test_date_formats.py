"""Formats of dates in the notation of each dialect."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG, shown

from discreet.errors import Refused
from discreet.query.sql.read import read

READ = [
    ("duckdb", "STRFTIME(seen, '%d.%m.%Y %H:%M')", "date_text(seen, '%d.%m.%Y %H:%M')"),
    ("duckdb", "TO_CHAR(day, 'IYYY-IW')", "date_text(day, '%G-%V')"),
    ("postgres", "TO_CHAR(day, 'YYYY-MM-DD')", "date_text(day, '%Y-%m-%d')"),
    ("postgres", "STRFTIME(day, '%Y')", "date_text(day, '%Y')"),
    ("spark", "DATE_FORMAT(day, 'yyyy-MM')", "date_text(day, '%Y-%m')"),
    ("duckdb", "MONTHNAME(day)", "date_text(day, '%B')"),
    ("snowflake", "MONTHNAME(day)", "date_text(day, '%b')"),
    ("duckdb", "DAYNAME(day)", "date_text(day, '%A')"),
]


@pytest.mark.parametrize(("dialect", "text", "meaning"), READ)
def test_one_notation(dialect: str, text: str, meaning: str) -> None:
    assert f"BY f={meaning} ASK" in shown(read(f"SELECT {text} AS f, COUNT(*) FROM visits GROUP BY f", CATALOG, dialect))


@pytest.mark.parametrize("text", ["TO_CHAR(day, 'Q')", "TO_CHAR(day, 'Day')", "STRFTIME(day, '%c')", "STRFTIME(day)", "TO_CHAR(day, dept)"])
def test_other_formats_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        read(f"SELECT {text} AS f, COUNT(*) FROM visits GROUP BY f", CATALOG)
