"""Panels for two keys with many values: a heat map with each value and its error written into its cell while there is room."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FuncFormatter, MaxNLocator

from discreet.plots.axes import SMALL, finish, wrapped
from discreet.plots.layout import Grid, as_number
from discreet.plots.palette import DARK, GREY, SHADES, ink
from discreet.plots.table import Series, format_cell, format_value
from discreet.plots.ticks import tick_label

_INCHES = 0.88  # that a value with its error needs


def draw_heat(axes: Axes, layout: Grid, column: Series, inches: float) -> Any:
    """Draw the cells and return the scale of their colours, or None if no cell has a number. A pair that was not released stays blank."""
    values = np.full((len(layout.down), len(layout.across)), np.nan)
    for i, cells in enumerate(layout.rows):
        for j, row in enumerate(cells):
            number = None if row is None else as_number(column.values[row])
            values[i, j] = np.nan if number is None else number
    axes.set_xticks(range(len(layout.across)), [wrapped(label, 16) for label in layout.across])
    axes.set_yticks(range(len(layout.down)), [wrapped(label) for label in layout.down])
    if any(len(label) > 6 for label in layout.across) and inches / len(layout.across) < 0.9:
        axes.tick_params(axis="x", labelrotation=90 if len(layout.across) > 14 else 40)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("center" if len(layout.across) > 14 else "right")
            label.set_rotation_mode("anchor" if len(layout.across) <= 14 else "default")
    some = values[~np.isnan(values)]
    low, high = (0.0, 1.0) if not some.size else (float(some.min()), float(some.max()))
    low = low if column.is_place else min(low, 0.0)
    colours = LinearSegmentedColormap.from_list("discreet", SHADES)
    drawn = axes.imshow(values, cmap=colours, vmin=low, vmax=high if high > low else low + 1, aspect="auto")
    _write(axes, layout, column, values, (low, high), is_written(layout, column, inches))
    axes.set_xticks(np.arange(len(layout.across) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(layout.down) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.set_ylabel(layout.names[0])
    axes.set_xlabel(layout.names[1])
    finish(axes, ())
    axes.tick_params(which="minor", length=0)
    if not some.size:
        return None
    bar = axes.figure.colorbar(drawn, ax=axes, pad=0.02, aspect=30, shrink=0.9)
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(5)
    bar.formatter = FuncFormatter(lambda value, _: tick_label(value, max(abs(low), abs(high))))
    bar.update_ticks()
    bar.ax.tick_params(colors=DARK, labelsize=SMALL, length=0)
    bar.set_label(column.measures or format_value(column.name), color=GREY, fontsize=SMALL, parse_math=False)
    return bar


def _write(axes: Axes, layout: Grid, column: Series, values: Any, limits: tuple[float, float], whole: bool) -> None:
    """Write the cells, or only mark those that may be noise alone."""
    low, high = limits
    for i, cells in enumerate(layout.rows):
        for j, row in enumerate(cells):
            if row is None or np.isnan(values[i, j]):
                continue
            share = (values[i, j] - low) / (high - low) if high > low else 0.0
            cell = format_cell(column, row)
            text = f"{cell.value}{' ~' if cell.faint else ''}\n{cell.error}".strip() if whole else "~" * cell.faint
            if text:
                axes.text(j, i, text, ha="center", va="center", fontsize=7.5, linespacing=1.1, color=ink(share), parse_math=False)


def is_written(layout: Grid, column: Series, inches: float) -> bool:
    """Whether cells have room for their values and errors."""
    room = inches / len(layout.across)
    cells = [format_cell(column, row) for rows in layout.rows for row in rows if row is not None] if room >= _INCHES else []
    return room >= _INCHES and all(max(len(cell.value) + 2, len(cell.error)) * 0.067 <= room for cell in cells)
