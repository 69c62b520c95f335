"""Panels of groups: a horizontal bar from 0 for each amount, a point for each mean, and grouped ones for two keys."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from discreet.plots.axes import ERRORS, SMALL, below_above, drawable, extent, finish, key_to_colours, number_axis, wrapped, write_cells
from discreet.plots.layout import Bars, Grid
from discreet.plots.palette import BLUE, DARK, FAINT, SERIES
from discreet.plots.table import Series

_WRITTEN = 16  # bars with their values beside them


def draw_bars(axes: Axes, layout: Bars, column: Series, inches: float) -> None:
    """Draw a bar or point for each group, the first on top, so that long labels fit."""
    shown = drawable(column, layout.rows)
    _marks(axes, column, shown, BLUE, 0.72 if len(layout.rows) > 1 else 0.45, "")
    axes.set_ylim(len(layout.rows) - 0.4, -0.6)
    axes.set_yticks(range(len(layout.rows)), [wrapped(label) for label in layout.labels])
    if shown and len(layout.rows) <= _WRITTEN:
        write_cells(axes, column, shown, SMALL, inches)
    elif shown:
        _limit(axes, column, [row for _, row in shown])
    _finish_across(axes, column, inches)


def draw_grouped(axes: Axes, layout: Grid, column: Series, inches: float) -> None:
    """Draw the bars or points of each pair of values, those of one group beside each other and each series in its colour."""
    number = len(layout.across)
    height = 0.8 / number
    rows: list[int] = []
    for series, (name, colour) in enumerate(zip(layout.across, SERIES, strict=False)):
        shown = drawable(column, [cells[series] for cells in layout.rows])
        moved = [(place + (series - (number - 1) / 2) * height, row) for place, row in shown]
        _marks(axes, column, moved, colour, height * 0.92, name)
        rows += [row for _, row in shown]
    axes.set_ylim(len(layout.down) - 0.4, -0.6)
    axes.set_yticks(range(len(layout.down)), [wrapped(label) for label in layout.down])
    if rows:
        _limit(axes, column, rows)
    _finish_across(axes, column, inches)
    axes.set_ylabel(layout.names[0])
    key_to_colours(axes, layout.names[1])


def _marks(axes: Axes, column: Series, shown: Sequence[tuple[float, int]], colour: str, height: float, name: str) -> None:
    """Amounts as bars and places as points, with their error bars; bars whose interval contains 0 are pale."""
    places, values = [place for place, _ in shown], [float(column.values[row]) for _, row in shown]
    if column.is_place:
        axes.scatter(values, places, color=colour, s=38, zorder=5, label=name or "_")
    else:
        drawn = axes.barh(places, values, color=colour, height=height, label=name or "_")
        for bar, (_, row) in zip(drawn, shown, strict=True):
            bar.set_alpha(FAINT if column.is_faint(row) else 1.0)
    errors = [below_above(column, row) for _, row in shown]
    if any(error != (0.0, 0.0) for error in errors):
        axes.errorbar(values, places, xerr=list(zip(*errors, strict=True)), **ERRORS)


def _limit(axes: Axes, column: Series, rows: Sequence[int]) -> None:
    low, high = extent(column, rows)
    span = (high - low) or abs(high) or 1.0
    axes.set_xlim(low - 0.04 * span * (low < 0 or column.is_place), high + 0.04 * span)


def _finish_across(axes: Axes, column: Series, inches: float) -> None:
    number_axis(axes, "x", 6 if inches > 3.5 else 4)
    axes.set_xlabel(column.measures)
    if not column.is_place:
        axes.axvline(0, color=DARK, linewidth=0.9, zorder=6)
    finish(axes, ())
