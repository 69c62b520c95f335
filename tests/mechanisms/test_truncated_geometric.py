"""Noise that never exceeds a bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms.truncated_geometric import TruncatedGeometric


@pytest.mark.parametrize("size", [1, 5])
def test_the_error_is_the_least_that_holds(size: int) -> None:
    for epsilon, delta in (("1", "1e-6"), ("1/5", "1e-2")):
        mechanism = TruncatedGeometric(epsilon=epsilon, delta=delta, sensitivity=2)
        law = laws.truncated_geometric(float(mechanism.epsilon) / 2, mechanism.bound)
        for confidence in (0.5, 0.95, 0.9999):
            k = mechanism.error(confidence, size)
            assert math.fsum(p for z, p in law.items() if abs(z) <= k) ** size >= confidence - 1e-12
            assert k == 0 or math.fsum(p for z, p in law.items() if abs(z) <= k - 1) ** size < confidence
            assert k <= mechanism.bound


def test_the_noise_never_exceeds_the_bound() -> None:
    mechanism = TruncatedGeometric(epsilon="1/2", delta="1e-2")
    out = np.asarray(mechanism.sample(np.full(50_000, 100), Shake(0))) - 100
    assert np.abs(out).max() == mechanism.bound
    assert type(mechanism.release(3)) is int
    assert abs(mechanism.release(10**400) - 10**400) <= mechanism.bound  # type: ignore[operator]


def test_plain_reals_are_refused() -> None:
    with pytest.raises(Invalid, match="whole"):
        TruncatedGeometric(epsilon=1, delta="1e-3").release(1.5)


@pytest.mark.parametrize(
    ("answer", "counts"), [([1, math.nan], [1, 0]), ([1, None], [1, 0]), ([1.5, -2.5], [1, -3]), ([1, math.inf], [1, 2**62])]
)
def test_private_answers_are_total(answer: Any, counts: list[int]) -> None:
    mechanism = TruncatedGeometric(epsilon=1, delta="1e-3")
    assert mechanism.sample(answer, Shake(1)).tolist() == mechanism.sample(np.array(counts), Shake(1)).tolist()  # type: ignore[union-attr]


def test_a_bound_far_inside_the_noise() -> None:
    """δ much larger than ε: the noise is nearly uniform on −1, 0, 1."""
    mechanism = TruncatedGeometric(epsilon="1e-9", delta="1/2")
    assert mechanism.bound == 1
    assert mechanism.sample(0, Shake(0, limit=1 << 18)) in (-1, 0, 1)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "1", None, True])
def test_the_sensitivity_is_whole(wrong: Any) -> None:
    with pytest.raises(Invalid):
        TruncatedGeometric(epsilon=1, delta="1e-3", sensitivity=wrong)
