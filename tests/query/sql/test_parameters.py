"""The kinds of $1, $2, … follow from what they are compared with; and the schema public is left out."""

from __future__ import annotations

import pytest

from discreet.errors import Error
from discreet.query.sql.parameters import parameter_kinds
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Person

COLUMNS = {"id": Kind.INTEGER, "dept": Kind.TEXT, "cost": Kind.REAL, "day": Kind.DATE, "at": Kind.TIMESTAMP, "new": Kind.BOOLEAN}
CATALOG = Catalog((Table("visits", tuple(ColumnMetadata.of(name, kind) for name, kind in COLUMNS.items()), Person("id")),))


def test_kinds_follow_from_what_a_parameter_is_compared_with() -> None:
    text = """SELECT dept, COUNT(*) FROM visits WHERE dept = $1 AND $2 < cost AND day BETWEEN $3 AND $4 AND id IN ($5) AND dept LIKE $6
        AND CAST($7 AS timestamp) < at AND new = $8 GROUP BY dept HAVING COUNT(*) > $9 LIMIT $10"""
    kinds = [Kind.TEXT, Kind.REAL, Kind.DATE, Kind.DATE, Kind.INTEGER, Kind.TEXT, Kind.TIMESTAMP, Kind.BOOLEAN, Kind.REAL, Kind.INTEGER]
    assert parameter_kinds(text, CATALOG.tables, "postgres") == kinds
    assert parameter_kinds("SELECT COUNT(*) FROM visits WHERE f($2)", CATALOG.tables, "postgres") == [None, None]


def test_columns_of_the_same_name_in_several_tables() -> None:
    def table(name: str, kind: Kind) -> Table:
        return Table(name, (ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("year", kind)), Person("id"))

    tables = (table("first", Kind.TEXT), table("second", Kind.INTEGER), table("third", Kind.REAL))
    for text, kinds in (
        ("SELECT COUNT(*) FROM second WHERE year > $1", [Kind.INTEGER]),
        ("SELECT COUNT(*) FROM Second AS s WHERE S.year > $1", [Kind.INTEGER]),
        ("SELECT COUNT(*) FROM first AS a JOIN third AS b ON a.id = b.id WHERE b.year > $1 AND a.year = $2", [Kind.REAL, Kind.TEXT]),
        ("WITH t AS (SELECT id, year FROM third) SELECT COUNT(*) FROM t WHERE t.year > $1", [Kind.REAL]),
        ("SELECT COUNT(*) FROM second WHERE other = $1", [None]),
    ):
        assert parameter_kinds(text, tables, "postgres") == kinds, text


def test_the_schema_public_is_left_out_in_postgresql() -> None:
    qualified = 'SELECT "public"."visits"."dept" AS "dept", COUNT(*) AS n FROM "public"."visits" GROUP BY "public"."visits"."dept"'
    plain = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"
    assert read(qualified, CATALOG, "postgres") == read(plain, CATALOG, "postgres")
    with pytest.raises(Error):
        read(qualified.replace("public", "private"), CATALOG, "postgres")
