"""What every mechanism promises, held against every one of them."""

from __future__ import annotations

import gc
import importlib
import math
import pkgutil
from contextlib import suppress
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest
from mechanisms.shake import Shake

from discreet import mechanisms
from discreet.errors import Error
from discreet.loss.loss import Loss
from discreet.mechanisms.covariance import Covariance
from discreet.mechanisms.exponential import Exponential, IntervalExponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.joint_quantiles import JointQuantiles
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.magnitude import Magnitude
from discreet.mechanisms.mean import Mean
from discreet.mechanisms.mechanism import Mechanism, Processed
from discreet.mechanisms.noisy_max import NoisyMax, NoisyMaxGap, TopK
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.mechanisms.quantile import Quantile, Quantiles
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.robust.bootstrap import LittleBootstraps
from discreet.mechanisms.robust.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease, StabilityTest, StableMode
from discreet.mechanisms.robust.sample_and_aggregate import SampleAndAggregate
from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.staircase import Staircase
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree
from discreet.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.value_grid import ValueGrid
from discreet.noise import lattice
from discreet.noise.bits import SystemBits
from discreet.private import Private

SECRET = 31337  # occurs in every answer below, and must occur in no message and no repr
SCORES = [3, SECRET, 5]
MEDIAN = Robust.median(lower=0, upper=100)
SILENT = ProposeTestRelease | StableMode | SampleAndAggregate  # may give no answer
AGGREGATES: list[dict[str, Any]] = [
    {"lower": 0, "upper": 100},
    {"lower": 0, "upper": 100, "aggregate": "mean"},
    {"aggregate": "stable", "delta": "1e-4"},
]

EVERY: list[tuple[Mechanism[Any], Any]] = [
    (Laplace(epsilon="1/2"), SECRET),
    (Laplace(epsilon="1/2"), [1, SECRET, 3]),
    (Laplace(epsilon="1/2", sensitivity="1/3"), float(SECRET)),
    (Gaussian(rho="1/2"), [1, SECRET]),
    (Gaussian(epsilon=1, delta="1e-6", sensitivity="1/7"), float(SECRET)),
    (Exponential(epsilon=1), SCORES),
    (IntervalExponential(epsilon=1, lower=0, upper=1, step="1/8"), ([0, 3], [1, SECRET])),
    *((NoisyMax(epsilon=1, noise=noise), SCORES) for noise in ("exponential", "laplace", "gumbel", "geometric")),
    *((NoisyMaxGap(epsilon=1, noise=noise), SCORES) for noise in ("exponential", "laplace")),
    (TopK(epsilon=1, k=2), SCORES),
    (SparseVector(epsilon=1, threshold=0), [0, SECRET]),
    (SparseVector(epsilon=1, threshold=0, hits=2, extra="gap"), [0, SECRET]),
    (SparseVector(epsilon=1, threshold=0, hits=2, extra="value"), [0, SECRET]),
    (PartitionSelection(epsilon=1, delta="1e-4"), {"a": 1, "b": SECRET}),
    (PartitionSelection(epsilon=1, delta="1e-4", partitions=3), {"a": 1, "b": SECRET}),
    (ThresholdedCounts(epsilon=1, delta="1e-4", partitions=2), {"a": 1, "b": SECRET}),
    (WeightedGaussianSelection(epsilon=1, delta="1e-4", partitions=3), {"a": 1, "b": SECRET}),
    (Quantile(epsilon=1, lower=0, upper=100), [2.5, SECRET]),
    (Quantile(epsilon=1, q="1/4", lower=0, upper=100, adjacency="replace-one"), [2.5, SECRET]),
    (QuantileInterval(epsilon=1, q=Fraction(1, 2), grid=ValueGrid.of(0, 100, 1)), [2.5, SECRET]),
    (Quantiles(epsilon=1, qs=["1/4", "1/2"], lower=0, upper=100), [2.5, SECRET]),
    (JointQuantiles(epsilon=1, qs=["1/4", "1/2"], lower=0, upper=100), [2.5, SECRET]),
    (RandomizedResponse(epsilon=1, choices=40_000), [SECRET, 2]),
    (TruncatedGeometric(epsilon=1, delta="1e-4"), [SECRET, 2]),
    (Staircase(epsilon=1, sensitivity=3), [SECRET, 2]),
    (Laplace(epsilon=1).then(str), SECRET),
    (Tree(epsilon=1, horizon=9), [1, SECRET]),
    (Tree(rho="1/2", horizon=9, contributions=2), [1, SECRET]),
    (Toeplitz(rho="1/2", horizon=9, contributions=2), [1, SECRET]),
    (Magnitude(epsilon=1), [2.5, SECRET]),
    (Mean(epsilon=9), [2.5, SECRET]),
    (Covariance(dimension=2, norm=2, rho="1/2"), [[2.5, SECRET]]),
    *((SmoothSensitivity(epsilon=1, delta=delta, statistic=MEDIAN), [2.5, SECRET]) for delta in (0, "1e-4")),
    (InverseSensitivity(epsilon=1, statistic=MEDIAN), [2.5, SECRET]),
    (ProposeTestRelease(epsilon=1, delta="1e-4", bound=1, statistic=MEDIAN), [2.5, SECRET]),
    (ProposeTestRelease(epsilon=1, delta="1e-4", bound=1), (SECRET, 100)),
    (StabilityTest(epsilon=1, delta="1e-4"), SECRET),
    (LittleBootstraps(epsilon=1, estimator=np.median, blocks=5, lower=0, upper=100, rounds=3), [2.5, SECRET]),
    (StableMode(epsilon=1, delta="1e-4"), {"a": 1, "b": SECRET}),
    *((SampleAndAggregate(epsilon=1, estimator=np.median, blocks=5, **how), [2.5, SECRET]) for how in AGGREGATES),
]
ids = [f"{i}-{type(m).__name__}" for i, (m, _) in enumerate(EVERY)]
each = pytest.mark.parametrize(("mechanism", "answer"), EVERY, ids=ids)


