"""The binary tree mechanism: running totals of a stream, each from a few noisy sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import calibrate, leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import continual
from discreet.mechanisms.continual import Run, Totals, largest, read_steps
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise import lattice
from discreet.noise.bits import Bits, SystemBits
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.private import Private

_MANY = 2048  # contributions up to which the ℓ₂ norm is found exactly


@final
@frozen(kw_only=True, init=False)
class Tree(Mechanism[Totals]):
    """Release the running total after every step of a stream of whole numbers, up to a horizon of T steps.

    Give epsilon for discrete Laplace noise (totals are whole), or rho, or epsilon and delta, for Gaussian noise. One unit counts in at
    most `contributions` steps and moves each by at most `sensitivity`. `open()` begins a stream, which keeps O(log T) numbers.

    Theorem (Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011).
        After step t the sum of the last 2^j steps is released with fresh noise, 2^j being the largest power of two that divides t. The
        running total is the sum of the released nodes that t's binary digits name: at most log₂ T + 1 of them. Noise for the ℓ₁ (ℓ₂) norm
        by which the vector of all nodes moves makes it ε-DP (Gaussian DP), for all steps together, also if the stream is chosen on the way.

    Proof (how far the nodes move).
        Count steps from 0 and let p be the highest digit in which s and T differ: then step s is in 1 + z nodes, z being the zeros among
        its p lowest digits, and each digit p that is set in T gives C(p, z) such steps. If a unit moves steps by aₛ, |aₛ| ≤ Δ, a node moves
        by |Σ aₛ over its steps| ≤ Δ·c, where c of its steps are the unit's; if all aₛ = Δ, it moves that far. So ℓ₁ is Δ times the k
        largest of these numbers together, and ℓ₂² is Δ²·max Σ c² over all ways to place k steps: within a block of 2^p steps
        F_p(k) = max over a + b = k of a² + F_(p−1)(a) + F_(p−1)(b), for its left half is a node and its right half is none. Beyond 2048
        steps of one unit Σ c² ≤ Σ over j of k·min(k, 2^j) is used instead.

    Accuracy.
        A running total errs by a sum of at most log₂ T + 1 noises: standard error about (log₂ T)^1.5·√2/ε. `error` is the exact quantile of
        that sum for one running total at the worst step, or at step `after`; for `size` of them the union bound, each with its own number
        of nodes. With `window` it is of a window's sum: up to log₂ T + log₂ w + 2 noises, for two totals share only their first nodes.

    Averaging each node with those below it (Honaker 2015) would take off a third, at the price of an error without such a quantile; with
    Gaussian noise, `Toeplitz` errs far less.

    >>> tree = Tree(epsilon=1000, horizon=100)
    >>> run = tree.open(windows=(2,))
    >>> [run.add(value) for value in (5, 0, 7)], run.window(2)
    ([5, 5, 12], 7)
    >>> Tree(epsilon=1, horizon=2**20).error(size=2**20), tree.loss.epsilon_at(0)
    (667.0, 1000.0)
    """

    scale: Fraction = field(repr=lambda scale: f"{float(scale):.6g}")
    horizon: int
    sensitivity: Fraction = field(repr=str)
    contributions: int
    whole: bool  # with discrete Laplace noise; else Gaussian

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        horizon: int,
        sensitivity: Number = 1,
        contributions: int = 1,
    ) -> None:
        steps, moved = continual.horizon(horizon), parameter.sensitivity(sensitivity)
        k = min(continual.contributions(contributions), steps)
        match epsilon, delta, rho:
            case (e, None, None) if e is not None:
                if moved.denominator > 1:
                    raise Invalid("whole numbers move by whole numbers: give a whole sensitivity, or rho or delta for Gaussian noise")
                scale = moved * l1_moved(steps, k) / parameter.some_epsilon(e)
            case (e, d, None) if e is not None and d is not None:
                far = moved * l2_moved(steps, k)
                scale = calibrate.gaussian_scale(parameter.some_epsilon(e), parameter.some_delta(d), far)
            case (None, None, r) if r is not None:
                scale = calibrate.gaussian_scale_zcdp(exact.positive(r, "rho"), moved * l2_moved(steps, k))
            case _:
                raise Invalid("give epsilon, or epsilon and delta, or rho")
        whole = delta is None and rho is None
        self.__attrs_init__(scale=parameter.scale(scale), horizon=steps, sensitivity=moved, contributions=k, whole=whole)

    @property
    def levels(self) -> int:
        """How many levels of nodes there are."""
        return self.horizon.bit_length()

    @property
    def loss(self) -> Loss:
        if self.whole:
            return leaves.DiscreteLaplace(self.scale, self.sensitivity.numerator * l1_moved(self.horizon, self.contributions))
        return leaves.Gaussian((self.sensitivity * l2_moved(self.horizon, self.contributions) / self.scale) ** 2)

    def error(self, confidence: Number = 0.95, size: int = 1, *, window: int | None = None, after: int | None = None) -> float:
        level, count = exact.confidence_level(confidence), min(exact.whole(size, "size"), self.horizon)
        if after is not None:
            nodes = [(continual.step_of(after, self.horizon).bit_count(), 1)]
        elif window is not None:
            w = exact.whole(window, "window")
            nodes = [(min(self.levels + w.bit_length(), 2 * self.levels - 1), count)]
        else:
            nodes = largest(node_counts(self.horizon).items(), count)
        if not self.whole:
            grid = float(self._grid) / 2 * nodes[0][0]  # each node is rounded
            return continual.reach([(math.sqrt(m) * float(self.scale), often) for m, often in nodes], level) + grid
        return float(_quantile(self.scale, tuple(nodes), level))

    @property
    def _grid(self) -> Fraction:
        """Gaussian noise is rounded to this power of two: sums of whole numbers are on it, so that rounding the sum rounds the noise."""
        return min(lattice.step(self.scale), Fraction(1))

    def open(self, windows: Iterable[int] = ()) -> TreeRun:
        """Begin a stream; the whole loss is spent now."""
        return TreeRun(self, windows, SystemBits())

    def check(self, answer: Any) -> None:
        read_steps(answer)

    def sample(self, answer: Any, bits: Bits) -> Totals:
        return TreeRun(self, (), bits).add_many(Private(answer))


@final
class TreeRun(Run):
    """One stream: the exact sum so far, and for each of the nodes in use what was released up to its end."""

    def __init__(self, mechanism: Tree, windows: Iterable[int], bits: Bits) -> None:
        super().__init__(mechanism.horizon, windows, bits)
        self.mechanism = mechanism
        self._fine = 0 if mechanism.whole else mechanism._grid.denominator.bit_length() - 1
        scale = mechanism.scale * 2**self._fine
        self._law = DiscreteLaplace(scale) if mechanism.whole else RoundedGaussian(scale)
        self._sum = 0
        self._ends = [(0, 0)]  # (exact sum, released total) where each node in use ends, in steps of the grid

    @property
    def numbers_kept(self) -> int:
        return 1 + 2 * len(self._ends)

    def _drawn(self, count: int) -> list[int]:
        if count > 1:
            found: list[int] = self._law.sample(count, self._bits).tolist()
            return found
        law = self._law  # one draw spares the cost of arrays
        return [law.draw(self._bits) if isinstance(law, DiscreteLaplace) else law.draw(0.0, Fraction, self._bits)]

    def _advance(self, values: list[int], measured: list[int] | None) -> Totals:
        noise = self._drawn(len(values)) if measured is None else []
        told, totals = [], []
        for i, value in enumerate(values):
            self._sum += value << self._fine
            del self._ends[(self.steps + i + 1).bit_count() :]  # the nodes that the new one takes in
            before, total = self._ends[-1]
            node = self._sum - before + noise[i] if measured is None else measured[i]
            self._ends.append((self._sum, total + node))
            told.append(node)
            totals.append(total + node)
        self.measured = told
        return totals if self.mechanism.whole else [math.ldexp(total, -self._fine) for total in totals]


# ── how far nodes move ───────────────────────────────────────────────────────────────────────────────────────────────


def l1_moved(steps: int, contributions: int) -> int:
    """How far all nodes together move if so many steps move by 1: the numbers of nodes of the steps that are in most.

    >>> l1_moved(7, 1), l1_moved(7, 2), l1_moved(8, 1)
    (3, 5, 4)
    """
    counts: dict[int, int] = {}
    for p in _digits(steps):
        for z in range(p + 1):
            counts[1 + z] = counts.get(1 + z, 0) + math.comb(p, z)
    return sum(value * often for value, often in largest(counts.items(), contributions))


def l2_moved(steps: int, contributions: int) -> Fraction:
    """The same in ℓ₂, rounded up."""
    square = l2_squared(steps, contributions)
    root = math.isqrt(square)
    return Fraction(root) if root**2 == square else exact.rational_up(lambda: exact.ball(square).sqrt())


@lru_cache(maxsize=256)
def l2_squared(steps: int, contributions: int) -> int:
    """The largest Σ cₙ² over ways to place so many steps.

    >>> l2_squared(7, 1), l2_squared(7, 2), l2_squared(8, 8)
    (3, 9, 92)
    """
    k = min(contributions, steps)
    if k > _MANY:
        return sum(k * min(k, 2**j) for j in range(steps.bit_length()))
    found, inside = np.zeros(1, np.int64), np.zeros(2, np.int64)  # for the digits so far; within a block of 2^p steps, by how many are its
    for p in range(steps.bit_length()):
        if p:
            inside = _together(inside + np.arange(len(inside), dtype=np.int64) ** 2, inside, k)
        if steps >> p & 1:
            found = _together(found, inside + np.arange(len(inside), dtype=np.int64) ** 2, k)
    return int(found[k])


def _together(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], most: int) -> np.ndarray[Any, Any]:
    """max over i + j = k of a[i] + b[j], for all k up to `most`."""
    out = np.full(min(len(a) + len(b) - 2, most) + 1, -1, np.int64)
    for i, value in enumerate(a.tolist()):
        part = b[: len(out) - i]
        np.maximum(out[i : i + len(part)], part + value, out=out[i : i + len(part)])
    return out


def _digits(steps: int) -> list[int]:
    return [p for p in range(steps.bit_length()) if steps >> p & 1]


def node_counts(steps: int) -> dict[int, int]:
    """Of how many nodes the running totals are made: for each number of nodes, how many of the steps 1 … T.

    >>> node_counts(6)
    {1: 3, 2: 3}
    """
    counts = {steps.bit_count(): 1}  # the last one; every other first differs from T in a digit p that is set in T
    for above, p in enumerate(reversed(_digits(steps))):
        for ones in range(p + 1):
            counts[above + ones] = counts.get(above + ones, 0) + math.comb(p, ones)
    return {nodes: counts[nodes] for nodes in sorted(counts) if nodes}


# ── how far sums of noise reach ──────────────────────────────────────────────────────────────────────────────────────


def tail_of_sum(scale: Fraction, count: int, k: int) -> Ball:
    """P[|X₁ + … + X_m| ≥ k] for independent discrete Laplace noises, k ≥ 1, as a ball.

    Lemma. The sum is U − V, each the number of failures before the m-th success in trials that fail with chance q = e^(−1/scale). U ≥ k
    just when some j < m successes come before its k-th failure, with chance C(k + j − 1, j)·q^k·(1 − q)^j. Then a race is left, failure by
    failure, V first on each turn: will V have its m successes before U has its other m − j? With a of U's and b of V's successes to come,
    V wins with chance E₂ if it is V's turn and E₁ if it is U's, where (1 + q)·E₂(a, b) = E₂(a, b − 1) + q·E₁(a − 1, b) and
    (1 + q)·E₁(a, b) = E₁(a − 1, b) + q·E₂(a, b − 1), with E₂(a, 0) = 1 and E₁(0, b) = 0.
    """
    q = (-1 / exact.ball(scale)).exp()
    wins, chance = _races(scale, count, exact.working_precision()), q**k
    found = exact.ball(0)
    for j in range(count):
        found += chance * wins[count - j]
        chance = chance * (1 - q) * (k + j) / (j + 1)
    return 2 * found


@lru_cache(maxsize=256)
def _quantile(scale: Fraction, nodes: tuple[tuple[int, int], ...], level: Fraction) -> int:
    """The least t within which sums of so many noises stay, so many of each, with this confidence by the union bound."""

    def covers(t: int) -> bool:
        with exact.precision(192):
            missed = sum((often * tail_of_sum(scale, m, t + 1) for m, often in nodes), exact.ball(0))
            return bool(missed <= exact.ball(1 - level))

    high = max(1, int(scale))
    while not covers(high):
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high


@lru_cache(maxsize=256)
def _races(scale: Fraction, count: int, precision: int) -> list[Ball]:
    """E₂(a, m) for a = 0 … m."""
    q, one, zero = (-1 / exact.ball(scale)).exp(), exact.ball(1), exact.ball(0)
    second = [one] * (count + 1)  # b = 0: V has all its successes
    for _ in range(count):
        mine, other = [zero], [zero]  # E₂ and E₁ for a = 0: U had all of its before
        for a in range(1, count + 1):
            mine.append((second[a] + q * other[a - 1]) / (1 + q))
            other.append((other[a - 1] + q * second[a]) / (1 + q))
        second = mine
    return second


def published_error(steps: int, epsilon: float, beta: float) -> float:
    """What Chan, Shi & Song 2011 prove of one running total: lemma 2.8 on a sum of at most log₂ T + 1 Laplace noises.

    √8·√ln(2/β)·max(√(Σ b²), b·√ln(2/β)), with b = (log₂ T + 1)/ε; for all T of them take β/T.

    >>> round(published_error(2**20, epsilon=1, beta=0.05))
    523
    """
    levels, far = steps.bit_length(), math.sqrt(math.log(2 / beta))
    return math.sqrt(8) * far * levels / epsilon * max(math.sqrt(levels), far)
