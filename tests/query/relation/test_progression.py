"""Arithmetic progressions, against the numbers themselves."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from discreet.query.relation.expr import Column, Literal, call, field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.progression import EVERY, Progression, union
from discreet.tables.kind import Kind

SOME = [EVERY, Progression(20, 0), Progression(6, 4), Progression(0, 7), Progression(0, -12), Progression(0, 0), Progression(15, 9)]
FAR = Fraction(40)


def some_of(progression: Progression) -> range:
    return progression.within(-FAR, FAR)


def holds(progression: Progression, number: int) -> bool:
    return number in progression.within(Fraction(number), Fraction(number))


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SOME, SOME)))
def test_every_result_lies_in_the_progression(a: Progression, b: Progression) -> None:
    for x, y in itertools.product(some_of(a), some_of(b)):
        assert holds(a + b, x + y)
        assert holds(a + -b, x - y)
        assert holds(a * b, x * y)
        assert holds(a.union(b), x)
        assert holds(a.union(b), y)
        assert holds(a.absolute(), abs(x))


@pytest.mark.parametrize("a", SOME)
@pytest.mark.parametrize("divisor", [1, 3, 8, 20])
def test_remainders_of_either_sign(a: Progression, divisor: int) -> None:
    for x in some_of(a):
        assert holds(a.modulo(divisor), abs(x) % divisor * (1 if x >= 0 else -1))


def test_a_progression_is_as_narrow_as_it_can_be() -> None:
    assert list(Progression(20, 0).within(Fraction(-5), Fraction(45))) == [0, 20, 40]
    assert list((Progression(20, 0) + Progression(0, 5)).within(Fraction(0), Fraction(50))) == [5, 25, 45]
    assert list((EVERY * Progression(0, 20)).within(Fraction(0), Fraction(60))) == [0, 20, 40, 60]
    assert list(Progression(0, 7).within(Fraction(8), Fraction(9))) == []
    assert union([Progression(0, 10), Progression(20, 0)]) == Progression(10, 0)


X = Field(Kind.REAL, Interval(Fraction(0), Fraction(300)), nullable=True)
N = Field(Kind.INTEGER, Interval(Fraction(0), Fraction(305)))
SCHEMA = {"x": X, "n": N, "open": Field(Kind.REAL, Interval(Fraction(-1000), Fraction(1000), False, False))}


def scaled(function: str, name: str, by: int, plus: int = 0) -> tuple[object, ...] | None:
    inside = call(function, call("divide", Column(name), Literal(by)))
    return field_of(call("add", call("multiply", inside, Literal(by)), Literal(plus)), SCHEMA).public_keys


def test_groups_of_rounded_numbers() -> None:
    assert scaled("floor", "x", 20) == tuple(range(0, 301, 20))  # 16 groups, not 301
    assert scaled("floor", "n", 20) == tuple(range(0, 301, 20))
    assert scaled("ceil", "n", 20) == tuple(range(0, 321, 20))
    assert scaled("round", "n", 50, 7) == tuple(range(7, 308, 50))
    assert scaled("truncate", "n", 100) == (0, 100, 200, 300)
    assert scaled("floor", "open", 20) is None  # its bounds are not declared


def test_groups_of_choices_and_remainders() -> None:
    tens = call("multiply", call("floor", call("divide", Column("n"), Literal(100))), Literal(100))
    assert field_of(call("coalesce", tens, Literal(50)), SCHEMA).public_keys == (0, 50, 100, 150, 200, 250, 300)
    assert field_of(call("modulo", tens, Literal(1000)), SCHEMA).public_keys == tuple(range(0, 1000, 100))
    assert field_of(call("least", tens, Literal(200)), SCHEMA).public_keys == (0, 100, 200)
    assert field_of(call("negate", tens), SCHEMA).public_keys == (-300, -200, -100, 0)
    assert field_of(call("abs", call("subtract", tens, Literal(100))), SCHEMA).public_keys == (0, 100, 200)


def test_many_numbers_with_few_steps_are_listed() -> None:
    wide = {"w": Field(Kind.INTEGER, Interval(Fraction(0), Fraction(10**6)))}
    thousands = call("multiply", call("floor", call("divide", Column("w"), Literal(1000))), Literal(1000))
    assert len(field_of(thousands, wide).public_keys or ()) == 1001
    assert field_of(Column("w"), wide).public_keys is None


def test_a_range_of_64_bits_is_not_listed() -> None:
    far = {"w": Field(Kind.INTEGER, Interval(Fraction(-(2**63)), Fraction(2**63 - 1)))}
    assert field_of(Column("w"), far).public_keys is None
