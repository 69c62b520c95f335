"""Figures: every kind of key, hostile names, files of each format."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from discreet.errors import Invalid
from discreet.plots.bars import MOST_BARS, draw_column
from discreet.plots.table import Series

BELOW = "cost ε = 0.5"


def drawn(keys: list[Series], column: Series, rows: int) -> Figure:
    figure = draw_column(keys, column, rows, BELOW)
    assert figure is not None
    figure.canvas.draw()
    return figure


def test_names_make_bars_with_error_bars() -> None:
    figure = drawn([Series("dept", ["er", "ward"], is_key=True)], Series("n", [100, 3], [90, -7], [110, 13]), 2)
    axes = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [100, 3]
    assert axes.patches[0].get_facecolor() != axes.patches[1].get_facecolor()  # the second is too small to tell
    segments = axes.collections[0].get_segments()
    assert [segment[:, 0].tolist() for segment in segments] == [[90, 110], [-7, 13]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["er", "ward"]


@pytest.mark.parametrize("values", [[2020, 2021, 2022], [datetime.date(2024, 1, d) for d in (1, 2, 3)]])
def test_ordered_keys_make_a_line_with_a_band(values: list[object]) -> None:
    axes = drawn([Series("when", values[::-1], is_key=True)], Series("n", [3, 2, 1], [2, 1, 0], [4, 3, 2]), 3).axes[0]
    assert axes.lines[0].get_ydata().tolist() == [1, 2, 3]  # in the key's order, not the rows'
    assert len(axes.collections) == 1


def test_two_keys_make_a_line_for_each_name() -> None:
    years, names = Series("year", [1, 2, 1, 2], is_key=True), Series("dept", ["a", "a", "b", "b"], is_key=True)
    assert len(drawn([years, names], Series("n", [1, 2, 3, 4]), 4).axes[0].lines) == 2


def test_without_keys_there_is_one_bar() -> None:
    assert len(drawn([], Series("n", [7], [5], [9]), 1).axes[0].patches) == 1


def test_many_groups_are_cut_and_missing_values_left_out() -> None:
    figure = drawn([Series("k", [f"k{i}" for i in range(500)], is_key=True)], Series("n", [None, *range(1, 500)]), 500)
    assert len(figure.axes[0].patches) == MOST_BARS


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_no_formulas() -> None:
    figure = drawn([Series("$k$", ["$\\frac{", "日本", "a\nb"], is_key=True)], Series("$n$", [1, 2, 3]), 3)
    assert figure.axes[0].get_yticklabels()[0].get_text() == "$\\frac{"


@pytest.mark.parametrize(("ending", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_files(tmp_path: Path, ending: str, begin: bytes) -> None:
    path = tmp_path / f"plot.{ending}"
    assert draw_column([Series("k", ["日本"], is_key=True)], Series("n", [1]), 1, BELOW, path) is None
    assert path.read_bytes().startswith(begin)


def test_another_format_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"\.png, \.svg, \.pdf"):
        draw_column([], Series("n", [1]), 1, BELOW, tmp_path / "plot.exe")


@pytest.mark.parametrize("rows", [0, 2])
def test_nothing_to_draw_is_said(rows: int) -> None:
    with pytest.raises(Invalid, match="nothing to draw"):
        draw_column([Series("k", ["a"] * rows, is_key=True)], Series("n", [None] * rows), rows, BELOW)
