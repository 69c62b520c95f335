"""Groups as combinations of values are the groups written out."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from discreet.plan.key_values import Combinations, key_column, values_of

CASES: list[tuple[tuple[Any, ...], ...]] = [
    (),
    (("a", "b", None),),
    ((1, 2), (None, "a", "b")),
    ((1, 2), ()),
    ((1, 2), (3,), (False, True)),
]


@pytest.mark.parametrize("values", CASES)
def test_combinations_are_the_product(values: tuple[tuple[Any, ...], ...]) -> None:
    groups, written = Combinations(values), tuple(itertools.product(*values))
    assert (tuple(groups), len(groups), bool(groups)) == (written, len(written), bool(written))
    assert groups[:2] == written[:2]
    assert not written or groups[-1] == written[-1]
    for place in range(len(values)):
        assert list(key_column(groups, place)) == key_column(written, place)
        assert set(values_of(groups, place)) == set(values_of(written, place))
        assert list(dict.fromkeys(values_of(groups, place))) == list(dict.fromkeys(values_of(written, place)))


def test_equal_values_are_equal_groups() -> None:
    assert Combinations(((1, 2),)) == Combinations(((1, 2),)) != Combinations(((1, 3),))
    assert hash(Combinations(((1, 2),))) == hash(Combinations(((1, 2),)))
