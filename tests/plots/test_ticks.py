"""Ticks: round, within the range, never too many; labels that fit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.plots.ticks import round_ticks, spaced, tick_label


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 12))
def test_ticks_lie_inside_and_are_few(low: float, extent: float, most: int) -> None:
    ticks = round_ticks(low, low + extent, most)
    assert len(ticks) <= most
    room = extent * 1e-6 + abs(low) * 1e-9
    assert all(low - room <= tick <= low + extent + room for tick in ticks)
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize(("low", "high"), [(3.0, 3.0), (5.0, 4.0)])
def test_an_empty_range_has_one_tick(low: float, high: float) -> None:
    assert round_ticks(low, high) == [low]


def test_an_infinite_range_has_none() -> None:
    assert round_ticks(math.nan, 1.0) == round_ticks(-math.inf, math.inf) == []


def test_labels_are_skipped_until_they_fit() -> None:
    assert spaced([], 1) == 1
    assert spaced(["1,000,000"], 3) == 4
    assert tick_label(1_500_000.0) == "1.5M"
