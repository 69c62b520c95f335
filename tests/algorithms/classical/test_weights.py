"""Multiplicative weights: the potential falls as stated, and the number of updates is bounded."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.algorithms.classical.weights import Weights, most_updates
from discreet.errors import Invalid


def test_the_potential_falls_as_stated() -> None:
    """Random x, p, q and rates: Ψ − Ψ′ ≥ ηs(q(x) − q(p)) − η²/8, and nearly attained."""
    rng = np.random.default_rng(1)
    closest = math.inf
    for _ in range(3000):
        n = int(rng.integers(2, 9))
        x, q = rng.dirichlet(np.full(n, 0.3)), rng.integers(0, 2, n) if rng.random() < 0.5 else rng.random(n)
        p = Weights(np.log(rng.dirichlet(np.ones(n))))
        side, rate = int(rng.choice([1, -1])), float(rng.exponential(0.7))
        fall = p.divergence(x) - p.update(q, side, rate).divergence(x)  # type: ignore[arg-type]
        bound = rate * side * (q @ x - p.mean(q)) - rate**2 / 8
        assert fall >= bound - 1e-9
        closest = min(closest, (fall - bound) / rate**2)
    assert closest < 0.01


@pytest.mark.parametrize("gap", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("rate", ["best", "textbook"])
def test_there_are_no_more_updates_than_stated(gap: float, rate: str) -> None:
    """An adversary who always finds a query with the gap, in a domain of 64 values."""
    rng = np.random.default_rng(2)
    step = 4 * gap if rate == "best" else gap / 2
    limit = most_updates(64, gap, step)
    assert limit <= 4 * math.log(64) / gap**2
    for _ in range(5):
        x, p, used = np.eye(64)[rng.integers(64)], Weights.uniform(64), 0
        while True:
            tries = rng.integers(0, 2, (200, 64))
            off = tries @ (x - p.distribution)
            best = int(np.abs(off).argmin() if (np.abs(off) >= gap).all() else np.where(np.abs(off) >= gap, np.abs(off), 9).argmin())
            if abs(off[best]) < gap:
                break
            p, used = p.update(tries[best], 1 if off[best] > 0 else -1, step), used + 1
        assert 0 < used <= limit


def test_the_wrong_direction_is_not_covered() -> None:
    """The lemma needs the right side: going the other way raises the potential."""
    x, p = np.array([1.0, 0.0]), Weights.uniform(2)
    assert p.update([1, 0], -1, 0.5).divergence(x) > p.divergence(x)


@pytest.mark.parametrize("wrong", [(0, 1.0), (2, 1.0), (1, -1.0), (1, math.nan)])
def test_wrong_updates(wrong: tuple[int, float]) -> None:
    with pytest.raises(Invalid):
        Weights.uniform(2).update([0, 1], *wrong)  # type: ignore[arg-type]


def test_wrong_rates() -> None:
    for rate in (0.0, 0.8, 1.0):
        with pytest.raises(Invalid):
            most_updates(4, 0.1, rate)
