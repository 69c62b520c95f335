"""Fill in a table's open declarations from its profile; what is declared stays as it is.

Types of columns that have none, keys and limits become those of the catalog. Bounds do not, for declared bounds clip every use of a
column, also in WHERE and GROUP BY: plans take them from the profile for the numbers that they sum (`plan/profiled_range.py`).
"""

from __future__ import annotations

from attrs import evolve

from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.profile import ColumnProfile, TableProfile
from discreet.tables.table import Contributions, Table

_MOST = 0.8  # of the units: if the values found are those of fewer, a question discovers its groups itself


def profiled(catalog: Catalog, profile: TableProfile) -> Catalog:
    """The catalog with one table's profile."""
    return evolve(catalog, tables=tuple(_profiled(table, profile) if table.name == profile.table else table for table in catalog.tables))


def _profiled(table: Table, profile: TableProfile) -> Table:
    limits = table.contributions
    if not limits and profile.limit is not None and not table.one_row:
        limits = Contributions(rows=profile.limit)
    columns = tuple(_filled(column, profile) for column in typed(table, profile).columns)
    untyped = tuple(column.name for column in columns if column.name in table.untyped and column.parsed_from is None)
    found = tuple(new.name for old, new in zip(table.columns, columns, strict=True) if old.keys is None and new.keys is not None)
    return evolve(table, columns=columns, contributions=limits, profile=profile, untyped=untyped, keys_found=found)


def typed(table: Table, profile: TableProfile) -> Table:
    """The table with the types that were found, and nothing else of its profile."""
    return evolve(table, columns=tuple(_typed(column, table, profile) for column in table.columns))


def _typed(column: ColumnMetadata, table: Table, profile: TableProfile) -> ColumnMetadata:
    """The column with the type that was found, if nobody declared one."""
    found = profile.column(column.name)
    if column.name not in table.untyped or column.name == table.unit_column or column.keys is not None:
        return column
    return column if found is None or found.type_found is None else column.parsed_as(found.kind)


def _filled(column: ColumnMetadata, profile: TableProfile) -> ColumnMetadata:
    found = profile.column(column.name)
    if found is None or found.kind is not column.kind or column.unique:
        return column
    if column.keys is not None or column.bounds is not None or not _cover_most(found, profile):
        return column
    return evolve(column, keys=found.keys)


def _cover_most(found: ColumnProfile, profile: TableProfile) -> bool:
    """Whether the values that were found are those of most units: a cheap profile must not hide groups that a question could discover."""
    return found.values is None or sum(one.count for one in found.values) >= _MOST * profile.units
