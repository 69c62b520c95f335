"""An Excel workbook (.xlsx, ECMA-376) of plain cells: a zip of a few XML files, written without a library.

Text is written as inline strings, which no program evaluates: nothing that comes from the data can be a formula or a link.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, final
from xml.sax.saxutils import escape

from attrs import frozen

from discreet.errors import Invalid

MOST_ROWS = 1_048_576  # of a sheet, its head included
_LONGEST = 32_767  # characters of a cell
_EXACT = 10**15  # whole numbers below this are shown with all digits
_FIRST_DAY = datetime.date(1899, 12, 30)  # day 0
_LEAP = datetime.date(1900, 3, 1)  # Excel has a 29th of February in 1900
_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the time of every file in the zip, so that equal workbooks have equal bytes
_HEAD, _DATE, _MOMENT, _WRAPPED, _AMOUNT = 1, 2, 3, 4, 5  # places in the list of styles; amounts with 0, 1, 2, … decimals are the last
_MOST_DECIMALS, _FIRST_FORMAT = 12, 164  # formats of one's own begin with this number
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # which Excel would read as one character

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_DECIMALS = range(_MOST_DECIMALS + 1)
_STYLES = (
    f'{_XML}<styleSheet xmlns="{_MAIN}"><numFmts count="{len(_DECIMALS)}">'
    + "".join(f'<numFmt numFmtId="{_FIRST_FORMAT + n}" formatCode="#,##0{"." * (n > 0)}{"0" * n}"/>' for n in _DECIMALS)
    + '</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="2"><border/><border><left/><right/><top/><bottom style="thin"/></border></borders>'
    f'<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="{_AMOUNT + len(_DECIMALS)}"><xf xfId="0"/>'
    '<xf xfId="0" fontId="1" borderId="1" applyFont="1" applyBorder="1"/>'
    '<xf xfId="0" numFmtId="14" applyNumberFormat="1"/><xf xfId="0" numFmtId="22" applyNumberFormat="1"/>'
    '<xf xfId="0" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>'
    + "".join(f'<xf xfId="0" numFmtId="{_FIRST_FORMAT + n}" applyNumberFormat="1"/>' for n in _DECIMALS)
    + '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


@final
@frozen
class Amount:
    """How the numbers of a column look: with separators of thousands, and so many decimals; None leaves fractions as they are."""

    decimals: int | None = None


@final
@frozen
class Sheet:
    """A named sheet: a head, and columns of plain values."""

    name: str
    head: Sequence[str]
    columns: Sequence[Sequence[Any]]
    formats: Sequence[Amount | None] = ()  # of each column; keys are no amounts: a year has no separators
    wrapped: bool = False


def workbook(sheets: Sequence[Sheet]) -> bytes:
    """The bytes of a workbook."""
    names = _names([sheet.name for sheet in sheets])
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{_text(name, {chr(34): "&quot;"})}" sheetId="{i}" r:id="rId{i}"/>' for name, i in zip(names, numbers, strict=True)
    )
    sheet_parts = "".join(f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for i in numbers)
    links = "".join(f'<Relationship Id="rId{i}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in numbers)
    files = {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>{sheet_parts}</Types>',
        "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{links}'
        f'<Relationship Id="styles" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as zipped:
        for place, text in files.items():
            zipped.writestr(_entry(place), text)
        for number, sheet in zip(numbers, sheets, strict=True):
            with zipped.open(_entry(f"xl/worksheets/sheet{number}.xml"), "w", force_zip64=True) as part:
                for text in _sheet(sheet):
                    part.write(text.encode("utf-8"))
    return written.getvalue()


def _entry(place: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(place, _ALWAYS)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def _names(wanted: Sequence[str]) -> list[str]:
    """Names that a workbook may have: of at most 31 characters, without some, and different whatever their case."""
    found: list[str] = []
    for name in wanted:
        plain = re.sub(r"[\[\]:*?/\\]", " ", _ILLEGAL.sub(" ", name)).strip().strip("'").strip()
        unique, number = plain[:31] or "Sheet", 1
        while unique.casefold() in {other.casefold() for other in found} | {"history"}:
            number += 1
            unique = f"{plain[: 28 - len(str(number))]} ({number})"
        found.append(unique)
    return found


def _sheet(sheet: Sheet) -> Iterator[str]:
    rows = max(map(len, sheet.columns), default=0)
    if rows >= MOST_ROWS:
        raise Invalid(f"a sheet holds at most {MOST_ROWS - 1:,} rows: write a CSV or Parquet file instead")
    widths = [_width(name, column) for name, column in zip(sheet.head, sheet.columns, strict=True)]
    yield f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
    yield '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
    if widths:
        columns = (f'<col min="{i}" max="{i}" width="{width}" customWidth="1"/>' for i, width in enumerate(widths, 1))
        yield f"<cols>{''.join(columns)}</cols>"
    yield f"<sheetData><row>{''.join(_string(name, _HEAD) for name in sheet.head)}</row>"
    formats = sheet.formats or [None] * len(sheet.columns)
    for row in zip(*sheet.columns, strict=True):
        cells = (_cell(value, amount, sheet.wrapped) for value, amount in zip(row, formats, strict=True))
        yield f"<row>{''.join(cells)}</row>"
    yield "</sheetData></worksheet>"


def _width(name: str, column: Sequence[Any]) -> int:
    longest = max((len(str(value)) for value in column[:200]), default=0)
    return max(8, min(80, max(len(name), longest) + 2))


def _cell(value: Any, amount: Amount | None, wrapped: bool) -> str:
    match value:
        case None:
            return "<c/>"
        case bool():
            return f'<c t="b"><v>{int(value)}</v></c>'
        case int() if abs(value) < _EXACT:
            return f"<c><v>{value}</v></c>" if amount is None else f'<c s="{_AMOUNT}"><v>{value}</v></c>'
        case float() if abs(value) < 1e300:  # not infinite, and not NaN
            if amount is None or amount.decimals is None:
                return f"<c><v>{value!r}</v></c>"
            return f'<c s="{_AMOUNT + min(amount.decimals, _MOST_DECIMALS)}"><v>{value!r}</v></c>'
        case datetime.datetime() if value.tzinfo is None and value.date() >= _LEAP:
            days = (value - datetime.datetime.combine(_FIRST_DAY, datetime.time())) / datetime.timedelta(days=1)
            return f'<c s="{_MOMENT}"><v>{days!r}</v></c>'
        case datetime.date() if not isinstance(value, datetime.datetime) and value >= _LEAP:
            return f'<c s="{_DATE}"><v>{(value - _FIRST_DAY).days}</v></c>'
    return _string(str(value), _WRAPPED if wrapped else 0)


def _string(text: str, style: int) -> str:
    return f'<c t="inlineStr" s="{style}"><is><t xml:space="preserve">{_text(text)}</t></is></c>'


def _text(text: str, more: dict[str, str] | None = None) -> str:
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return escape(_ESCAPED.sub("_x005F_", _ILLEGAL.sub("\ufffd", cut)), more or {})
