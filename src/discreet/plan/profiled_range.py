"""The range of a number as declarations or a profile tell it; a profile's range clips what is summed, and nothing else."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve

from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.field import Interval
from discreet.query.relation.node import Relation
from discreet.query.relation.other_tables import with_tables
from discreet.tables.column import ColumnMetadata
from discreet.tables.table import Table

_WIDER = 8  # a quantile is looked for this many widths beyond the range of a profile, which may have missed the outermost rows


def known_range(relation: Relation, expr: Expr) -> Interval | None:
    """The range of an expression: as it follows from declarations, or else from columns within the ranges of their profiles."""
    declared = field_of(expr, relation.schema).range
    if declared is None or declared.known:
        return declared
    filled = with_tables(relation, _bounded)
    found = None if filled == relation else field_of(expr, filled.schema).range
    return found if found is not None and found.known and found.low < found.high else declared


def wider_range(relation: Relation, expr: Expr) -> Interval | None:
    """The range in which a quantile is looked for: wider than that of a profile, for the outermost rows may lie beyond it."""
    declared, known = field_of(expr, relation.schema).range, known_range(relation, expr)
    if declared is None or known is None or declared.known or not known.known:
        return declared
    width = known.high - known.low
    low = max(known.low - _WIDER * width, declared.low if known.low < 0 else Fraction(0))
    return Interval(low, min(known.high + _WIDER * width, declared.high))


def _bounded(table: Table) -> Table:
    """The table as if its columns were clipped to the ranges of its profile."""
    return table if table.profile is None else evolve(table, columns=tuple(_with_bounds(column, table) for column in table.columns))


def _with_bounds(column: ColumnMetadata, table: Table) -> ColumnMetadata:
    found = None if table.profile is None else table.profile.column(column.name)
    if found is None or found.kind is not column.kind or column.bounds is not None or found.declared is not None or column.unique:
        return column
    return evolve(column, bounds=found.bounds)
