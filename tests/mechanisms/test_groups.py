"""Labels of groups: which values are labels, which are equal, and the order in which they are released."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from mechanisms.shake import Shake

from discreet.errors import Invalid
from discreet.mechanisms import groups
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.private import Private

EVERY: list[Any] = [
    PartitionSelection(epsilon=1, delta="1e-4"),
    ThresholdedCounts(epsilon=1, delta="1e-4"),
    WeightedGaussianSelection(epsilon=1, delta="1e-4", partitions=3),
]


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


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("respelt", [True, 1.0, Decimal(1), -0.0], ids=repr)
def test_one_unit_cannot_respell_a_label(mechanism: Any, respelt: Any) -> None:
    """A label of size 1 that equals a large group's is a group of its own: it shows with its own chance, and changes nothing else."""
    large = 0.0 if respelt == 0 else 1
    for labels, sizes in (([respelt, large, 10**6000], [1, 10**13, 0]), ([large, respelt], [10**13, 1])):
        shown = list(mechanism.sample((labels, sizes), Shake(0)))
        assert [repr(label) for label in shown] == [repr(large)]


def test_equal_representations_are_one_group() -> None:
    labels, sizes = groups.read_groups(([1, 1.0, True, 1, "1"], [1, 2, 3, 4, 5]))
    assert list(map(repr, labels)) == ["1", "1.0", "True", "'1'"]
    assert sizes.tolist() == [5, 2, 3, 5]
    labels, sizes = groups.read_groups({"a": 3, "b": -2, "c": None})
    assert (labels, sizes.tolist()) == (["a", "b", "c"], [3, 0, 0])
    assert groups.read_groups((["a", "a"], [2**62, 2**62]))[1].tolist() == [2**62]
    assert groups.read_groups(([10**6000], [5]))[0] == [10**6000]  # whose repr is an error


@pytest.mark.parametrize("wrong", [[("a", 1)], (["a"], [1, 2]), (["a"],), ("a", 1), 5])
def test_the_shape_of_groups_is_checked(wrong: Any) -> None:
    with pytest.raises(Invalid):
        groups.read_groups(wrong)
    with pytest.raises(Invalid):
        groups.check_groups(wrong)


def test_columns_of_an_engine_give_the_labels_that_are_selected() -> None:
    keys = groups.Keys((np.array(["b", "a", "c"], object), np.array([1, 2, 3])))
    labels, sizes = groups.read_groups((keys, [5.9, None, 7]))
    assert (labels, sizes.tolist()) == (keys, [5, 0, 7])
    selected = np.array([True, False, True])
    assert groups.selected_labels(keys, selected) == [("b", 1), ("c", 3)]
    assert groups.selected_labels(list(keys), selected) == [("b", 1), ("c", 3)]
    found = groups.SelectedGroups(np.array([True, True, False]), np.array([9, 8, 0]))
    assert list(groups.sizes_by_label(keys, found).items()) == [(("a", 2), 8), (("b", 1), 9)]


def test_labels_of_several_types_have_one_order() -> None:
    mixed = [2, "a", None, 1.5, True, (1, "x")]
    assert groups.sorted_labels(mixed) == groups.sorted_labels(mixed[::-1])
    assert groups.sorted_labels([10, 9, True]) == [True, 9, 10]
