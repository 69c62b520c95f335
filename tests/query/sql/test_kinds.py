"""A refusal says which piece it speaks of, why, and what would work."""

from __future__ import annotations

import re

import pandas
import pytest
from query.sql.clinic import CATALOG, shown

import discreet
from discreet.errors import Invalid, Refused
from discreet.query.sql.read import read

SAID = [
    ("SELECT AVG(dept) FROM visits", """AVG(dept) … dept is text; declare its type, for CSV columns={"dept": "real"}"""),
    ("SELECT COUNT(*), MIN(dept) FROM visits", "MIN(dept) … dept is text"),
    ("SELECT AVG(urgent) FROM visits", "AVG(urgent) … urgent is true or false; write AVG(CASE WHEN urgent THEN 1 ELSE 0 END)"),
    (
        "SELECT MAX(day) FROM visits",
        "MAX(day) … day is a date … count by month or year … DATE_TRUNC('month', day) … EXTRACT(YEAR FROM day)",
    ),
    ("SELECT MEDIAN(seen) FROM visits", "seen is a timestamp … DATE_TRUNC('month', seen)"),
    ("SELECT SUM(NULL) FROM visits", "SUM(NULL) … a column"),
    ("SELECT MODE(cost) FROM visits", "MODE(cost) … FLOOR(cost)"),
    ("SELECT COUNT(DISTINCT cost) FROM visits", "COUNT(DISTINCT cost) … WIDTH_BUCKET(cost"),
    ("SELECT AVG(s) FROM (SELECT person_id, SUM(dept) AS s FROM visits GROUP BY person_id)", "SUM(dept) … dept is text"),
    ("SELECT AVG(cots) FROM visits", "cots … did you mean cost? there are"),
    ("SELECT AVG(COTS) FROM visits", "COTS … did you mean cost?"),
    ("SELECT COUNT(*) FROM vists", "vists … did you mean visits? there are"),
    ('SELECT COUNT(*) FROM visits WHERE dept = "er"', "single quotes, as in 'er'"),
    ("SELECT COUNT(*) FROM visits WHERE dept = 3", "dept is text and 3 is a whole number … write dept = '3'"),
    ("SELECT COUNT(*) FROM visits WHERE 3 < dept", "dept is text … write dept > '3'"),
    ("SELECT COUNT(*) FROM visits WHERE urgent = 1", "urgent is true or false and 1 is a whole number … write urgent"),
    ("SELECT COUNT(*) FROM visits WHERE urgent = 0", "write NOT urgent"),
    ("SELECT COUNT(*) FROM visits WHERE cost > '10'", "cost is a real number and '10' is text … write cost > 10"),
    ("SELECT COUNT(*) FROM visits WHERE '7.5' <= cost", "write cost >= 7.5"),
    ("SELECT COUNT(*) FROM visits WHERE quantity <> 'many'", "quantity is a whole number … write quantity <> 10"),
    ("SELECT COUNT(*) FROM visits WHERE cost IN (1, 'a')", "cost is a real number and 'a' is text … numbers, as in 10"),
    ("SELECT COUNT(*) FROM visits WHERE dept BETWEEN 1 AND 2", "dept is text and 1 is a whole number … single quotes"),
    ("SELECT COUNT(*) FROM visits WHERE day = 2024", "day is a date … EXTRACT(YEAR FROM day)"),
    ("SELECT COUNT(*) FROM visits WHERE dept > DATE '2024-01-01'", 'dept is text … columns={"dept": "date"}'),
    ("SELECT COUNT(*) FROM visits WHERE day > dept", 'day is a date and dept is text … columns={"dept": "date"}'),
    ("SELECT COUNT(*) FROM visits WHERE seen > day", "seen is a timestamp and day is a date … CAST(seen AS DATE)"),
    ("SELECT COUNT(*) FROM visits WHERE day = 'yesterday'", "a date is written like"),
    ("SELECT SUM(CASE WHEN urgent THEN 1 ELSE 'a' END) FROM visits", "1 is a whole number and 'a' is text"),
    ("SELECT COUNT(*) FROM visits JOIN sites ON dept = id", "dept is text and id is a whole number"),
    ("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING n > '3'", "n is a whole number and '3' is text … write n > 3"),
    ("SELECT SUM(CLAMP(cost, 100, 0)) FROM visits", "CLAMP(cost, 100, 0) … swap"),
    ("SELECT COUNT(*) FROM `visits`", 'could not be read as duckdb SQL … dialect="bigquery"'),
    ("SELECT SELECT FROM visits", "could not be read as duckdb SQL"),
    ("SELECT union, COUNT(*) FROM visits GROUP BY union", 'something is missing … quote names that are words of SQL ("union")'),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE(union)", 'could not be read as duckdb SQL … quote names that are words of SQL ("union")'),
    ("SELECT SUM(cost, 3) FROM visits", "more arguments than it takes"),
    ("SELECT COUNT(*) FROM visits WHERE dept = 'a", "close the quote"),
]


