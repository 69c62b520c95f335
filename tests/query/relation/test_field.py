"""Interval arithmetic and fields."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.query.relation.field import Field, Interval, exactly
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind


def test_every_operation_contains_its_results() -> None:
    draw = random.Random(5)
    for _ in range(300):
        a, b = (Interval(*sorted(Fraction(draw.randint(-9, 9)) for _ in range(2))) for _ in range(2))
        x, y = (one.low + (one.high - one.low) * Fraction(draw.randint(0, 8), 8) for one in (a, b))
        assert (a + b).contains(x + y)
        assert (a * b).contains(x * y)
        assert (-a).contains(-x)
        assert a.absolute().contains(abs(x))
        assert a.least(b).contains(min(x, y))
        assert a.greatest(b).contains(max(x, y))
        assert a.union(b).contains(x)
        if not b.contains(0):
            assert b.reciprocal().contains(1 / y)


def test_a_clipped_end_is_known() -> None:
    unknown = Interval(Fraction(-100), Fraction(100), False, False)
    assert unknown.least(exactly(5)).high_known
    assert not unknown.least(exactly(5)).low_known


@pytest.mark.parametrize(
    ("field", "keys"),
    [
        (Field(Kind.BOOLEAN), (False, True)),
        (Field(Kind.INTEGER, Interval(Fraction(1), Fraction(3))), (1, 2, 3)),
        (Field(Kind.INTEGER, Interval(Fraction(1), Fraction(3), True, False)), None),
        (Field(Kind.TEXT, keys=("a",)), ("a",)),
        (Field(Kind.REAL, Interval(Fraction(0), Fraction(1))), None),
    ],
)
def test_public_keys(field: Field, keys: object) -> None:
    assert field.public_keys == keys


def test_a_declared_column_may_be_null_unless_it_is_a_number_without_null() -> None:
    assert Field.of(ColumnMetadata.of("d", Kind.TEXT, nullable=False)).nullable
    assert not Field.of(ColumnMetadata.of("x", Kind.REAL, bounds=(0, 1), nullable=False)).nullable
