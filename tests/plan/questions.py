"""A small catalog for plans, and questions compiled over it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.plan.compile import compile_plan
from discreet.plan.steps import Steps
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import EachRow, Person

DEPTS = ["a", "b", "c"]
EPSILON, DELTA = Fraction(1, 2), Fraction(1, 10**7)


def catalog(
    limits: dict[str, int] | None = None,
    *,
    keys: Any = DEPTS,
    bounds: Any = (0, 100),
    nullable: bool = True,
    each: bool = False,
    adjacency: Any = "add/remove",
) -> Catalog:
    columns = (
        ColumnMetadata.of("id", Kind.INTEGER),
        ColumnMetadata.of("dept", Kind.TEXT, keys=keys),
        ColumnMetadata.of("x", Kind.REAL, bounds=bounds, nullable=nullable),
        ColumnMetadata.of("age", Kind.INTEGER, bounds=(0, 120)),
    )
    return Catalog((Table("t", columns, EachRow() if each else Person("id"), Contributions.of(limits)),), adjacency)


def steps(sql: str, tables: Catalog | None = None, epsilon: Fraction = EPSILON, delta: Fraction = DELTA) -> Steps:
    tables = catalog() if tables is None else tables
    return compile_plan(read(sql, tables), tables, epsilon, delta, lambda table, column: ())
