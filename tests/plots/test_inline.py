"""Inline drawings: the layout of the figures, as SVG, without Matplotlib."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from plots.drawings import hints, nodes, number, read, texts
from plots.figures import amounts, key

from discreet.plots.bins import Bins
from discreet.plots.inline import MOST_GROUPS, MOST_PANELS, inline_svg
from discreet.plots.palette import FAINT, SERIES
from discreet.plots.table import Series

HOSTILE = '</text></svg><script>alert("1")</script>&\x1b[31m' + "x" * 300
BUCKETS = Bins("cost", Fraction(25), shift=Fraction(1), number=4)


def test_bars_start_at_zero_and_have_error_bars() -> None:
    (one,) = read(inline_svg([key("dept", ["er", "ward"]), Series("n", [100, 3], [90, -7], [110, 13])], 2))
    bars = nodes(one, "rect")
    assert [bar.attrib.get("fill-opacity") for bar in bars] == [None, f"{FAINT:g}"]
    assert number(bars[0], "x") == number(bars[1], "x")
    assert number(bars[1], "width") / number(bars[0], "width") == pytest.approx(0.03, abs=0.005)
    assert len(nodes(one, "path")) == 2
    assert hints(one) == ["n by dept", "er: 100 ± 10", "ward: 3 ± 10 ~"]


def test_negative_bars_hang_to_the_left() -> None:
    (one,) = read(inline_svg([key("k", ["a", "b"]), amounts("n", [-10, 10])], 2))
    left, right = nodes(one, "rect")
    assert number(left, "x") + number(left, "width") == pytest.approx(number(right, "x"), abs=0.2)


def test_means_are_points() -> None:
    (one,) = read(inline_svg([key("k", ["a", "b"]), amounts("m", [100.0, 102.0], 1.0, is_place=True)], 2))
    assert (len(nodes(one, "circle")), len(nodes(one, "rect"))) == (2, 0)


def test_bins_are_a_histogram_and_their_means_points() -> None:
    bins = key("b", [0, 1, 2, 3, 4, 5], bins=BUCKETS)
    counts, means = read(inline_svg([bins, amounts("n", [1] * 6), amounts("m", [1.0] * 6, is_place=True)], 6))
    assert len(nodes(counts, "rect")) == 6
    assert hints(counts)[1] == "below 0: 1 ± 5"
    assert len(nodes(means, "circle")) == 6
    assert texts(means)[-6:] == ["< 0", "0 … 25", "25 … 50", "50 … 75", "75 … 100", "≥ 100"]


def test_pairs_are_grouped_in_named_colours() -> None:
    both = list(itertools.product(["a", "b", "c"], ["x", "y"]))
    keys = [key("d", [a for a, _ in both]), key("s", [b for _, b in both])]
    (one,) = read(inline_svg([*keys, amounts("n", [10] * 6)], 6))
    assert {node.attrib["fill"] for node in nodes(one, "rect")} == set(SERIES[:2])
    assert texts(one)[-2:] == ["x", "y"]


def test_many_groups_are_cut_and_counted() -> None:
    (one,) = read(inline_svg([key("k", [f"k{i}" for i in range(227)]), amounts("n", list(range(227)))], 227))
    assert len(nodes(one, "rect")) == MOST_GROUPS
    assert texts(one)[-1] == "the 15 largest by n, and 212 more groups"


def test_a_few_columns_are_drawn() -> None:
    columns = [amounts(f"c{i}", [1, None]) for i in range(9)]
    assert len(read(inline_svg([key("k", ["a", "b"]), *columns], 2))) == MOST_PANELS


@pytest.mark.parametrize(
    ("series", "rows"),
    [
        ([amounts("n", [1])], 1),
        ([key("k", []), amounts("n", [])], 0),
        ([key("k", ["a"]), amounts("n", [1])], 1),
        ([key("k", ["a", "b"]), Series("n", [1, 2])], 2),
        ([key("k", ["a", "b"]), amounts("n", [None, None])], 2),
        ([key("k", list(range(10_000))), amounts("n", [1] * 10_000)], 10_000),
    ],
)
def test_nothing_to_compare_is_not_drawn(series: list[Any], rows: int) -> None:
    assert inline_svg(series, rows) == ""


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [0, 0, 0, 0], [1e200, -1e200, 1, 2], [float("inf"), 1, None, 2]])
@pytest.mark.parametrize("place", [True, False])
def test_hostile_names_and_numbers(values: list[Any], place: bool) -> None:
    for keys in ([HOSTILE, "b", "c", "d"], [1, 2, 3, None]), ([HOSTILE, HOSTILE, "c", "c"], [HOSTILE, "b", HOSTILE, "b"]):
        for names in ([key(HOSTILE, keys[0])], [key(HOSTILE, keys[1])], [key("k", keys[0]), key(HOSTILE, keys[1])]):
            drawn = inline_svg([*names, amounts(HOSTILE, values, is_place=place)], 4)
            assert "<script" not in drawn
            assert "\x1b" not in drawn
            assert "nan" not in drawn.replace("xxx", "")
            read(drawn)


def test_matplotlib_is_not_needed() -> None:
    code = "import sys; import discreet.plots.inline, discreet.session.released; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout.strip() == "False"
