"""What all dialects share: literals that read back, names that stay names, and an order that the salt fixes."""

from __future__ import annotations

import datetime
from fractions import Fraction

import duckdb
import pytest

from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgres.dialect import POSTGRES
from discreet.engines.spark.dialect import SPARK
from discreet.tables.kind import Kind, Value

DIALECTS = [DUCKDB, POSTGRES, SPARK]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_kind_has_a_type_and_null_a_literal(dialect: Dialect) -> None:
    assert len({dialect.type_name(kind) for kind in Kind}) == len(Kind)
    assert dialect.literal(None) == "NULL"
    assert (dialect.literal(True), dialect.literal(False)) == ("TRUE", "FALSE")
    assert dialect.literal(-3) == "(-3)"


@pytest.mark.parametrize(
    "value",
    [
        True,
        0,
        -7,
        2**63 - 1,
        Fraction(1, 10),
        Fraction(-1, 3),
        "it's",
        "",
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 8, 30),
    ],
)
def test_literals_read_back_in_duckdb(value: Value) -> None:
    [(found,)] = duckdb.connect(":memory:").execute(f"SELECT {DUCKDB.literal(value)}").fetchall()
    assert found == (float(value) if isinstance(value, Fraction) else value)


@pytest.mark.parametrize(("dialect", "quoted"), [(DUCKDB, '"a""b"'), (POSTGRES, '"a""b"')], ids=["duckdb", "postgres"])
def test_names_are_quoted(dialect: Dialect, quoted: str) -> None:
    assert dialect.identifier('a"b') == quoted
    assert SPARK.identifier("a`b") == "`a``b`"


def test_the_order_of_rows_is_fixed_by_the_salt_and_knows_null() -> None:
    connection = duckdb.connect(":memory:")
    rows = "(VALUES (1, NULL), (1, 'NULL'), (1, '=NULL'), (2, NULL)) AS t(n, s)"

    def order(salt: str) -> list[str]:
        key = DUCKDB.hash_order([("n", Kind.INTEGER), ("s", Kind.TEXT)], salt)
        return [str(found) for (found,) in connection.execute(f"SELECT {key} FROM {rows}").fetchall()]

    assert len(set(order("a"))) == 4
    assert order("a") == order("a")
    assert set(order("a")).isdisjoint(order("b"))


def test_floats_are_ordered_by_their_integer_part_without_overflow() -> None:
    key = DUCKDB.hash_order([("x", Kind.REAL)], "salt")
    values = "(VALUES (1.25::DOUBLE), (1.75), (1e300), (2e300), (-1e300)) AS t(x)"
    one, same, far, further, low = (found for (found,) in duckdb.connect(":memory:").execute(f"SELECT {key} FROM {values}").fetchall())
    assert one == same
    assert far == further
    assert len({one, far, low}) == 3
