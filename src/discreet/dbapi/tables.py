"""The tables of a session as they are declared: names and types, without a look at the data."""

from __future__ import annotations

from typing import Any, final

from attrs import frozen

from discreet.session.remote.session import RemoteSession
from discreet.session.session import Session
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind

AnySession = Session | RemoteSession


@final
@frozen
class ListedColumn:
    """A column: its name, its kind, and whether it may be NULL."""

    name: str
    kind: Kind
    nullable: bool
    comment: str | None = None


@final
@frozen
class ListedTable:
    """A table and its columns."""

    name: str
    columns: tuple[ListedColumn, ...]
    comment: str | None = None


def listed_tables(session: AnySession) -> tuple[ListedTable, ...]:
    """All tables of a session."""
    if isinstance(session, RemoteSession):
        return tuple(_told(table) for table in session.about["tables"])
    return tuple(
        ListedTable(
            one.name, tuple(_declared(column, one.unit_column) for column in one.columns), None if one.private else "public"
        )
        for one in session.catalog.tables
    )  # fmt: skip


def _declared(column: ColumnMetadata, unit: str | None) -> ListedColumn:
    return ListedColumn(column.name, column.kind, column.nullable, "names the protected unit" if column.name == unit else None)


def _told(table: Any) -> ListedTable:
    columns = (
        ListedColumn(
            str(one["name"]), Kind(one["type"]), bool(one["nullable"]), "names the protected unit" if one["name"] == table["unit"] else None
        )
        for one in table["columns"]
    )
    return ListedTable(str(table["name"]), tuple(columns), None if table["private"] else "public")
