"""What panels share: intervals, extents, labels over two lines."""

from __future__ import annotations

import pytest
from plots.figures import amounts, drawn, key

from discreet.plots.axes import below_above, drawable, extent, wrapped
from discreet.plots.table import Series


def test_intervals_that_were_clipped_are_not_symmetric() -> None:
    assert below_above(Series("n", [3], [0.0], [14.5]), 0) == (3.0, 11.5)
    assert below_above(Series("n", [3]), 0) == (0.0, 0.0)


def test_what_has_no_number_is_not_drawn() -> None:
    assert drawable(Series("n", [1, None, "a", True, 2.5, float("inf")]), [5, 4, 3, None, 2, 1, 0]) == [(1, 4), (6, 0)]


def test_amounts_include_zero_and_places_do_not() -> None:
    assert extent(amounts("n", [100, 120]), [0, 1]) == (0, 125)
    assert extent(amounts("n", [100, 120], is_place=True), [0, 1]) == (95, 125)


@pytest.mark.parametrize("label", ["", " ", "a", "x" * 400, "word " * 60])
def test_labels_have_at_most_two_lines(label: str) -> None:
    lines = wrapped(label).split("\n")
    assert len(lines) <= 2
    assert all(len(line) <= 30 for line in lines)


@pytest.mark.parametrize("values", [[1.0, 1_234_567.891], [0.001, 0.002], [-50.0, -1.0], [0.0, 0.0]])
@pytest.mark.parametrize("place", [True, False])
def test_values_are_written_beside_their_error_bars(values: list[float], place: bool) -> None:
    axes = drawn([key("k", ["a", "b"])], [amounts("n", values, 0.5, is_place=place)], 2).axes[0]
    assert len(axes.texts) == 2
    for text in axes.texts:
        assert axes.bbox.x0 <= text.get_window_extent().x0 <= text.get_window_extent().x1 <= axes.bbox.x1 + 1
