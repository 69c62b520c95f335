"""Layouts: which arrangement keys get, what is left out and counted, what stands apart."""

from __future__ import annotations

import datetime
import itertools
from fractions import Fraction
from typing import Any

import pytest
from plots.figures import amounts, key

from discreet.plots.bins import Bins
from discreet.plots.layout import MOST_BARS, Bars, Binned, Grid, Lines, layout_of, typical_error

DAYS = [datetime.date(2024, 1, day) for day in range(1, 6)]
TWENTIES = Bins("x", Fraction(20), scale=Fraction(20))
BUCKETS = Bins("x", Fraction(10), shift=Fraction(1), number=3)


def pairs(down: int, across: int) -> tuple[list[str], list[str]]:
    both = list(itertools.product(range(down), range(across)))
    return [f"d{i}" for i, _ in both], [f"a{j}" for _, j in both]


@pytest.mark.parametrize("values", [["a", "b"], [True, False], ["1", "2"], [1, "2"]])
def test_names_are_bars(values: list[Any]) -> None:
    assert layout_of([key("k", values)], amounts("n", [1, 2]), 2) == Bars(tuple(str(v).lower() for v in values), (0, 1))


def test_one_row_and_no_key_is_a_bar_without_a_label() -> None:
    assert layout_of([], amounts("n", [1]), 1) == Bars(("",), (0,))


def test_the_largest_of_many_groups_are_shown_and_the_others_counted() -> None:
    layout = layout_of([key("k", [f"k{i}" for i in range(242)])], amounts("n", list(range(242))), 242)
    assert isinstance(layout, Bars)
    assert layout.rows == tuple(range(241, 241 - MOST_BARS, -1))
    assert layout.note == f"the {MOST_BARS} largest by n, and 212 more groups"


@pytest.mark.parametrize(("ordered", "place"), [(True, False), (False, True)])
def test_ordered_groups_and_means_keep_their_order(ordered: bool, place: bool) -> None:
    layout = layout_of([key("k", list("abc"))], amounts("n", [1, 2, 3], is_place=place), 3, ordered, most=2)
    assert layout == Bars(("a", "b"), (0, 1), "the first 2 groups, and 1 more group")


def test_bins_that_were_not_released_are_empty_and_null_stands_apart() -> None:
    layout = layout_of([key("b", [40, 0, None, 33], bins=TWENTIES)], amounts("n", [1, 2, 3, 4]), 4)
    assert layout == Binned("x", (0, 20, 40, 60), (1, None, 0), apart=(("without b", 2),))  # 33 is no multiple of 20


def test_bins_that_lie_far_apart_are_a_line() -> None:
    assert isinstance(layout_of([key("b", [0, 20 * 2**80], bins=TWENTIES)], amounts("n", [1, 2]), 2), Lines)


def test_buckets_have_ends() -> None:
    layout = layout_of([key("b", [0, 1, 2, 3, 4], bins=BUCKETS)], amounts("n", [1] * 5), 5)
    assert layout == Binned("x", (0, 10, 20, 30), (1, 2, 3), 0, 4)


@pytest.mark.parametrize("values", [DAYS, [2020, 2021, 2022, 2023, 2024], [0.5, 1.5, 2.5, 3.5, 4.5]])
def test_dates_and_numbers_are_lines_in_their_order(values: list[Any]) -> None:
    layout = layout_of([key("k", values[::-1])], amounts("n", [1] * 5), 5)
    assert isinstance(layout, Lines)
    assert layout.rows == ((4, 3, 2, 1, 0),)
    assert layout.is_dated == (values is DAYS)


def test_null_and_others_stand_apart_from_a_line() -> None:
    layout = layout_of([key("day", [*DAYS, None, "(other)"])], amounts("n", [1] * 7), 7)
    assert isinstance(layout, Lines)
    assert layout.apart == (("without day", 5), ("(other)", 6))


def test_totals_have_no_place_on_an_axis() -> None:
    layout = layout_of([key("day", [*DAYS, "Total"])], amounts("n", [1] * 5 + [5]), 6)
    assert isinstance(layout, Lines)
    assert layout.apart == (("Total", 5),)
    crossed = layout_of([key("a", ["Total", "x", "y"] * 2), key("b", ["p"] * 3 + ["Total"] * 3)], amounts("n", [3, 1, 2] * 2), 6)
    assert isinstance(crossed, Grid)
    assert (crossed.down, crossed.across) == (("x", "y", "Total"), ("p", "Total"))


def test_dates_and_moments_together_are_names() -> None:
    mixed = [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 2)]
    assert isinstance(layout_of([key("k", mixed)], amounts("n", [1, 2]), 2), Bars)


@pytest.mark.parametrize("first", [True, False])
def test_a_date_and_a_name_are_a_line_for_each_name(first: bool) -> None:
    keys = [key("day", [*DAYS, *DAYS]), key("ward", ["a"] * 5 + ["b"] * 5)]
    layout = layout_of(keys if first else keys[::-1], amounts("n", [1] * 10), 10)
    assert isinstance(layout, Lines)
    assert (layout.names, layout.other) == (("a", "b"), "ward")


@pytest.mark.parametrize(("down", "across", "heat"), [(5, 3, False), (12, 3, False), (13, 3, True), (8, 7, True)])
def test_two_names_are_grouped_while_they_are_few(down: int, across: int, heat: bool) -> None:
    one, other = pairs(down, across)
    layout = layout_of([key("d", one), key("a", other)], amounts("n", [1] * len(one)), len(one))
    assert isinstance(layout, Grid)
    assert (len(layout.down), len(layout.across), layout.is_heat) == (down, across, heat)
    assert layout.rows[1][2] == across + 2


def test_the_longer_side_goes_down_and_pairs_may_be_missing() -> None:
    layout = layout_of([key("a", ["x", "y", "x"]), key("d", ["1", "2", "3"])], amounts("n", [1] * 3), 3)
    assert layout == Grid(("1", "2", "3"), ("x", "y"), ("d", "a"), ((0, None), (None, 1), (2, None)), False)


def test_a_large_grid_keeps_the_largest_and_counts_the_others() -> None:
    one, other = pairs(50, 40)
    layout = layout_of([key("d", one), key("a", other)], amounts("n", list(range(2000))), 2000)
    assert isinstance(layout, Grid)
    assert layout.down == tuple(f"d{i}" for i in range(20, 50))
    assert layout.note == "d: the 30 largest, and 20 more values; a: the 30 largest, and 10 more values"


def test_bins_in_a_grid_are_named_by_their_ranges() -> None:
    layout = layout_of([key("b", [0, 1, 4, 0, 1, 4], bins=BUCKETS), key("k", list("aaabbb"))], amounts("n", [1] * 6), 6)
    assert isinstance(layout, Grid)
    assert layout.down == ("< 0", "0 … 10", "≥ 30")


def test_three_keys_are_bars_with_joined_labels() -> None:
    keys = [key(name, [name + "1", name + "2"]) for name in "abc"]
    assert layout_of(keys, amounts("n", [1, 2]), 2) == Bars(("a1 · b1 · c1", "a2 · b2 · c2"), (0, 1))


def test_the_typical_error_of_a_grid() -> None:
    grid = Grid(("1", "2"), ("x",), ("d", "a"), ((0,), (1,)), True)
    assert typical_error(grid, amounts("n", [50, 60], 12.0)) == "n: ± 12 in most cells"
    assert typical_error(grid, key("n", [50, 60])) == ""
