"""Plot how faithful a synthetic table is: errors of columns, errors of pairs, and the associations of pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from discreet.errors import Invalid
from discreet.plots.axes import SMALL, finish, number_axis
from discreet.plots.palette import BLUE, DARK, GREY, ORANGE, SHADES
from discreet.plots.save import check_format, save_or_return
from discreet.plots.table import format_value

MOST_COLUMNS = 40  # that are drawn
_LONGEST = 18  # characters of a name
_LEAST = 10.6  # inches, so that a warning fits


class Mark(NamedTuple):
    """A column or a pair: its error and what noise explains, as shares of records, its association in the reference and in the rows."""

    names: tuple[str, ...]
    error: float | None
    noise: float | None
    reference: float | None = None
    rows: float | None = None


def draw_fidelity(
    columns: Sequence[Mark],
    pairs: Sequence[Mark],
    path: str | os.PathLike[str] | None = None,
    *,
    reference: str,
    title: str,
    warning: str = "",
) -> Figure | None:
    """Draw errors of columns as bars, of pairs as a heat map, and associations in the reference beside those in the rows.

    `reference` is what associations are compared with; a `warning` stands above everything.
    """
    check_format(path)
    if not columns:
        raise Invalid("there is nothing to draw: the table has no columns")
    shown = columns[:MOST_COLUMNS]
    names = [one.names[0] for one in shown]
    high = max(3.3, 0.24 * len(names) + 1.6) + 0.5
    wide = max(3.2, 0.24 * len(names) + 2.2)
    several = len(names) > 1
    figure = Figure(figsize=(max(4.4 + (wide + 3.6) * several, _LEAST), high), layout="constrained", facecolor="white")
    panels = figure.subplots(1, 3 if several else 1, squeeze=False, width_ratios=[4.2, wide, 3.4] if several else [1])[0]
    _bars(panels[0], shown)
    if several:
        _heat(panels[1], names, pairs)
        _associations(panels[2], pairs, reference)
    more = f" · {len(columns) - len(shown):,} more columns are not drawn" if len(shown) < len(columns) else ""
    above = f"{warning}\n{title}" if warning else title
    heading = figure.suptitle(above, x=0.012, ha="left", fontsize=12.5, fontweight="bold", color=ORANGE if warning else DARK)
    heading.set_parse_math(False)
    meaning = "bars: error of the rows · |: what noise alone explains · ○: not measured, follows from the model"
    figure.supxlabel(f"{meaning}{more}" + (f"\n{warning}" if warning else ""), x=0.012, ha="left", fontsize=8, color=GREY)
    return save_or_return(figure, path, dpi=140)


def _bars(axes: Axes, columns: Sequence[Mark]) -> None:
    places = np.arange(len(columns))
    axes.barh(places, [one.error or 0.0 for one in columns], color=BLUE, height=0.7)
    noisy = [(one.noise, place) for place, one in zip(places, columns, strict=True) if one.noise is not None]
    axes.plot([x for x, _ in noisy], [y for _, y in noisy], "|", color=DARK, markersize=11, markeredgewidth=1.8)
    unknown = [(one.error or 0.0, place) for place, one in zip(places, columns, strict=True) if one.noise is None]
    axes.plot([x for x, _ in unknown], [y for _, y in unknown], "o", color=ORANGE, markerfacecolor="none", markersize=5, clip_on=False)
    axes.set_yticks(places, [_short(one.names[0]) for one in columns])
    axes.invert_yaxis()
    number_axis(axes, "x", 4)
    axes.set_xlim(left=0.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title("columns", fontsize=9.5, color=DARK, loc="left")
    axes.set_xlabel("ℓ₁ error, share of records")
    finish(axes)


def _heat(axes: Axes, names: Sequence[str], pairs: Sequence[Mark]) -> None:
    place = {name: i for i, name in enumerate(names)}
    values, unmeasured = np.full((len(names), len(names)), np.nan), []
    for one in pairs:
        if one.names[0] in place and one.names[1] in place:
            across, down = sorted(place[name] for name in one.names)
            values[down, across] = np.nan if one.error is None else one.error
            if one.noise is None:
                unmeasured.append((across, down))
    some = values[~np.isnan(values)]
    most = float(some.max()) if some.size else 0.0
    values = values[1:, :-1]  # the first row and the last column of a triangle are empty
    colours = LinearSegmentedColormap.from_list("discreet", SHADES)
    drawn = axes.imshow(values, cmap=colours, vmin=0.0, vmax=most if most > 0 else 1.0, aspect="auto")
    axes.plot([x for x, _ in unmeasured], [y - 1 for _, y in unmeasured], "o", color=ORANGE, markerfacecolor="none", markersize=4)
    axes.set_xticks(range(len(names) - 1), [_short(name) for name in names[:-1]], rotation=90 if len(names) > 3 else 0)
    axes.set_yticks(range(len(names) - 1), [_short(name) for name in names[1:]])
    axes.set_xticks(np.arange(len(names) - 2) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) - 2) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.0)
    axes.set_title("pairs of columns", fontsize=9.5, color=DARK, loc="left")
    finish(axes, ())
    axes.tick_params(which="minor", length=0)
    if some.size:
        bar = axes.figure.colorbar(drawn, ax=axes, pad=0.02, aspect=30, shrink=0.9, format=PercentFormatter(1.0))
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=DARK, labelsize=SMALL, length=0)
        bar.set_label("ℓ₁ error, share of records", color=GREY, fontsize=SMALL)


def _associations(axes: Axes, pairs: Sequence[Mark], reference: str) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    for measured, style in ((True, {"color": BLUE}), (False, {"color": ORANGE, "markerfacecolor": "none"})):
        some = [one for one in pairs if (one.noise is not None) == measured]
        known = [(one.reference, one.rows) for one in some if one.reference is not None and one.rows is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], "o", markersize=4, **style)  # type: ignore[arg-type]
    top = max((value for one in pairs for value in (one.reference, one.rows) if value is not None), default=1.0)
    for which in ("x", "y"):
        number_axis(axes, which, 4)
    axes.set_xlim(0, max(1.08 * top, 0.02))
    axes.set_ylim(0, max(1.08 * top, 0.02))
    axes.set_title("associations of pairs (Cramér's V)", fontsize=9.5, color=DARK, loc="left")
    axes.set_xlabel(reference)
    axes.set_ylabel("synthetic rows")
    finish(axes, ("bottom", "left"))


def _short(name: str) -> str:
    shown = format_value(name)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
