"""The primitives in DuckDB's SQL, by what they compute."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from discreet.engines.duckdb.dialect import DUCKDB as D


def value(sql: str) -> Any:
    [(found,)] = duckdb.connect(":memory:").execute(f"SELECT {sql}").fetchall()
    return found


@pytest.mark.parametrize(
    ("total", "bits", "found"),
    [
        ("7", 0, 7),
        ("-7", 1, -3),
        ("7", 1, 3),
        ("NULL", 3, 0),
        ("(2::HUGEINT ** 100)::HUGEINT", 0, 2**62),
        ("-(2::HUGEINT ** 100)::HUGEINT", 7, -(2**62)),
    ],
)
def test_totals_are_divided_towards_zero_and_clamped(total: str, bits: int, found: int) -> None:
    assert value(D.shifted(total, bits)) == found


def test_integers() -> None:
    assert value(D.floor_divide("7", "2")) == 3
    assert [value(D.isqrt(str(whole))) for whole in (0, 15, 16, 2**50 - 1, 2**50)] == [0, 3, 4, 2**25 - 1, 2**25]
    assert value(f"(SELECT {D.bits_set('m')} FROM (VALUES (1), (4), (5)) AS t(m))") == 2
    assert value(f"typeof((SELECT {D.total('m', 2**62)} FROM (VALUES (4611686018427387904), (4611686018427387904)) AS t(m)))") == "HUGEINT"


def test_nan_is_no_number() -> None:
    assert [value(D.is_number(real)) for real in ("1.5::DOUBLE", "'inf'::DOUBLE", "'nan'::DOUBLE", "NULL::DOUBLE")] == [
        True,
        True,
        False,
        None,
    ]


def test_patterns_have_no_escape() -> None:
    assert value(D.like("'a\\b'", "a\\_")) is True
    assert value(D.like("'a%b'", "a_b")) is True


def test_dates() -> None:
    assert value(D.part("weekday", "DATE '2024-03-03'")) == 7  # a Sunday
    assert str(value(D.start("quarter", "DATE '2024-03-03'"))) == "2024-01-01"
    assert value(D.shown("TIMESTAMP '2024-03-03 04:05:06.5'")) == "2024-03-03 04:05:06.5"
