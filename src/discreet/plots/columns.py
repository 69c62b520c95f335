"""Panels over an axis: histograms with bin edges on the axis, and lines with error bands over dates and numbers."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import MaxNLocator

from discreet.plots.axes import ERRORS, below_above, drawable, extent, finish, key_to_colours, number_axis
from discreet.plots.layout import Binned, Lines
from discreet.plots.palette import BAND, BLUE, DARK, FAINT, SERIES
from discreet.plots.table import Series
from discreet.plots.ticks import edge_label, spaced

_MARKED = 40  # points of a line that get a marker each
MARKERS = "osD^vP"


def draw_binned(axes: Axes, layout: Binned, column: Series, inches: float) -> None:
    """Draw a bar for each bin between its edges, or a point with its bin's width; what lies beyond all bins stands apart."""
    edges = layout.edges
    width = edges[1] - edges[0]
    beyond = max(width, (edges[-1] - edges[0]) * 0.05)  # how wide what lies beyond is drawn
    apart = beyond * 0.6
    spans = [(low, high, row) for low, high, row in zip(edges, edges[1:], layout.rows, strict=False)]
    sides = [(edges[0] - apart - beyond, edges[0] - apart, layout.below), (edges[-1] + apart, edges[-1] + apart + beyond, layout.above)]
    spans += [side for side in sides if side[2] is not None]
    shown = drawable(column, [row for _, _, row in spans])
    values = [float(column.values[row]) for _, row in shown]
    middles = [(spans[place][0] + spans[place][1]) / 2 for place, _ in shown]
    if column.is_place:
        axes.scatter(middles, values, color=BLUE, s=26, zorder=5)
        axes.hlines(values, [spans[p][0] for p, _ in shown], [spans[p][1] for p, _ in shown], color=BLUE, linewidth=2, alpha=0.5)
    else:
        drawn = axes.bar(middles, values, [spans[p][1] - spans[p][0] for p, _ in shown], color=BLUE, edgecolor="white", linewidth=0.7)
        for bar, (_, row) in zip(drawn, shown, strict=True):
            bar.set_alpha(FAINT if column.is_faint(row) else 1.0)
        axes.axhline(0, color=DARK, linewidth=0.9)
    errors = [below_above(column, row) for _, row in shown]
    if any(error != (0.0, 0.0) for error in errors):
        axes.errorbar(middles, values, yerr=list(zip(*errors, strict=True)), **ERRORS)
    axes.set_xlim(min(low for low, _, _ in spans) - width * 0.15, max(high for _, high, _ in spans) + width * 0.15)
    _edges(axes, layout, sides, inches)
    _upright(axes, column, [row for _, row in shown])


def _edges(axes: Axes, layout: Binned, sides: list[tuple[float, float, int | None]], inches: float) -> None:
    """Bin edges as ticks, as many as fit, and a name below what lies beyond."""
    labels = [edge_label(edge) for edge in layout.edges]
    every = spaced(labels, inches / 0.075 / (len(labels) + 2))
    ticks = dict(list(zip(layout.edges, labels, strict=True))[::every])
    names = (f"< {labels[0]}", f"≥ {labels[-1]}")
    for (low, high, row), name, edge in zip(sides, names, (layout.edges[0], layout.edges[-1]), strict=True):
        if row is not None:
            axes.annotate(name, ((low + high) / 2, 0), (0, -16), xycoords=("data", "axes fraction"), textcoords="offset points",
                          ha="center", va="top", fontsize=9, color=DARK, parse_math=False)  # fmt: skip
            axes.axvline(edge, color=DARK, linewidth=0.6, linestyle=(0, (2, 3)))
    axes.set_xticks(list(ticks), list(ticks.values()))


def draw_lines(axes: Axes, layout: Lines, column: Series, inches: float) -> None:
    """Draw a line with an error band for each name; a missing value leaves a gap."""
    drawn: list[int] = []
    for name, rows, colour, marker in zip(layout.names, layout.rows, SERIES, MARKERS, strict=False):
        shown = {row for _, row in drawable(column, rows)}
        drawn += shown
        x = [layout.key.values[row] for row in rows]
        y = [float(column.values[row]) if row in shown else math.nan for row in rows]
        ends = [(column.ends(row) if row in shown else None) or (value, value) for row, value in zip(rows, y, strict=True)]
        axes.fill_between(x, [low for low, _ in ends], [high for _, high in ends], color=colour, alpha=BAND, linewidth=0)
        marked = marker if len(rows) <= _MARKED else ""
        axes.plot(x, y, color=colour, linewidth=1.7, marker=marked, markersize=4, label=name or "_")
    _ordered_axis(axes, layout, inches)
    _upright(axes, column, drawn)
    axes.margins(x=0.02)
    if len(layout.names) > 1:
        key_to_colours(axes, layout.other)


def _ordered_axis(axes: Axes, layout: Lines, inches: float) -> None:
    if layout.is_dated:
        locator: Any = AutoDateLocator(minticks=3, maxticks=9 if inches > 4 else 5)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=True))  # type: ignore[no-untyped-call]
    elif all(isinstance(layout.key.values[row], int) for rows in layout.rows for row in rows):
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.ticklabel_format(axis="x", useOffset=False, style="plain")


def _upright(axes: Axes, column: Series, rows: list[int]) -> None:
    """The vertical axis; amounts begin at 0."""
    if rows:
        low, high = extent(column, rows)
        span = (high - low) or abs(high) or 1.0
        axes.set_ylim(low - 0.06 * span * (low < 0 or column.is_place), high + 0.06 * span)
    number_axis(axes, "y", 5)
    axes.set_ylabel(column.measures)
    finish(axes, ())
