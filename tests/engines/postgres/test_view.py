"""Every stored type is read as a kind or left out, and no value of it makes a statement fail."""

from __future__ import annotations

import datetime
import math
from typing import Any

import psycopg
import pytest
from engines.postgres.asked import Run, answer

from discreet.engines.postgres.engine import Postgres
from discreet.engines.postgres.view import KEPT
from discreet.errors import Refused
from discreet.private import reveal
from discreet.tables.kind import Kind

INF = math.inf
DAY = datetime.date(2024, 2, 29)
STORED: list[tuple[str, Kind | None, list[tuple[str, Any]]]] = [
    ("boolean", Kind.BOOLEAN, [("true", True), ("false", False)]),
    ("smallint", Kind.INTEGER, [("-32768", -32768), ("32767", 32767)]),
    ("bigint", Kind.INTEGER, [("-9223372036854775808", -(2**63)), ("9223372036854775807", 2**63 - 1)]),
    ("oid", Kind.INTEGER, [("4294967295", 2**32 - 1)]),
    ("real", Kind.REAL, [("NaN", None), ("-Infinity", -INF), ("0.1", 0.10000000149011612), ("1e-45", 1.401298464324817e-45)]),
    ("double precision", Kind.REAL, [("NaN", None), ("Infinity", INF), ("-0", 0.0), ("5e-324", 5e-324), ("1.7e308", 1.7e308)]),
    ("numeric", Kind.REAL, [("NaN", None), ("Infinity", INF), ("-Infinity", -INF), ("0.1", 0.1), ("-0", 0.0)]),
    ("numeric", Kind.REAL, [("1e400", INF), ("-1e300", -INF), ("9" * 130_000, INF), ("9" * 300, 1e300), ("9" * 299, 1e299)]),
    ("numeric", Kind.REAL, [("1e-400", 0.0), ("-1e-5000", 0.0), ("1e-301", 0.0), ("1e-299", 1e-299), ("0." + "3" * 9000, 1 / 3)]),
    ("numeric(38, 10)", Kind.REAL, [("NaN", None), ("1234567890123456789012345678.0123456789", 1.2345678901234568e27), ("1e-10", 1e-10)]),
    ("numeric(1000, 800)", Kind.REAL, [("1e-700", 0.0), ("1e150", 1e150), ("NaN", None)]),
    ("numeric(900, 2)", Kind.REAL, [("1e700", INF), ("-1e700", -INF), ("0.01", 0.01)]),
    ("text", Kind.TEXT, [("", ""), ("a ", "a "), ("it's", "it's"), ("z" * 10**6, "z" * 10**6), ("é" * 10**6, "é" * KEPT)]),
    ("varchar", Kind.TEXT, [("a ", "a "), ("z" * (10**6 + 1), "z" * KEPT)]),
    ("varchar(10)", Kind.TEXT, [("a ", "a ")]),
    ("bpchar", Kind.TEXT, [("ab ", "ab"), ("z" * (10**6 + 1), "z" * KEPT)]),
    ("character(300000)", Kind.TEXT, [("ab", "ab")]),
    ("character(5)", Kind.TEXT, [("ab", "ab"), ("", "")]),
    ("name", Kind.TEXT, [("ab", "ab")]),
    ("uuid", Kind.TEXT, [("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")]),
    ("json", Kind.TEXT, [('{"a":  1}', '{"a":  1}')]),
    ("mood", Kind.TEXT, [("sad", "sad"), ("so happy", "so happy")]),
    ("score", Kind.INTEGER, [("7", 7)]),
    ("short", Kind.TEXT, [("ab", "ab")]),
    ("date", Kind.DATE, [("infinity", None), ("-infinity", None), ("0044-03-15 BC", None), ("5874897-12-31", None), ("2024-02-29", DAY)]),
    ("date", Kind.DATE, [("0001-01-01", datetime.date.min), ("9999-12-31", datetime.date.max), ("10000-01-01", None)]),
    ("timestamp", Kind.TIMESTAMP, [("infinity", None), ("4713-01-01 BC", None), ("294276-12-31", None)]),
    ("timestamp", Kind.TIMESTAMP, [("9999-12-31 23:59:59.999999", datetime.datetime.max), ("0001-01-01", datetime.datetime.min)]),
    ("timestamptz", Kind.TIMESTAMP, [("-infinity", None), ("0001-01-01 00:00:00+01", None), ("9999-12-31 23:30:00-01", None)]),
    ("timestamptz", Kind.TIMESTAMP, [("2024-02-29 01:00:00+02", datetime.datetime(2024, 2, 28, 23))]),
    ("jsonb", None, []),
    ("int[]", None, []),
    ("interval", None, []),
    ("time", None, []),
    ("money", None, []),
    ("bytea", None, []),
    ("inet", None, []),
    ("int4range", None, []),
    ("mood[]", None, []),
    ("clinic.visits", None, []),
]  # fmt: skip


