"""Released columns as an HTML table for notebooks; all text from data or users is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from discreet.plots.table import NO_GROUP, Series, format_cell, format_value, not_shown, printable, shown_rows

STYLE = """<style>
.discreet{font:14px/1.45 system-ui,sans-serif;max-width:72em}
.discreet table{border-collapse:collapse;margin:.4em 0}
.discreet th{text-align:left;border-bottom:2px solid #8886;padding:.2em .9em .2em 0;font-weight:600}
.discreet td{padding:.15em .9em .15em 0;border-bottom:1px solid #8883;text-align:left;vertical-align:top}
.discreet td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.discreet .error{opacity:.65}
.discreet .faint{opacity:.55;font-style:italic}
.discreet .below{opacity:.75;font-size:12px}
.discreet pre{white-space:pre-wrap;font-size:12px;background:#8881;padding:.6em;border-radius:4px}
.discreet h4{margin:1em 0 .2em}
.discreet .beside{display:flex;flex-wrap:wrap;gap:.5em 2.5em;align-items:flex-start}
.discreet .drawn{display:flex;flex-wrap:wrap;gap:1em}
.discreet svg{max-width:100%;height:auto}
</style>"""


def html_table(columns: Sequence[Series], rows: int, below: Sequence[str], most: int = 200, empty: str = NO_GROUP, drawn: str = "") -> str:
    """The table as an HTML fragment, with notes below and drawings (SVG) beside it; `empty` is shown if there are no rows."""
    first, last = shown_rows(rows, most)
    head = "".join(f"<th>{escape(series.name)}</th>" for series in columns)
    above, end = ("".join(f"<tr>{''.join(_cell(series, row) for series in columns)}</tr>" for row in some) for some in (first, last))
    between = f'<tr><td class="below" colspan="{len(columns)}">{not_shown(rows, most)}</td></tr>' if rows > most else ""
    lines = ([] if rows else [empty]) + list(below)
    notes = "".join(f'<div class="below">{escape(line)}</div>' for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{above}{between}{end}</tbody></table>"
    both = f'<div class="beside">{table}<div class="drawn">{drawn}</div></div>' if drawn else table
    return f'{STYLE}<div class="discreet">{both}{notes}</div>'


def _cell(series: Series, row: int) -> str:
    if series.is_key:
        return f"<td>{escape(format_value(series.values[row]))}</td>"
    found = format_cell(series, row)
    error = f' <span class="error">{escape(found.error)}</span>' if found.error else ""
    hint = ' title="the interval contains 0"' if found.faint else ""
    kind = ' class="number faint"' if found.faint else ' class="number"' if series.to_the_right else ""
    return f"<td{kind}{hint}>{escape(found.value)}{error}</td>"


def html_lines(title: str, lines: Sequence[str]) -> str:
    """A title and lines below it as a fragment of a page; everything is escaped."""
    below = "".join(f'<div class="below">{escape(printable(line))}</div>' for line in lines)
    return f'{STYLE}<div class="discreet"><b>{escape(printable(title))}</b>{below}</div>'
