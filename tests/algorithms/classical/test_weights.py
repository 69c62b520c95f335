"""Multiplicative weights and shares of a budget; and the tape, by which the other tests replay all noise on neighbouring data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scripted import Seeded

from discreet.algorithms.classical.arguments import check_histogram, read_histogram
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.weights import Weights, most_updates
from discreet.errors import Invalid
from discreet.loss.loss import Loss, compose
from discreet.mechanisms import mechanism as mechanism_module
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams import sparse_vector
from discreet.mechanisms.streams.sparse_vector import SparseVector, ThresholdAnswer
from discreet.private import Private, reveal

# ── the tape ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Strayed(Exception):
    """The algorithm did something else on neighbouring data though all noise was the same: it looked at the data by itself."""


class Tape:
    """Record each meeting of data and a mechanism; on neighbouring data give the same outputs, and compare what was to be noised.

    If all meetings are with the same mechanisms, answers move by no more than each mechanism's sensitivity in its norm, and the
    algorithm's result is the same, then the algorithm is the composition of these mechanisms, and costs what they cost.
    """

    def __init__(self, patch: pytest.MonkeyPatch, seed: int) -> None:
        self.meetings: list[tuple[Any, Any, Any]] = []  # mechanism, answer, output
        self.opened: list[Loss] = []
        self._at: int | None = None
        self._seed = seed
        for kind in (Laplace, Gaussian, Exponential):
            patch.setattr(kind, "sample", self._sampling(kind.sample))
        patch.setattr(sparse_vector.SparseVectorRun, "ask", self._asking(sparse_vector.SparseVectorRun.ask))
        patch.setattr(SparseVector, "open", self._opening(SparseVector.open))
        patch.setattr(mechanism_module, "SystemBits", lambda: self.bits)
        patch.setattr(sparse_vector, "SystemBits", lambda: self.bits)
        self.bits = Seeded(seed)

    @property
    def loss(self) -> Loss:
        """What all meetings cost together."""
        return compose([m.loss for m, *_ in self.meetings if not isinstance(m, SparseVector)] + self.opened)

    def rewind(self) -> None:
        self._at, self.opened, self.bits = 0, [], Seeded(self._seed)

    def same(self, run: Callable[[Private[Any]], Any], given: tuple[int, ...], *, replace: bool = False) -> Any:
        """Run on a data set, then with the same outputs on each neighbour, and see that nothing differs."""
        first = run(Private(given))
        for other in neighbours(given, replace=replace):
            self.rewind()
            if run(Private(other)) != first:
                raise Strayed("another result")
        return first

    def _meet(self, mechanism: Any, answer: Any, draw: Any) -> Any:
        if self._at is None:
            out = draw()
            self.meetings.append((mechanism, answer, out))
            return out
        if self._at >= len(self.meetings):
            raise Strayed("one meeting more")
        before, taken, out = self.meetings[self._at]
        self._at += 1
        if before != mechanism:
            raise Strayed("another mechanism")
        moved = np.abs(np.atleast_1d(np.asarray(answer, object)) - np.atleast_1d(np.asarray(taken, object)))
        bound = mechanism.sensitivity
        size = {Laplace: lambda: sum(moved), Gaussian: lambda: sum(moved**2)}.get(type(mechanism), lambda: max(moved))()
        assert size <= (bound**2 if isinstance(mechanism, Gaussian) else bound), f"{mechanism} is given an answer that moves by {size}"
        return out

    def _sampling(self, original: Any) -> Any:
        return lambda itself, answer, bits: self._meet(itself, answer, lambda: original(itself, answer, bits))

    def _asking(self, original: Any) -> Any:
        def ask(run: sparse_vector.SparseVectorRun, answer: Any) -> ThresholdAnswer:
            if run.halted:
                raise Invalid("halted")
            out: ThresholdAnswer = self._meet(run.mechanism, reveal(answer), lambda: original(run, answer))
            if self._at is not None and out.above:
                run.left -= 1
            return out

        return ask

    def _opening(self, original: Any) -> Any:
        def open_(itself: SparseVector) -> Any:
            self.opened.append(itself.loss)
            return original(itself)

        return open_


def histograms(domain: int, most: int, *, least: int = 0) -> list[tuple[int, ...]]:
    """All data sets over a domain with so many records."""
    return [h for h in itertools.product(range(most + 1), repeat=domain) if least <= sum(h) <= most]


def neighbours(given: tuple[int, ...], *, replace: bool = False) -> Iterator[tuple[int, ...]]:
    """One record more or less, or one replaced."""
    one = np.eye(len(given), dtype=int)
    here = np.array(given)
    moves = [a - b for a in one for b in one] if replace else [*one, *-one]
    for move in moves:
        if (here + move).min() >= 0 and move.any():
            yield tuple((here + move).tolist())


# ── weights ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── shares ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rho", ["1e-9", "1/1000", "1/3", 2, 50])
def test_what_is_made_of_rho_costs_at_most_rho(rho: Any) -> None:
    share, limit = BudgetShare.of(rho=rho), Fraction(rho)
    for made in (share.count(3), share.choice(3), share.test(7, 3)):
        assert made.loss.rho is not None
        assert made.loss.rho <= limit
    assert share.count(3).loss.rho > limit * (1 - Fraction(1, 10**6))  # type: ignore[operator]
    if limit < 1:  # √(8ρ) and √(2ρ) are tight for small ρ
        for made in (share.choice(3), share.test(7, 3)):
            assert made.loss.rho > limit * Fraction(9, 10) or limit > Fraction(1, 10)  # type: ignore[operator]


def test_parts_of_epsilon_are_exact() -> None:
    share = BudgetShare.of(epsilon="7/3").part(5, 2)
    assert share.count(2).loss.epsilon == share.choice(2).loss.epsilon == share.test(0, 2).loss.epsilon == Fraction(14, 15)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-9"), ("5", "1e-3")])
def test_of_epsilon_and_delta_the_better(epsilon: str, delta: str) -> None:
    """Few parts stay pure, many become ρ; either way all parts together are (ε, δ), and each is about as good as the pure one or better."""
    kinds = []
    for parts in (1, 2, 5, 20, 100, 1000):
        share = BudgetShare.of(epsilon, delta=delta, parts=parts).part(parts)
        kinds.append(share.rho is None)
        for made in (share.count(1), share.choice(1), share.test(0, 1)):
            assert compose(parts * [made.loss]).epsilon_at(Fraction(delta)) <= float(epsilon)
        pure = BudgetShare.of(epsilon).part(parts)
        assert share.choice(1).epsilon >= pure.choice(1).epsilon
        assert share.count(1).error(size=10) <= pure.count(1).error(size=10) * 1.2
    assert kinds == sorted(kinds, reverse=True)
    assert not kinds[-1]
    assert BudgetShare.of(epsilon, delta=0, parts=1000) == BudgetShare.of(epsilon)


def test_one_of_the_two() -> None:
    budgets: list[dict[str, Any]] = [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": -1}]
    for wrong in [*budgets, {"rho": 1, "delta": "1e-6"}, {"delta": "1e-6"}, {"epsilon": 1, "delta": 1}]:
        with pytest.raises(Invalid):
            BudgetShare.of(**wrong)


def test_histograms_are_read_totally() -> None:
    assert read_histogram([1.7, math.nan, -2], 3, 1).tolist() == [1, 0, 0]
    huge = read_histogram([10**30, 2**62, 1], 3, 7)
    assert int(huge[0]) * 3 * 7 <= 2**62
    assert int(huge @ [7, 7, 7]) == 7 * sum(huge.tolist())  # no overflow
    for wrong in ([1, 2], 5, [[1, 2, 3]]):
        with pytest.raises(Invalid):
            read_histogram(wrong, 3, 1)
    for wrong in ([1, -1, 0], [1.5, 0, 0]):
        with pytest.raises(Invalid):
            check_histogram(wrong, 3)
