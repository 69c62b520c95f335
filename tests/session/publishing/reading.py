"""Read back a workbook that was written."""

from __future__ import annotations

import io
import zipfile
from typing import Any
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def sheets(written: bytes) -> dict[str, list[list[Any]]]:
    """The rows of each sheet by its name: numbers as numbers, text as text; found as other programs find them, from part to part."""
    with zipfile.ZipFile(io.BytesIO(written)) as zipped:
        assert zipped.testzip() is None
        parts = {name: ElementTree.fromstring(zipped.read(name)) for name in zipped.namelist()}
    described = {part.get("PartName") for part in parts["[Content_Types].xml"]}
    (office,) = parts["_rels/.rels"]
    book = parts[office.get("Target") or ""]
    links = {one.get("Id"): f"xl/{one.get('Target')}" for one in parts["xl/_rels/workbook.xml.rels"]}
    assert {f"/{place}" for place in links.values()} <= described
    styles = len(parts["xl/styles.xml"].findall(f"{MAIN}cellXfs/{MAIN}xf"))
    found = {}
    for sheet in book.iter(f"{MAIN}sheet"):
        part = parts[links[sheet.get(LINK)]]
        assert not list(part.iter(f"{MAIN}f")), "a formula"
        assert all(int(cell.get("s", "0")) < styles for cell in part.iter(f"{MAIN}c"))
        found[sheet.get("name") or ""] = [[_value(cell) for cell in row] for row in part.iter(f"{MAIN}row")]
    return found


def _value(cell: ElementTree.Element) -> Any:
    number, text = cell.find(f"{MAIN}v"), cell.find(f"{MAIN}is/{MAIN}t")
    if cell.get("t") == "inlineStr":
        assert text is not None
        return text.text or ""
    if number is None:
        return None
    return bool(int(number.text or "")) if cell.get("t") == "b" else float(number.text or "")