def test_every_mechanism_is_here() -> None:
    """A new mechanism must be added to the list above."""
    for module in pkgutil.walk_packages(mechanisms.__path__, "discreet.mechanisms."):
        importlib.import_module(module.name)
    gc.collect()  # attrs makes a class with slots of one without, which is there until it is swept up
    assert {type(m) for m, _ in EVERY} == {c for c in Mechanism.__subclasses__() if c.__module__.startswith("discreet.mechanisms")}


@each
def test_it_is_a_frozen_value(mechanism: Mechanism[Any], answer: Any) -> None:
    """No field can be set, no field can be added, and the loss cannot be replaced."""
    for name in [*(f.name for f in attrs.fields(type(mechanism))), "loss", "extra_field"]:
        with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError, TypeError)):
            setattr(mechanism, name, 1)


@each
def test_it_has_a_finite_loss(mechanism: Mechanism[Any], answer: Any) -> None:
    assert isinstance(mechanism.loss, Loss)
    delta = "1e-3" if mechanism.loss.delta or mechanism.loss.epsilon is None else 0
    assert 0 < mechanism.loss.epsilon_at(delta) < 10


@each
def test_a_group_of_one_costs_the_loss_and_larger_groups_more(mechanism: Mechanism[Any], answer: Any) -> None:
    costs = [mechanism.loss_at(k).epsilon_at("1/10") for k in (1, 2, 4)]
    assert costs[0] == mechanism.loss.epsilon_at("1/10")
    assert costs[0] < costs[1] < costs[2]
    deltas = [mechanism.loss_at(k).delta_at("0.3") for k in (1, 2)]
    assert deltas[0] == mechanism.loss.delta_at("0.3")
    assert deltas[0] <= deltas[1]
    for k in (0, -1, 1.5, True):
        with pytest.raises(Error):
            mechanism.loss_at(k)  # type: ignore[arg-type]


@each
def test_the_error_grows_with_confidence(mechanism: Mechanism[Any], answer: Any) -> None:
    errors = [mechanism.error(c, size=5) for c in ("0.5", "0.9", "0.99", "0.9999")]
    assert errors == sorted(errors)
    assert errors[0] < errors[-1]
    assert all(isinstance(e, float) and 0 <= e < math.inf for e in errors)
    for wrong in (0, 1, -1, "nan", math.nan, None):
        with pytest.raises(Error):
            mechanism.error(wrong)  # type: ignore[arg-type]


