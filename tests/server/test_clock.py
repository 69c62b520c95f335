"""Slots: chosen before anything is read, and an answer leaves at the end of one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.server.clock import Clock


def test_slots_double_up_to_the_longest() -> None:
    assert Clock(first=1, longest=10).slots == (1, 2, 4, 8, 16)
    assert Clock(first=1, longest=1).slots == (1,)
    assert Clock(first=2, longest=1).slots == (2,)
    assert Clock(off=True).slots == ()


@given(st.floats(0, 1e12), st.integers(0, 1000))
def test_more_work_never_gets_an_earlier_slot(rows: float, steps: int) -> None:
    clock = Clock()
    slot = clock.chosen(rows, steps)
    assert 0 <= slot < len(clock.slots)
    assert slot <= clock.chosen(rows * 2, steps)
    assert slot <= clock.chosen(rows, steps + 1)


@given(st.floats(0, 3600), st.floats(0, 3600))
def test_all_that_the_time_tells_is_the_slot(one: float, other: float) -> None:
    clock = Clock()
    ends = {clock.leaves(2, one), clock.leaves(2, other)}
    assert ends <= set(clock.slots[2:])
    assert clock.leaves(2, one) >= one
    assert 2 ** clock.leak(2) == pytest.approx(len(clock.slots) - 2)


def test_within_its_first_slot_the_time_tells_nothing() -> None:
    clock = Clock(first=1, longest=8)
    assert {clock.leaves(1, took) for took in (0, 0.5, 1.9, 2)} == {2}
    assert clock.leaves(1, 2.1) == 4
    assert clock.leaves(3, 100) == 128  # beyond the last of the list it goes on
    assert clock.leak(3) == 0


def test_without_slots() -> None:
    clock = Clock(off=True)
    assert clock.leaves(0, 1.234) == 1.234
    assert clock.leak(0) == math.inf
    assert clock.chosen(1e9, 10) == 0


@pytest.mark.parametrize("wrong", [{"first": 0}, {"first": -1}, {"longest": 0}])
def test_slots_that_are_none(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Clock(**wrong)  # type: ignore[arg-type]
