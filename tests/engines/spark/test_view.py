"""Stored types of Spark become kinds, and no value makes a query fail."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from engines.visits import AT, DAY

from discreet.engines.spark.engine import Spark
from discreet.tables.kind import Kind

FIRST, LAST = datetime.datetime(1, 1, 1), datetime.datetime.max


TYPES: dict[str, tuple[str, Kind, Any]] = {
    "boolean": ("true", Kind.BOOLEAN, True),
    "tinyint": ("CAST(-128 AS TINYINT)", Kind.INTEGER, -128),
    "smallint": ("CAST(5 AS SMALLINT)", Kind.INTEGER, 5),
    "int": ("-2147483648", Kind.INTEGER, -(2**31)),
    "bigint": ("-9223372036854775808", Kind.INTEGER, -(2**63)),
    "float": ("CAST(1.5 AS FLOAT)", Kind.REAL, 1.5),
    "float nan": ("CAST('NaN' AS FLOAT)", Kind.REAL, None),
    "double": ("5e-324D", Kind.REAL, 5e-324),
    "double nan": ("double('NaN')", Kind.REAL, None),
    "double inf": ("double('-inf')", Kind.REAL, -math.inf),
    "decimal": ("CAST(1.25 AS DECIMAL(5,2))", Kind.REAL, 1.25),
    "long decimal": (
        "CAST('12345678901234567890.123456789012345678' AS DECIMAL(38,18))",
        Kind.REAL,
        12345678901234567890.123456789012345678,
    ),
    "largest decimal": (f"CAST('{'9' * 38}' AS DECIMAL(38,0))", Kind.REAL, 1e38),
    "string": ("'é '", Kind.TEXT, "é "),
    "empty": ("''", Kind.TEXT, ""),
    "collated": ("'A' COLLATE UTF8_LCASE", Kind.TEXT, "A"),
    "char": ("CAST('x' AS CHAR(3))", Kind.TEXT, "x"),
    "varchar": ("CAST('x' AS VARCHAR(3))", Kind.TEXT, "x"),
    "no utf-8": ("CAST(X'61FF62' AS STRING)", Kind.TEXT, "a\ufffdb"),
    "with nul": ("CAST(X'610062' AS STRING)", Kind.TEXT, "a\x00b"),
    "date": ("DATE'2026-11-15'", Kind.DATE, DAY),
    "date before 1": ("DATE'0001-01-01' - INTERVAL 1 DAY", Kind.DATE, None),
    "date after 9999": ("DATE'9999-12-31' + INTERVAL 1 DAY", Kind.DATE, None),
    "furthest date": ("date_from_unix_date(2147483647)", Kind.DATE, None),
    "first date": ("DATE'0001-01-01'", Kind.DATE, FIRST.date()),
    "moment": ("TIMESTAMP_NTZ'2026-11-15 08:30:00'", Kind.TIMESTAMP, AT),
    "first moment": ("TIMESTAMP_NTZ'0001-01-01 00:00:00'", Kind.TIMESTAMP, FIRST),
    "moment after 9999": ("TIMESTAMP_NTZ'9999-12-31 23:59:59.999999' + INTERVAL '0.000001' SECOND", Kind.TIMESTAMP, None),
    "zoned": ("TIMESTAMP_LTZ'2026-11-15 10:30:00+02:00'", Kind.TIMESTAMP, AT),
    "zoned first": ("TIMESTAMP_LTZ'0001-01-01 00:00:00Z'", Kind.TIMESTAMP, FIRST),
    "zoned last": ("TIMESTAMP_LTZ'9999-12-31 23:59:59.999999Z'", Kind.TIMESTAMP, LAST),
    "zoned furthest": ("timestamp_micros(9223372036854775807)", Kind.TIMESTAMP, None),
    "zoned lowest": ("timestamp_micros(-9223372036854775808)", Kind.TIMESTAMP, None),
}


UNUSED = [
    "X'00'",
    "array(1)",
    "map(1, 2)",
    "named_struct('a', 1)",
    "parse_json('1')",
    "INTERVAL 1 DAY",
    "INTERVAL 1 MONTH",
    "NULL",
    "TIME'10:00:00'",
]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_stored_types_become_kinds(spark: Any, zone: str) -> None:
    user = spark.newSession()
    user.conf.set("spark.sql.session.timeZone", zone)
    written = ", ".join(f"{text} AS `{name}`" for name, (text, _, _) in TYPES.items())
    with Spark.open({"t": user.sql(f"SELECT {written}")}) as engine:
        assert engine.schema("t") == {name: kind for name, (_, kind, _) in TYPES.items()}
        found = engine.read_public("SELECT * FROM t")
    assert {name: values.tolist()[0] for name, values in found.items()} == {name: value for name, (_, _, value) in TYPES.items()}


def test_unused_types_are_shown_but_not_read(spark: Any) -> None:
    frame = spark.sql(f"SELECT 1 AS id, {', '.join(f'{text} AS c{i}' for i, text in enumerate(UNUSED))}")
    with Spark.open({"t": frame}) as engine:
        assert engine.schema("t") == {"id": Kind.INTEGER} | {f"c{i}": None for i in range(len(UNUSED))}
        assert list(engine.read_public("SELECT * FROM t")) == ["id"]


def test_collated_texts_are_compared_by_their_bytes(spark: Any) -> None:
    frame = spark.sql("SELECT x COLLATE UTF8_LCASE AS x FROM VALUES ('a'), ('A'), ('b') AS v(x)")
    with Spark.open({"t": frame}) as engine:
        found = engine.read_public("SELECT COUNT(DISTINCT x) AS n, SUM(CASE WHEN x = 'A' THEN 1 ELSE 0 END) AS m, MIN(x) AS least FROM t")
        assert [values.tolist()[0] for values in found.values()] == [3, 1, "A"]


def test_whole_numbers_declared_real_are_real(visits: Any) -> None:
    with Spark.open({"visits": visits}, {"visits": {"id": Kind.REAL, "dept": Kind.INTEGER}}) as engine:
        assert engine.schema("visits")["id"] is Kind.REAL
        assert engine.schema("visits")["dept"] is Kind.TEXT  # a stored type is not bent; the policy complains
        assert engine.read_public("SELECT id FROM visits")["id"].dtype == np.float64


def test_decimals_are_never_in_the_way(spark: Any) -> None:
    """Rounded as Python rounds them."""
    values = [Decimal("0.1"), Decimal("123456789.987654321"), Decimal("-99999999999999999999.999999999999999999"), Decimal("1e-18")]
    frame = spark.sql("SELECT CAST(x AS DECIMAL(38,18)) AS x FROM VALUES " + ", ".join(f"('{value}')" for value in values) + " AS v(x)")
    with Spark.open({"t": frame}) as engine:
        assert sorted(engine.read_public("SELECT x FROM t")["x"]) == sorted(float(value) for value in values)
