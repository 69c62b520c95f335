"""The system catalog: what is found by name, which columns a table has, and what the role may read."""

from __future__ import annotations

import psycopg
import pytest

from discreet.engines.postgres import system_catalog
from discreet.engines.postgres.view import StoredColumn


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("visits", (None, "visits")),
        ("clinic.visits", ("clinic", "visits")),
        ('"a.b"."c ""d"""', ("a.b", 'c "d"')),
        ("a.b.c", None),
        ('"open', None),
        ("", None),
        ("a.", None),
    ],
)
def test_references(text: str, found: tuple[str | None, str] | None) -> None:
    assert system_catalog.read_reference(text) == found


def test_the_first_schema_that_has_a_table(owner: psycopg.Connection) -> None:
    assert system_catalog.find(owner, ["clinic", "other"], "visits") == ("clinic", "visits")
    assert system_catalog.find(owner, ["other", "clinic"], "visits") == ("other", "visits")
    assert system_catalog.find(owner, ["other"], "seen") is None


def test_tables_without_partitions(owner: psycopg.Connection) -> None:
    found = system_catalog.tables(owner, ["clinic", "other"])
    assert found["visits"] == "clinic"
    assert found["more"] == "other"
    assert {"seen", "kept", "parts", 'Odd "Name".1'} <= found.keys()
    assert "parts_1" not in found


def test_columns_with_their_base_types(owner: psycopg.Connection) -> None:
    owner.execute("DROP TABLE IF EXISTS clinic.typed; DROP DOMAIN IF EXISTS clinic.price; DROP TYPE IF EXISTS clinic.mood")
    owner.execute("CREATE DOMAIN clinic.price AS numeric(9, 2); CREATE TYPE clinic.mood AS ENUM ('good', 'bad')")
    owner.execute("CREATE TABLE clinic.typed (id int, cost clinic.price, how clinic.mood, gone int, name varchar(7))")
    owner.execute("ALTER TABLE clinic.typed DROP COLUMN gone")
    try:
        found = system_catalog.stored_columns(owner, "clinic", "typed")
    finally:
        owner.execute("DROP TABLE clinic.typed; DROP DOMAIN clinic.price; DROP TYPE clinic.mood")
    assert found == [
        StoredColumn("id", "int4"),
        StoredColumn("cost", "numeric", (9 << 16 | 2) + 4),
        StoredColumn("how", "", is_enum=True),
        StoredColumn("name", "varchar", 7 + 4),
    ]


def test_the_search_path_of_the_role(clinic: str) -> None:
    with psycopg.connect(clinic) as connection:
        assert system_catalog.search_path(connection) == ["clinic", "other"]
