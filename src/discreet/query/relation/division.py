"""Division: by what cannot be 0, or with NULL where the divisor is 0."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from attrs import evolve

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation.field import WIDEST, Field, Interval, exactly
from discreet.query.relation.number import Fields, Texts, as_kind, clamped, numbers, result
from discreet.tables.kind import Kind


def divide(fields: Sequence[Field]) -> Field:
    a, b = (interval.floats() for interval in numbers(fields))
    if b.contains(0):
        raise Refused(
            "the divisor may be 0: declare bounds that exclude 0, clip it with GREATEST(x, 1), divide after aggregating, as in "
            "SUM(a) / SUM(b), or write a / NULLIF(b, 0)"
        )
    if b.reciprocal().magnitude > WIDEST:
        raise Refused("the divisor may be too close to 0: declare bounds away from 0, or clip it with GREATEST(x, 1)")
    return result(fields, a * b.reciprocal(), real=True)


_STEEPEST = Fraction(2**332)  # the largest quotient by a number close to 0


def divide_or_null(fields: Sequence[Field]) -> Field:
    """A quotient that is NULL where the divisor is 0; its range is not known where the divisor may be as close to 0 as floats are."""
    a, b = (interval.floats() for interval in numbers(fields))
    if not b.contains(0):
        return evolve(divide(fields), nullable=True)
    if fields[1].kind is Kind.INTEGER:  # it is at least 1 from 0
        sides = [Interval(max(b.low, Fraction(1)), b.high)] if b.high >= 1 else []
        sides += [Interval(b.low, min(b.high, Fraction(-1)))] if b.low <= -1 else []
        parts = [a * Interval(side.low, side.high, b.low_known, b.high_known).reciprocal() for side in sides]
        return result(fields, parts[0].union(parts[-1]) if parts else exactly(0), nullable=True, real=True)
    sign = a * b  # the quotient has the product's sign
    low, high = (Fraction(0) if sign.low >= 0 else -_STEEPEST), (Fraction(0) if sign.high <= 0 else _STEEPEST)
    return result(fields, Interval(low, high, low == 0, high == 0), nullable=True, real=True)


# ── SQL ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_divide(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """The range of the divisor excludes 0; the clamp enforces it."""
    a, b = (as_kind(dialect, text, Kind.REAL) for text in texts)
    return dialect.over(a, clamped(b, fields[1].range, dialect))


def write_divide_or_null(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """Where the divisor is so close to 0 that the quotient would leave ±2^332, it is that end; powers of two scale without rounding."""
    a, b = (as_kind(dialect, text, Kind.REAL) for text in texts)
    divisor = fields[1].range
    assert divisor is not None
    if fields[1].kind is Kind.INTEGER:
        return f"(CASE WHEN {b} <> 0 THEN {dialect.over(a, b)} END)"
    if not divisor.contains(0):
        return dialect.over(a, clamped(b, divisor, dialect))
    end, other = dialect.real(_STEEPEST), dialect.real(-_STEEPEST)
    near = f"ABS({b}) < {dialect.scaled(f'ABS({a})', 1 / _STEEPEST)}"
    ends = f"CASE WHEN ({a} < 0) = ({b} < 0) THEN {end} ELSE {other} END"
    return f"(CASE WHEN {b} = 0 THEN NULL WHEN {near} THEN {ends} ELSE {dialect.over(a, b)} END)"
