"""Bars and points of groups: from 0, with error bars, grouped in colours."""

from __future__ import annotations

import itertools

import pytest
from plots.figures import amounts, drawn, key, labels

from discreet.plots.palette import FAINT, SERIES
from discreet.plots.table import Series


def test_names_make_bars_from_zero_with_error_bars() -> None:
    figure = drawn([key("dept", ["er", "ward"])], [Series("n", [100, 3], [90, -7], [110, 13])], 2)
    axes = figure.axes[0]
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 100), (0, 3)]
    assert [bar.get_alpha() for bar in axes.patches] == [1.0, FAINT]  # the second may be noise alone
    segments = axes.collections[0].get_segments()
    assert [segment[:, 0].tolist() for segment in segments] == [[90, 110], [-7, 13]]
    assert labels(axes.get_yticklabels()) == ["er", "ward"]
    assert axes.yaxis_inverted()
    assert "pale: the interval contains 0" in figure.get_supxlabel()


def test_means_are_points() -> None:
    axes = drawn([key("k", ["a", "b"])], [amounts("m", [100, 102], 1.0, is_place=True)], 2).axes[0]
    assert not axes.patches
    assert sorted(axes.collections[0].get_offsets()[:, 0].tolist()) == [100, 102]
    assert axes.get_xlim()[0] > 90  # points need no 0


def test_a_missing_value_leaves_its_label() -> None:
    axes = drawn([key("k", ["a", "b", "c"])], [amounts("n", [1, None, 3])], 3).axes[0]
    assert len(axes.patches) == 2
    assert labels(axes.get_yticklabels()) == ["a", "b", "c"]


def test_many_bars_are_not_labelled_with_values() -> None:
    axes = drawn([key("k", [f"k{i}" for i in range(25)])], [amounts("n", list(range(25)))], 25).axes[0]
    assert not axes.texts


@pytest.mark.parametrize("place", [True, False])
def test_pairs_are_grouped_in_colours(place: bool) -> None:
    both = list(itertools.product(["a", "b", "c"], ["x", "y"]))
    keys = [key("d", [a for a, _ in both]), key("s", [b for _, b in both])]
    axes = drawn(keys, [amounts("n", [10, 20, 30, 40, 50, 60], is_place=place)], 6).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert labels(legend.get_texts()) == ["x", "y"]
    assert legend.get_title().get_text() == "s"
    assert axes.get_ylabel() == "d"
    if not place:
        assert [bar.get_width() for bar in axes.patches] == [10, 30, 50, 20, 40, 60]
        assert {bar.get_x() for bar in axes.patches} == {0}
        assert len({bar.get_facecolor() for bar in axes.patches}) == 2
        assert len(SERIES) > 2
