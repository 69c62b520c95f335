"""The SQL of what each row adds to a total: whole numbers on a grid, never NULL, clamped whatever range was inferred."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engines.dialect import Dialect
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
    whole, low, high = dialect.type_name(Kind.INTEGER), grid.mid - grid.half, grid.mid + grid.half
    if grid.is_whole(kind):
        inside = _clamp(text, dialect.literal(int(low)), dialect.literal(int(high)), whole)
        return f"({inside} - {dialect.literal(int(grid.mid))})"
    inside = _clamp(text, dialect.real(low), dialect.real(high), dialect.type_name(Kind.REAL))
    return dialect.whole(dialect.floor(f"{dialect.scaled(f'({inside} - {dialect.real(grid.mid)})', 1 / grid.step)}{nudge}"))


def _clamp(text: str, low: str, high: str, kind: str) -> str:
    return f"CASE WHEN {text} > {high} THEN {high} WHEN {text} < {low} THEN {low} ELSE CAST({text} AS {kind}) END"
