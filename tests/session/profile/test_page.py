"""Pages of a profile: everything that an owner asks is there, and nothing that data holds is markup."""

from __future__ import annotations

import re
from fractions import Fraction

import polars
from attrs import evolve
from session.profile.people import frame, quiet, session

from discreet.session.profile.page import NOT_LEARNT, missing_share, used
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind
from discreet.tables.profile import ColumnProfile, TableProfile, ValueCount


def test_each_column_has_a_line_and_a_drawing() -> None:
    with session(bounds={"cost": (0, 100)}) as db:
        found = db.profile(epsilon=100, progress=quiet)
    text, page = repr(found), found.to_html()
    line = {
        name: re.sub(" +", " ", next(one for one in text.splitlines() if one.startswith(name))) for name in ("age", "cost", "town", "name")
    }
    assert re.search(r"integer \d+ … \d+ \d+\.\d % ± .* bounds \d+ … \d+; fewer than \d+ rows outside \(95 %\)", line["age"])
    assert "declared bounds" in line["cost"]
    assert "2 keys: " in line["town"]
    assert "not learnt: declare it, or buy a profile with a larger epsilon" in line["name"]
    assert page.count("<svg") == 6
    assert page.count("<tr>") == 8
    assert [row["column"] for row in found.rows] == [one.name for one in found.columns]


def test_names_and_values_are_no_markup() -> None:
    data = frame().select("id", town="town").with_columns(town=polars.lit("<u>&"))
    with session(data={"people": data.rename({"town": "<i>'\""})}) as db:
        page = db.profile(epsilon=100, progress=quiet)._repr_html_()
    assert "&lt;u&gt;&amp;" in page
    assert "<u>" not in page
    assert "<i>" not in page


def test_declared_bounds_are_not_called_unknown() -> None:
    """Also where too little was found to draw them."""
    column = ColumnProfile("age", Kind.INTEGER, Histogram((), (), 0.0, 0.0, 5000.0, 5.0, 7.0, True), declared=(Fraction(0), Fraction(99)))
    assert not column.learnt
    assert used(column) == ["declared bounds"]
    assert used(evolve(column, declared=None)) == [NOT_LEARNT]


def test_units_without_a_value_are_no_share_of_rows() -> None:
    """Values that are found are counted in units: with several rows for each, 30 of 100 units are not 30 of 400 rows."""
    column = ColumnProfile("town", Kind.TEXT, values=(ValueCount("a", 70.0), ValueCount(None, 30.0)), sd=1.0, least=10.0)
    one = TableProfile("people", (column,), 100.0, 100.0, 1.0, None, (), "")
    assert missing_share(column, one) is not None
    assert missing_share(column, evolve(one, rows=400.0, limit=4)) is None
