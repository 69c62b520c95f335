"""Keys in the engine's form, and the index of each group."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from discreet.run.keys import Positions, received, sent
from discreet.tables.kind import Kind, Value

DAY, TIME = datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 8, 30, 0, 120000)


@pytest.mark.parametrize(
    ("value", "kind"), [(DAY, Kind.DATE), (TIME, Kind.TIMESTAMP), ("a", Kind.TEXT), (3, Kind.INTEGER), (None, Kind.DATE)]
)
def test_there_and_back(value: Value | None, kind: Kind) -> None:
    assert received(sent(value), kind) == value


def test_fractions_of_seconds_have_no_trailing_zeros_and_odd_dates_stay_text() -> None:
    assert sent(TIME) == "2026-01-31 08:30:00.12"
    assert received("12026-01-31", Kind.DATE) == "12026-01-31"


def test_whole_keys_are_found_in_any_order() -> None:
    positions = Positions.of(((7,), (3,), (5,)))
    assert positions.size == 3
    assert positions.places({"k0": np.array([3, 4, 5, 7, 99])}).tolist() == [1, -1, 2, 0, -1]
    assert positions.places({"k0": np.array([3, None, 7], object)}).tolist() == [1, -1, 0]


def test_several_keys_and_none() -> None:
    positions = Positions.of((("a", DAY), (None, DAY)))
    columns = {"k0": np.array(["a", None, "b"], object), "k1": np.array(["2026-01-31"] * 3, object)}
    assert positions.places(columns).tolist() == [0, 1, -1]
    assert Positions.of(((),)).places({"s0": np.array([4, 5])}).tolist() == [0, 0]


def test_cells_are_added_group_by_group() -> None:
    cells = np.zeros((2, 2), np.int64)
    batch = {"k0": np.array(["a", "b", "a", "z"], object), "s0": np.array([1, 2, 3, 100]), "s1": np.array([10, 20, 30, 1000])}
    Positions.of((("a",), ("b",))).add(cells, batch)
    assert cells.tolist() == [[4, 2], [40, 20]]
