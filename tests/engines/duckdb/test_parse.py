"""Texts parsed as values: no text fails, and what does not parse is NULL."""

from __future__ import annotations

import datetime
from typing import Any

import duckdb
import pytest

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.parse import parsed
from discreet.tables.kind import Kind

AWKWARD = [
    "",
    " ",
    "nan",
    "infinity",
    "-infinity",
    "epoch",
    "1e400",
    "0x10",
    "9" * 400,
    "0" * 400,
    "é",
    "\t",
    "99999999-01-01",
    "NULL",
    "--",
    "1_000_",
]
AWKWARD += ["290000-12-31 (BC) 00:00:00", "2024-01-01 25:00:00", "2024-01-01 00:00:00+99:99", "12:30", "true", "[1]", "{}", "1e-999"]


def value(text: str | None, kind: Kind) -> Any:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone='UTC'")
        return connection.execute(f"SELECT {parsed('x', kind)} FROM (SELECT CAST(? AS VARCHAR) AS x)", [text]).fetchall()[0][0]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("12", Kind.INTEGER, 12),
        ("2.5", Kind.REAL, 2.5),
        ("x", Kind.REAL, None),
        ("2024-02-29", Kind.DATE, datetime.date(2024, 2, 29)),
        ("2023-02-29", Kind.DATE, None),
        ("infinity", Kind.DATE, None),
        ("2024-02-29 10:00:00+02", Kind.TIMESTAMP, datetime.datetime(2024, 2, 29, 8)),
        ("true", Kind.BOOLEAN, True),
        ("a", Kind.TEXT, "a"),
        (None, Kind.DATE, None),
    ],
)
def test_texts_are_parsed(text: str | None, kind: Kind, expected: Any) -> None:
    assert value(text, kind) == expected


@pytest.mark.parametrize("kind", Kind)
def test_no_text_fails(kind: Kind) -> None:
    for text in AWKWARD:
        value(text, kind)


def test_the_dialect_parses_in_the_same_way() -> None:
    assert DUCKDB.parsed("x", Kind.DATE) == parsed("x", Kind.DATE)
