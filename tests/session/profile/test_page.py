"""Pages of a profile: everything that an owner asks is there, and nothing that data holds is markup."""

from __future__ import annotations

import re

import polars
from session.profile.people import frame, quiet, session


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
