"""Plot the columns of a synthetic table beside the noisy measurements that it was fitted to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.plots.axes import number_axis
from discreet.plots.palette import BLUE, DARK, GREY
from discreet.plots.save import check_format, save_or_return
from discreet.plots.table import format_value

_ACROSS = 3
_MEANING = "bars: synthetic rows · points: noisy measurements, ± two standard deviations"
_NAMED = 8  # labels that fit below a panel


class Panel(NamedTuple):
    """One column: its labels, the noisy count and the number of synthetic rows of each, and the mean absolute noise."""

    name: str
    labels: Sequence[str]
    measured: NDArray[Any]
    rows: NDArray[Any]
    noise: float


def draw_marginals(
    panels: Sequence[Panel],
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    most: int | None = None,
) -> Figure | Axes | None:
    """Draw a panel for each column: bars for synthetic rows, points with error bars for measurements."""
    check_format(path)
    if not panels:
        raise Invalid("there is nothing to draw: no column was measured on its own; add single columns to the workload")
    if most is not None and most < 1:
        raise Invalid(f"most={most} leaves nothing to draw: give the number of values to show, 1 or more")
    if ax is not None:
        if path is not None or len(panels) != 1:
            raise Invalid("ax= takes one column and no path: name the column with column=…, and save the figure that the axes belong to")
        _panel(ax, panels[0], most)
        ax.set_xlabel(_MEANING, fontsize=7, color=GREY)
        if title is not None:
            ax.set_title(title, fontsize=10, color=DARK, loc="left", parse_math=False)
        return ax
    down = ceil(len(panels) / _ACROSS)
    across = min(_ACROSS, len(panels))
    wide = max(4.2 * across, 6.2)
    figure = Figure(figsize=(wide, 2.6 * down + 0.7), layout="constrained", facecolor="white")
    axes = figure.subplots(down, across, squeeze=False)
    for place, panel in enumerate(panels):
        _panel(axes[place // _ACROSS][place % _ACROSS], panel, most)
    for place in range(len(panels), down * across):
        axes[place // _ACROSS][place % _ACROSS].set_axis_off()
    if title is not None:
        heading = figure.suptitle(title, x=0.012, ha="left", fontsize=12.5, fontweight="bold", color=DARK)
        heading.set_parse_math(False)
    figure.supxlabel(_MEANING, x=0.012, ha="left", fontsize=8, color=GREY)
    return save_or_return(figure, path, dpi=140)


def _panel(axes: Axes, panel: Panel, most: int | None) -> None:
    axes.set_facecolor("none")
    rows, measured = panel.rows.ravel(), panel.measured.ravel()
    shown = np.arange(len(panel.labels))
    if most is not None and most < len(shown):
        shown = np.sort(np.argsort(-measured, kind="stable")[:most])
    places = np.arange(len(shown))
    axes.bar(places, rows[shown], color=BLUE, width=0.8)
    spread = 2 * panel.noise * 1.2533  # the mean of |noise| is √(2/π) standard deviations: 1/1.2533
    axes.errorbar(places, measured[shown], yerr=spread, fmt="o", color=DARK, markersize=2.5, elinewidth=0.8)
    step = ceil(len(places) / _NAMED)
    names = [panel.labels[place] for place in shown[::step]]
    names = [name if len(name) <= 14 else f"{name[:13]}…" for name in names]
    long = max(map(len, names)) > 4
    axes.set_xticks(places[::step], names, fontsize=8, rotation=30 if long else 0, ha="right" if long else "center", rotation_mode="anchor")
    number_axis(axes, "y", 4)
    left_out = f", and {len(panel.labels) - len(shown):,} more values" if len(shown) < len(panel.labels) else ""
    axes.set_title(f"{format_value(panel.name)}{left_out}", fontsize=9.5, color=DARK, loc="left", parse_math=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", labelsize=8, colors=DARK, length=0)
    for label in axes.get_xticklabels():
        label.set_parse_math(False)
