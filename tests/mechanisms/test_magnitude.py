"""Powers of two that few records exceed; what one record moves is in test_mean.py."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.mechanisms.magnitude import Magnitude, read_records
from discreet.private import Private

SURE = 1 - Fraction(1, 10**9)


def test_it_holds_what_it_says() -> None:
    sizes = np.abs(np.random.default_rng(7).lognormal(0, 1.5, 20_000))
    magnitude = Magnitude(epsilon=1)
    for _ in range(20):
        assert (sizes > magnitude.release(Private(sizes))).sum() <= magnitude.error(SURE)
    assert Magnitude(epsilon=1, lowest=3, highest=3).release([1, 2]) == 8


def test_it_finds_the_first_power_without_going_far_beyond() -> None:
    """All records are 5: it stops at 8 or later; of 40 runs at least 34 do at 8 (each other has probability below 0.002)."""
    found = [Magnitude(epsilon=1, lowest=-8).release(Private([5.0] * 3000)) for _ in range(40)]
    assert min(found) >= 8
    assert sum(one == 8 for one in found) >= 34


@pytest.mark.parametrize("wrong", [{"lowest": 3, "highest": 2}, {"highest": 1000}, {"lowest": 1.5}, {"epsilon": 0}])
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Magnitude(**({"epsilon": 1} | wrong))


def test_records_are_read_one_by_one_and_what_is_missing_is_zero() -> None:
    strange: list[Any] = [1.5, -2, None, math.nan, "text", math.inf, -math.inf, 10**400, True]
    together = read_records(strange)
    assert together.tolist() == [1.5, -2.0, 0.0, 0.0, 0.0, 2.0**1000, 0.0, 2.0**1000, 1.0]
    assert [read_records([one])[0] for one in strange] == together.tolist()
    assert read_records(np.array([np.nan, -3.0])).tolist() == [0.0, -3.0]
