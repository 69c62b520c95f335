"""Views select supported columns under their own names, and know the kinds of all."""

from __future__ import annotations

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.spark.dialect import SPARK
from discreet.engines.view import View
from discreet.tables.kind import Kind


def test_supported_columns_are_selected_and_all_kinds_are_known() -> None:
    seen = [("id", Kind.INTEGER, "CAST(x AS BIGINT)"), ("tags", None, "tags"), ('a "b"', Kind.TEXT, "y")]
    view = View.of(iter(seen), DUCKDB)  # a generator is read once
    assert view.columns == ('CAST(x AS BIGINT) AS "id"', 'y AS "a ""b"""')
    assert view.kinds == {"id": Kind.INTEGER, "tags": None, 'a "b"': Kind.TEXT}
    assert list(view.kinds) == ["id", "tags", 'a "b"']


def test_names_are_quoted_by_the_dialect() -> None:
    assert View.of([("a`b", Kind.TEXT, "x")], SPARK).columns == ("x AS `a``b`",)
