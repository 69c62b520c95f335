"""The SQL of what each row adds to a total: whole numbers on a grid, never NULL, clamped whatever range was inferred."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.engines.dialect import Dialect
from discreet.mechanisms.value_grid import RelativeGrid
from discreet.query.grid import Grid
from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.totals import Factor, Total
from discreet.tables.kind import Kind


def write_value(total: Total, columns: Mapping[Expr, str], schema: Schema, dialect: Dialect) -> str:
    """The whole number that a row adds, from the columns of its expressions."""
    if total.factors:
        written = [text for factor in total.factors for text in [_factor(factor, columns, schema, dialect)] * factor.power]
        return written[0] if len(written) == 1 else f"({' * '.join(written)})"
    return "1" if total.expr is None else f"CASE WHEN {columns[total.expr]} IS NOT NULL THEN 1 ELSE 0 END"


def _factor(factor: Factor, columns: Mapping[Expr, str], schema: Schema, dialect: Dialect) -> str:
    kind, grid = field_of(factor.expr, schema).kind, factor.grid
    value = f"COALESCE({on_grid(columns[factor.expr], grid, kind, dialect)}, 0)"
    exact = grid.in_floats or grid.is_whole(kind)
    return value if exact else f"LEAST(GREATEST({value}, {-grid.most}), {grid.most})"


def on_grid(text: str, grid: Grid, kind: Kind | None, dialect: Dialect, nudge: str = " + 0.5") -> str:
    """The position of a value on the grid, rounded to the nearest (or down, without the nudge), as a whole number; NULL stays NULL.

    The value is clamped to the grid's ends before it is cast or subtracted from, so that nothing overflows. (Engines sort NaN above
    all numbers, so it becomes the upper end.)
    """
    whole, (low, high) = dialect.type_name(Kind.INTEGER), grid.ends
    if grid.is_whole(kind):
        inside = _clamp(text, dialect.literal(int(low)), dialect.literal(int(high)), whole)
        return f"({inside} - {dialect.literal(int(grid.mid))})"
    inside = _clamp(text, dialect.real(low), dialect.real(high), dialect.type_name(Kind.REAL))
    return dialect.whole(dialect.floor(f"{dialect.scaled(f'({inside} - {dialect.real(grid.mid)})', 1 / grid.step)}{nudge}"))


def on_relative_grid(text: str, grid: RelativeGrid, kind: Kind | None, dialect: Dialect) -> str:
    """The position of a number on a grid without bounds, counted from 0 and with its sign; NULL stays NULL.

    Found by comparisons with powers of two, then by one product with a power of two, which is exact. (Engines sort NaN above all numbers,
    so it is one of the largest.)
    """
    real = text if kind is Kind.REAL else f"CAST({text} AS {dialect.type_name(Kind.REAL)})"
    size, furthest = f"ABS({real})", max(-grid.first, grid.last)
    # the block of a position has `steps` positions, and twice the step of the block before; the first two have the same
    inside = _in_block(size, grid, 1, max(furthest // grid.steps, 1), dialect)
    top = dialect.real(grid.size(furthest))
    position = f"CASE WHEN {size} >= {top} THEN {furthest} ELSE {inside} END"
    return f"(CASE WHEN {real} < {dialect.real(Fraction(0))} THEN -1 ELSE 1 END) * ({position})"


def _in_block(size: str, grid: RelativeGrid, first: int, last: int, dialect: Dialect) -> str:
    if first == last:
        steps = dialect.whole(dialect.floor(f"({size} * {dialect.real(1 / (grid.finest * 2 ** (first - 1)))})"))
        return f"{steps} + {(first - 1) * grid.steps}"
    middle = (first + last + 1) // 2
    below, above = _in_block(size, grid, first, middle - 1, dialect), _in_block(size, grid, middle, last, dialect)
    return f"CASE WHEN {size} < {dialect.real(grid.size(middle * grid.steps))} THEN {below} ELSE {above} END"


def _clamp(text: str, low: str, high: str, kind: str) -> str:
    return f"CASE WHEN {text} > {high} THEN {high} WHEN {text} < {low} THEN {low} ELSE CAST({text} AS {kind}) END"
