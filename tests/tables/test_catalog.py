"""The catalog: links lead to a unit, and digests of policies never change."""

from __future__ import annotations

import pytest

from discreet.errors import PolicyError
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import EachRow, Link, Person

COLUMNS = (
    ColumnMetadata.of("id", Kind.INTEGER),
    ColumnMetadata.of("cost", Kind.REAL, bounds=(0, 0.5)),
    ColumnMetadata.of("day", Kind.DATE, keys=["2024-01-01", None]),
)
VISITS = Table("visits", COLUMNS, Person("id"), Contributions(rows=3))
NOTES = Table("notes", (ColumnMetadata.of("visit", Kind.INTEGER),), Link("visit", "visits", "id"))
ROWS = Table("rows", (ColumnMetadata.of("b", Kind.BOOLEAN, keys=[True, False]),), EachRow(), one_row=True, size=7)


def test_the_digest_is_stored_and_does_not_change() -> None:
    """Ledgers and receipts contain it. A change of names or of field order would charge every stored question again."""
    catalog = Catalog((VISITS, NOTES, ROWS), "replace-one", "2")
    assert catalog.digest == "1139e928a724ee429a4de180daf5a11716dbeb5075b262661e04a47c3caf412b"


def test_the_digest_depends_on_everything_declared() -> None:
    base = Catalog((VISITS, NOTES))
    others = [
        Catalog((VISITS,)),
        Catalog((VISITS, NOTES), "replace-one"),
        Catalog((VISITS, NOTES), version="2"),
        Catalog((VISITS, Table("notes", NOTES.columns, Link("visit", "visits", "cost")))),
        Catalog((Table("visits", COLUMNS, Person("id")), NOTES)),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 1 + len(others)


def test_a_table_without_a_size_has_none_in_the_digest() -> None:
    assert "size" not in Catalog((VISITS,)).to_json()["tables"][0]
    assert Catalog((ROWS,)).to_json()["tables"][0]["size"] == 7


def test_units_are_named_for_all_tables_together() -> None:
    assert Catalog((VISITS, NOTES, ROWS)).protected == "each id and each row"


def test_links_are_followed_to_the_unit() -> None:
    deeper = Table("words", (ColumnMetadata.of("note", Kind.INTEGER),), Link("note", "notes", "visit"))
    catalog = Catalog((VISITS, NOTES, deeper))
    assert [table.name for _, table in catalog.steps_to_unit(deeper)] == ["notes", "visits"]
    assert catalog.steps_to_unit(VISITS) == ()


@pytest.mark.parametrize(
    "target", [None, Table("visits", COLUMNS), Table("visits", COLUMNS, Link("id", "notes", "visit"))], ids=["absent", "public", "cycle"]
)
def test_a_link_that_reaches_no_unit_is_refused(target: Table | None) -> None:
    catalog = Catalog((NOTES, *([target] if target else [])))
    with pytest.raises(PolicyError, match="table notes: its link does not lead to a table with a unit"):
        catalog.steps_to_unit(NOTES)
