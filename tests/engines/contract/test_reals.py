"""Floats: the same bits on every engine, and no value on which one of them fails."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from engines.contract.asked import EngineOf, each, listed, one, rows

from discreet.tables.kind import Kind

INF, NAN, TINY, FAR = math.inf, math.nan, 5e-324, float(2**52)
HALVES = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999999999999994, -0.49999999999999994, 3.0, -3.0]
EDGES = [FAR, -FAR, FAR - 0.5, 0.5 - FAR, FAR + 1, 2.0**53, -(2.0**53), 2.0**62, -(2.0**62), 1e15 + 0.3, TINY, -TINY, 1e-300, -1e-300]
AWKWARD = [None, *HALVES, *EDGES, math.pi, -math.e, 1e22 / 3e6]
FACTORS = [0.0, TINY, -TINY, 1e-310, 1e-300, -1e-200, 1e-160, 1e-150, 1e-100, -1e-20, 0.1, 1.0, -3.0, 1e20, 1e100, -1e160, 1e290]


def same(found: list[Any], expected: list[Any]) -> None:
    """The same floats to the last bit; zeros of either sign are the same."""
    assert [None if v is None else float(v) + 0.0 for v in found] == [None if v is None else float(v) + 0.0 for v in expected]


def test_nan_is_missing_and_infinities_stay(engine_of: EngineOf) -> None:
    values = [NAN, INF, -INF, None, 1.0, -NAN]
    engine = engine_of(listed(Kind.REAL, values))
    assert rows(engine, "SELECT i, x FROM t") == [(0, None), (1, INF), (2, -INF), (3, None), (4, 1.0), (5, None)]
    assert rows(engine, "SELECT COUNT(x) AS n, MIN(x) AS a, MAX(x) AS b FROM t") == [(3, -INF, INF)]
    [(above,)] = rows(engine, "SELECT COUNT(*) AS n FROM t WHERE x > 5")
    assert above == 1  # engines sort NaN above all numbers, so it must not be there any more
    number = engine.dialect.is_number(f"CAST('NaN' AS {engine.dialect.type_name(Kind.REAL)})")
    assert rows(engine, f"SELECT CASE WHEN {number} THEN 1 ELSE 0 END AS v") == [(0,)]
    assert rows(engine, f"SELECT i, CASE WHEN {engine.dialect.is_number('x')} THEN 1 ELSE 0 END AS v FROM t WHERE x IS NOT NULL") == [
        (1, 1),
        (2, 1),
        (4, 1),
    ]


@pytest.mark.parametrize("way", ["floor", "ceil"])
def test_rounding_to_whole_numbers(engine_of: EngineOf, way: str) -> None:
    found = each(engine_of, listed(Kind.REAL, AWKWARD), lambda d: d.whole(getattr(d, way)("x")))
    assert found == [None if x is None else getattr(math, way)(x) for x in AWKWARD]


def test_what_is_rounded_compares_with_floats(engine_of: EngineOf) -> None:
    found = each(engine_of, listed(Kind.REAL, AWKWARD), lambda d: f"CASE WHEN {d.floor('x')} > {d.real(Fraction(-1, 2))} THEN 1 ELSE 0 END")
    assert found == [int(x is not None and math.floor(x) > -0.5) for x in AWKWARD]


def test_halves_go_up(engine_of: EngineOf) -> None:
    found = each(engine_of, listed(Kind.REAL, AWKWARD), lambda d: d.whole(d.floor("x + 0.5")))
    assert found == [None if x is None else math.floor(x + 0.5) for x in AWKWARD]


def test_floor_of_any_float(engine_of: EngineOf) -> None:
    values = [*AWKWARD, 1e100, -1e100, 1e290, -1e300, 2.0**63, -(2.0**64), 1.7e308]
    same(each(engine_of, listed(Kind.REAL, values), lambda d: d.floor_real("x")), [None if x is None else math.floor(x) for x in values])


def pairs(fits: Any) -> tuple[list[Any], list[Any]]:
    found = [(a, b) for a in FACTORS for b in FACTORS if fits(a, b)] + [(None, 1.0), (1.0, None), (None, None), (None, TINY)]
    return [a for a, _ in found], [b for _, b in found]


NEAREST = [(2.0**-537, 2.0**-537), (2.0**-538, 2.0**-537), (1.5 * 2.0**-538, -(2.0**-537)), (0.75 * 2.0**-538, 2.0**-537)]


def test_products_underflow_to_nothing(engine_of: EngineOf) -> None:
    a, b = pairs(lambda a, b: abs(a * b) < 1e300)
    a, b = a + [x for x, _ in NEAREST], b + [y for _, y in NEAREST]
    found = each(engine_of, listed(Kind.REAL, a, (Kind.REAL, b)), lambda d: d.times("x", "y"))
    same(found, [None if x is None or y is None else x * y for x, y in zip(a, b, strict=True)])


def test_quotients_underflow_to_nothing(engine_of: EngineOf) -> None:
    a, b = pairs(lambda a, b: b and abs(b) <= 1e290 and abs(a) < 1e290 * abs(b))
    a = [*a, TINY, TINY, TINY, 2.0**-112, 1.5 * 2.0**-112, 0.75 * 2.0**-112]
    b = [*b, 2.0, 1.5, -3.0, 2.0**963, 2.0**963, -(2.0**963)]
    found = each(engine_of, listed(Kind.REAL, a, (Kind.REAL, b)), lambda d: d.over("x", "y"))
    same(found, [None if x is None or y is None else x / y for x, y in zip(a, b, strict=True)])


SCALES = [Fraction(2) ** k for k in (-970, -600, -293, -30, -1, 0, 14, 40)] + [Fraction(3, 7), Fraction(10, 3 * 2**200), Fraction(25, 2)]


@pytest.mark.parametrize("factor", SCALES, ids=lambda f: f"{float(f):.1e}")
def test_constants_scale_without_failing(engine_of: EngineOf, factor: Fraction) -> None:
    values = [None, *(sign * x for x in FACTORS for sign in (1, -1) if abs(x) * float(factor) < 1e300)]
    values += [sign * x for x in (2.0**-1075 / float(factor), 2.0**-1074, 3 * 2.0**-1074) for sign in (1, -1) if x and factor < 1]
    found = each(engine_of, listed(Kind.REAL, values), lambda d: d.scaled("x", factor))
    same(found, [None if x is None else x * float(factor) for x in values])


def test_products_of_products(engine_of: EngineOf) -> None:
    """Nested, they must neither fail nor grow out of hand."""

    def power(dialect: Any) -> str:
        text = "x"
        for _ in range(8):
            text = dialect.times(text, "x")
        assert len(text) < 20_000
        return text

    values = [1e-40, -1e-30, 1e30, 0.5, None, TINY, 0.0, 3.0]
    found = each(engine_of, listed(Kind.REAL, values), power)
    expected = []
    for x in values:
        product = x
        for _ in range(8):
            product = None if product is None else product * x
        expected.append(product)
    same(found, expected)


def test_exponentials(engine_of: EngineOf) -> None:
    values = [None, 0.0, 1.0, -1.0, 200.0, -40.0, -700.0, -708.5, -745.0, -746.0, -1e5, -1e100, -1e300, 0.1, 50.5, -TINY, TINY]
    found = each(engine_of, listed(Kind.REAL, values), lambda d: d.exp("x"))
    for x, v in zip(values, found, strict=True):
        assert v is None if x is None else v == pytest.approx(math.exp(x), rel=1e-13, abs=1e-30)


def test_literals_are_read_to_the_last_bit(engine_of: EngineOf) -> None:
    floats = [
        0.0,
        0.1,
        -0.1,
        1 / 3,
        TINY,
        2.2250738585072014e-308,
        1e-300,
        1e290,
        -1e290,
        2.0**-200,
        2.0**200,
        1e22,
        123456789.123456789,
        1e100,
    ]
    engine = engine_of(listed(Kind.REAL, [0.0]))
    found = rows(engine, f"SELECT {', '.join(f'{engine.dialect.real(Fraction(v))} AS v{n}' for n, v in enumerate(floats))} FROM t")
    assert found == [tuple(floats)]


def test_zeros_of_either_sign_are_one_value(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.REAL, [0.0, -0.0, 0.0, 1.0]))
    assert sorted(count for _, count in rows(engine, "SELECT x, COUNT(*) AS n FROM t GROUP BY x")) == [1, 3]
    assert rows(engine, "SELECT COUNT(DISTINCT x) AS n, COUNT(CASE WHEN x = 0 THEN 1 END) AS z FROM t WHERE x < 1") == [(1, 3)]


def test_whole_numbers_as_floats(engine_of: EngineOf) -> None:
    values = [2**53 + 1, -(2**53) - 1, 2**53 + 3, 2**63 - 1, -(2**63), 2**62 + 2**9, 0, -1]
    found = each(engine_of, listed(Kind.INTEGER, values), lambda d: f"CAST(x AS {d.type_name(Kind.REAL)})")
    assert found == [float(v) for v in values]


@pytest.mark.parametrize(
    "values", [[2**62] * 7 + [1], [-(2**62)] * 7 + [-1], [2**53, 1, -3], [2**62, 2**62, 2**10 + 1], [-(2**53), -1, -2]]
)
def test_large_sums_as_floats(engine_of: EngineOf, values: list[int]) -> None:
    found = one(engine_of, listed(Kind.INTEGER, values), lambda d: f"CAST({d.total('x', 2**62)} AS {d.type_name(Kind.REAL)})")
    assert found == float(sum(values))