@each
def test_private_and_plain_answers_are_released_alike(mechanism: Mechanism[Any], answer: Any) -> None:
    plain, private = mechanism.release(answer), mechanism.release(Private(answer))
    assert type(plain) is type(private) or isinstance(mechanism, Laplace | Gaussian | SILENT)
    assert np.shape(plain) == np.shape(private) or isinstance(mechanism, SparseVector)
    assert mechanism.release(answer, SystemBits()) is not None or isinstance(mechanism, SILENT)


@each
def test_strict_numpy_settings_change_nothing(mechanism: Mechanism[Any], answer: Any) -> None:
    """A process may ask numpy to raise on overflow; that a private answer overflows must not be seen."""
    huge = dict.fromkeys(answer, 1e308) if isinstance(answer, dict) else [1e308, -1e308, 5e-324] if isinstance(answer, list) else 1e308
    with np.errstate(all="raise"), suppress(Error):  # of another shape than it takes, perhaps
        mechanism.release(Private(huge))


@each
def test_the_release_is_a_function_of_the_coins(mechanism: Mechanism[Any], answer: Any) -> None:
    """The same coins give the same output, for every answer; so nothing else is random."""
    assert repr(mechanism.sample(answer, Shake(1))) == repr(mechanism.sample(answer, Shake(1)))
    if isinstance(mechanism, Laplace | Gaussian):
        assert len({repr(mechanism.sample(answer, Shake(i))) for i in range(60)}) > 1


@each
def test_post_processing_keeps_the_loss(mechanism: Mechanism[Any], answer: Any) -> None:
    after = mechanism.then(lambda out: ("seen", out)).then(lambda out: out[0])
    assert isinstance(after, Processed)
    assert after.loss == mechanism.loss
    assert after.loss_at(3) == mechanism.loss_at(3)
    assert after.error("0.9", 3) == mechanism.error("0.9", 3)
    assert after.release(Private(answer)) == "seen"


@each
def test_coins_come_from_the_system_only(mechanism: Mechanism[Any], answer: Any) -> None:
    with pytest.raises(Error, match="operating system"):
        mechanism.release(answer, Shake(1))  # type: ignore[arg-type]


def complaint(mechanism: Mechanism[Any], answer: Any) -> str:
    """What a failing release says; an error that is not ours is not caught."""
    try:
        mechanism.release(answer)
    except Error as failure:
        return str(failure)
    return ""


@each
def test_neither_repr_nor_message_tells(mechanism: Mechanism[Any], answer: Any) -> None:
    mechanism.release(Private(answer))
    assert str(SECRET) not in repr(mechanism)
    assert str(SECRET) not in repr(Private(answer))
    for wrong in ({"secret": SECRET}, f"secret {SECRET}", object(), [[SECRET, 1], [2, 3]], [f"{SECRET}"], b"31337"):
        for wrapped in (wrong, Private(wrong)):
            assert str(SECRET) not in complaint(mechanism, wrapped)


@pytest.mark.parametrize(
    "mechanism",
    [Laplace(epsilon="1/3", sensitivity="1/7"), Laplace(epsilon=2), Gaussian(rho="1/2"), Gaussian(scale="1e6"), Gaussian(scale="1e-6")],
    ids=str,
)
def test_reals_leave_on_the_published_grid(mechanism: Laplace | Gaussian) -> None:
    """Every release of a real answer is a whole multiple of the step, whatever the answer's own bits."""
    step = lattice.step(mechanism.scale)
    answers = [0.0, 0.1, -1 / 3, math.pi * 1e5, 5e-324, 1e-9, 2.0**40 + 2.0**-12]
    for seed in range(300):
        for out in np.asarray(mechanism.sample(answers, Shake(seed))).tolist():
            assert (Fraction(out) / step).denominator == 1
    gaps = SparseVector(epsilon=1, threshold=0, extra="gap")
    grid = lattice.step(gaps.scales[1])
    told = [gaps.sample([math.pi], Shake(i))[0].extra for i in range(40)]
    assert all((Fraction(extra) / grid).denominator == 1 for extra in told if extra is not None)
    assert any(told)
