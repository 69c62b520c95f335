"""Panels of a synthetic table: rows as bars, measurements as points within two standard deviations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from plots.figures import check_text

from discreet.errors import Invalid
from discreet.plots.synthetic import Panel, draw_marginals


def panel(name: str, size: int = 3) -> Panel:
    return Panel(name, [f"label {i}" for i in range(size)], np.arange(size) + 0.5, np.arange(size), 2.0)


def test_each_column_has_a_panel_and_empty_places_are_hidden() -> None:
    figure = draw_marginals([panel(name) for name in "abcd"])
    assert isinstance(figure, Figure)
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.axison] == ["a", "b", "c", "d"]
    assert sum(not axes.axison for axes in figure.axes) == 2  # two rows of three


def test_bars_are_rows_and_points_are_measurements() -> None:
    figure = draw_marginals([panel("a")])
    assert isinstance(figure, Figure)
    axes = figure.axes[0]
    assert [bar.get_height() for bar in axes.patches] == [0, 1, 2]
    assert axes.lines[0].get_ydata().tolist() == [0.5, 1.5, 2.5]
    low, high = axes.collections[0].get_segments()[0][:, 1]
    assert (high - low) / 2 == pytest.approx(2 * 2.0 * np.sqrt(np.pi / 2), rel=1e-4)  # σ = √(π/2) E|noise|


def test_labels_are_thinned_and_truncated() -> None:
    figure = draw_marginals([Panel("a", ["x" * 30] * 100, np.zeros(100), np.zeros(100), 1.0)])
    assert isinstance(figure, Figure)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["x" * 13 + "…"] * 8


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    assert draw_marginals([panel("a")], tmp_path / "plot.svg") is None
    assert (tmp_path / "plot.svg").read_bytes().startswith(b"<?xml")


def test_nothing_measured_on_its_own_is_said() -> None:
    with pytest.raises(Invalid, match="add single columns to the workload"):
        draw_marginals([])
    with pytest.raises(Invalid, match=r"\.png, \.svg, \.pdf"):
        draw_marginals([panel("a")], "plot.exe")


def test_no_text_is_cut_off() -> None:
    figure = draw_marginals([panel("$\\frac{", 40), panel("b" * 200)], title="synthetic visits")
    assert isinstance(figure, Figure)
    assert figure.get_suptitle() == "synthetic visits"
    check_text(figure)


def test_the_most_frequent_values_are_shown_and_the_others_counted() -> None:
    figure = draw_marginals([panel("a", 20)], most=3)
    assert isinstance(figure, Figure)
    assert [bar.get_height() for bar in figure.axes[0].patches] == [17, 18, 19]
    assert figure.axes[0].get_title(loc="left") == "a, and 17 more values"
    with pytest.raises(Invalid, match="most=0 leaves nothing to draw"):
        draw_marginals([panel("a")], most=0)


def test_axes_of_others_take_one_column() -> None:
    axes = Figure().add_subplot()
    found = draw_marginals([panel("a")], ax=axes, title="ages")
    assert isinstance(found, Axes)
    assert found.get_title(loc="left") == "ages"
    with pytest.raises(Invalid, match="ax= takes one column"):
        draw_marginals([panel("a"), panel("b")], ax=axes)
