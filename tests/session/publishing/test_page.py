"""The printable page: it is well formed, shows every number, runs nothing, and prints on A4."""

from __future__ import annotations

import subprocess
from html.parser import HTMLParser
from pathlib import Path
from shutil import which

import pytest
from session.tables import CITIES, CUBE, session

from discreet.plots.table import Series, format_cell
from discreet.session.publishing import page as module
from discreet.session.publishing.page import page


class Page(HTMLParser):
    """Its elements, and its text; every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def test_a_cube() -> None:
    with session() as db:
        found = db.ask(CUBE, epsilon=0.2)
    read = Page(found.to_html() or "")
    assert read.tags.count("table") == 3
    assert read.texts.count("Total") == 6
    for series in found.series[2:]:
        for row in range(len(found)):
            assert format_cell(series, row).value in read.texts
    said = " ".join(read.texts)
    assert "Number of rows, sum of cost and mean of cost by dept and sex" in said
    assert "ε = 0.2 and δ = 0" in said
    assert "95 % interval" in said
    assert found.receipt.to_json()["hash"] in said
    assert "Numbers in large type are tidy" not in said


def test_tidy_numbers_with_unbiased_ones_below() -> None:
    with session() as db:
        found = db.ask(CITIES, epsilon=0.2)
    read = Page(found.to_html(tidy=True) or "")
    for row, tidy in enumerate(found.tidy):
        assert read.texts[read.texts.index(f"{tidy['n']:,}")]
        cell = format_cell(found.series[-1], row)
        assert f"{cell.value} {cell.error}" in read.texts
    assert "Numbers in large type are tidy" in " ".join(read.texts)


def test_text_is_escaped_and_nothing_runs() -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    series = [Series(evil, [evil], is_key=True, summed=[False]), Series(evil + "n", [1], [0], [2], measures=evil)]
    told = {"protects": evil, "epsilon": "1", "delta": "0", "adjacency": evil, "confidence": 0.9, "notes": [evil], "method": evil}
    text = page(series, 1, told | {"receipt": {"dry_run": True, "question": "q", "hash": "h"}}, evil, "", tidy=False)
    read = Page(text)
    assert "script" not in read.tags
    assert "default-src 'none'" in text
    assert "This is a dry run" in text


def test_long_and_empty_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 2)
    with session() as db:
        read = Page(db.ask("SELECT dept, COUNT(*) AS n FROM people GROUP BY dept", epsilon=0.2).to_html() or "")
        assert "Rows 2 to 4 of 5 are not shown; the data files have them." in read.texts
        none = Page(db.ask("SELECT dept, COUNT(*) AS n FROM people GROUP BY dept HAVING n > 1e9", epsilon=0.2).to_html() or "")
        assert "(no rows)" in none.texts


def test_long_tables_keep_their_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 4)
    with session() as db:
        read = Page(db.ask("SELECT dept, COUNT(*) AS n FROM people GROUP BY ROLLUP(dept)", epsilon=0.2).to_html() or "")
        assert "Total" in read.texts
        assert "Rows 4 to 5 of 6 are not shown; the data files have them." in read.texts


def test_long_names_of_losses_stay_within_the_page() -> None:
    with session() as db:
        page = db.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.2).to_html() or ""
    assert ".method li{margin:.15em 0;overflow-wrap:anywhere}" in page


@pytest.mark.skipif(which("chromium") is None, reason="there is no Chromium")
def test_it_prints_on_one_page(tmp_path: Path) -> None:
    with session() as db:
        db.ask("SELECT dept, sex, COUNT(*) AS n FROM people GROUP BY CUBE(dept, sex)", epsilon=0.2).to_html(tmp_path / "page.html")
    printed = tmp_path / "page.pdf"
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--no-pdf-header-footer",
    ]
    subprocess.run([*command, f"--print-to-pdf={printed}", (tmp_path / "page.html").as_uri()], check=True, capture_output=True, timeout=120)
    content = printed.read_bytes()
    assert content.count(b"/Type /Page\n") == 1
    assert b"/MediaBox [0 0 594.95996 841.91998]" in content or b"/MediaBox [0 0 595" in content
