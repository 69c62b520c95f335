"""A question with parameters is the question with literals, and a value is nothing but a literal."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Refused
from discreet.query.parameters import parameter_values
from discreet.query.question import Question
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

KINDS = {
    "id": Kind.INTEGER,
    "dept": Kind.TEXT,
    "cost": Kind.REAL,
    "year": Kind.INTEGER,
    "day": Kind.DATE,
    "at": Kind.TIMESTAMP,
    "ok": Kind.BOOLEAN,
}
VISITS = Table("visits", tuple(ColumnMetadata.of(name, kind) for name, kind in KINDS.items()), Person("id"))


def asked(text: str, parameters: Any = None, dialect: str = "duckdb") -> Question:
    return read(text, Catalog((VISITS,)), dialect, parameter_values(parameters))


WHERE = "SELECT COUNT(*) AS n FROM visits WHERE "
DAY, NOON = datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 12, 30)


@pytest.mark.parametrize(
    ("text", "values", "written"),
    [
        ("dept = ?", ["er"], "dept = 'er'"),
        ("dept = ?", ["O'Neill"], "dept = 'O''Neill'"),
        ("dept LIKE ?", ["A%"], "dept LIKE 'A%'"),
        ("dept IN (?, ?) AND year = ?", ["a", "b", 7], "dept IN ('a', 'b') AND year = 7"),
        ("cost > ?", [5.0], "cost > 5.0"),
        ("cost > ?", [-0.25], "cost > -0.25"),
        ("cost BETWEEN ? AND ?", [1, Fraction(5, 2)], "cost BETWEEN 1 AND 2.5"),
        ("day >= ?", [DAY], "day >= DATE '2026-01-31'"),
        ("at < ?", [NOON], "at < TIMESTAMP '2026-01-31 12:30:00'"),
        ("ok = ?", [True], "ok = TRUE"),
        ("COALESCE(year, ?) = 2", [None], "COALESCE(year, NULL) = 2"),
        ("year = $2 AND cost > $1", [1, 2], "year = 2 AND cost > 1"),
        ("year = :y AND cost > :c AND year <> :y", {"c": 1, "y": 2, "unused": 3}, "year = 2 AND cost > 1 AND year <> 2"),
        ("year = $y", {"y": 2}, "year = 2"),
        ("day::timestamp > ?", [NOON], "day::timestamp > TIMESTAMP '2026-01-31 12:30:00'"),
    ],
)
def test_a_value_is_the_literal(text: str, values: Any, written: str) -> None:
    assert asked(WHERE + text, values) == asked(WHERE + written)


def test_everywhere_in_a_question() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = ?) dept, ROUND(AVG(cost), ?) AS m FROM visits WHERE year = ? "
    text += "GROUP BY dept LIMIT ?"
    found = asked(text, [Fraction(1, 10), 2, 2026, 5])
    assert (found.epsilon, found.limit) == (Fraction(1, 10), 5)
    assert found == asked(text.replace("?", "{}").format("0.1", 2, 2026, 5))


@pytest.mark.parametrize(
    ("text", "values", "says"),
    [
        ("cost > ?", None, "stands for a parameter"),
        ("cost > $1", None, "stands for a parameter"),
        ("cost > ? AND cost < ?", [1], "more parameters than values"),
        ("cost > ?", [1, 2], "2 values were given"),
        ("cost > 1", [1], "0 parameters"),
        ("cost > $3", [1], "more parameters than values"),
        ("cost > $0", [1], "more parameters than values"),
        ("cost > ?", {"a": 1}, "given by name"),
        ("cost > :a", {"b": 1}, "a has no value"),
        ("cost > $a", [1], "given by position"),
    ],
)
def test_each_has_its_value(text: str, values: Any, says: str) -> None:
    with pytest.raises(Refused, match=says):
        asked(WHERE + text, values)


@pytest.mark.parametrize(
    "text",
    ["SELECT COUNT(*) AS n FROM ?", "SELECT COUNT(*) AS ? FROM visits", "SELECT COUNT(*) AS n FROM visits ?", "? COUNT(*) FROM visits"],
)
@pytest.mark.parametrize("value", ["visits", "n", "SELECT"])
def test_a_value_is_no_name_and_no_word(text: str, value: str) -> None:
    with pytest.raises(Refused):
        asked(text, [value])


def test_a_name_in_quotes_is_no_parameter() -> None:
    assert asked(WHERE + "dept = ':a ? $1' AND year = :a", {"a": 1}) == asked(WHERE + "dept = ':a ? $1' AND year = 1")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "bigquery", "snowflake", "spark", "trino", "tsql"])
def test_dialects(dialect: str) -> None:
    assert asked(WHERE + "dept = ? AND year = ?", ["a", 3], dialect) == asked(WHERE + "dept = 'a' AND year = 3", None, dialect)
