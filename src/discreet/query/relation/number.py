"""Numbers: interval arithmetic, and SQL that cannot overflow.

Whole numbers are computed as 64-bit integers where the range of the result allows it, else as floats. Floats round, but +, −, ·, / and √
round correctly, and rounding is monotone: with ends rounded as values are, an inferred range holds for every value, whatever cancels, and
nothing overflows. What is not correctly rounded (logarithms, sums on a grid) is clamped or has a margin. Summands, on which privacy
rests, are clamped once more as integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.engines.dialect import Dialect
from discreet.errors import Refused, WrongType
from discreet.query.relation.field import WHOLE, WIDEST, Field, Interval
from discreet.query.relation.progression import EVERY, union
from discreet.tables.kind import Kind

_LIMITED = "declare bounds for its columns, or limit it, as in FLOOR(LEAST(GREATEST(x, 0), 100) / 10) * 10"


def numbers(fields: Sequence[Field]) -> list[Interval]:
    """The ranges of numeric arguments."""
    for field in fields:
        if field.kind is None or not field.kind.numeric:
            raise WrongType(
                f"numbers are needed, not {field.kind.value if field.kind else 'NULL'}, and text is not cast: declare the column's type"
            )
    return [field.range for field in fields if field.range is not None]


def result(kinds: Sequence[Field], interval: Interval, nullable: bool = False, real: bool = False) -> Field:
    """A number of this range: whole if all arguments are and it fits, unless `real`."""
    if interval.magnitude > WIDEST:
        raise Refused("this expression may overflow: declare bounds for its columns, or clip them with LEAST and GREATEST")
    whole = not real and all(field.kind is Kind.INTEGER for field in kinds) and interval.magnitude <= WHOLE
    return Field(Kind.INTEGER if whole else Kind.REAL, interval, nullable or any(field.nullable for field in kinds))


def _combined(fields: Sequence[Field], operation: Callable[[Any, Any], Any]) -> Field:
    """A whole number, or a float made of floats: then what is whole is rounded to a float first.

    The operation is one of ranges and of progressions alike.
    """
    a, b = numbers(fields)
    exact = result(fields, operation(a, b))
    if exact.kind is Kind.INTEGER:
        return evolve(exact, progression=operation(*(field.progression for field in fields)))
    return result(fields, operation(a.floats(), b.floats()), nullable=exact.nullable, real=True)


def add(fields: Sequence[Field]) -> Field:
    return _combined(fields, lambda a, b: a + b)


def subtract(fields: Sequence[Field]) -> Field:
    return _combined(fields, lambda a, b: a + -b)


def multiply(fields: Sequence[Field]) -> Field:
    return _combined(fields, lambda a, b: a * b)


def modulo(fields: Sequence[Field]) -> Field:
    a, b = numbers(fields)
    if any(field.kind is not Kind.INTEGER for field in fields) or b.low != b.high or b.low < 1:
        raise Refused("% takes a whole number and a positive whole literal: write x % 10")
    low = Fraction(0) if a.low >= 0 else 1 - b.high
    return evolve(result(fields, Interval(low, b.high - 1)), progression=fields[0].progression.modulo(int(b.low)))


def negate(fields: Sequence[Field]) -> Field:
    return evolve(result(fields, -numbers(fields)[0]), progression=-fields[0].progression)


def absolute(fields: Sequence[Field]) -> Field:
    return evolve(result(fields, numbers(fields)[0].absolute()), progression=fields[0].progression.absolute())


def to_whole(rounding: Callable[[Fraction], int]) -> Callable[[Sequence[Field]], Field]:
    """A whole number by a monotone rounding, so that the ends of the range are rounded as values are; the SQL clamps to them."""

    def rule(fields: Sequence[Field]) -> Field:
        inside = numbers(fields)[0]
        if inside.magnitude > 2**53:
            raise Refused(f"a number without bounds cannot be rounded to a whole number: {_LIMITED}")
        interval = Interval(Fraction(rounding(inside.low)), Fraction(rounding(inside.high)), inside.low_known, inside.high_known)
        whole = fields[0].kind is Kind.INTEGER
        return Field(Kind.INTEGER, interval, fields[0].nullable, progression=fields[0].progression if whole else EVERY)

    return rule


def half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def rounded(fields: Sequence[Field]) -> Field:
    if len(fields) == 1:
        return to_whole(half_up)(fields)
    inside, digits = numbers(fields)
    if digits.low != digits.high or not 0 <= digits.low <= 15 or fields[1].kind is not Kind.INTEGER:
        raise Refused("ROUND takes a literal number of digits from 0 to 15: write ROUND(x, 2)")
    if inside.magnitude > Fraction(1e30):
        raise Refused(f"a number without bounds cannot be rounded: {_LIMITED}")
    edge = Fraction(1, 10 ** int(digits.low))
    return Field(Kind.REAL, Interval(inside.low - edge, inside.high + edge, inside.low_known, inside.high_known), fields[0].nullable)


def to_real(fields: Sequence[Field]) -> Field:
    return Field(Kind.REAL, numbers(fields)[0], fields[0].nullable)


def sqrt(fields: Sequence[Field]) -> Field:
    inside = numbers(fields)[0]
    if inside.low < -inside.magnitude / 2**40:  # what is negative by rounding error alone becomes 0
        raise Refused("SQRT of a number that may be negative: declare a lower bound of 0, or clip it with GREATEST(x, 0)")
    return Field(
        Kind.REAL,
        Interval(_root(max(inside.low, Fraction(0))), _root(inside.high) + 1, inside.low_known, inside.high_known),
        fields[0].nullable,
    )


def _root(value: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(value)))


def ln(fields: Sequence[Field]) -> Field:
    inside = numbers(fields)[0]
    if inside.low <= 0:
        raise Refused("LN of a number that may be 0 or negative: declare bounds above 0, or clip it with GREATEST(x, 1)")
    low, high = (Fraction(math.log(end)).limit_denominator(10**6) for end in (inside.low, inside.high))
    return Field(
        Kind.REAL, Interval(low - Fraction(1, 10**5), high + Fraction(1, 10**5), inside.low_known, inside.high_known), fields[0].nullable
    )


def exp(fields: Sequence[Field]) -> Field:
    inside = numbers(fields)[0]
    if inside.high > 200:
        raise Refused("EXP of a number that may exceed 200: declare bounds for it, or clip it with LEAST(x, 200)")
    return Field(
        Kind.REAL,
        Interval(Fraction(0), _exp_end(inside), True, inside.high_known),
        fields[0].nullable,
    )


def _chosen(fields: Sequence[Field], pick: Callable[[Interval, Interval], Interval]) -> Field:
    first, *rest = numbers(fields)
    for other in rest:
        first = pick(first, other)
    return evolve(result(fields, first), progression=union(field.progression for field in fields))


def least(fields: Sequence[Field]) -> Field:
    return _chosen(fields, Interval.least)


def greatest(fields: Sequence[Field]) -> Field:
    return _chosen(fields, Interval.greatest)


def width_bucket(fields: Sequence[Field]) -> Field:
    _, low, high, count = numbers(fields)
    if (
        any(end.low != end.high for end in (low, high, count))
        or not low.low < high.low
        or not 1 <= count.low <= 10**6
        or count.low.denominator > 1
    ):
        raise Refused(
            "WIDTH_BUCKET takes a number, two literal ends, the lower first, and a literal number of buckets, as in "
            "WIDTH_BUCKET(x, 0, 100, 20)"
        )
    return Field(Kind.INTEGER, Interval(Fraction(0), count.low + 1), fields[0].nullable)


# ── SQL ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

Texts = Sequence[str]
Fields = Sequence[Field]


def as_kind(dialect: Dialect, argument: str, kind: Kind | None) -> str:
    """An argument cast to a kind wide enough for the result; only casts that cannot fail."""
    return f"CAST({argument} AS {dialect.type_name(kind or Kind.REAL)})"


def write_operator(symbol: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    def write(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
        a, b = (as_kind(dialect, text, out.kind) for text in texts)
        if out.kind is not Kind.REAL:
            return f"({a} {symbol} {b})"
        return dialect.times(a, b) if symbol == "*" else f"({a} {symbol} {b})"

    return write


def clamped(real: str, interval: Interval | None, dialect: Dialect) -> str:
    """A float clamped to its range."""
    assert interval is not None
    low, high = dialect.real(interval.low), dialect.real(interval.high)
    return f"(CASE WHEN {real} > {high} THEN {high} WHEN {real} < {low} THEN {low} ELSE {real} END)"


def write_prefix(symbol: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    return lambda dialect, texts, fields, out: f"({symbol}{as_kind(dialect, texts[0], out.kind)})"


def write_call(name: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    return lambda dialect, texts, fields, out: f"{name}({as_kind(dialect, texts[0], out.kind)})"


def _exp_end(inside: Interval) -> Fraction:
    """Above e^x for all of the range, also when it is rounded to its grid."""
    end = Fraction(math.exp(inside.high)) * Fraction(1001, 1000)
    return end + Fraction(2) ** -_exp_bits(end)


def _exp_bits(end: Fraction) -> int:
    return _EXP_BITS - int(end).bit_length()


def write_exp(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """Rounded to a grid, because engines differ in the last digit."""
    assert out.range is not None
    bits = _exp_bits(out.range.high)
    return _on_fine_grid(dialect, dialect.exp(clamped(as_kind(dialect, texts[0], Kind.REAL), fields[0].range, dialect)), bits)


def write_sqrt(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """A difference that rounds to just below 0 becomes 0."""
    real = as_kind(dialect, texts[0], Kind.REAL)
    return f"(CASE WHEN {real} > 0 THEN SQRT({real}) WHEN {real} <= 0 THEN {dialect.real(Fraction(0))} END)"


def write_ln(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """Values that round to below the range are clamped. Rounded to a grid, because engines differ in the last digit."""
    assert fields[0].range is not None
    real, low = as_kind(dialect, texts[0], Kind.REAL), dialect.real(fields[0].range.low)
    logarithm = f"(CASE WHEN {real} > {low} THEN LN({real}) WHEN {real} <= {low} THEN LN({low}) END)"
    return _on_fine_grid(dialect, logarithm, _LN_BITS)


_LN_BITS, _EXP_BITS = 32, 34


def _on_fine_grid(dialect: Dialect, real: str, bits: int) -> str:
    """Rounded to whole multiples of 2^−bits."""
    placed = dialect.floor(f"{dialect.scaled(real, Fraction(2) ** bits)} + 0.5")
    return dialect.scaled(f"CAST({placed} AS {dialect.type_name(Kind.REAL)})", Fraction(2) ** -bits)


def write_modulo(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return f"({as_kind(dialect, texts[0], Kind.INTEGER)} % {texts[1]})"


def _whole(dialect: Dialect, rounded: str, out: Field) -> str:
    """A rounded real as a whole number, clamped to its range first, because rounding may exceed it."""
    return as_kind(dialect, clamped(rounded, out.range, dialect), Kind.INTEGER)


def write_floor(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return _whole(dialect, dialect.floor(as_kind(dialect, texts[0], Kind.REAL)), out)


def write_ceil(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return _whole(dialect, dialect.ceil(as_kind(dialect, texts[0], Kind.REAL)), out)


def write_truncate(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    real = as_kind(dialect, texts[0], Kind.REAL)
    return _whole(dialect, f"(CASE WHEN {real} < 0 THEN {dialect.ceil(real)} ELSE {dialect.floor(real)} END)", out)


def write_round(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    """Round half up on every engine: their own rules for ties differ."""
    real = as_kind(dialect, texts[0], Kind.REAL)
    if len(texts) == 1:
        return _whole(dialect, dialect.floor(f"{real} + 0.5"), out)
    assert fields[1].range is not None
    factor = dialect.real(Fraction(10 ** int(fields[1].range.low)))
    return clamped(dialect.over(dialect.floor_real(f"({real} * {factor} + 0.5)"), factor), out.range, dialect)


def write_to_real(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    return as_kind(dialect, texts[0], Kind.REAL)


def write_choice(word: str) -> Callable[[Dialect, Texts, Fields, Field], str]:
    """The least or greatest, NULL if any is: engines differ on that, so it is written explicitly.

    Each argument is written once: DuckDB 2.0 fails on some plans in which GREATEST has the same argument twice.
    """

    def write(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
        values = dict.fromkeys(as_kind(dialect, text, out.kind) for text in texts)
        chosen = f"{word}({', '.join(values)})" if len(values) > 1 else next(iter(values))
        nullable = dict.fromkeys(text for text, field in zip(texts, fields, strict=True) if field.nullable)
        present = " AND ".join(f"{text} IS NOT NULL" for text in nullable)
        return f"(CASE WHEN {present} THEN {chosen} END)" if present else chosen

    return write


def write_width_bucket(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    low, high, count = (field.range.low for field in fields[1:] if field.range is not None)
    value = as_kind(dialect, texts[0], Kind.REAL)
    inside = dialect.floor(dialect.scaled(f"({value} - {dialect.real(low)})", count / (high - low)))
    bucket = f"CASE WHEN {inside} >= {int(count)} THEN {int(count)} ELSE {as_kind(dialect, inside, Kind.INTEGER)} + 1 END"
    return (
        f"(CASE WHEN {value} < {dialect.real(low)} THEN 0 WHEN {value} >= {dialect.real(high)} THEN {int(count) + 1} "
        f"WHEN {value} IS NOT NULL THEN {bucket} END)"
    )
