"""Dates and times as dialects write them, and what their refusals recommend."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG, shown

from discreet.errors import Refused
from discreet.query.sql.read import read

COUNTED = "SELECT COUNT(*) FROM visits WHERE "
SPELLED = {
    "greater(subtract(day_number(day), day_number(2024-01-01)), 90)": {
        "duckdb": [
            "day - DATE '2024-01-01' > 90",
            "DATE_DIFF('day', DATE '2024-01-01', day) > 90",
            "day - DATE '2024-01-01' > INTERVAL 90 DAY",
        ],
        "postgres": ["day - DATE '2024-01-01' > 90", "day - '2024-01-01'::date > 90"],
        "spark": ["DATEDIFF(day, DATE '2024-01-01') > 90", "day - DATE '2024-01-01' > INTERVAL '90' DAY"],
        "bigquery": ["DATE_DIFF(day, DATE '2024-01-01', DAY) > 90"],
        "snowflake": ["DATEDIFF('day', DATE '2024-01-01', day) > 90"],
        "redshift": ["DATEDIFF(day, DATE '2024-01-01', day) > 90"],
        "tsql": ["DATEDIFF(day, CAST('2024-01-01' AS DATE), day) > 90"],
        "trino": ["DATE_DIFF('day', DATE '2024-01-01', day) > 90"],
    },
    "less(add_days(day, 90), 2024-06-01)": {
        "duckdb": ["day + INTERVAL 90 DAY < '2024-06-01'", "day + 90 < '2024-06-01'", "INTERVAL '90 days' + day < '2024-06-01'"],
        "postgres": ["day + INTERVAL '90 days' < '2024-06-01'", "day + 90 < '2024-06-01'"],
        "spark": ["DATE_ADD(day, 90) < '2024-06-01'", "day + INTERVAL 90 DAYS < '2024-06-01'"],
        "bigquery": ["DATE_ADD(day, INTERVAL 90 DAY) < '2024-06-01'"],
        "snowflake": ["DATEADD(day, 90, day) < '2024-06-01'"],
        "tsql": ["DATEADD(day, 90, day) < '2024-06-01'"],
    },
    "less(add_months(day, -3), 2024-06-01)": {
        "duckdb": [
            "day - INTERVAL 3 MONTH < '2024-06-01'",
            "DATE_SUB(day, INTERVAL 3 MONTH) < '2024-06-01'",
            "day - INTERVAL 1 QUARTER < '2024-06-01'",
        ],
        "bigquery": ["DATE_SUB(day, INTERVAL 3 MONTH) < '2024-06-01'"],
        "spark": ["ADD_MONTHS(day, -3) < '2024-06-01'"],
    },
    "greater_equal(truncate(divide(subtract(calendar_number(2024-01-01), calendar_number(day)), 10000)), 18)": {
        "duckdb": ["EXTRACT(YEAR FROM AGE(DATE '2024-01-01', day)) >= 18", "DATE_SUB('year', day, DATE '2024-01-01') >= 18"],
        "postgres": ["DATE_PART('year', AGE('2024-01-01'::date, day)) >= 18"],
        "spark": ["TIMESTAMPDIFF(YEAR, day, DATE '2024-01-01') >= 18"],
    },
    "equal(date_text(day, '%Y-%m'), '2024-01')": {
        "duckdb": ["STRFTIME(day, '%Y-%m') = '2024-01'", "TO_CHAR(day, 'YYYY-MM') = '2024-01'"],
        "postgres": ["TO_CHAR(day, 'YYYY-MM') = '2024-01'"],
        "spark": ["DATE_FORMAT(day, 'yyyy-MM') = '2024-01'"],
        "bigquery": ["FORMAT_DATE('%Y-%m', day) = '2024-01'"],
        "snowflake": ["TO_CHAR(day, 'YYYY-MM') = '2024-01'"],
    },
    "equal(modulo(weekday(day), 7), 0)": {
        "duckdb": ["EXTRACT(DOW FROM day) = 0", "DAYOFWEEK(day) = 0"],
        "postgres": ["EXTRACT(DOW FROM day) = 0"],
        "snowflake": ["DAYOFWEEK(day) = 0"],
    },
    "equal(add(modulo(weekday(day), 7), 1), 1)": {
        "spark": ["DAYOFWEEK(day) = 1"],
        "bigquery": ["EXTRACT(DAYOFWEEK FROM day) = 1"],
    },
    "equal(week(day), 53)": {
        "duckdb": ["WEEK(day) = 53", "EXTRACT(WEEK FROM day) = 53"],
        "postgres": ["EXTRACT(WEEK FROM day) = 53"],
        "spark": ["WEEKOFYEAR(day) = 53"],
        "bigquery": ["EXTRACT(ISOWEEK FROM day) = 53"],
    },
}


@pytest.mark.parametrize(
    ("meaning", "dialect", "text"),
    [(meaning, dialect, text) for meaning, spelled in SPELLED.items() for dialect, texts in spelled.items() for text in texts],
)
def test_dialects_spell_one_thing(meaning: str, dialect: str, text: str) -> None:
    assert shown(read(COUNTED + text, CATALOG, dialect)) == f"visits[{meaning}] ASK count=count()"


REFUSED = [
    ("duckdb", "AVG(seen - seen)", "DATE_DIFF('hour', seen, seen)"),
    ("duckdb", "COUNTIF(AGE(day, day) > INTERVAL 1 YEAR)", "EXTRACT(YEAR FROM AGE(day, day))"),
    ("duckdb", "COUNTIF(day - day > INTERVAL 1 MONTH)", "a + INTERVAL 3 MONTH"),
    ("duckdb", "COUNTIF(day + INTERVAL 1 HOUR > '2024-01-01')", "day + INTERVAL 1 DAY"),
    ("duckdb", "COUNTIF(STRFTIME(day, '%x') = '')", "STRFTIME(day, '%Y-%m')"),
    ("postgres", "COUNTIF(TO_CHAR(day, 'Q') = '1')", "TO_CHAR(day, 'YYYY-MM')"),
    ("postgres", "AVG(DATEDIFF('day', day, day))", "b - a"),
    ("postgres", "AVG(EXTRACT(SECOND FROM seen))", "SECOND(seen)"),
    ("bigquery", "COUNTIF(EXTRACT(WEEK FROM day) = 1)", "WEEK"),
    ("spark", "AVG(DATEDIFF(MONTH, day, day))", "DATEDIFF(b, a)"),
    ("tsql", "AVG(DATEDIFF(week, day, day))", "DATE_DIFF('day', a, b)"),
]


@pytest.mark.parametrize(("dialect", "text", "instead"), REFUSED)
def test_what_differs_between_engines_is_refused(dialect: str, text: str, instead: str) -> None:
    with pytest.raises(Refused) as caught:
        read(f"SELECT {text} FROM visits", CATALOG, dialect)
    assert instead in str(caught.value)


def test_ninety_day_retention_has_whole_numbers() -> None:
    question = read(
        "SELECT COUNT(*) AS n FROM (SELECT person_id, MIN(day) AS a, MAX(day) AS b FROM visits GROUP BY person_id) WHERE b - a >= 90",
        CATALOG,
    )
    assert "[greater_equal(subtract(day_number(b), day_number(a)), 90)]" in shown(question)
