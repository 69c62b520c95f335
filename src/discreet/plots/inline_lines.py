"""Lines with error bands over dates and numbers, as a drawing for an HTML page."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

from discreet.plots import svg
from discreet.plots.histogram import SMALL
from discreet.plots.layout import Lines, as_number
from discreet.plots.palette import BAND, SERIES
from discreet.plots.table import Series, format_cell, format_value
from discreet.plots.ticks import round_ticks, tick_label

_HEIGHT, _DOTS = 120.0, 60  # pixels of the panel; points of a line that get a dot each
Point = tuple[float, float, float, float, str]  # x, y, both ends, and a hint


def svg_lines(layout: Lines, column: Series, title: str, width: float) -> str:
    """A line with a band for each name; a value that is missing leaves a gap."""
    every = [row for rows in layout.rows for row in rows]
    shown = [row for row in every if as_number(column.values[row]) is not None]
    low, high = _range(column, shown)
    first, last = (_moment(choose((layout.key.values[row] for row in every), key=_moment)) for choose in (min, max))
    marks = round_ticks(low, high, 5)
    left = max(svg.text_width(tick_label(mark, high), SMALL) for mark in marks or [0.0]) + 9
    right, top = width - 12, 24.0
    bottom = top + _HEIGHT

    def x(value: Any) -> float:
        return left + (_moment(value) - first) / ((last - first) or 1.0) * (right - left)

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * _HEIGHT

    parts = [svg.write(2, 13, svg.shortened(title, width - 4), extra=' font-weight="600"')]
    for mark in marks:
        parts += [svg.line(left, y(mark), right, y(mark)), svg.write(left - 5, y(mark) + 3.5, tick_label(mark, high), "end", SMALL)]
    for name, rows, colour in zip(layout.names, layout.rows, SERIES, strict=False):
        for piece in _pieces(column, rows):
            parts += _line([_point(layout, column, row, name, x, y) for row in piece], colour, len(rows) <= _DOTS)
    parts += _below(layout, every, x, bottom + 14)
    at = bottom + 22
    for name, colour in zip(layout.names if len(layout.names) > 1 else (), SERIES, strict=False):
        parts.append(svg.box(left, at, 9, 9, colour))
        parts.append(svg.write(left + 14, at + 8.5, svg.shortened(name, width - left - 20, SMALL), size=SMALL))
        at += 15
    return svg.drawing(width, at + 2, title, parts)


def _pieces(column: Series, rows: Sequence[int]) -> list[list[int]]:
    """The rows of a line, cut where a value is missing."""
    pieces: list[list[int]] = [[]]
    for row in rows:
        if as_number(column.values[row]) is None:
            pieces.append([])
        else:
            pieces[-1].append(row)
    return [piece for piece in pieces if piece]


def _point(layout: Lines, column: Series, row: int, name: str, x: Callable[[Any], float], y: Callable[[float], float]) -> Point:
    value, key = float(column.values[row]), layout.key.values[row]
    ends = column.ends(row) or (value, value)
    low, high = (end if math.isfinite(end) else value for end in ends)
    where = " · ".join(part for part in (format_value(key), name) if part)
    return x(key), y(value), y(low), y(high), f"{where}: {format_cell(column, row)}"


def _line(points: Sequence[Point], colour: str, dotted: bool) -> list[str]:
    n = svg.number
    band = [*((p[0], p[3]) for p in points), *((p[0], p[2]) for p in reversed(points))]
    around = " ".join(f"{n(a)},{n(b)}" for a, b in band)
    along = " ".join(f"{n(p[0])},{n(p[1])}" for p in points)
    parts = [
        f'<polygon points="{around}" fill="{colour}" fill-opacity="{BAND * 1.4:g}"/>',
        f'<polyline points="{along}" fill="none" stroke="{colour}" stroke-width="1.7"/>',
    ]
    if len(points) == 1:  # a band without width is not seen
        parts.append(svg.whisker((points[0][3], points[0][2]), points[0][0], True))
    return parts + [svg.dot(p[0], p[1], 2.2, colour, p[4]) for p in points if dotted or len(points) == 1]


def _below(layout: Lines, rows: Sequence[int], x: Callable[[Any], float], y: float) -> list[str]:
    """The first and the last key below the panel, and one in the middle while there is room."""
    keys = sorted({layout.key.values[row] for row in rows})
    chosen = [keys[0], keys[-1]] if len(keys) < 3 else [keys[0], keys[len(keys) // 2], keys[-1]]
    spans: list[tuple[float, float]] = []
    parts = []
    for key, anchor in ((chosen[0], "start"), (chosen[-1], "end"), *((key, "middle") for key in chosen[1:-1])):
        text = format_value(key)
        wide = svg.text_width(text, SMALL)
        start = x(key) - {"start": 0.0, "end": wide, "middle": wide / 2}[anchor]
        if all(start + wide + 6 <= a or start >= b + 6 for a, b in spans):
            spans.append((start, start + wide))
            parts.append(svg.write(x(key), y, text, anchor, SMALL))
    return parts


def _moment(value: Any) -> float:
    """A place on the axis."""
    match value:
        case datetime.datetime():
            return value.replace(tzinfo=datetime.UTC).timestamp() if value.tzinfo is None else value.timestamp()
        case datetime.date():
            return float(value.toordinal())
    return float(value)


def _range(column: Series, rows: Sequence[int]) -> tuple[float, float]:
    ends = [end for row in rows for end in (column.ends(row) or ()) if math.isfinite(end)]
    values = [*ends, *(float(column.values[row]) for row in rows), *([] if column.is_place and rows else [0.0])]
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    return low - 0.05 * span * (column.is_place or low < 0), high + 0.05 * span
