"""Rows as an estimator sees them: all rows of a unit in one block, in an order and of types that nobody else's rows have a say in.

Whatever a block's function gets must depend on that block's units alone. So rows are sorted by themselves, not left as an engine happens to
give them, and each column's type follows from its kind: whether somebody elsewhere has a missing value must not be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.engines.engine import Columns
from discreet.mechanisms.robust.sample_and_aggregate import Blocks
from discreet.noise.bits import SystemBits
from discreet.noise.uniform import uniforms
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Relation
from discreet.query.relation.write import UNIT
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.tables.kind import Kind

_DIGITS = 12  # hexadecimal ones of a unit's hash: 2⁴⁸ places, so that blocks are even


@final
@frozen(eq=False)
class Part:
    """The rows of a block: columns by name, and where each unit's rows begin. Its length is the number of units."""

    columns: Mapping[str, NDArray[Any]]
    starts: NDArray[np.int64]
    rows: int

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, units: NDArray[np.int64]) -> Part:
        """The rows of some units, as often as they are named."""
        ends = np.append(self.starts[1:], self.rows)
        picked = [np.arange(self.starts[unit], ends[unit]) for unit in units]
        where = np.concatenate(picked) if picked else np.empty(0, np.int64)
        sizes = np.array([len(one) for one in picked], np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if picked else np.empty(0, np.int64)
        return Part({name: column[where] for name, column in self.columns.items()}, starts, len(where))


def write_rows(source: Source, salt: str) -> Statement:
    """Every row: its keys, and a hash of its unit that is the same on all engines."""
    if not source.relation.has_id:
        return Statement.of(source, f"SELECT {', '.join(source.transported())} FROM ({source.rows()}) AS r", 0)
    name = f"SUBSTR({source.dialect.hash_order([(UNIT, None)], salt)}, 1, {_DIGITS})"
    return Statement.of(source, f"SELECT {', '.join([*source.transported(), f'{name} AS h'])} FROM ({source.rows()}) AS r", 0)


def source_of(relation: Relation, names: Sequence[str], dialect: Any) -> Source:
    """The rows of some columns."""
    return Source(relation, tuple((name, Column(name)) for name in names), None, dialect)


def in_blocks(found: Columns, names: Sequence[str], kinds: Sequence[Kind | None], blocks: int) -> Blocks:
    """All rows in their blocks: by the hash of the unit, or each row by coins of its own."""
    columns = {name: typed(found[f"k{i}"], kind) for i, (name, kind) in enumerate(zip(names, kinds, strict=True))}
    size = len(next(iter(found.values())))
    if "h" in found:
        units = np.array([int(text, 16) for text in found["h"].tolist()], np.int64)
        which = units % blocks
    else:
        units, which = np.arange(size), uniforms(blocks, size, SystemBits())
    by_value = [_sortable(column) for column in reversed(columns.values())]
    order = np.lexsort([*by_value, units] if "h" in found else [*by_value, np.zeros(size, np.int64)])
    return Blocks(tuple(_part(columns, units, order[which[order] == block], "h" in found) for block in range(blocks)))


def _part(columns: Mapping[str, NDArray[Any]], units: NDArray[np.int64], rows: NDArray[np.int64], named: bool) -> Part:
    here = units[rows] if named else np.arange(len(rows))
    starts = np.flatnonzero(np.concatenate([[True], here[1:] != here[:-1]])) if len(rows) else np.empty(0, np.int64)
    return Part({name: column[rows] for name, column in columns.items()}, starts, len(rows))


def typed(column: NDArray[Any], kind: Kind | None) -> NDArray[Any]:
    """A column in the one type that its kind has here: numbers are floats, NaN where missing; moments, NaT; texts and truths, None."""
    match kind:
        case Kind.INTEGER | Kind.REAL:
            if column.dtype != object:
                return column.astype(np.float64) + 0.0  # no −0, which would sort as 0 and look different
            return np.array([np.nan if value is None else float(value) + 0.0 for value in column.tolist()], np.float64)
        case Kind.DATE | Kind.TIMESTAMP:
            return np.array([_moment(value) for value in column.tolist()], "datetime64[us]")
        case _:
            out = np.empty(len(column), object)
            out[:] = column.tolist()
            return out


def _moment(value: Any) -> np.datetime64:
    try:
        return np.datetime64(value or "NaT", "us")
    except ValueError:  # beyond the calendar
        return np.datetime64("NaT", "us")


def _sortable(column: NDArray[Any]) -> NDArray[Any]:
    """What rows are sorted by: the same for equal values, whatever else is in the column."""
    if column.dtype.kind == "M":
        return column.astype(np.int64)
    if column.dtype != object:
        return column
    values = column.tolist()
    ranks = {text: rank for rank, text in enumerate(sorted({repr(value) for value in values}))}
    return np.array([ranks[repr(value)] for value in values], np.int64)
