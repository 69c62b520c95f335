"""Words on axes, and which columns are drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.plots.bins import Bins
from discreet.plots.labels import chosen, measured, with_unit
from discreet.plots.table import Series

COST = {"is": "Column", "name": "cost"}
COLUMNS = [
    Series("k", ["a"], is_key=True),
    Series("word", ["w"]),
    Series("plain", [1]),
    Series("n", [2], [1], [3]),
]


@pytest.mark.parametrize(
    ("statistic", "words"),
    [
        ({"is": "Count", "value_of": None}, "number of rows"),
        ({"is": "Count", "value_of": COST}, "number of rows with cost"),
        ({"is": "CountUnits", "when": None}, "number of distinct units"),
        ({"is": "Sum", "expr": COST}, "sum of cost"),
        ({"is": "Percentile", "expr": COST, "q": {"is": "number", "value": "1/2"}}, "median of cost"),
        ({"is": "Percentile", "expr": COST, "q": {"is": "number", "value": "9/10"}}, "0.9 quantile of cost"),
        ({"is": "Sum", "expr": {"is": "Call"}}, ""),
        (None, ""),
    ],
)
def test_statistics_in_words(statistic: Any, words: str) -> None:
    assert measured(statistic)[0] == words


def test_units_are_those_of_the_column_or_of_what_it_was_computed_from() -> None:
    assert with_unit(Series("n", [1]), {"cost": "€"}).measures == ""
    assert with_unit(Series("n", [1]), {"n": "t"}).measures == "n (t)"
    binned = with_unit(Series("b", [1], is_key=True, bins=Bins("cost", Fraction(20)), of="cost"), {"cost": "€"})
    assert binned.bins is not None
    assert binned.bins.of == "cost (€)"


def test_all_numbers_are_drawn_unless_some_are_named() -> None:
    assert [column.name for column in chosen(COLUMNS, None)] == ["plain", "n"]
    assert [column.name for column in chosen(COLUMNS, None, one=True)] == ["n"]
    assert [column.name for column in chosen(COLUMNS, ["n", "plain"])] == ["n", "plain"]


@pytest.mark.parametrize("wanted", ["k", ["n", "no"], []])
def test_other_names_are_refused_with_those_there_are(wanted: Any) -> None:
    with pytest.raises(Invalid, match="of that name; there are word, plain, n"):
        chosen(COLUMNS, wanted)


def test_a_release_without_numbers_has_nothing_to_draw() -> None:
    with pytest.raises(Invalid, match="no column to draw; there are word"):
        chosen(COLUMNS[:2], None)
