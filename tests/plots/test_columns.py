"""Histograms with their edges on the axis, and lines with error bands."""

from __future__ import annotations

import datetime
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from plots.figures import amounts, drawn, key, labels

from discreet.plots.bins import Bins
from discreet.plots.palette import FAINT

BUCKETS = Bins("cost", Fraction(25), shift=Fraction(1), number=4)


def histogram(values: list[Any], counts: list[Any], bins: Bins = BUCKETS, **said: Any) -> Axes:
    return drawn([key("b", values, bins=bins)], [amounts("n", counts, **said)], len(values)).axes[0]


def test_bars_reach_from_edge_to_edge() -> None:
    axes = histogram([1, 2, 3, 4], [10, 20, 30, 4])
    assert [(bar.get_x(), bar.get_width(), bar.get_y()) for bar in axes.patches] == [(0, 25, 0), (25, 25, 0), (50, 25, 0), (75, 25, 0)]
    assert [bar.get_alpha() for bar in axes.patches] == [1, 1, 1, FAINT]
    assert labels(axes.get_xticklabels()) == ["0", "25", "50", "75", "100"]
    assert axes.get_xlabel() == "cost"
    assert axes.get_ylim()[0] == 0 or axes.get_ylim()[0] < 0  # below 0 only for error bars


def test_what_lies_beyond_stands_apart_and_is_named() -> None:
    axes = histogram([0, 1, 2, 3, 4, 5], [3, 10, 20, 30, 40, 50])
    below, above = axes.patches[-2:]
    assert below.get_x() + below.get_width() < 0
    assert above.get_x() > 100
    assert labels(axes.texts) == ["< 0", "≥ 100"]


def test_missing_bins_leave_a_gap() -> None:
    axes = histogram([0, 60], [10, 20], Bins("x", Fraction(20), scale=Fraction(20)))
    assert [bar.get_x() for bar in axes.patches] == [0, 60]
    assert labels(axes.get_xticklabels()) == ["0", "20", "40", "60", "80"]


def test_many_edges_are_thinned_until_they_fit() -> None:
    wide = Bins("x", Fraction(1_000_003, 7), scale=Fraction(1))
    axes = histogram(list(range(200)), list(range(200)), wide)
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert 3 < len(boxes) < 40
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_means_of_bins_are_points_as_wide_as_their_bins() -> None:
    axes = histogram([1, 2, 3, 4], [10, 20, 30, 40], is_place=True)
    assert not axes.patches
    assert [segment[:, 0].tolist() for segment in axes.collections[1].get_segments()] == [[0, 25], [25, 50], [50, 75], [75, 100]]


@pytest.mark.parametrize("values", [[2020, 2021, 2022], [datetime.date(2024, 1, d) for d in (1, 2, 3)]])
def test_ordered_keys_make_a_line_with_a_band(values: list[Any]) -> None:
    axes = drawn([key("when", values[::-1])], [amounts("n", [30, 20, 10])], 3).axes[0]
    assert axes.lines[0].get_ydata().tolist() == [10, 20, 30]  # in the key's order, not the rows'
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (5, 35)
    assert axes.get_ylim()[0] == 0  # amounts begin at 0
    assert axes.get_xlabel() == "when"


def test_moments_are_drawn_too() -> None:
    hours = [datetime.datetime(2024, 1, 1, hour) for hour in range(24)]
    axes = drawn([key("hour", hours)], [amounts("n", list(range(24)))], 24).axes[0]
    assert len(axes.lines[0].get_xdata()) == 24


def test_a_missing_value_leaves_a_gap_and_means_need_no_zero() -> None:
    axes = drawn([key("year", [1, 2, 3, 4])], [amounts("m", [100, None, 102, 103], 1.0, is_place=True)], 4).axes[0]
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [False, True, False, False]
    assert axes.get_ylim()[0] > 90


def test_a_line_for_each_name_in_its_colour() -> None:
    years, names = key("year", [1, 2, 1, 2]), key("dept", ["a", "a", "b", "b"])
    axes = drawn([years, names], [amounts("n", [10, 20, 30, 40])], 4).axes[0]
    assert len({line.get_color() for line in axes.lines}) == 2
    assert len({line.get_marker() for line in axes.lines}) == 2  # colours are not all that tells them apart
    legend = axes.get_legend()
    assert legend is not None
    assert (labels(legend.get_texts()), legend.get_title().get_text()) == (["a", "b"], "dept")
