"""What people read about a profile: for each column its range, what is missing, what later questions use, and a small histogram."""

from __future__ import annotations

import datetime
from fractions import Fraction
from html import escape

from discreet.plots import svg
from discreet.plots.histogram import SMALL, svg_histogram, text_histogram
from discreet.plots.page import STYLE
from discreet.plots.palette import BLUE, FAINT
from discreet.plots.table import Series, format_value, printable, text_table, width
from discreet.session.profile.shape import shape_of
from discreet.tables.kind import Kind
from discreet.tables.profile import ColumnProfile, TableProfile

NOT_LEARNT = "not learnt: declare it, or buy a profile with a larger epsilon"
NOT_PROFILED = "timestamps are not profiled: convert to a date"
_FEW, _DRAWN = 4, 8  # values that are named in a sentence, and that are drawn
_SHOWN = 300  # columns in a terminal
_BINS = 20  # of a histogram in a terminal
_HALF_WIDTH = 1.96
_WIDTH, _ROW = 320.0, 16.0


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def range_of(column: ColumnProfile) -> str | None:
    """The ends of its values."""
    if column.bounds is None:
        return None
    return " … ".join(_end(end, column.kind) for end in column.bounds)


def used(column: ColumnProfile) -> list[str]:
    """What later questions use, and what may lie outside of it."""
    parts = [] if column.type_found is None else [column.type_found.sentence(column.kind)]
    if not column.learnt and column.declared is None:
        return [*parts, NOT_PROFILED if column.kind is Kind.TIMESTAMP else NOT_LEARNT]
    if column.declared is not None:
        parts.append("declared bounds")
    elif column.bounds is not None and column.histogram is not None:
        parts += [f"bounds {range_of(column)}", f"fewer than {max(column.histogram.beyond, 1):,.0f} rows outside (95 %)"]
    keys = column.keys
    if keys is not None and column.declared is None:
        named = ", ".join("NULL" if key is None else format_value(key) for key in keys[:_FEW])
        parts.append(f"{len(keys):,} {'key' if len(keys) == 1 else 'keys'}: {named}{', …' if len(keys) > _FEW else ''}")
    return parts


def missing_share(column: ColumnProfile, profile: TableProfile) -> tuple[float, float] | None:
    """The percentage of rows without a value, and its half-width; none where units were counted, and have several rows."""
    rows = profile.rows
    if column.histogram is not None:
        count, sd = column.histogram.missing, column.histogram.sd
    else:
        counts = [one.count for one in column.values or () if one.value is None]
        if not counts or (column.least > 0 and profile.limit is not None):
            return None
        count, sd = counts[0], column.sd
    return 100 * min(max(count, 0.0) / max(rows, 1.0), 1.0), 100 * _HALF_WIDTH * sd / max(rows, 1.0)


def zero_share(column: ColumnProfile, rows: float) -> float | None:
    """The percentage of rows with a zero."""
    return None if column.zeros is None else 100 * min(max(column.zeros, 0.0) / max(rows, 1.0), 1.0)


def text_shape(column: ColumnProfile) -> str | None:
    """A line of blocks, one for each bin; a dot where noise alone may have made a count."""
    if column.histogram is None or not column.histogram.learnt:
        return None
    shape = shape_of(column.histogram, column.kind, _BINS)
    line = text_histogram(shape.edges, shape.counts, shape.halves)
    return line[line.index("▕") : line.index("▏") + 1]


def _end(value: Fraction, kind: Kind) -> str:
    if kind is Kind.DATE:
        return datetime.date.fromordinal(min(max(int(value), 1), datetime.date.max.toordinal())).isoformat()
    if value.denominator == 1 and (kind is Kind.INTEGER or abs(value) < 10**15):
        return f"{int(value)}" if abs(value) < 10**4 else f"{int(value):,}"
    return format_value(float(value), grouped=True)


