"""Drawings of released columns for HTML pages, in the layout of the figures; they are text, and need no Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from discreet.plots import svg
from discreet.plots.histogram import SMALL, svg_histogram
from discreet.plots.inline_heat import svg_heat
from discreet.plots.inline_lines import svg_lines
from discreet.plots.layout import Bars, Binned, Grid, Lines, as_number, layout_of
from discreet.plots.palette import BLUE, FAINT, SERIES
from discreet.plots.table import Series, format_cell, format_value
from discreet.plots.ticks import edge_label, round_ticks, tick_label

WIDTH = 360.0  # pixels of one drawing
MOST_ROWS, MOST_PANELS, MOST_GROUPS = 5000, 3, 15
_ROW = 17.0


def inline_svg(series: Sequence[Series], rows: int, ordered: bool = False) -> str:
    """A drawing for each of the first columns that have intervals; empty if there is nothing to compare, or far too much."""
    keys = [column for column in series if column.is_key]
    columns = [column for column in series if not column.is_key and column.low is not None and column.to_the_right][:MOST_PANELS]
    columns = [column for column in columns if any(as_number(column.values[row]) is not None for row in range(min(rows, MOST_ROWS)))]
    if not keys or not columns or not 2 <= rows <= MOST_ROWS:
        return ""
    layout = layout_of(keys, columns[0], rows, ordered, MOST_GROUPS)
    by = f" by {', '.join(format_value(key.name) for key in keys)}"
    parts = []
    for column in columns:
        title = format_value(column.name) + by
        match layout:
            case Lines():
                parts.append(svg_lines(layout, column, title, WIDTH))
            case Grid(is_heat=True):
                parts.append(svg_heat(layout, column, title))
            case Grid():
                parts.append(_grouped(layout, column, title))
            case Binned() if not column.is_place:
                parts.append(_histogram(layout, column, title))
            case Binned():
                parts.append(_bars(_as_bars(layout), column, title))
            case Bars():
                parts.append(_bars(layout, column, title))
    return "".join(parts)


def _histogram(layout: Binned, column: Series, title: str) -> str:
    rows = [*[layout.below] * (layout.below is not None), *layout.rows, *[layout.above] * (layout.above is not None)]
    edges = [*[-math.inf] * (layout.below is not None), *layout.edges, *[math.inf] * (layout.above is not None)]
    counts = [None if row is None else as_number(column.values[row]) for row in rows]
    halves = [0.0 if row is None or count is None else _above(column, row, count) for row, count in zip(rows, counts, strict=True)]
    return svg_histogram(edges, counts, halves, title=title, width=WIDTH, height=150)


def _above(column: Series, row: int, value: float) -> float:
    """How far the interval reaches above the value: its lower end may be clipped at 0."""
    ends = column.ends(row)
    return 0.0 if ends is None or not math.isfinite(ends[1]) else max(ends[1] - value, 0.0)


def _as_bars(layout: Binned) -> Bars:
    spans = [(f"{edge_label(a)} … {edge_label(b)}", row) for a, b, row in zip(layout.edges, layout.edges[1:], layout.rows, strict=False)]
    beyond = [(f"< {edge_label(layout.edges[0])}", layout.below)], [(f"≥ {edge_label(layout.edges[-1])}", layout.above)]
    shown = [(label, row) for label, row in (*beyond[0], *spans, *beyond[1]) if row is not None]
    return Bars(tuple(label for label, _ in shown), tuple(row for _, row in shown))


# ── horizontal bars and points ───────────────────────────────────────────────────────────────────────────────────────


def _bars(layout: Bars, column: Series, title: str) -> str:
    lines = [(label, [(row, BLUE, label)]) for label, row in zip(layout.labels, layout.rows, strict=True)]
    return _across(lines, column, title, [layout.note] if layout.note else [], [])


def _grouped(layout: Grid, column: Series, title: str) -> str:
    lines = [
        (label, [(row, colour, f"{label} · {name}") for row, colour, name in zip(cells, SERIES, layout.across, strict=False)])
        for label, cells in zip(layout.down, layout.rows, strict=True)
    ]
    return _across(lines, column, title, [layout.note] if layout.note else [], list(zip(layout.across, SERIES, strict=False)))


def _across(
    lines: Sequence[tuple[str, Sequence[tuple[int | None, str, str]]]],
    column: Series,
    title: str,
    notes: Sequence[str],
    colours: Sequence[tuple[str, str]],
) -> str:
    """Lines of bars or points over a common axis, with the names of colours and notes below."""
    rows = [row for _, marks in lines for row, _, _ in marks if row is not None and as_number(column.values[row]) is not None]
    low, high = _extent(column, rows)
    left = min(max(svg.text_width(label) for label, _ in lines), 150.0) + 12
    right, top = WIDTH - 16, 24.0
    thick = _ROW if not colours else max(8.0, 26.0 / len(colours))
    each = thick * max(len(marks) for _, marks in lines) + (0 if not colours else 8)
    bottom = top + each * len(lines)

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    parts = [svg.write(2, 13, svg.shortened(title, WIDTH - 4), extra=' font-weight="600"')]
    for mark in round_ticks(low, high, 5):
        parts += [svg.line(x(mark), top, x(mark), bottom), svg.write(x(mark), bottom + 13, tick_label(mark, high), "middle", SMALL)]
    for place, (label, marks) in enumerate(lines):
        middle = top + each * (place + 0.5)
        parts.append(svg.write(left - 6, middle + 4, svg.shortened(label, left - 8), "end"))
        for k, (row, colour, name) in enumerate(marks):
            if row is not None:
                parts += _mark(column, row, (middle + (k - (len(marks) - 1) / 2) * thick, thick), x, (colour, name))
    if not column.is_place:
        parts.append(svg.line(x(0), top, x(0), bottom, 'stroke="currentColor" stroke-opacity=".7"'))
    y = bottom + 20
    for name, colour in colours:
        parts += [svg.box(left, y, 9, 9, colour), svg.write(left + 14, y + 8.5, svg.shortened(name, WIDTH - left - 20, SMALL), size=SMALL)]
        y += 15
    for note in notes:
        parts.append(svg.write(2, y + 9, svg.shortened(note, WIDTH - 4, SMALL), size=SMALL))
        y += 15
    return svg.drawing(WIDTH, y + 4, title, parts)


def _mark(column: Series, row: int, at: tuple[float, float], x: Callable[[float], float], named: tuple[str, str]) -> list[str]:
    (y, thick), (colour, name) = at, named
    value, ends = as_number(column.values[row]), column.ends(row)
    if value is None:
        return []
    hint = f"{name}: {format_cell(column, row)}"
    if column.is_place:
        drawn = svg.dot(x(value), y, min(3.6, thick / 2), colour, hint)
    else:
        pale = FAINT if column.is_faint(row) else 1.0
        drawn = svg.box(min(x(0), x(value)), y - thick * 0.4, abs(x(value) - x(0)), thick * 0.8, colour, hint, pale)
    whisker = [svg.whisker((x(ends[0]), x(ends[1])), y, False)] if ends and all(map(math.isfinite, ends)) and ends[0] < ends[1] else []
    return [*whisker, drawn] if column.is_place else [drawn, *whisker]


def _extent(column: Series, rows: Sequence[int]) -> tuple[float, float]:
    ends = [end for row in rows for end in (column.ends(row) or ()) if math.isfinite(end)]
    values = [*ends, *(float(column.values[row]) for row in rows), *([] if column.is_place and rows else [0.0])]
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    return low - 0.04 * span * (column.is_place or low < 0), high + 0.04 * span
