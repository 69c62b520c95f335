"""Parameters become literals of the parsed question: whatever a value holds, it stays a value."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Error, Refused
from discreet.query.relation.expr import Call, Literal
from discreet.query.relation.node import Where
from discreet.query.sql.parameters import parameter_kinds
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

COLUMNS = {"id": Kind.INTEGER, "dept": Kind.TEXT, "cost": Kind.REAL, "day": Kind.DATE, "at": Kind.TIMESTAMP, "new": Kind.BOOLEAN}
CATALOG = Catalog((Table("visits", tuple(ColumnMetadata.of(name, kind) for name, kind in COLUMNS.items()), Person("id")),))


def value_of(condition: str, *values: Any) -> Any:
    """The literal on the right of a comparison."""
    relation = read(f"SELECT COUNT(*) FROM visits WHERE {condition}", CATALOG, "postgres", values).relation
    assert isinstance(relation, Where)
    assert isinstance(relation.condition, Call)
    found = relation.condition.arguments[-1]
    assert isinstance(found, Literal)
    return found.value


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("dept = $1", "eyes", "eyes"),
        ("dept = $1", "x' OR '1'='1", "x' OR '1'='1"),
        ("dept = $1", "'); DROP TABLE visits; --", "'); DROP TABLE visits; --"),
        ("dept = $1", "$1", "$1"),
        ("dept = $1", "a\\'b", "a\\'b"),
        ("cost > $1", 10, 10),
        ("cost > $1", -3, -3),
        ("cost > $1", 0.1, Fraction(1, 10)),
        ("cost > $1", 1e-7, Fraction(1, 10**7)),
        ("cost > $1", Decimal("-2.50"), Fraction(-5, 2)),
        ("cost > $1", Fraction(1, 8), Fraction(1, 8)),
        ("day >= $1", datetime.date(2026, 1, 31), datetime.date(2026, 1, 31)),
        ("at >= $1", datetime.datetime(2026, 1, 31, 8, 30), datetime.datetime(2026, 1, 31, 8, 30)),
    ],
)
def test_a_value_is_a_literal(condition: str, value: Any, expected: Any) -> None:
    assert value_of(condition, value) == expected


def test_the_same_question_as_with_the_value_written_out() -> None:
    text = "SELECT dept, COUNT(*) AS n FROM visits WHERE cost > {} GROUP BY dept"
    assert read(text.format("$1"), CATALOG, "postgres", [10]) == read(text.format("10"), CATALOG, "postgres")


@pytest.mark.parametrize("values", [(), ([1],), ({},), (float("nan"),), (Fraction(1, 3),), ("a\x00",), (b"x",), (Decimal("1e5000"),)])
def test_what_is_no_value(values: tuple[Any, ...]) -> None:
    with pytest.raises(Error):
        value_of("cost > $1", *values)


@pytest.mark.parametrize("text", ["$0", "$99999", "$x"])
def test_what_is_no_parameter(text: str) -> None:
    with pytest.raises(Error):
        value_of(f"dept = {text}", "x")


def test_a_missing_value_is_named() -> None:
    with pytest.raises(Refused, match=r"\$2 without a value"):
        value_of("dept = $2", "x")


def test_kinds_follow_from_what_a_parameter_is_compared_with() -> None:
    text = """SELECT dept, COUNT(*) FROM visits WHERE dept = $1 AND $2 < cost AND day BETWEEN $3 AND $4 AND id IN ($5) AND dept LIKE $6
        AND CAST($7 AS timestamp) < at AND new = $8 GROUP BY dept HAVING COUNT(*) > $9 LIMIT $10"""
    kinds = [Kind.TEXT, Kind.REAL, Kind.DATE, Kind.DATE, Kind.INTEGER, Kind.TEXT, Kind.TIMESTAMP, Kind.BOOLEAN, Kind.REAL, Kind.INTEGER]
    assert parameter_kinds(text, CATALOG.tables, "postgres") == kinds
    assert parameter_kinds("SELECT COUNT(*) FROM visits WHERE f($2)", CATALOG.tables, "postgres") == [None, None]


def test_the_schema_public_is_left_out_in_postgresql() -> None:
    qualified = 'SELECT "public"."visits"."dept" AS "dept", COUNT(*) AS n FROM "public"."visits" GROUP BY "public"."visits"."dept"'
    plain = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"
    assert read(qualified, CATALOG, "postgres") == read(plain, CATALOG, "postgres")
    with pytest.raises(Error):
        read(qualified.replace("public", "private"), CATALOG, "postgres")