def text_page(profile: TableProfile, notes: list[str]) -> str:
    """The page for a terminal: a line for each column."""
    columns, rows = profile.columns[:_SHOWN], profile.rows
    zeros = [zero_share(one, rows) for one in columns]
    shown = [
        Series("column", [one.name for one in columns], is_key=True),
        Series("type", [one.kind.value for one in columns]),
        Series("range", [range_of(one) or "" for one in columns]),
        Series("missing", ["" if m is None else f"{m[0]:.1f} % ± {m[1]:.1f}" for m in (missing_share(one, profile) for one in columns)]),
        *([Series("zeros", ["" if share is None else f"{share:.1f} %" for share in zeros])] if any(s is not None for s in zeros) else []),
        Series("shape", [text_shape(one) or "" for one in columns]),
    ]
    lines = text_table(shown, len(columns), most=_SHOWN).split("\n")
    wide = max((width(line) for line in lines), default=0) + 2
    ends = ["later questions use", "─" * 19, *("; ".join(map(printable, used(one))) for one in columns)]
    table = [line + " " * (wide - width(line)) + end for line, end in zip(lines, ends, strict=True)]
    more = [f"… and {len(profile.columns) - _SHOWN:,} more columns"] if len(profile.columns) > _SHOWN else []
    return "\n".join([f"profile of {format_value(profile.table)}", "", *table, *more, "", *map(printable, notes)])


# ── as a page ────────────────────────────────────────────────────────────────────────────────────────────────────────


def html_page(profile: TableProfile, notes: list[str]) -> str:
    """The page as a fragment of HTML; all text is escaped."""
    zeros = any(column.zeros is not None for column in profile.columns)
    head = "".join(f"<th>{name}</th>" for name in ("column", "missing", *(["zeros"] if zeros else []), "what later questions use", ""))
    rows = "".join(_row(column, profile, zeros) for column in profile.columns)
    below = "".join(f'<div class="below">{escape(printable(line))}</div>' for line in notes)
    title = f"<h4>Profile of {escape(format_value(profile.table))}</h4>"
    return f'{STYLE}<div class="discreet">{title}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}</div>'


def _row(column: ColumnProfile, profile: TableProfile, zeros: bool) -> str:
    missing, zero = missing_share(column, profile), zero_share(column, profile.rows)
    share = "" if missing is None else f'{missing[0]:.1f} % <span class="error">± {missing[1]:.1f}</span>'
    style = "" if column.learnt else ' class="faint"'
    cells = [
        f'<td><b>{escape(format_value(column.name))}</b><br><span class="below">{column.kind.value}</span></td>',
        f'<td class="number">{share}</td>',
        *([f'<td class="number">{"" if zero is None else f"{zero:.1f} %"}</td>'] if zeros else []),
        f"<td{style}>{'<br>'.join(escape(printable(part)) for part in used(column))}</td>",
        f"<td>{column_drawing(column)}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def column_drawing(column: ColumnProfile) -> str:
    """A histogram of its numbers, or bars of its most frequent values; empty if neither is known."""
    if column.histogram is not None:
        shape = shape_of(column.histogram, column.kind)
        return svg_histogram(shape.edges, shape.counts, shape.halves, width=_WIDTH, height=96)
    return svg_values(column) if column.values else ""


def svg_values(column: ColumnProfile) -> str:
    """A bar with its error bar for each of the most frequent values."""
    values = sorted(column.values or (), key=lambda one: -one.count)
    shown, half = values[:_DRAWN], _HALF_WIDTH * column.sd
    longest = max(max(one.count for one in shown) + half, 1.0)
    left, right = 110.0, _WIDTH - 64.0
    scale = (right - left) / longest
    parts = []
    for place, one in enumerate(shown):
        y, wide = place * _ROW, max(one.count, 0.0) * scale
        name = "NULL" if one.value is None else format_value(one.value)
        said = f"{one.count:,.0f} ± {half:,.0f}"
        pale = FAINT if abs(one.count) <= half else 1.0
        parts += [
            svg.write(left - 6, y + 11.5, svg.shortened(name, left - 10, SMALL), "end", SMALL),
            svg.box(left, y + 3, wide, _ROW - 5, BLUE, f"{name}: {said}", pale),
            svg.whisker((left + max(one.count - half, 0.0) * scale, left + max(one.count + half, 0.0) * scale), y + _ROW / 2, False),
            svg.write(right + 6, y + 11.5, f"{one.count:,.0f}", "start", SMALL),
        ]
    rest = len(values) - len(shown)
    parts += [svg.write(left - 6, len(shown) * _ROW + 11.5, f"… {rest:,} more", "end", SMALL)] if rest else []
    return svg.drawing(_WIDTH, (len(shown) + bool(rest)) * _ROW + 4, f"values of {format_value(column.name)}", parts)
