"""The codes of each column, from what is declared and what is known besides."""

from __future__ import annotations

import datetime

from discreet.errors import Refused
from discreet.query.relation.field import Field
from discreet.session.synthesize.codes import Listed, binned, dated
from discreet.session.synthesize.discover import BINS, Columns
from discreet.session.synthesize.domains import CATEGORIES, Coding, Domains
from discreet.session.synthesize.edges import Cut
from discreet.tables.kind import Kind, Value


def codings_of(columns: Columns, found: Domains, bins: int = BINS) -> tuple[Coding, ...]:
    """Each column's codes.

    A column has a code for NULL where it may be NULL: it is not declared present, and no values are declared. Of declared values each has a
    code, None among them too; all other values have one where that is asked for, or where values were discovered.
    """
    return tuple(_coding(name, columns, found, bins) for name in columns.names)


def _coding(name: str, columns: Columns, found: Domains, bins: int) -> Coding:
    column = columns.schema[name]
    assert column.kind is not None
    nullable = column.nullable and name not in columns.present
    if name in found.edges:
        return Cut(name, column.kind, found.edges[name], nullable)
    if name in found.values:
        return _listed(name, column, found.values[name], True)
    if column.keys is not None:
        return _listed(name, column, column.keys, name in columns.other)
    if column.kind is Kind.BOOLEAN:
        return Listed(name, Kind.BOOLEAN, (False, True), nullable)
    if column.kind is Kind.DATE:
        assert column.range is not None
        ends = [datetime.date.fromordinal(int(end)) for end in (column.range.low, column.range.high)]
        return dated(name, ends[0], ends[1], 2 * bins, nullable)
    if name in found.bounds:
        low, high = found.bounds[name]
    else:
        assert column.range is not None
        low, high = column.range.low, column.range.high
    most = max(bins, 2 * bins if column.kind is Kind.INTEGER and high - low < 2 * bins else bins)
    return binned(name, column.kind, low, high, most, column.nullable)


def _listed(name: str, column: Field, keys: tuple[Value | None, ...], rest: bool) -> Listed:
    values = tuple(value for value in keys if value is not None or not rest)
    if len(values) > CATEGORIES:
        raise Refused(f"{name} has {len(values):,} values, and a category has at most {CATEGORIES}: group them first, or leave it out")
    assert column.kind is not None
    return Listed(name, column.kind, values, rest)
