"""Trace a column to the table it comes from, and list the tables that a relation reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where
from discreet.tables.table import Table


class Origin(NamedTuple):
    """The public table and column that an expression repeats unchanged; `joins` tells apart a table that is joined twice."""

    table: str
    column: str
    joins: tuple[str, ...]  # the sides taken, from the top


def origin(relation: Relation, expr: Expr, joins: tuple[str, ...] = ()) -> Origin | None:
    """Where an expression comes from, if it repeats a column of a public table."""
    if not isinstance(expr, Column):
        return None
    match relation:
        case Scan(table):
            return None if table.private else Origin(table.name, expr.name, joins)
        case Where(below) | Match(below):
            return origin(below, expr, joins)
        case Select(below, columns):
            return origin(below, dict(columns)[expr.name], joins)
        case Join(left, right):
            inside = expr.name in left.schema
            return origin(left if inside else right, expr, (*joins, "left" if inside else "right"))
        case PerUnit(below, _, keys):
            key = dict(keys).get(expr.name)
            return None if key is None else origin(below, key, joins)
        case Stack():
            return None
        case _:
            assert_never(relation)


def private_tables(relation: Relation) -> Iterator[Table]:
    """The private tables a relation reads, from the left."""
    match relation:
        case Scan(table):
            if table.private:
                yield table
        case Where(below) | Match(below) | Select(below) | PerUnit(below):
            yield from private_tables(below)
        case Join(left, right):
            yield from private_tables(left)
            yield from private_tables(right)
        case Stack(inputs):
            for below in inputs:
                yield from private_tables(below)
        case _:
            assert_never(relation)


def tables_in(relation: Relation) -> set[Table]:
    """All tables that a relation reads, including those that link to its units."""
    match relation:
        case Scan(table, links):
            return {table, *(target for _, target in links)}
        case Where(below) | Select(below) | PerUnit(below):
            return tables_in(below)
        case Match(left, right) | Join(left, right):
            return tables_in(left) | tables_in(right)
        case Stack(inputs):
            return set().union(*map(tables_in, inputs))
        case _:
            assert_never(relation)