@pytest.mark.parametrize(("sql_type", "kind", "pairs"), STORED)
def test_stored_types(owner: psycopg.Connection, clinic: str, sql_type: str, kind: Kind | None, pairs: list[tuple[str, Any]]) -> None:
    owner.execute("SET search_path = clinic")
    owner.execute(
        "DROP TABLE IF EXISTS stored; DROP TYPE IF EXISTS mood; DROP DOMAIN IF EXISTS score; DROP DOMAIN IF EXISTS short, shorter"
    )
    owner.execute("CREATE TYPE mood AS ENUM ('so happy', 'sad'); CREATE DOMAIN shorter AS varchar(5); CREATE DOMAIN short AS shorter")
    owner.execute("CREATE DOMAIN score AS int CHECK (VALUE > 0)")
    owner.execute(f"CREATE TABLE stored (i int, x {sql_type})")
    with owner.cursor() as cursor:
        cursor.executemany("INSERT INTO stored VALUES (%s, %s)", [(n, text) for n, (text, _) in enumerate(pairs)])
    with Postgres.open({"stored": clinic}) as engine:
        assert engine.schema("stored") == {"i": Kind.INTEGER, "x": kind}
        if kind is not None:
            assert [x for _, x in answer(engine, "SELECT i, x FROM stored")] == [value for _, value in pairs]
            assert answer(engine, "SELECT COUNT(DISTINCT x) AS n, COUNT(x) AS m FROM stored")[0][1] == sum(v is not None for _, v in pairs)
    owner.execute("DROP TABLE stored; RESET search_path")


def test_whole_numbers_declared_as_real(clinic: str) -> None:
    with Postgres.open({"visits": clinic}, {"visits": {"id": Kind.REAL, "cost": Kind.INTEGER}}) as engine:
        assert engine.schema("visits") == {"id": Kind.REAL, "dept": Kind.INTEGER, "cost": Kind.REAL}
        assert reveal(engine.run("SELECT id FROM visits"))["id"].dtype == float


def test_texts_that_a_collation_holds_equal(run: Run, clinic: str) -> None:
    try:
        run("CREATE COLLATION clinic.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    except psycopg.Error:
        pytest.skip("this PostgreSQL was built without ICU")
    run("CREATE TABLE clinic.loosely (x text COLLATE clinic.loose); INSERT INTO clinic.loosely VALUES ('a'), ('A'), ('á')")
    with Postgres.open({"loosely": clinic}) as engine:
        assert answer(engine, "SELECT COUNT(DISTINCT x) AS n FROM loosely") == [(3,)]
        assert answer(engine, f"SELECT x FROM loosely WHERE x = {engine.dialect.text('A')}") == [("A",)]
        assert answer(engine, f"SELECT x FROM loosely WHERE {engine.dialect.like('x', 'A%')}") == [
            ("A",)
        ]  # which fails for such a collation
    run("DROP TABLE clinic.loosely; DROP COLLATION clinic.loose")


def test_texts_that_cannot_be_written(clinic: str) -> None:
    with Postgres.open({"visits": clinic}) as engine:
        for text in ("a\x00b", "\ud800"):
            with pytest.raises(Refused, match="NUL"):
                engine.dialect.literal(text)


def test_products_as_keys(clinic: str) -> None:
    """A product is a subquery here: it must still be known as the same where rows are grouped by it, and be nested."""
    with Postgres.open({"visits": clinic}) as engine:
        d = engine.dialect
        product = d.times("cost", d.over("cost", "cost"))
        found = answer(engine, f"SELECT {product} AS v, COUNT(*) AS n, SUM({d.times('cost', product)}) AS s FROM visits GROUP BY {product}")
        assert [(v, n) for v, n, _ in found] == [(i / 2, 1) for i in range(1, 10)]
        assert found[3] == (2.0, 1, 4.0)


def test_the_lowest_whole_number_is_a_whole_number(clinic: str) -> None:
    with Postgres.open({"visits": clinic}) as engine:
        assert answer(engine, f"SELECT {engine.dialect.literal(-(2**63))} AS v") == [(-(2**63),)]
