"""HTML tables: escaped, truncated, and never silently empty."""

from __future__ import annotations

from discreet.plots.page import html_table
from discreet.plots.table import Series


def test_the_page_escapes_everything() -> None:
    page = html_table([Series("<b>", ["<script>alert(1)</script>", "a&b"], is_key=True), Series("n", [1, 2], [0, 1], [2, 3])], 2, ["<i>"])
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;" in page
    assert 'title="the interval contains 0"' in page


def test_the_page_cuts_long_tables() -> None:
    page = html_table([Series("k", list(range(1000)), is_key=True)], 1000, [])
    assert page.count("<tr>") == 1 + 200 + 1
    assert page.index("<td>194</td>") < page.index("… 800 rows are not shown …") < page.index("<td>999</td>")


def test_a_page_without_rows_says_so() -> None:
    assert "(no rows)" in html_table([Series("k", [], is_key=True)], 0, [], empty="(no rows)")
