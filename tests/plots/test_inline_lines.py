"""Inline lines: bands, gaps, colours, the first and the last key below."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from plots.drawings import hints, nodes, read, texts
from plots.figures import amounts, key

from discreet.plots.inline import inline_svg

DAYS = [datetime.date(2024, month, 1) for month in range(1, 13)]


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        [datetime.datetime(2024, 1, 1, hour) for hour in range(12)],
        list(range(2010, 2022)),
        [i / 7 for i in range(12)],
    ],
)
def test_a_line_with_its_band_and_ends(values: list[Any]) -> None:
    (one,) = read(inline_svg([key("k", values), amounts("n", list(range(10, 22)))], 12))
    (line,), (band,) = nodes(one, "polyline"), nodes(one, "polygon")
    assert len(line.attrib["points"].split()) == 12
    assert len(band.attrib["points"].split()) == 24
    assert len(nodes(one, "circle")) == 12
    assert hints(one)[1].endswith(": 10 ± 5")


def test_the_first_and_the_last_key_are_written() -> None:
    (one,) = read(inline_svg([key("day", DAYS), amounts("n", [1] * 12)], 12))
    assert {"2024-01-01", "2024-12-01"} <= set(texts(one))


def test_a_missing_value_cuts_the_line() -> None:
    (one,) = read(inline_svg([key("day", DAYS[:5]), amounts("n", [1, 2, None, 4, 5])], 5))
    assert [len(line.attrib["points"].split()) for line in nodes(one, "polyline")] == [2, 2]


def test_a_value_alone_has_an_error_bar() -> None:
    (one,) = read(inline_svg([key("day", DAYS[:3]), amounts("n", [1, None, None])], 3))
    assert len(nodes(one, "path")) == 1


def test_a_line_for_each_name() -> None:
    (one,) = read(inline_svg([key("day", [*DAYS, *DAYS]), key("ward", ["a"] * 12 + ["b"] * 12), amounts("n", [5] * 24)], 24))
    assert len({line.attrib["stroke"] for line in nodes(one, "polyline")}) == 2
    assert texts(one)[-2:] == ["a", "b"]
