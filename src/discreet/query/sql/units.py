"""Trace columns to their tables, and decide whether equality of two columns implies the same unit."""

from __future__ import annotations

from typing import assert_never

from discreet.query.relation.expr import Column
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where
from discreet.tables.table import Table
from discreet.tables.unit import Link


def names_unit(relation: Relation, column: str) -> bool:
    """Whether a column identifies its row's unit, in every row."""
    match relation:
        case Scan(table, links):
            return relation.has_id and not links and column == table.unit_column
        case Where(below) | Match(below):
            return names_unit(below, column)
        case Select(below, columns):
            source = dict(columns).get(column)
            return isinstance(source, Column) and names_unit(below, source.name)
        case Join(left, right, _, kind):
            # rows without a match have NULL on the right, not their unit
            return names_unit(left, column) if column in left.schema else kind == "inner" and names_unit(right, column)
        case Stack(inputs):
            return all(names_unit(below, column) for below in inputs)
        case PerUnit(_, units):
            return column in units
        case _:
            assert_never(relation)


def source_column(relation: Relation, column: str) -> tuple[Table, str] | None:
    """The table and column that a column repeats unchanged."""
    match relation:
        case Scan(table):
            return table, column
        case Where(below) | Match(below):
            return source_column(below, column)
        case Select(below, columns):
            source = dict(columns).get(column)
            return source_column(below, source.name) if isinstance(source, Column) else None
        case Join(left, right, _, kind):
            return source_column(left, column) if column in left.schema else source_column(right, column) if kind == "inner" else None
        case Stack() | PerUnit():
            return None
        case _:
            assert_never(relation)


def _leads_to(relation: Relation, column: str) -> tuple[str, str] | None:
    """The key (table, column) that a column is declared to link to."""
    found = source_column(relation, column)
    if found is None or not isinstance(found[0].unit, Link) or found[0].unit.column != found[1]:
        return None
    return found[0].unit.table, found[0].unit.key


def same_unit(left: Relation, a: str, right: Relation, b: str) -> bool:
    """Whether a = b implies that both rows belong to the same unit: both identify it, one links to the other, or both link to one key."""
    if names_unit(left, a) and names_unit(right, b):
        return True
    ends = []
    for relation, column in ((left, a), (right, b)):
        found = source_column(relation, column)
        ends.append((_leads_to(relation, column), None if found is None else (found[0].name, found[1])))
    (link_a, at_a), (link_b, at_b) = ends
    return (link_a is not None and link_a in (at_b, link_b)) or (link_b is not None and link_b == at_a)
