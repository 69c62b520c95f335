"""A release as a page to read and print on A4: tables with totals and intervals, how the numbers were made, and the receipt.

It is one file without scripts and without anything from elsewhere. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from discreet.plots.table import Series, format_cell, format_value, printable, shown_rows
from discreet.session.publishing.arranged import CrossTable, Levels, arranged
from discreet.session.publishing.words import price_in_words

MOST_ROWS = 2000  # that are printed; the files beside the page have all
_STYLE = """
@page{size:A4;margin:18mm 16mm}
body{font:10.5pt/1.45 "Source Sans 3","Segoe UI",system-ui,-apple-system,"Noto Sans","DejaVu Sans",sans-serif;color:#111;background:#fff;
 max-width:178mm;margin:2em auto;padding:0 1em}
h1{font-size:16pt;font-weight:600;line-height:1.25;margin:0 0 1.1em}
h2{font-size:11.5pt;font-weight:600;margin:1.6em 0 .4em}
p{margin:.5em 0}
table{border-collapse:collapse;margin:0 0 1.6em;border-top:1.5pt solid #111;border-bottom:1.5pt solid #111}
caption{text-align:left;font-weight:600;padding:0 0 .45em}
th{font-weight:600;text-align:left;vertical-align:bottom}
td,th{padding:.22em .9em .22em 0}
th.number,td.number{text-align:right;padding-left:.9em;padding-right:.2em;font-variant-numeric:tabular-nums;white-space:nowrap}
thead tr:last-child>*,thead th[rowspan]{border-bottom:.75pt solid #111}
thead th[colspan]{text-align:center;font-weight:400;color:#444;padding-bottom:0}
tbody th{font-weight:400}tbody td,tbody th{vertical-align:top}
tbody tr.block>*{border-top:.5pt solid #999}
.total,.total th,td.total{font-weight:600}
.error{display:block;font-size:7.8pt;line-height:1.2;color:#555;font-weight:400}
.faint{color:#777}
.method{border-top:.5pt solid #999;padding-top:.6em;font-size:9.5pt;color:#222}.method li{margin:.15em 0;overflow-wrap:anywhere}
.method ul{padding-left:1.2em;margin:.4em 0}.receipt{font-size:8pt;color:#555;overflow-wrap:anywhere}
thead{display:table-header-group}tr{break-inside:avoid}caption,h2{break-after:avoid}
@media print{body{max-width:none;margin:0;padding:0}}
""".strip()


def title_of(series: Sequence[Series]) -> str:
    """What is measured, and by which keys.

    >>> title_of([Series("dept", [], is_key=True), Series("sex", [], is_key=True), Series("n", [], measures="number of rows")])
    'Number of rows by dept and sex'
    """
    keys = [format_value(one.name) for one in series if one.is_key]
    measures = list(dict.fromkeys(one.measures or format_value(one.name) for one in series if not one.is_key)) or ["groups"]
    title = _listed(measures) + (f" by {_listed(keys)}" if keys else "")
    return title[:1].upper() + title[1:]


def page(series: Sequence[Series], rows: int, told: Mapping[str, Any], charged: str, empty: str, tidy: bool, ordered: bool = False) -> str:
    """The whole page."""
    totals = sum(any(marks) for marks in zip(*(one.summed for one in series if one.summed is not None), strict=True))
    first, last = shown_rows(rows, MOST_ROWS, max(totals, 1))
    title = escape(printable(title_of(series)))
    body = "".join(_tables(series, [*first, *last], tidy, ordered)) if rows else f"<p>{escape(empty)}</p>"
    more = ""
    if rows > MOST_ROWS:
        more = f"<p>Rows {len(first) + 1:,} to {last.start:,} of {rows:,} are not shown; the data files have them.</p>"
    return _document(title, f"{body}{more}{''.join(_method(series, told, charged, tidy))}")


def contents(links: Sequence[tuple[str, str]], charged: str) -> str:
    """A page that links to other pages, each by its place and title."""
    listed = "".join(f'<li><a href="{escape(place)}">{escape(printable(title))}</a></li>' for place, title in links)
    return _document("Answers of one batch", f"<ol>{listed}</ol><p>{escape(charged)}</p>")


def _document(title: str, body: str) -> str:
    """A document whose title and body are escaped already."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{title}</title><style>{_STYLE}</style></head>'
        f"<body><h1>{title}</h1>{body}</body></html>\n"
    )


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tables(series: Sequence[Series], rows: Sequence[int], tidy: bool, ordered: bool) -> Iterator[str]:
    columns = [one for one in series if not one.is_key]
    match arranged(series, rows, ordered):
        case CrossTable() as crossed:
            for number, column in enumerate(columns, 1):
                yield _cross_table(crossed, column, f"Table {number}. {_caption(column)}" if len(columns) > 1 else _caption(column), tidy)
        case Levels() as levels:
            yield _level_table(levels, columns, tidy)
        case _:
            yield _list_table(series, rows, tidy)


def _cross_table(crossed: CrossTable, column: Series, caption: str, tidy: bool) -> str:
    across, down = crossed.names
    across_totals, down_totals = crossed.is_total
    names = "".join(f'<th rowspan="2">{_text(name)}</th>' for name in down)
    spanned = f'<th colspan="{len(crossed.across)}">{_text(across)}</th>'
    ends = "".join(f'<th class="number">{escape(label)}</th>' for label in crossed.across)
    body, last = list[str](), crossed.down[0][0]
    for labels, cells, is_total in zip(crossed.down, crossed.rows, down_totals, strict=True):
        repeated = len(labels) > 1 and bool(body) and labels[0] == last  # the first of several keys is written once
        stub = "".join(f"<th>{'' if repeated and i == 0 else escape(label)}</th>" for i, label in enumerate(labels))
        values = "".join(_cell(column, row, tidy, end) for row, end in zip(cells, across_totals, strict=True))
        body.append(f"<tr{_class(is_total, is_total if len(labels) == 1 else labels[0] != last)}>{stub}{values}</tr>")
        last = labels[0]
    head = f"<thead><tr>{names}{spanned}</tr><tr>{ends}</tr></thead>"
    return f"<table><caption>{escape(caption)}</caption>{head}<tbody>{''.join(body)}</tbody></table>"


def _level_table(levels: Levels, columns: Sequence[Series], tidy: bool) -> str:
    stub = escape(" › ".join(format_value(name) for name in levels.names))
    head = f"<th>{stub}</th>" + "".join(f'<th class="number">{escape(_caption(column))}</th>' for column in columns)
    deepest = len({depth for _, depth, _ in levels.rows}) - 1
    body = []
    for row, depth, label in levels.rows:
        cells = "".join(_cell(column, row, tidy) for column in columns)
        body.append(f'<tr{_class(depth < deepest)}><th style="padding-left:{1.2 * depth:g}em">{escape(label)}</th>{cells}</tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _list_table(series: Sequence[Series], rows: Sequence[int], tidy: bool) -> str:
    head = "".join(
        f"<th{'' if one.is_key else ' class=number'}>{_text(one.name) if one.is_key else escape(_caption(one))}</th>" for one in series
    )
    body = []
    for row in rows:
        is_total = any(one.summed is not None and one.summed[row] for one in series)
        cells = (f"<th>{escape(format_value(one.values[row]))}</th>" if one.is_key else _cell(one, row, tidy) for one in series)
        body.append(f"<tr{_class(is_total)}>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _cell(column: Series, row: int | None, tidy: bool, is_total: bool = False) -> str:
    kind = "number total" if is_total else "number"
    if row is None:
        return f'<td class="{kind}"></td>'
    found = format_cell(column, row)
    value, below = found.value, found.error
    if tidy and column.tidy is not None and column.tidy[row] is not None:
        below = f"{found.value} {found.error}".strip()
        value = f"{column.tidy[row]:,.{0 if isinstance(column.tidy[row], int) else column.digits}f}"
    faint = " faint" if found.faint and not tidy else ""
    return f'<td class="{kind}{faint}">{escape(value)}<span class="error">{escape(below)}</span></td>'


def _caption(column: Series) -> str:
    name = format_value(column.name)
    return f"{name}: {column.measures}" if column.measures and column.measures != name else name


def _class(is_total: bool, begins: bool = False) -> str:
    names = [*["total"] * is_total, *["block"] * begins]
    return f' class="{" ".join(names)}"' if names else ""


def _text(name: str) -> str:
    return escape(format_value(name))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ── below the tables ─────────────────────────────────────────────────────────────────────────────────────────────────


def _method(series: Sequence[Series], told: Mapping[str, Any], charged: str, tidy: bool) -> Iterator[str]:
    level = f"{told['confidence'] * 100:.4g} %"
    yield '<div class="method"><h2>How these numbers were made</h2>'
    if told["receipt"]["dry_run"]:
        yield "<p><b>This is a dry run on mock data: the numbers mean nothing.</b></p>"
    said = [
        "Random noise was added to the numbers before they were published, which limits what they tell about "
        f"{told['protects']} (differential privacy with {price_in_words(told, ' and ')}, {told['adjacency']})."
    ]
    if any(one.low is not None for one in series) and not tidy:
        said.append(f"A number is followed by the half-width of its {level} interval, or by the ends of the interval in parentheses.")
    if any(one.summed and any(one.summed) for one in series):
        said.append(
            "All tables were measured together and estimated by weighted least squares: every total of counts and sums is exactly the sum "
            "of its parts."
        )
    if tidy:
        said.append(
            "Numbers in large type are tidy: fitted to the estimates so that none is negative, counts are whole, and totals agree. They "
            f"claim no interval. Numbers in small type are the unbiased estimates with their {level} intervals."
        )
    yield f"<p>{escape(' '.join(said))}</p>"
    notes = [*told["notes"], f"method: {told['method']}"]
    yield f"<ul>{''.join(f'<li>{escape(printable(note))}</li>' for note in notes)}</ul>"
    yield f'<p class="receipt">{escape(charged)} · question {told["receipt"]["question"]} · receipt {told["receipt"]["hash"]}</p></div>'
