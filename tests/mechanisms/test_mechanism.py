"""Mechanisms as values: post-processing and where coins come from (what all share is in test_contract)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from mechanisms.shake import Shake

from discreet.errors import Error, Invalid
from discreet.mechanisms.exponential import Exponential, IntervalExponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax, TopK
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.mechanisms.quantile import Quantile, Quantiles
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.noise.bits import SystemBits
from discreet.private import Private

NOT_POSITIVE = [0, -1, "-0.5", float("nan"), float("inf"), "nan", "inf", None, True, "abc", [1], "1/0", 1j, ""]
MAKERS: list[Any] = [
    lambda **k: Laplace(**k),
    lambda **k: Exponential(**k),
    lambda **k: NoisyMax(**k),
    lambda **k: TopK(k=1, **k),
    lambda **k: SparseVector(threshold=0, **k),
    lambda **k: IntervalExponential(lower=0, upper=1, step="1/4", **k),
]
WITH_DELTA: list[Any] = [
    lambda **k: PartitionSelection(**k),
    lambda **k: ThresholdedCounts(**k),
    lambda **k: WeightedGaussianSelection(partitions=2, **k),
    lambda **k: TruncatedGeometric(**k),
    lambda **k: Gaussian(**k),
]
PLAIN: list[Any] = [
    lambda **k: RandomizedResponse(**k),
    lambda **k: Quantile(lower=0, upper=1, **k),
    lambda **k: Quantiles(lower=0, upper=1, qs=[0.5], **k),
]


@pytest.mark.parametrize("wrong", NOT_POSITIVE, ids=repr)
@pytest.mark.parametrize("make", MAKERS + PLAIN)
def test_epsilon_must_be_a_positive_number(make: Any, wrong: Any) -> None:
    with pytest.raises(Invalid, match="epsilon"):
        make(epsilon=wrong)


@pytest.mark.parametrize("wrong", NOT_POSITIVE, ids=repr)
@pytest.mark.parametrize("make", MAKERS)
def test_sensitivity_must_be_a_positive_number(make: Any, wrong: Any) -> None:
    with pytest.raises(Invalid, match="sensitivity"):
        make(epsilon=1, sensitivity=wrong)


@pytest.mark.parametrize("wrong", [1, 2, *NOT_POSITIVE], ids=repr)
@pytest.mark.parametrize("make", WITH_DELTA)
def test_delta_must_lie_between_zero_and_one(make: Any, wrong: Any) -> None:
    with pytest.raises(Invalid):
        make(epsilon=1, delta=wrong)


@pytest.mark.parametrize("make", MAKERS + PLAIN)
def test_decimals_mean_what_they_show(make: Any) -> None:
    """ε = 0.1 is one tenth, not the float next to it."""
    assert make(epsilon=0.1).epsilon == Fraction(1, 10)
    assert make(epsilon=0.1).loss.epsilon == Fraction(1, 10)


@pytest.mark.parametrize(
    "make",
    [lambda: NoisyMax(epsilon=1, noise="gauss"), lambda: SparseVector(epsilon=1, threshold=0, extra="all")],  # type: ignore[arg-type]
)
def test_unknown_kinds_are_our_errors(make: Any) -> None:
    with pytest.raises(Error):
        make()


@pytest.mark.parametrize("make", [lambda m: Exponential(epsilon=1, monotone=m), lambda m: SparseVector(epsilon=1, threshold=0, monotone=m)])
@pytest.mark.parametrize("wrong", ["False", "no", None, 2, []])
def test_monotone_is_a_bool(make: Any, wrong: Any) -> None:
    """A truthy string would halve the noise."""
    with pytest.raises(Error):
        make(wrong)


@pytest.mark.parametrize("confidence", ["0.9999999999999999999999", Fraction(10**30 - 1, 10**30)])
@pytest.mark.parametrize("make", [MAKERS[1], *MAKERS[3:], PLAIN[0]])
def test_very_high_confidence_has_an_error_too(make: Any, confidence: Any) -> None:
    """1 − 10⁻²² is a confidence; it is not 1, as its float is."""
    assert make(epsilon=1).error(confidence, 3) >= make(epsilon=1).error("0.999999", 3)


@pytest.mark.parametrize(("make", "epsilon"), [(MAKERS[0], "1e-400"), (PLAIN[1], "1e400"), (PLAIN[2], "1e400")])
def test_parameters_beyond_floats_are_refused_by_name(make: Any, epsilon: str) -> None:
    """An OverflowError after the budget is spent helps nobody."""
    with pytest.raises(Invalid, match="epsilon"):
        make(epsilon=epsilon)


def test_post_processing_sees_the_output_only() -> None:
    seen: list[Any] = []
    out = Laplace(epsilon=1).then(lambda x: seen.append(x) or x).release(Private(10))  # type: ignore[func-returns-value]
    assert seen == [out]


def test_a_release_takes_its_own_coins() -> None:
    """Releases differ, and a subclass of the system's coins is not the system's coins."""
    mechanism = Laplace(epsilon="1e-6")
    assert len({mechanism.release(0) for _ in range(20)}) > 15
    mine = type("Mine", (SystemBits,), {})
    for wrong in (Shake(0), mine(), 7, "bits"):
        with pytest.raises(Invalid):
            mechanism.release(0, wrong)  # type: ignore[arg-type]
