"""The tables of a session as they are declared: names and types, without a look at the data."""

from __future__ import annotations

from typing import Any, final

from attrs import frozen

from discreet.session.remote.session import RemoteSession
from discreet.session.session import Session
from discreet.tables.kind import Kind
from discreet.tables.table import Table

AnySession = Session | RemoteSession
_UNIT_COMMENT, _PUBLIC_COMMENT = "names the protected unit", "public"


@final
@frozen
class ListedColumn:
    """A column: its name, its kind, whether it may be NULL, and what else is declared about it."""

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
    """All tables of a session: from its catalog, or from what its server says about them."""
    if isinstance(session, RemoteSession):
        return tuple(_of_server(table) for table in session.about["tables"])
    return tuple(_of_catalog(table) for table in session.catalog.tables)


def _of_catalog(table: Table) -> ListedTable:
    columns = (_listed(one.name, one.kind, one.nullable, table.unit_column) for one in table.columns)
    return ListedTable(table.name, tuple(columns), None if table.private else _PUBLIC_COMMENT)


def _of_server(table: Any) -> ListedTable:
    columns = (_listed(str(one["name"]), Kind(one["type"]), bool(one["nullable"]), table["unit"]) for one in table["columns"])
    return ListedTable(str(table["name"]), tuple(columns), None if table["private"] else _PUBLIC_COMMENT)


def _listed(name: str, kind: Kind, nullable: bool, unit: str | None) -> ListedColumn:
    return ListedColumn(name, kind, nullable, _UNIT_COMMENT if name == unit else None)
