"""Which groups are shown: sizes of every kind, stated accuracy, and what the output's shape tells."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from scipy import stats
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms import partition_selection
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection

EVERY: list[Any] = [
    PartitionSelection(epsilon=1, delta="1e-4"),
    ThresholdedCounts(epsilon=1, delta="1e-4"),
    WeightedGaussianSelection(epsilon=1, delta="1e-4", partitions=3),
]


def test_half_is_shown_from_twelve_on() -> None:
    """(1, 10⁻⁵): 12; (0.1, 10⁻⁸): 155."""
    assert PartitionSelection(epsilon=1, delta=1e-5).error(0.5) == 12
    assert PartitionSelection(epsilon=0.1, delta=1e-8).error(0.5) == 155


@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.9, 0.999])
def test_the_stated_size_is_shown_often_enough(confidence: float) -> None:
    selection = PartitionSelection(epsilon=1, delta="1e-4")
    n = int(selection.error(confidence))
    assert selection.chance(n) >= confidence > selection.chance(n - 1)

    counts = ThresholdedCounts(epsilon=1, delta="1e-4")
    law = laws.truncated_geometric(1, counts.noise.bound)

    def shown(n: float) -> float:
        return math.fsum(p for z, p in law.items() if n + z > counts.noise.bound)

    m = counts.error(confidence)
    assert shown(m) >= confidence
    assert confidence < 0.5 or shown(m - 1) < confidence

    many = WeightedGaussianSelection(epsilon=1, delta="1e-4", partitions=3)
    units = many.error(confidence)
    assert stats.norm.sf((many.threshold + 0.5) / many.unit - units, scale=float(many.scale)) >= confidence - 1e-6


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    "sizes", [[math.nan, 3.0], [math.inf, 3.0], [1e19, 3.0], [-5, 3], [10**400, 3], [], [True, False], [None, 3]], ids=str
)
def test_private_sizes_are_total(mechanism: Any, sizes: list[Any]) -> None:
    shown = mechanism.sample((["first", "second"][: len(sizes)], sizes), Shake(0))
    assert set(shown) <= {"first", "second"}
    if sizes and sizes[0] is not None and sizes[0] > 1e6:
        assert "first" in shown
    if sizes and (sizes[0] is None or not sizes[0] > 0):
        assert "first" not in shown


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
def test_empty_groups_are_never_shown(mechanism: Any) -> None:
    assert not mechanism.sample((range(10**5), np.zeros(10**5, np.int64)), Shake(1))


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("wrong", [{"a": -1}, {"a": 1.5}, {"a": "b"}, (["a"], [[1]]), (["a"], [1, 2]), [1, 2, 3], 5, None], ids=str)
def test_wrong_plain_sizes(mechanism: Any, wrong: Any) -> None:
    with pytest.raises(Invalid):
        mechanism.release(wrong)


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
def test_the_shape_does_not_tell_how_many_groups_there_are(mechanism: Any) -> None:
    """A neighbour may have one group more; with nothing shown the two releases must be equal."""
    one, two = (mechanism.sample(groups, Shake(0)) for groups in ({"a": 1}, {"a": 1, "b": 1}))
    assert not one
    assert one == two


@pytest.mark.parametrize("delta", [Fraction(1, 10**39), Fraction(1, 10**60), Fraction(1, 10**400)])
def test_a_tiny_delta_is_shared_between_groups(delta: Fraction) -> None:
    """Where one unit replaces another, δ is divided by 1 + e^(ε/2), so it may be far below the working precision, and below floats."""
    each = partition_selection._each(delta, 2)
    assert delta / 2 * (1 - Fraction(1, 10**30)) <= each <= delta / 2 * (1 + delta)
    assert PartitionSelection(epsilon=100, delta=delta, partitions=2).error(0.5) > 1


def test_a_threshold_is_found_for_a_tiny_delta() -> None:
    """Below the working precision, 1 − δ cannot be told from 1: so the search of a threshold would not end."""
    usual, tiny = (WeightedGaussianSelection(deviation=1, delta=delta, partitions=3) for delta in ("1e-40", Fraction(1, 10**100)))
    assert usual.threshold < tiny.threshold
    for one in (usual, tiny):
        lower, half = math.log(float(one.delta / 2)), one.threshold / one.unit
        assert max(math.log(t) + stats.norm.logsf(half - t**-0.5) for t in (1, 2, 3)) == pytest.approx(lower, rel=1e-4)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, "nan"])
def test_discovery_needs_a_delta(delta: Any) -> None:
    with pytest.raises(Invalid):
        PartitionSelection(epsilon=1, delta=delta)


@pytest.mark.parametrize("k", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("partitions", [1, 10])
def test_groups_of_people_and_the_threshold(k: int, partitions: int) -> None:
    """k people who enter one new group together: the chance that it shows is within what loss_at(k) says (not k revelations)."""
    mechanism = WeightedGaussianSelection(epsilon=1, delta="1e-5", partitions=partitions)
    shown = float(stats.norm.sf((mechanism.threshold / mechanism.unit - k) / float(mechanism.scale)))
    assert shown <= mechanism.loss_at(k).delta_at(100)
    counts = ThresholdedCounts(epsilon=1, delta="1e-5", partitions=partitions)
    law = laws.truncated_geometric(float(counts.noise.epsilon), counts.noise.bound)
    assert math.fsum(p for z, p in law.items() if k + z > counts.noise.bound) <= counts.loss_at(k).delta_at(100) * (1 + 1e-9)
    assert PartitionSelection(epsilon=1, delta="1e-5").chance(k) <= PartitionSelection(epsilon=1, delta="1e-5").loss_at(k).delta_at(100)


@pytest.mark.parametrize("epsilon", ["1/2", "2", "8"])
def test_three_units_in_two_of_three_new_groups(epsilon: str) -> None:
    """Units in {A, B}, {B, C} and {A, C}: the chance that any of three groups of two shows is within what loss_at(3) says."""
    three = {"epsilon": epsilon, "delta": "1e-5", "partitions": 2}
    single = PartitionSelection(**three)
    assert 1 - (1 - single.chance(2)) ** 3 <= single.loss_at(3).delta_at(100)
    counts = ThresholdedCounts(**three)
    law = laws.truncated_geometric(float(counts.noise.epsilon), counts.noise.bound)
    shown = math.fsum(p for z, p in law.items() if 2 + z > counts.noise.bound)
    assert 1 - (1 - shown) ** 3 <= counts.loss_at(3).delta_at(100) * (1 + 1e-9)
    weighted = WeightedGaussianSelection(**three)
    shown = float(stats.norm.sf((weighted.threshold / weighted.unit - math.sqrt(2)) / float(weighted.scale)))
    assert 1 - (1 - shown) ** 3 <= weighted.loss_at(3).delta_at(100)
