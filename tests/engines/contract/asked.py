"""Ask an engine for exact rows, as only tests may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engines.contract.places import Stored

from discreet.engines.dialect import Dialect
from discreet.engines.engine import Columns, Engine, SentTable
from discreet.private import reveal
from discreet.tables.kind import Kind

EngineOf = Callable[[Stored], Engine]


def columns(engine: Engine, sql: str, given: Sequence[SentTable] = ()) -> Columns:
    """A result, by column."""
    return reveal(engine.run(sql, given))


def rows(engine: Engine, sql: str, given: Sequence[SentTable] = ()) -> list[tuple[Any, ...]]:
    """A result as rows of plain Python values, in the order of the first column."""
    found = columns(engine, sql, given)
    return sorted(zip(*(values.tolist() for values in found.values()), strict=True), key=lambda row: (row[0] is None, row[0]))


def listed(kind: Kind | str, values: Sequence[Any], *more: tuple[Kind | str, Sequence[Any]]) -> Stored:
    """A table t with row numbers i and values x (and y, z)."""
    named = dict(zip("xyz", [(kind, values), *more], strict=False))
    return {"t": {"i": (Kind.INTEGER, list(range(len(values)))), **named}}


def each(engine_of: EngineOf, stored: Stored, write: Callable[[Dialect], str]) -> list[Any]:
    """The value of an expression on each row of t."""
    engine = engine_of(stored)
    return [value for _, value in rows(engine, f"SELECT i, {write(engine.dialect)} AS v FROM t")]


def one(engine_of: EngineOf, stored: Stored, write: Callable[[Dialect], str]) -> Any:
    """The value of an aggregate over t."""
    engine = engine_of(stored)
    [(value,)] = rows(engine, f"SELECT {write(engine.dialect)} AS v FROM t")
    return value
