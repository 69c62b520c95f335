"""Trace a column to the table it comes from, and list the tables that a relation reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where
from discreet.tables.table import Table


def origin(relation: Relation, expr: Expr) -> tuple[str, str] | None:
    """The public table and column that an expression repeats unchanged, if any."""
    if not isinstance(expr, Column):
        return None
    match relation:
        case Scan(table):
            return None if table.private else (table.name, expr.name)
        case Where(below) | Match(below):
            return origin(below, expr)
        case Select(below, columns):
            return origin(below, dict(columns)[expr.name])
        case Join(left, right):
            return origin(left if expr.name in left.schema else right, expr)
        case PerUnit(below, _, keys):
            inside = dict(keys).get(expr.name)
            return None if inside is None else origin(below, inside)
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
