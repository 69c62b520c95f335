"""Whole figures: panels, titles, the small print, files, other people's axes; no text is cut off."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.image
import matplotlib.style
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from plots.figures import BELOW, amounts, check_text, drawn, key

from discreet.errors import Invalid
from discreet.plots.figure import MOST_PANELS, draw_release
from discreet.plots.layout import MOST_BARS

LONG = "a ward whose name is so long that nobody would ever write it on one line of a chart"


def test_the_title_says_what_by_what_and_the_small_print_what_it_cost() -> None:
    figure = drawn([key("dept", ["a", "b"])], [amounts("n", [10, 20], measures="number of rows")], 2)
    assert figure.get_suptitle() == "n by dept"
    assert figure.get_supxlabel().replace("\n", " ") == BELOW
    assert figure.axes[0].get_xlabel() == "number of rows"
    assert drawn([key("dept", ["a", "b"])], [amounts("n", [10, 20])], 2, title="Visits in May").get_suptitle() == "Visits in May"


@pytest.mark.parametrize("number", [2, 3, 4, 6])
def test_several_columns_are_panels(number: int) -> None:
    columns = [amounts(f"c{i}", [10, 10_000_000 * i], is_place=bool(i % 2)) for i in range(number)]
    figure = drawn([key("dept", ["a", LONG])], columns, 2)
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in shown] == [column.name for column in columns]


def test_columns_beyond_the_panels_are_counted() -> None:
    figure = drawn([key("k", ["a", "b"])], [amounts(f"c{i}", [1, 2]) for i in range(9)], 2)
    assert len(figure.axes) == MOST_PANELS
    assert figure.get_supxlabel().startswith("3 more columns are not shown")


def test_lines_of_several_columns_lie_below_each_other() -> None:
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=7 * i) for i in range(52)]
    figure = drawn([key("week", days)], [amounts("total", list(range(52))), amounts("last_7", list(range(52)))], 52)
    first, second = figure.axes
    assert first.get_position().y0 > second.get_position().y1
    assert (first.get_xlabel(), second.get_xlabel()) == ("", "week")


def test_many_groups_are_cut_and_counted() -> None:
    figure = drawn([key("k", [f"{LONG} {i}" for i in range(500)])], [amounts("n", [None, *range(1, 500)])], 500)
    assert len(figure.axes[0].patches) == MOST_BARS
    assert "the 30 largest by n, and 470 more groups" in figure.get_supxlabel()
    assert len(drawn([key("k", list("abcd"))], [amounts("n", [1, 2, 3, 4])], 4, most=2).axes[0].patches) == 2


def test_groups_that_have_no_place_on_the_axis_are_told_below() -> None:
    figure = drawn([key("year", [2020, 2021, None])], [amounts("n", [10, 20, 30])], 3)
    assert "without year: n 30 ± 5" in figure.get_supxlabel()


def test_one_row_has_a_bar_for_each_number() -> None:
    figure = drawn([], [amounts("n", [7]), amounts("m", [3.0], is_place=True)], 1)
    assert len(figure.axes[0].patches) == 1
    assert figure.get_suptitle() == "n, m"


@pytest.mark.parametrize(("rows", "said"), [(0, "(no group is large enough to be shown)"), (2, "(no number was released)")])
def test_a_figure_without_numbers_says_so(rows: int, said: str, tmp_path: Path) -> None:
    keys, columns = [key("k", ["a"] * rows)], [amounts("n", [None] * rows)]
    figure = drawn(keys, columns, rows, empty="(no group is large enough to be shown)")
    assert figure.axes[0].texts[0].get_text() == said
    assert "cost ε = 0.5" in figure.get_supxlabel().replace("\n", " ")
    assert draw_release(keys, columns, rows, BELOW, tmp_path / "empty.png") is None
    assert (tmp_path / "empty.png").exists()


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_no_formulas() -> None:
    keys = [key("$k$", ["$\\frac{", "日本", "a\nb", "\x1b[31m", "$x$"])]
    figure = drawn(keys, [amounts("$n$", [1, 2, 3, 4, 5], measures="$\\frac{")], 5, title="$\\frac{")
    assert figure.axes[0].get_yticklabels()[0].get_text() == "$\\frac{"
    both = list(itertools.product(["$\\frac{", "b", "c"], ["$\\sqrt{", "y"]))
    drawn([key("$\\a{", [a for a, _ in both]), key("$\\b{", [b for _, b in both])], [amounts("n", [1] * 6)], 6)


@pytest.mark.parametrize(("ending", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_files(tmp_path: Path, ending: str, begin: bytes) -> None:
    path = tmp_path / f"plot.{ending}"
    assert draw_release([key("k", ["日本"])], [amounts("n", [1])], 1, BELOW, path) is None
    assert path.read_bytes().startswith(begin)


def test_files_are_light_in_a_dark_style(tmp_path: Path) -> None:
    with matplotlib.style.context("dark_background"):
        draw_release([key("k", ["a", "b"])], [amounts("n", [10, 20])], 2, BELOW, tmp_path / "plot.png")
    picture = matplotlib.image.imread(tmp_path / "plot.png")
    assert picture[0, 0, :3].tolist() == picture[-1, -1, :3].tolist() == [1, 1, 1]
    assert picture[..., :3].min() < 0.3  # the text is dark


def test_another_format_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"\.png, \.svg, \.pdf"):
        draw_release([], [amounts("n", [1])], 1, BELOW, tmp_path / "plot.exe")


# ── other people's axes ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("values", [["a", LONG, "c"], [2020, 2021, 2022]])
def test_axes_of_others_are_drawn_into(values: list[Any]) -> None:
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    found = draw_release([key("k", values)], [amounts("n", [10, 20, 30])], 3, BELOW, ax=left, title="Visits " * 20)
    assert isinstance(found, Axes)
    assert found is left
    assert "cost ε = 0.5" in left.get_xlabel().replace("\n", " ")
    assert figure.get_suptitle() == ""
    assert not right.patches
    check_text(figure)


def test_nothing_to_draw_into_axes_is_said_there() -> None:
    axes = Figure().add_subplot()
    assert draw_release([key("k", [])], [amounts("n", [])], 0, BELOW, ax=axes) is axes
    assert axes.texts[0].get_text() == "(no rows)"


def test_axes_take_one_column_and_no_path(tmp_path: Path) -> None:
    axes = Figure().add_subplot()
    with pytest.raises(Invalid, match="ax= takes one column"):
        draw_release([], [amounts("n", [1]), amounts("m", [1])], 1, BELOW, ax=axes)
    with pytest.raises(Invalid, match="ax= takes one column"):
        draw_release([], [amounts("n", [1])], 1, BELOW, tmp_path / "a.png", ax=axes)
    with pytest.raises(Invalid, match="most=0 leaves nothing to draw"):
        draw_release([], [amounts("n", [1])], 1, BELOW, most=0)
