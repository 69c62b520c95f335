"""Whole numbers: exact beyond 64 bits where they are summed, and the same quotients and roots."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest
from engines.contract.asked import EngineOf, each, listed, one, rows

from discreet.tables.kind import Kind

MOST = 2**63 - 1


@pytest.mark.parametrize("value", [0, 1, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53 + 1, MOST, -MOST, -MOST - 1])
def test_literals(engine_of: EngineOf, value: int) -> None:
    engine = engine_of(listed(Kind.INTEGER, [value, 7]))
    literal, whole = engine.dialect.literal(value), engine.dialect.type_name(Kind.INTEGER)
    assert rows(engine, f"SELECT i, CAST({literal} AS {whole}) AS v FROM t WHERE x = {literal}") == [(0, value)]
    assert rows(engine, f"SELECT i, x FROM t WHERE x IN ({literal}, 8)") == [(0, value)]
    clamped = f"CAST(CASE WHEN x < {literal} THEN {literal} ELSE x END AS {whole})"
    assert rows(engine, f"SELECT i, {clamped} AS v FROM t WHERE i = 1") == [(1, max(value, 7))]


TOTALS = {
    "nothing": [],
    "missing": [None, None],
    "small": [3, -5, None],
    "long": [2**62] * 1000 + [5],
    "far below": [-(2**62)] * 1000 + [-5],
    "cancelled": [2**62, 2**62, 2**62, -(2**62), -(2**62), -(2**62), -7],
    "at the edge": [2**62],
    "at the other edge": [-(2**62)],
    "a little more": [2**62, 1],
}


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.parametrize("bits", [0, 1, 10, 31])
def test_totals_are_exact_and_brought_back(engine_of: EngineOf, name: str, bits: int) -> None:
    values = TOTALS[name]
    total = sum(v for v in values if v is not None)
    towards_zero = abs(total) // 2**bits * (1 if total >= 0 else -1)
    found = one(engine_of, listed(Kind.INTEGER, values), lambda d: d.shifted(d.total("x", 2**62), bits))
    assert found == max(min(towards_zero, 2**62), -(2**62))


def test_totals_of_products_and_counts(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.INTEGER, [2**30] * 50, (Kind.INTEGER, [2**30] * 50)))
    d = engine.dialect
    wanted = [
        d.shifted(d.total("x * y", 2**60), 4),
        d.shifted("COUNT(*)", 0),
        d.shifted("COUNT(*) * 1048576", 3),
        d.shifted(d.total("1", 1), 0),
    ]
    found = rows(engine, "SELECT " + ", ".join(f"{text} AS v{n}" for n, text in enumerate(wanted)) + " FROM t")
    assert found == [(50 * 2**60 // 16, 50, 50 * 2**17, 50)]


def test_roots(engine_of: EngineOf) -> None:
    sides = [*range(1, 300), *range(2**25 - 300, 2**25 + 1), *(2**k for k in range(25)), 94_906_265 // 4, 33_333_333]
    values = [0, *(v for k in sides for v in (k * k - 1, k * k, k * k + 1) if v <= 2**50)]
    assert each(engine_of, listed(Kind.INTEGER, values), lambda d: d.isqrt("x")) == [math.isqrt(v) for v in values]


def test_quotients(engine_of: EngineOf) -> None:
    pairs = [(a, b) for a in (0, 1, 6, 7, 2**31, 2**53 + 1, 2**60 - 1, MOST) for b in (1, 2, 7, 2**31, 2**53, 2**62, MOST)]
    a, b = [a for a, _ in pairs], [b for _, b in pairs]
    assert each(engine_of, listed(Kind.INTEGER, a, (Kind.INTEGER, b)), lambda d: d.floor_divide("x", "y")) == [x // y for x, y in pairs]
    for literal in (5, 2**20 * 30, 2**50, 2**62):
        divided = each(engine_of, listed(Kind.INTEGER, b), lambda d, n=literal: d.floor_divide(str(n), "x"))  # type: ignore[misc]
        assert divided == [literal // y for y in b]
    bounded = each(engine_of, listed(Kind.INTEGER, b), lambda d: d.floor_divide("1048576", "(CASE WHEN x > 3 THEN x ELSE 3 END)"))
    assert bounded == [2**20 // max(y, 3) for y in b]


@pytest.mark.parametrize("masks", [[1], [2**61, 1, 1], [2**k for k in range(62)], [3, 5, 9], [0], [2**61]])
def test_bits(engine_of: EngineOf, masks: list[int]) -> None:
    union = 0
    for mask in masks:
        union |= mask
    assert one(engine_of, listed(Kind.INTEGER, masks), lambda d: d.bits_set("x")) == union.bit_count()
    written = ", ".join(f"({m})" for m in masks)
    engine = engine_of(listed(Kind.INTEGER, masks))
    assert rows(engine, f"SELECT {engine.dialect.bits_set('b')} AS v FROM (VALUES {written}) AS g(b)") == [(union.bit_count(),)]


DAYS = [datetime.date(2024, 2, 29), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]
MOMENTS = [datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime.datetime(1, 1, 1), datetime.datetime.max]
EXTREMES: list[tuple[Kind, list[Any]]] = [
    (Kind.BOOLEAN, [None, True, False]),
    (Kind.BOOLEAN, [None, True]),
    (Kind.BOOLEAN, [False, None]),
    (Kind.INTEGER, [5, None, -MOST - 1, MOST]),
    (Kind.REAL, [0.5, None, -1e300, 1e300]),
    (Kind.TEXT, ["b", None, "B", "é", "", "z", "a b", "ab"]),
    (Kind.DATE, DAYS),
    (Kind.TIMESTAMP, MOMENTS),
    (Kind.TEXT, [None, None]),
    (Kind.BOOLEAN, [None]),
]


@pytest.mark.parametrize(("kind", "values"), EXTREMES)
def test_extremes(engine_of: EngineOf, kind: Kind, values: list[Any]) -> None:
    there = [v for v in values if v is not None]
    engine = engine_of(listed(kind, values))
    d = engine.dialect
    assert rows(engine, f"SELECT {d.extreme('MIN', 'x', kind)} AS a, {d.extreme('MAX', 'x', kind)} AS b FROM t") == [
        (min(there, default=None), max(there, default=None))
    ]
