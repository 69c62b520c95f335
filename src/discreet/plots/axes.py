"""What all panels of a figure share: numbers on axes, grids, error bars, and labels that are no formulas."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from discreet.plots.layout import as_number
from discreet.plots.palette import DARK, GREY, RULE
from discreet.plots.table import Series, format_cell
from discreet.plots.ticks import tick_label

SMALL, NORMAL = 9.0, 9.5
ERRORS: dict[str, Any] = {"fmt": "none", "ecolor": DARK, "elinewidth": 1.1, "capsize": 2.5, "zorder": 4}


def below_above(column: Series, row: int) -> tuple[float, float]:
    """How far the interval of a row reaches below and above its value."""
    ends, value = column.ends(row), float(column.values[row])
    return (0.0, 0.0) if ends is None else (max(value - ends[0], 0.0), max(ends[1] - value, 0.0))


def drawable(column: Series, rows: Sequence[int | None]) -> list[tuple[int, int]]:
    """The places and rows that have a number."""
    return [(place, row) for place, row in enumerate(rows) if row is not None and as_number(column.values[row]) is not None]


def extent(column: Series, rows: Sequence[int]) -> tuple[float, float]:
    """The least and the greatest value with its interval; amounts include 0."""
    ends = [end for row in rows for end in (column.ends(row) or ()) if abs(end) < 1e300]
    values = [*ends, *(float(column.values[row]) for row in rows), *([] if column.is_place else [0.0])]
    return min(values), max(values)


def number_axis(axes: Axes, which: str, most: int = 6) -> None:
    """Round numbers on an axis, with grid lines behind the marks."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_label(value, max(map(abs, axis.get_view_interval())))))
    axes.grid(axis=which, color=RULE, linewidth=0.8)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


def wrapped(label: str, width: int = 30, lines: int = 2) -> str:
    """A label over at most two lines; what does not fit ends with ….

    >>> wrapped("emergency department of the northern general hospital", 24)
    'emergency department of\\nthe northern general…'
    """
    return "\n".join(textwrap.wrap(label, width, max_lines=lines, placeholder="…")) or label


def write_cells(axes: Axes, column: Series, shown: Sequence[tuple[float, int]], size: float, inches: float) -> None:
    """Write values with their errors to the right of their error bars, and make room for them; leave them out if they would not fit."""
    texts = [str(format_cell(column, row)) for _, row in shown]
    left, right = extent(column, [row for _, row in shown])
    share = (max(map(len, texts)) * size * 0.6 / 72 + 0.08) / inches  # of the width that the longest text takes
    span = (right - left) or abs(right) or 1.0
    if share > 0.55:
        axes.set_xlim(left - 0.04 * span * (left < 0 or column.is_place), right + 0.04 * span)
        return
    whole = span / (1 - share - 0.03)
    for (place, row), text in zip(shown, texts, strict=True):
        ends = column.ends(row)
        edge = max([float(column.values[row]), *(ends or ()), *([] if column.is_place else [0.0])])
        beside = (7 if column.is_place and not ends else 4, 0)
        axes.annotate(text, (edge, place), beside, textcoords="offset points", va="center", fontsize=size, color=DARK, parse_math=False)
    alone = column.is_place and left == right  # a place without an interval: in the middle
    axes.set_xlim(left - (0.5 if alone else 0.03) * whole * (left < 0 or column.is_place), left + whole)


def finish(axes: Axes, sides: Sequence[str] = ("bottom",)) -> None:
    """Leave out the frame, and take names for what they are: no text is a formula."""
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side in sides)
        axes.spines[side].set_color("#aab2ba")
    axes.tick_params(colors=DARK, labelsize=NORMAL, length=0)
    for label in (*axes.get_yticklabels(), *axes.get_xticklabels(), axes.xaxis.label, axes.yaxis.label):
        label.set_parse_math(False)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(SMALL)
        label.set_color(GREY)


def key_to_colours(axes: Axes, name: str) -> None:
    """Name the colours beside the panel, where they cover nothing."""
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    legend = axes.legend(title=name, title_fontsize=SMALL, alignment="left", frameon=False, fontsize=SMALL, **beside)
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)
        text.set_color(DARK)
