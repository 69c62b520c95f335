"""The primitives in PostgreSQL's SQL: nothing raises on underflow, and texts are compared bytewise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import psycopg
import pytest

from discreet.engines.postgres.dialect import POSTGRES as D
from discreet.errors import Refused
from discreet.tables.kind import Kind

REALS = [0.0, 1.0, -1.5, 5e-324, 1e-200, -3e-170, 2.0**-500, 2.0**-537, 1e-50, 1e100]


def value(owner: psycopg.Connection, sql: str) -> object:
    found = owner.execute(f"SELECT {sql}").fetchone()  # type: ignore[arg-type]
    assert found is not None
    return found[0]


def real(number: float) -> str:
    return D.real(Fraction(number))


def test_products_and_quotients_round_to_zero_as_python_does(owner: psycopg.Connection) -> None:
    pairs = [(a, b) for a, b in itertools.product(REALS, REALS) if math.isfinite(a * b)]
    assert [value(owner, D.times(real(a), real(b))) for a, b in pairs] == [a * b for a, b in pairs]
    quotients = [(a, b) for a, b in itertools.product(REALS, REALS) if b and abs(a) < 1e100 and abs(b) > 1e-100]
    assert [value(owner, D.over(real(a), real(b))) for a, b in quotients] == [a / b for a, b in quotients]


@pytest.mark.parametrize("factor", [Fraction(1, 2**600), Fraction(1, 3), Fraction(1, 10**200), Fraction(7)])
def test_scaled_numbers_round_to_zero(owner: psycopg.Connection, factor: Fraction) -> None:
    for number in REALS:
        assert value(owner, D.scaled(real(number), factor)) == number * float(factor)
    assert value(owner, D.scaled("CAST(NULL AS DOUBLE PRECISION)", factor)) is None


def test_exponentials(owner: psycopg.Connection) -> None:
    assert value(owner, D.exp(real(-1e6))) == 0
    assert value(owner, D.exp(real(0.0))) == 1


@pytest.mark.parametrize(
    ("total", "bits", "found"), [("7", 1, 3), ("-7", 1, -3), ("NULL", 3, 0), ("1e30", 0, 2**62), ("-1e30", 7, -(2**62))]
)
def test_totals(owner: psycopg.Connection, total: str, bits: int, found: int) -> None:
    assert value(owner, D.shifted(f"({total})::numeric", bits)) == found


def test_equality_that_knows_null(owner: psycopg.Connection) -> None:
    for kind, some in ((Kind.TEXT, "''::text"), (Kind.INTEGER, "0"), (Kind.DATE, "DATE '2000-01-01'")):
        null = f"CAST(NULL AS {D.type_name(kind)})"
        assert [value(owner, D.same(a, b, kind)) for a, b in ((some, some), (null, null), (some, null), (null, some))] == [
            True,
            True,
            False,
            False,
        ]


def test_long_names_stay_different() -> None:
    names = [D.identifier("x" * 63 + end) for end in ("", "a", "b")]
    assert len(set(names)) == 3
    assert all(len(name.encode()) <= 65 for name in names)


def test_texts(owner: psycopg.Connection) -> None:
    assert value(owner, D.text("it's \\ ${x}")) == "it's \\ ${x}"
    assert value(owner, D.like(D.text("a%"), "a_")) is True
    for text in ("a\x00", "a\ud800"):
        with pytest.raises(Refused, match="NUL or a lone surrogate: remove it"):
            D.text(text)
