"""Plot a released column by group: bars with error bars for categories, a line with an error band for numbers and dates."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from discreet.errors import Invalid
from discreet.plots.save import check_format, save_or_return
from discreet.plots.table import Series, format_cell, format_value

BLUE, PALE, DARK, GREY = "#3d6fa8", "#b9cbe0", "#22303f", "#8894a0"
LINES = ("#3d6fa8", "#d1763a", "#4c9a6a", "#a8508e", "#8a7a3a", "#5a6570")
MOST_BARS, MOST_LINES, MANY = 40, len(LINES), 12


def draw_column(keys: Sequence[Series], column: Series, rows: int, below: str, path: str | os.PathLike[str] | None = None) -> Figure | None:
    """Draw a column by its keys; with a path, write it to a file (PNG, SVG or PDF, by its ending) and return None."""
    check_format(path)
    ordered = [key for key in keys if _is_ordered(key)]
    others = [key for key in keys if not _is_ordered(key)]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    names = _labels(others, rows)
    if len(ordered) == 1 and rows > 1 and len(set(names)) <= MOST_LINES:
        _lines(axes, ordered[0], names, column, rows)
    else:
        _bars(figure, axes, _labels(keys, rows), column, rows)
    _finish(figure, axes, [key.name for key in keys], column.name, below)
    return save_or_return(figure, path, dpi=160)


def _is_ordered(key: Series) -> bool:
    some = [value for value in key.values if value is not None]
    return bool(some) and all(isinstance(value, int | float | datetime.date) and not isinstance(value, bool) for value in some)


def _labels(keys: Sequence[Series], rows: int) -> list[str]:
    return [" · ".join(format_value(key.values[row]) for key in keys) for row in range(rows)]


def _bars(figure: Figure, axes: Axes, labels: Sequence[str], column: Series, rows: int) -> None:
    """Draw amounts as horizontal bars from 0 and places, such as means, as points; the first on top, so that long labels fit.

    Bars whose interval contains 0 are pale.
    """
    shown = [row for row in range(rows) if _number(column.values[row]) is not None][:MOST_BARS]
    if not shown:
        raise Invalid(
            "there is nothing to draw: no group was released, or the column has no numbers; plot another one, or ask with a larger epsilon"
        )
    places = list(range(len(shown)))
    values = [float(column.values[row]) for row in shown]
    colours = [PALE if column.is_faint(row) and not column.is_place else BLUE for row in shown]
    if column.is_place:
        axes.scatter(values, places, color=colours, s=42, zorder=3)
    else:
        axes.barh(places, values, color=colours, height=0.72 if len(shown) > 1 else 0.4)
        axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_axisbelow(True)
    errors = [_below_above(column, row) for row in shown]
    if any(error != (0.0, 0.0) for error in errors):
        axes.errorbar(values, places, xerr=list(zip(*errors, strict=True)), fmt="none", ecolor=DARK, elinewidth=1.2, capsize=3)
    axes.set_yticks(places, [labels[row] for row in shown])
    axes.invert_yaxis()
    if len(shown) == 1 or column.is_place:
        axes.set_ylim(len(shown) - 0.5, -0.5)
    if len(shown) <= MANY:
        _write_values(axes, column, shown, values)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    axes.grid(axis="x", color="#00000014")
    axes.tick_params(axis="y", length=0)
    figure.set_figheight(min(max(2.2, 1.5 + 0.34 * len(shown)), 14))
    if len(shown) < rows:
        axes.text(1, -0.08, f"{len(shown)} of {rows:,} groups", transform=axes.transAxes, ha="right", va="top", color=GREY, fontsize=9)


def _write_values(axes: Axes, column: Series, shown: Sequence[int], values: Sequence[float]) -> None:
    """Write each value with its error to the right of its error bar."""
    ends = [column.ends(row) for row in shown]
    zero = [] if column.is_place else [0.0]
    right = [max([value, end[1] if end else value, *zero]) for value, end in zip(values, ends, strict=True)]
    left = min([*values, *zero, *(end[0] for end in ends if end)])
    extent = (max(right) - left) or abs(left) or 1.0
    for place, (row, edge) in enumerate(zip(shown, right, strict=True)):
        axes.text(edge + 0.012 * extent, place, str(format_cell(column, row)), va="center", fontsize=9, color=DARK, parse_math=False)
    axes.set_xlim(left - extent * (0.05 if left < 0 or column.is_place else 0.0), max(right) + extent * 0.26)


def _lines(axes: Axes, key: Series, names: Sequence[str], column: Series, rows: int) -> None:
    """Draw a line with an error band for each name."""
    for colour, name in zip(LINES, dict.fromkeys(names), strict=False):
        mine = [r for r in range(rows) if names[r] == name and key.values[r] is not None and _number(column.values[r]) is not None]
        mine.sort(key=lambda row: key.values[row])
        x, y = [key.values[row] for row in mine], [float(column.values[row]) for row in mine]
        axes.plot(x, y, color=colour, linewidth=1.8, marker="o" if len(mine) <= 2 * MANY else "", markersize=4, label=name)
        ends = [column.ends(row) or (value, value) for row, value in zip(mine, y, strict=True)]
        axes.fill_between(x, [low for low, _ in ends], [high for _, high in ends], color=colour, alpha=0.18, linewidth=0)
    if len(set(names)) > 1:
        for text in axes.legend(frameon=False, fontsize=9).get_texts():
            text.set_parse_math(False)
    axes.yaxis.set_major_formatter(FuncFormatter(_tick))
    if all(isinstance(value, int) for value in key.values if value is not None):
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    elif all(isinstance(value, datetime.date) for value in key.values if value is not None):
        locator = AutoDateLocator(maxticks=9)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.grid(axis="y", color="#00000014")
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.02)


def _below_above(column: Series, row: int) -> tuple[float, float]:
    ends, value = column.ends(row), float(column.values[row])
    return (0.0, 0.0) if ends is None else (max(value - ends[0], 0.0), max(ends[1] - value, 0.0))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _tick(value: float, _: Any = None) -> str:
    return f"{value:,.10g}"


def _finish(figure: Figure, axes: Axes, keys: Sequence[str], name: str, below: str) -> None:
    over = f" by {', '.join(format_value(key) for key in keys)}" if keys else ""
    axes.set_title(f"{format_value(name)}{over}", loc="left", fontsize=12, fontweight="bold", color=DARK, parse_math=False)
    figure.supxlabel(below, x=0.01, ha="left", fontsize=8, color=GREY)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#00000030")
    axes.tick_params(colors=DARK, labelsize=9.5)
    for label in (*axes.get_yticklabels(), *axes.get_xticklabels()):
        label.set_parse_math(False)
