"""Tables are listed from what is declared, and the same on both sides of a network."""

from __future__ import annotations

from typing import Any

from discreet.dbapi.tables import ListedColumn, ListedTable
from discreet.tables.kind import Kind


def test_tables_and_columns(clinic: Any) -> None:
    columns = (
        ListedColumn("person", Kind.INTEGER, True, "names the protected unit"),
        ListedColumn("cost", Kind.REAL, True),
        ListedColumn("dept", Kind.TEXT, True),
    )
    assert clinic.connect().tables() == (ListedTable("visits", columns),)
