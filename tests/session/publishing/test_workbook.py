"""Workbooks: types of cells, hostile text, names of sheets."""

from __future__ import annotations

import datetime
import io
import zipfile
from xml.etree import ElementTree

import pytest
from session.publishing.reading import MAIN, sheets

from discreet.errors import Invalid
from discreet.session.publishing import workbook as module
from discreet.session.publishing.workbook import Amount, Sheet, workbook

HOSTILE = [
    '=HYPERLINK("http://x","y")',
    "+1",
    "-1",
    "@x",
    "\t=1",
    "a\x00b\x1b",
    "<f>1</f>",
    "]]>&amp;",
    "_x0041_",
    "\ufffe",
    "ünï ©😀",
    " x ",
]


def test_types() -> None:
    day, moment, old = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 12), datetime.date(1850, 1, 1)
    values = [1, -2.5, True, None, day, moment, old, 10**18, 1e-7, float("inf"), 2**40]
    (rows,) = sheets(workbook([Sheet("a", ["x"], [values], [Amount()])])).values()
    assert [row[0] for row in rows] == ["x", 1.0, -2.5, True, None, 46024.0, 46024.5, "1850-01-01", str(10**18), 1e-7, "inf", 2.0**40]


def test_amounts_have_separators_and_decimals() -> None:
    """Whole numbers have none, and years, which are no amounts, are plain."""
    written = workbook([Sheet("a", ["sum", "n", "year"], [[1234.5678], [1234], [2026]], [Amount(1), Amount(), None])])
    with zipfile.ZipFile(io.BytesIO(written)) as zipped:
        styles, sheet = (ElementTree.fromstring(zipped.read(f"xl/{name}.xml")) for name in ("styles", "worksheets/sheet1"))
    codes = {one.get("numFmtId"): one.get("formatCode") for one in styles.iter(f"{MAIN}numFmt")}
    used = [codes.get(one.get("numFmtId", "")) for one in styles.findall(f"{MAIN}cellXfs/{MAIN}xf")]
    (_, row) = sheet.iter(f"{MAIN}row")
    assert [used[int(cell.get("s", "0"))] for cell in row] == ["#,##0.0", "#,##0", None]
    assert styles.find(f"{MAIN}cellStyles/{MAIN}cellStyle") is not None, "openpyxl warns without a default style"


def test_hostile_text_is_text() -> None:
    (rows,) = sheets(workbook([Sheet("a", HOSTILE, [[text] for text in HOSTILE])])).values()
    for row in rows:
        assert [text.replace("_x005F_", "_") for text in row] == [
            text.replace("\x00", "\ufffd").replace("\x1b", "\ufffd").replace("\ufffe", "\ufffd") for text in HOSTILE
        ]
    assert rows[1][8] == "_x005F_x0041_", "Excel would read the letter A"


def test_long_text_is_cut() -> None:
    (rows,) = sheets(workbook([Sheet("a", ["x"], [["y" * 40_000]])])).values()
    assert len(rows[1][0]) == 32_767


def test_names_of_sheets() -> None:
    names = ["a/b:c*[d]?\\", "", "x" * 40, "X" * 40, "History", "'quoted'", 'a"<b']
    found = list(sheets(workbook([Sheet(name, [], []) for name in names])))
    assert found == ["a b c  d", "Sheet", "x" * 31, "X" * 27 + " (2)", "History (2)", "quoted", 'a"<b']
    assert all(len(name) <= 31 for name in found)


def test_equal_workbooks_have_equal_bytes() -> None:
    assert workbook([Sheet("a", ["x"], [[1, 2]])]) == workbook([Sheet("a", ["x"], [[1, 2]])])


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    assert workbook([Sheet("a", ["x"], [[1, 2]])])
    with pytest.raises(Invalid, match="at most 2 rows"):
        workbook([Sheet("a", ["x"], [[1, 2, 3]])])
