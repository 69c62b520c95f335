"""Text tables: aligned, honest about small answers, and safe whatever the keys contain."""

from __future__ import annotations

import datetime

import pytest

from discreet.plots.table import LEGEND, Series, decimals, format_cell, format_value, text_table, width

NAMES = Series("dept", ["er", "ward"], is_key=True)


def test_digits_follow_the_error() -> None:
    assert str(format_cell(Series("x", [1234.5678], [1234.4178], [1234.7178]), 0)) == "1,234.57 ± 0.15"
    assert str(format_cell(Series("x", [1234.5678], [1200.5678], [1268.5678]), 0)) == "1,235 ± 34"
    assert str(format_cell(Series("x", [0.0123456], [0.0023456], [0.0223456]), 0)) == "0.012 ± 0.010"
    assert [decimals(half) for half in (1e9, 10.0, 1.0, 0.1, float("inf"), 0.0)] == [0, 0, 1, 2, 2, 2]


def test_a_clipped_value_shows_its_interval() -> None:
    assert str(format_cell(Series("n", [0], [0.0], [25.0]), 0)) == "0 (0 … 25) ~"


def test_there_is_no_minus_zero() -> None:
    assert format_cell(Series("x", [-0.001], [-9.0], [9.0]), 0).value == "0.0"


@pytest.mark.parametrize(
    ("low", "high", "faint"), [(-1.0, 5.0, True), (0.0, 5.0, True), (1.0, 5.0, False), (-5.0, -1.0, False), (0.0, 0.0, False)]
)
def test_what_noise_may_explain_is_marked(low: float, high: float, faint: bool) -> None:
    assert Series("n", [2.0], [low], [high]).is_faint(0) is faint


def test_lines_are_aligned_and_long_tables_cut() -> None:
    lines = text_table([Series("k", list(range(100)), is_key=True), Series("n", [10**i for i in range(100)])], 100, most=5).splitlines()
    assert lines[5] == "… 95 rows are not shown …"
    assert [line.split()[0] for line in (*lines[2:5], *lines[6:])] == ["0", "1", "2", "98", "99"], "the last row may be the grand total"
    assert len({len(line) for line in [*lines[2:5], *lines[6:]]}) == 1
    assert len(lines) == 2 + 5 + 1


def test_wide_letters_take_two_places() -> None:
    assert width("日本") == 4
    table = text_table([Series("k", ["日本", "abcd"], is_key=True), Series("n", [1, 2])], 2).splitlines()
    assert width(table[2]) == width(table[3])


def test_no_key_can_steer_the_terminal() -> None:
    hostile = Series("k\x1b[2J", ["\x1b[31mred", "a\nb", "\u202eback", "x" * 500], is_key=True)
    text = text_table([hostile], 4)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 2 + 4
    assert max(map(len, text.splitlines())) <= 41


def test_plain_values() -> None:
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5)
    shown = [format_value(value) for value in (None, True, 2026, "x", moment.date(), moment)]
    assert shown == ["–", "true", "2026", "x", "2026-01-02", "2026-01-02 03:04:05"]


def test_the_legend_explains_the_mark() -> None:
    assert LEGEND.startswith("~ ")


def test_an_empty_table_says_why() -> None:
    assert text_table([Series("k", [], is_key=True), Series("n", [])], 0).splitlines()[-1] == "(no group is large enough to be shown)"


def test_a_column_has_one_number_of_decimals() -> None:
    series = Series("x", [10.0, 20.0, 30.0, 40.0], [9.5, 19.4, 25.0, 39.999], [10.5, 20.6, 35.0, 40.001])
    assert [str(format_cell(series, row)) for row in range(4)] == ["10.00 ± 0.50", "20.00 ± 0.60", "30.00 ± 5.00", "40.00 ± 0.01"]


def test_no_error_looks_like_none() -> None:
    assert str(format_cell(Series("n", [7], [6.8], [7.2]), 0)) == "7 ± 1"
    assert str(format_cell(Series("n", [0], [0.0], [0.3]), 0)) == "0 (0.00 … 0.30) ~"
    assert str(format_cell(Series("x", [0.0], [0.0], [0.0]), 0)) == "0.00 (clipped)"


def test_a_value_below_0_is_shown_with_its_error() -> None:
    """Values of tables that add up are not clipped, and neither are their intervals."""
    assert str(format_cell(Series("n", [-50.0], [-70.0], [-30.0]), 0)) == "-50 ± 20"
