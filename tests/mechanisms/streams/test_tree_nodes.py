"""The nodes of a tree: their sensitivity by enumeration, their numbers, and tails of sums against convolution."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.streams.nodes import nodes

from discreet import exact
from discreet.mechanisms.streams import tree_nodes
from discreet.mechanisms.streams.tree_nodes import digits, l1_sensitivity, l2_squared, node_counts, nodes_of_window, tail_of_sum
from discreet.noise.laplace import DiscreteLaplace


def worst(matrix: np.ndarray[Any, Any], k: int) -> tuple[int, int]:
    """The largest ℓ₁ and squared ℓ₂ norm over all ways to move at most k steps by −1 or 1."""
    best = (0, 0)
    for steps in itertools.combinations(range(matrix.shape[1]), min(k, matrix.shape[1])):
        for signs in itertools.product((-1, 0, 1), repeat=len(steps)):
            moved = matrix[:, steps] @ np.array(signs)
            best = max(best[0], int(abs(moved).sum())), max(best[1], int(moved @ moved))
    return best


@pytest.mark.parametrize("horizon", range(1, 12))
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("arity", [2, 3, 4])
def test_the_nodes_move_as_far_as_is_said_and_no_further(horizon: int, k: int, arity: int) -> None:
    assert worst(nodes(horizon, arity), k) == (l1_sensitivity(horizon, k, arity), l2_squared(horizon, k, arity))


@pytest.mark.parametrize(("horizon", "arity"), [(27, 3), (30, 3), (16, 4), (37, 5)])
def test_wider_trees_move_as_far_as_is_said(horizon: int, arity: int) -> None:
    assert worst(nodes(horizon, arity), 2) == (l1_sensitivity(horizon, 2, arity), l2_squared(horizon, 2, arity))


def test_one_step_is_not_enough_for_two() -> None:
    """The check sees a sensitivity that forgets how often a unit counts."""
    far, long = worst(nodes(8), 2)
    assert far > l1_sensitivity(8, 1)
    assert long > l2_squared(8, 1)
    assert long > 2 * l2_squared(8, 1)


def test_the_bound_for_many_contributions_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    exactly = {(t, k, b): l2_squared(t, k, b) for t in (7, 8, 13, 100) for k in (1, 5, 13, 100) for b in (2, 3, 10)}
    monkeypatch.setattr(tree_nodes, "MANY", 0)
    for (t, k, b), found in exactly.items():
        assert found <= l2_squared.__wrapped__(t, k, b) <= 3 * found


def test_numbers_of_nodes() -> None:
    for horizon, arity in itertools.product(range(1, 70), (2, 3, 7)):
        counted: dict[int, int] = {}
        for t in range(1, horizon + 1):
            nodes_used = sum(digits(t, arity))
            counted[nodes_used] = counted.get(nodes_used, 0) + 1
        assert node_counts(horizon, arity) == dict(sorted(counted.items()))


def test_the_tail_of_a_sum_is_exact() -> None:
    for scale, count in ((Fraction(1, 2), 2), (Fraction(3), 3), (Fraction(2), 4)):
        law = DiscreteLaplace(scale)
        far = 400
        single = np.array([law.pmf(k)[0] for k in range(-far, far + 1)])
        summed = single
        for _ in range(count - 1):
            summed = np.convolve(summed, single, "same")
        for k in (1, 2, 5, 17):
            with exact.precision(128):
                tail = float(exact.upper(tail_of_sum(scale, count, k)))
            assert tail == pytest.approx(2 * summed[far + k :].sum(), rel=1e-9)


def test_windows_are_made_of_as_many_nodes_as_is_said() -> None:
    def ends(t: int, arity: int) -> set[int]:
        found = set()
        while t:
            found.add(t)
            t -= next(arity**j for j in reversed(range(t.bit_length())) if t % arity**j == 0)
        return found

    for horizon, arity in itertools.product((1, 5, 8, 31, 32, 100), (2, 3, 10)):
        for w in range(1, horizon + 1):
            most = max(len(ends(t, arity) ^ ends(max(t - w, 0), arity)) for t in range(1, horizon + 1))
            assert most <= nodes_of_window(w, horizon, arity)
        assert nodes_of_window(1, horizon, arity) <= 1 + (arity - 1) * len(digits(horizon, arity))
