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
from discreet.plots.bars import BLUE, DARK, GREY
from discreet.plots.save import check_format, save_or_return

_ACROSS = 3
_NAMED = 8  # labels that fit below a panel


class Panel(NamedTuple):
    """One column: its labels, the noisy count and the number of synthetic rows of each, and the mean absolute noise."""

    name: str
    labels: Sequence[str]
    measured: NDArray[Any]
    rows: NDArray[Any]
    noise: float


def draw_marginals(panels: Sequence[Panel], path: str | os.PathLike[str] | None = None) -> Figure | None:
    """Draw a panel for each column: bars for synthetic rows, points with error bars for measurements."""
    check_format(path)
    if not panels:
        raise Invalid("there is nothing to draw: no column was measured on its own; add single columns to the workload")
    down = ceil(len(panels) / _ACROSS)
    across = min(_ACROSS, len(panels))
    figure = Figure(figsize=(4.2 * across, 2.6 * down + 0.5), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    for place, panel in enumerate(panels):
        _panel(axes[place // _ACROSS][place % _ACROSS], panel)
    for place in range(len(panels), down * across):
        axes[place // _ACROSS][place % _ACROSS].set_axis_off()
    figure.suptitle("bars: synthetic rows · points: noisy measurements, ± two standard deviations", fontsize=9, color=DARK)
    return save_or_return(figure, path, dpi=140)


def _panel(axes: Axes, panel: Panel) -> None:
    places = np.arange(len(panel.labels))
    axes.bar(places, panel.rows.ravel(), color=BLUE, width=0.8, alpha=0.85)
    spread = 2 * panel.noise * 1.2533  # the mean of |noise| is √(2/π) standard deviations: 1/1.2533
    axes.errorbar(places, panel.measured.ravel(), yerr=spread, fmt="o", color=DARK, markersize=2.5, elinewidth=0.8)
    step = ceil(len(places) / _NAMED)
    shown = [label if len(label) <= 14 else f"{label[:13]}…" for label in panel.labels[::step]]
    axes.set_xticks(places[::step], shown, fontsize=7, rotation=30 if max(map(len, shown)) > 4 else 0)
    axes.tick_params(axis="y", labelsize=7, colors=GREY)
    axes.set_title(panel.name, fontsize=9, color=DARK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
