"""A heat map for two keys with many values, as a drawing for an HTML page."""

from __future__ import annotations

from discreet.plots import svg
from discreet.plots.histogram import SMALL
from discreet.plots.layout import Grid, as_number, typical_error
from discreet.plots.palette import SHADES, ink, shade
from discreet.plots.table import Series, format_cell
from discreet.plots.ticks import tick_label

_HIGH, _NARROW, _WIDE = 20.0, 22.0, 58.0  # pixels of a cell


def svg_heat(layout: Grid, column: Series, title: str) -> str:
    """A cell for each pair; its value and error are shown when the pointer is over it, and the value is written where there is room."""
    values = [[None if row is None else as_number(column.values[row]) for row in cells] for cells in layout.rows]
    some = [value for cells in values for value in cells if value is not None]
    low = min(some) if column.is_place else min([0.0, *some])
    high = max(some)
    wide = _WIDE if len(layout.across) <= 8 else _NARROW
    left = min(max(svg.text_width(label) for label in layout.down), 150.0) + 10
    lean = any(svg.text_width(label, SMALL) > wide - 4 for label in layout.across)
    top = 24.0
    bottom = top + _HIGH * len(layout.down)
    width = left + wide * len(layout.across) + 12
    parts = [svg.write(2, 13, svg.shortened(title, width - 4), extra=' font-weight="600"')]
    for i, (label, cells) in enumerate(zip(layout.down, layout.rows, strict=True)):
        y = top + i * _HIGH
        parts.append(svg.write(left - 5, y + 14, svg.shortened(label, left - 7), "end"))
        for j, row in enumerate(cells):
            value, x = values[i][j], left + j * wide
            if row is None or value is None:
                continue
            share = (value - low) / (high - low) if high > low else 0.0
            hint = f"{label} · {layout.across[j]}: {format_cell(column, row)}"
            parts.append(svg.box(x, y, wide - 1.5, _HIGH - 1.5, shade(share), hint))
            if wide == _WIDE:
                cell = format_cell(column, row)
                text = f"{cell.value} ~" if cell.faint else cell.value
                parts.append(_on(x + wide / 2, y + 13.5, svg.shortened(text, wide - 4, SMALL), ink(share)))
    longest = 0.0
    for j, label in enumerate(layout.across):
        shown = svg.shortened(label, 130.0 if lean else wide, SMALL)
        x, y = left + (j + 0.5) * wide, bottom + (8 if lean else 13)
        turned = f' transform="rotate(-90 {svg.number(x)} {svg.number(y)})" dominant-baseline="central"' if lean else ""
        parts.append(svg.write(x, y, shown, "end" if lean else "middle", SMALL, turned))
        longest = max(longest, svg.text_width(shown, SMALL) if lean else 12.0)
    scale = bottom + longest + 18
    parts += _scale(left, scale, low, high)
    notes = [note for note in (typical_error(layout, column), layout.note) if note]
    width = max(width, left + 190.0)
    parts += [svg.write(2, scale + 26 + 15 * k, svg.shortened(note, width - 4, SMALL), size=SMALL) for k, note in enumerate(notes)]
    return svg.drawing(width, scale + 16 + 15 * len(notes), title, parts)


def _on(x: float, y: float, text: str, colour: str) -> str:
    return svg.write(x, y, text, "middle", SMALL).replace('fill="currentColor"', f'fill="{colour}"', 1)


def _scale(x: float, y: float, low: float, high: float) -> list[str]:
    """The shades from least to most, with the numbers that they stand for."""
    parts = [svg.write(x, y + 9, tick_label(float(f"{low:.3g}")), size=SMALL)]
    start = x + svg.text_width(tick_label(float(f"{low:.3g}")), SMALL) + 6
    parts += [svg.box(start + 12 * k, y, 12, 10, colour) for k, colour in enumerate(SHADES)]
    return [*parts, svg.write(start + 12 * len(SHADES) + 6, y + 9, tick_label(float(f"{high:.3g}")), size=SMALL)]
