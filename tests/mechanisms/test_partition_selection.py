"""Which groups are shown: sizes of every kind, stated accuracy, and what the output's shape tells."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from mechanisms.shake import Shake
from scipy import stats
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.private import Private

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


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    "labels",
    [
        ["b", "c", "a"],
        [3, 1, 2],
        ["b", 1, None],
        np.array(["y", "z", "x"]),
        [frozenset({1}), frozenset({2, 3}), frozenset({4})],
        [2.0, 9.5, 1.0],
    ],
    ids=str,
)
def test_the_order_of_the_data_does_not_show(mechanism: Any, labels: Any) -> None:
    """The same large groups found in another order: the labels come out in their own order."""
    forth = list(mechanism.sample((labels, [10**12] * 3), Shake(0)))
    back = list(mechanism.sample((labels[::-1], [10**12] * 3), Shake(0)))
    assert len(forth) == 3
    assert forth == back


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, "nan"])
def test_discovery_needs_a_delta(delta: Any) -> None:
    with pytest.raises(Invalid):
        PartitionSelection(epsilon=1, delta=delta)


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
def test_labels_that_are_equal_or_none(mechanism: Any) -> None:
    """Plain: reported. Private: equal labels are one group, and what cannot be a label is left out, shown or not."""
    for wrong in ((["a", "a"], [5, 5]), ([[1]], [5])):
        with pytest.raises(Invalid, match="labels"):
            mechanism.release(wrong)
    assert list(mechanism.release(Private((["a", "a", [1]], [10**12, 10**12, 10**12])))) == ["a"]


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
def test_only_plain_values_are_labels(mechanism: Any) -> None:
    """Objects that share a spelling would be one group, told by the last one's object: one unit's own."""
    mine, theirs = re.compile("x" * 300 + "mine"), re.compile("x" * 300 + "theirs")
    assert repr(mine) == repr(theirs)
    strange = [mine, theirs, type("Text", (str,), {})("a"), datetime.datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC")), ("a", mine), object()]
    assert list(mechanism.release(Private((strange, [10**12] * len(strange))))) == []
    with pytest.raises(Invalid, match="plain values"):
        mechanism.release(([mine], [5]))
    usual = ["a", b"a", 5, 1.5, True, None, Fraction(1, 3), Decimal("2.5"), datetime.date(2026, 1, 1), ("a", 1), frozenset({2})]
    assert len(list(mechanism.release(Private((usual, [10**12] * len(usual)))))) == len(usual)


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


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("respelt", [True, 1.0, Decimal(1), -0.0], ids=repr)
def test_one_unit_cannot_respell_a_label(mechanism: Any, respelt: Any) -> None:
    """A label of size 1 that equals a large group's is a group of its own: it shows with its own chance, and changes nothing else."""
    large = 0.0 if respelt == 0 else 1
    for labels, sizes in (([respelt, large, 10**6000], [1, 10**13, 0]), ([large, respelt], [10**13, 1])):
        shown = list(mechanism.sample((labels, sizes), Shake(0)))
        assert [repr(label) for label in shown] == [repr(large)]


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