@pytest.mark.parametrize(("text", "said"), SAID, ids=[text for text, _ in SAID])
def test_says(text: str, said: str) -> None:
    with pytest.raises(Refused, match=".*".join(map(re.escape, said.split(" … ")))) as caught:
        read(text, CATALOG)
    assert not re.search("sqlglot|class|token|provided arguments|expression /", str(caught.value), re.IGNORECASE)
    assert "SELECT AVG" not in str(caught.value)


@pytest.mark.parametrize("text", [None, b"SELECT COUNT(*) FROM visits", 3, ["SELECT"]])
def test_a_question_is_text(text: object) -> None:
    with pytest.raises(Invalid, match="a question is text"):
        read(text, CATALOG)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dialect", "near"), [("big_query", "bigquery"), ("Postgresql", "postgres"), ("mysql", "bigquery"), (None, "bigquery")]
)
def test_dialects_are_listed(dialect: str, near: str) -> None:
    with pytest.raises(Refused, match=f'duckdb, postgres, bigquery.*dialect="{near}"'):
        read("SELECT COUNT(*) FROM visits", CATALOG, dialect)


def test_many_names_are_not_all_listed() -> None:
    columns = ", ".join(f"cost AS c{i}" for i in range(100))
    with pytest.raises(Refused, match="and 80 more"):
        read(f"SELECT AVG(nothing) FROM (SELECT {columns} FROM visits)", CATALOG)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "bigquery", "snowflake"])
def test_null_comes_last_unless_it_is_asked_for_first(dialect: str) -> None:
    text = "SELECT dept, AVG(cost) AS m FROM visits GROUP BY dept ORDER BY m"
    for spelling in ("", " DESC", " DESC NULLS LAST", " NULLS LAST"):
        assert shown(read(text + spelling, CATALOG, dialect)).endswith(" ORDER m" + (" desc" if "DESC" in spelling else ""))
    assert shown(read(text + " DESC NULLS FIRST", CATALOG, dialect)).endswith(" ORDER is_null(m) desc, m desc")
    assert shown(read("SELECT COUNT(*) AS n FROM visits ORDER BY n NULLS FIRST", CATALOG, dialect)).endswith(" ORDER n")


def test_null_first_end_to_end() -> None:
    rows = pandas.DataFrame({"id": range(3000), "dept": ["a", "b", None] * 1000})
    with discreet.connect({"visits": rows}, unit="id", epsilon=10, delta=1e-6, contributions={"rows": 1}, ledger=":memory:") as db:
        for order, expected in (("", ["a", "b", None]), ("NULLS FIRST", [None, "a", "b"]), ("DESC NULLS FIRST", [None, "b", "a"])):
            found = db.ask(f"SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept ORDER BY dept {order}", epsilon=1)
            assert [row["dept"] for row in found.rows] == expected
