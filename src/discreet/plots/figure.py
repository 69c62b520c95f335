"""Figures of released columns: one panel for each, with intervals, and below them the price and what ± means."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from discreet.errors import Invalid
from discreet.plots.bars import draw_bars, draw_grouped
from discreet.plots.columns import draw_binned, draw_lines
from discreet.plots.heat import draw_heat, is_written
from discreet.plots.layout import MOST_BARS, Bars, Binned, Grid, Layout, Lines, as_number, layout_of, typical_error
from discreet.plots.palette import DARK, GREY
from discreet.plots.save import check_format, save_or_return
from discreet.plots.table import LEGEND, Series, format_cell, format_value

MOST_PANELS = 6
_WIDTH, _LABELS = 8.0, 2.2  # inches of a figure, and about how many the labels at its side take


_FURTHEST = 1e290


def _check_reach(columns: Sequence[Series], rows: int) -> None:
    """Raise Invalid for numbers so large that axes, which reach beyond them, would end where floats end."""
    for column in columns:
        for row in range(rows):
            numbers = [column.values[row], *(column.ends(row) or ())]
            if any(isinstance(one, int | float) and abs(one) > _FURTHEST for one in numbers):
                raise Invalid("these numbers are too large to be drawn: divide them in the question, as in SUM(x / 1000)")


def draw_release(
    keys: Sequence[Series],
    columns: Sequence[Series],
    rows: int,
    below: str,
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    most: int = MOST_BARS,
    ordered: bool = False,
    empty: str = "(no rows)",
) -> Figure | Axes | None:
    """Draw columns by their keys. With a path, write a file (PNG, SVG or PDF, by its ending); with axes, draw one column into them."""
    check_format(path)
    if most < 1:
        raise Invalid(f"most={most} leaves nothing to draw: give the number of groups to show, 1 or more")
    if ax is not None and (path is not None or len(columns) != 1):
        raise Invalid("ax= takes one column and no path: name the column with column=…, and save the figure that the axes belong to")
    _check_reach([*keys, *columns], rows)
    layout = layout_of(keys, columns[0], rows, ordered, most)
    words = title if title is not None else _title(keys, columns)
    shown = columns[:MOST_PANELS]
    if not any(as_number(column.values[row]) is not None for column in shown for row in range(rows)):
        return _nothing(words, empty if not rows else "(no number was released)", below, path, ax)
    if ax is not None:
        box = ax.get_window_extent()
        inches = box.width / ax.figure.dpi
        _panel(ax, layout, shown[0], inches, True)
        _name(ax, textwrap.fill(words, max(20, int(inches * 9))), 11)
        _add_below(ax, "\n".join(textwrap.wrap(_footer(layout, shown, below, inches), max(24, int(inches * 17)))))
        return ax
    down, across, (wide, high) = _arrangement(layout, len(shown))
    figure = Figure(figsize=(wide, high), layout="constrained", facecolor="white")
    panels = figure.subplots(down, across, squeeze=False, sharey=isinstance(layout, Bars) or _is_grouped(layout))
    figure.get_layout_engine().set(w_pad=0.09, h_pad=0.09, wspace=0.03, hspace=0.03)  # type: ignore[union-attr,call-arg]
    inches = (wide - _LABELS - isinstance(layout, Grid)) / across
    for place, column in enumerate(shown):
        axes = panels[place // across][place % across]
        last = place == len(shown) - 1 or (isinstance(layout, Grid) and layout.is_heat)
        axes.set_facecolor("none")
        _panel(axes, layout, column, inches, last)
        if _is_grouped(layout) and place % across:
            axes.set_ylabel("")  # the labels are those of the first panel
        if len(shown) > 1:
            _name(axes, format_value(column.name), 10.5)
    for place in range(len(shown), down * across):
        panels[place // across][place % across].set_axis_off()
    left_out = [f"{len(columns) - len(shown)} more columns are not shown"] if len(columns) > len(shown) else []
    _around(figure, words, " · ".join([*left_out, _footer(layout, shown, below, inches)]), wide)
    return save_or_return(figure, path, dpi=160)


def _panel(axes: Axes, layout: Layout, column: Series, inches: float, last: bool) -> None:
    match layout:
        case Bars():
            draw_bars(axes, layout, column, inches)
        case Binned():
            draw_binned(axes, layout, column, inches)
            named_below = layout.below is not None or layout.above is not None
            axes.set_xlabel(format_value(layout.of) if last else "", labelpad=14 if named_below else 4)
        case Lines():
            draw_lines(axes, layout, column, inches)
            axes.set_xlabel((layout.key.measures or format_value(layout.key.name)) if last else "")
        case Grid(is_heat=True):
            draw_heat(axes, layout, column, inches)
        case Grid():
            draw_grouped(axes, layout, column, inches)
            if not last and (legend := axes.get_legend()) is not None:
                legend.remove()


def _is_grouped(layout: Layout) -> bool:
    return isinstance(layout, Grid) and not layout.is_heat


def _arrangement(layout: Layout, number: int) -> tuple[int, int, tuple[float, float]]:
    """How many panels lie below and beside each other, and the size of the figure: groups share their labels, lines their axis."""
    match layout:
        case Bars():
            across = min(number, 3)
            height = 0.55 + 0.3 * max(len(layout.rows), 1.6) + 0.14 * sum(len(label) > 30 for label in layout.labels)
        case Grid(is_heat=False):
            across = min(number, 2)
            height = 0.6 + max(0.17 * len(layout.down) * len(layout.across), 0.34 * len(layout.down), 1.2)
        case Grid():
            across, height = 1, 1.2 + 0.36 * len(layout.down)
        case _:
            across, height = 1, 3.2 if number == 1 else 2.1
    down = ceil(number / across)
    wide = {1: _WIDTH, 2: 9.5, 3: 11.5}[across]
    if isinstance(layout, Grid) and layout.is_heat:
        wide = min(14.0, max(_WIDTH, _LABELS + 1.3 + 0.92 * len(layout.across) if len(layout.across) <= 12 else _WIDTH))
    return down, across, (wide, min(down * height + 1.1, 40.0))


# ── words around the panels ──────────────────────────────────────────────────────────────────────────────────────────


def _title(keys: Sequence[Series], columns: Sequence[Series]) -> str:
    shown = [format_value(column.name) for column in columns[:MOST_PANELS]]
    over = f" by {', '.join(format_value(key.name) for key in keys)}" if keys else ""
    return f"{', '.join(shown)}{over}"


def _footer(layout: Layout, columns: Sequence[Series], below: str, inches: float) -> str:
    """What the panels leave out, what pale bars mean, and what the release says of itself."""
    said = [layout.note] if not isinstance(layout, Grid) and layout.note else []
    if isinstance(layout, Binned | Lines):
        said += [f"{name}: {column.name} {format_cell(column, row)}" for name, row in layout.apart for column in columns]
    if isinstance(layout, Grid):
        said += [layout.note] if layout.note else []
        if layout.is_heat:
            said += [text for one in columns if not is_written(layout, one, inches) and (text := typical_error(layout, one))]
    if not isinstance(layout, Lines) and any(column.is_faint(row) and not column.is_place for column in columns for row in _rows(layout)):
        said.append(f"pale: {LEGEND[2:]}" if not (isinstance(layout, Grid) and layout.is_heat) else LEGEND)
    return " · ".join([*said, below])


def _rows(layout: Layout) -> list[int]:
    match layout:
        case Binned():
            return [row for row in (*layout.rows, layout.below, layout.above) if row is not None]
        case Bars():
            return list(layout.rows)
        case _:
            return [row for rows in layout.rows for row in rows if row is not None]


def _name(axes: Axes, words: str, size: float) -> None:
    axes.set_title(words, loc="left", fontsize=size, fontweight="bold", color=DARK, parse_math=False)


def _around(figure: Figure, title: str, below: str, wide: float) -> None:
    above = figure.suptitle(textwrap.fill(title, int(wide * 9.5)), x=0.012, ha="left", fontsize=12.5, fontweight="bold", color=DARK)
    under = figure.supxlabel(textwrap.fill(below, int(wide * 16.5)), x=0.012, ha="left", fontsize=8, color=GREY, linespacing=1.35)
    for text in (above, under):
        text.set_parse_math(False)


def _add_below(axes: Axes, words: str) -> None:
    """Small print below axes that belong to someone else's figure; its layout makes room for it as for a label."""
    label = axes.get_xlabel()
    axes.set_xlabel(f"{label}\n{words}" if label else words, fontsize=7.5, color=GREY, linespacing=1.35, parse_math=False)


def _nothing(title: str, message: str, below: str, path: str | os.PathLike[str] | None, ax: Axes | None) -> Figure | Axes | None:
    """A figure that says that there is nothing to draw."""
    figure = Figure(figsize=(_WIDTH, 2.4), layout="constrained", facecolor="white") if ax is None else None
    axes = ax if figure is None else figure.add_subplot()
    assert axes is not None
    axes.set_axis_off()
    axes.text(0.5, 0.5, textwrap.fill(message, 60), transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=11)
    if figure is None:
        _name(axes, title, 11)
        return axes
    _around(figure, title, below, _WIDTH)
    return save_or_return(figure, path, dpi=160)
