"""The nodes of a tree over steps: their sensitivity, the number of nodes of a running total, quantiles of sums of noise.

Step t, counted from 1, ends one node: the last b^v steps, b^v being the largest power of the arity b that divides t. The number of nodes of
a running total after t steps is the sum of t's digits to base b.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet import exact
from discreet.exact import Ball

MANY = 2048  # contributions up to which the ℓ₂ sensitivity is exact
WIDEST = 32  # the largest arity that is tried
MOST_PARTS = 64  # the largest arity that can be set: a running total then has at most 441 nodes, so its error is quickly computed
_KINDS = 32  # distinct numbers of nodes in a union bound

Counts = Sequence[tuple[int, int]]  # (value, how often)


def largest(counts: Iterable[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Of (value, how often) pairs, the `size` largest values."""
    kept, left = [], size
    for value, often in sorted(counts, reverse=True):
        if left and often:
            kept.append((value, min(often, left)))
            left -= kept[-1][1]
    return kept


def digits(steps: int, arity: int) -> list[int]:
    """The digits of a number, the last first."""
    found = []
    while steps:
        steps, digit = divmod(steps, arity)
        found.append(digit)
    return found


# ── sensitivity of the nodes ─────────────────────────────────────────────────────────────────────────────────────────


def l1_sensitivity(steps: int, contributions: int, arity: int = 2) -> int:
    """The ℓ₁ change of all nodes if `contributions` steps change by 1: the numbers of nodes of the steps that are in most nodes.

    Lemma. Count steps from 0 and let p be the highest digit in which s and T differ. Then step s is in 1 + z nodes, z of its p lowest
    digits not being the last one, b − 1: blocks above level p end after T, and the last of b blocks is no node. Digit d of T in place p
    gives d·C(p, z)·(b − 1)^z such steps.

    >>> l1_sensitivity(7, 1), l1_sensitivity(7, 2), l1_sensitivity(8, 1), l1_sensitivity(365, 1, arity=20)
    (3, 5, 4, 2)
    """
    counts: dict[int, int] = {}
    for p, digit in enumerate(digits(steps, arity)):
        for z in range(p + 1):
            counts[1 + z] = counts.get(1 + z, 0) + digit * math.comb(p, z) * (arity - 1) ** z
    return sum(value * often for value, often in largest(counts.items(), contributions))


def l2_sensitivity(steps: int, contributions: int, arity: int = 2) -> Fraction:
    """The ℓ₂ change, rounded up."""
    square = l2_squared(steps, contributions, arity)
    root = math.isqrt(square)
    return Fraction(root) if root**2 == square else exact.rational_up(lambda: exact.ball(square).sqrt())


@lru_cache(maxsize=256)
def l2_squared(steps: int, contributions: int, arity: int = 2) -> int:
    """The largest Σ c² over all ways to place `contributions` steps, where a node contains c of them.

    Lemma. In a block of b^p steps the most is F_p(k) = max over a₁ + … + a_b = k of Σ F_(p−1)(aᵢ) + a₁² + … + a_(b−1)², for all but the
    last of its parts are nodes; the digits of T give the blocks, and these are nodes. Beyond 2048 steps it is bounded by the sum over
    levels j of k·min(k, b^j).

    >>> l2_squared(7, 1), l2_squared(7, 2), l2_squared(8, 8)
    (3, 9, 92)
    """
    k = min(contributions, steps)
    blocks = digits(steps, arity)
    if k > MANY:
        return sum(k * min(k, arity**j) for j in range(len(blocks)))
    found, inside = np.zeros(1, np.int64), np.zeros(2, np.int64)  # indexed by the number of steps: in the lower digits, in one block
    for p, digit in enumerate(blocks):
        node = inside + np.arange(len(inside), dtype=np.int64) ** 2
        if p:
            for _ in range(arity - 1):
                inside = _together(node, inside, k)
            node = inside + np.arange(len(inside), dtype=np.int64) ** 2
        for _ in range(digit):
            found = _together(found, node, k)
    return int(found[k])


def _together(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], most: int) -> np.ndarray[Any, Any]:
    """max over i + j = k of a[i] + b[j], for all k up to `most`."""
    out = np.full(min(len(a) + len(b) - 2, most) + 1, -1, np.int64)
    for i, value in enumerate(a.tolist()):
        part = b[: len(out) - i]
        np.maximum(out[i : i + len(part)], part + value, out=out[i : i + len(part)])
    return out


# ── the number of nodes of a running total ───────────────────────────────────────────────────────────────────────────


def node_counts(steps: int, arity: int = 2) -> dict[int, int]:
    """The number of steps 1 … T whose running total has each number of nodes.

    >>> node_counts(6), node_counts(6, arity=3)
    ({1: 3, 2: 3}, {1: 2, 2: 3, 3: 1})
    """
    places = digits(steps, arity)
    counts, above = {sum(places): 1}, 0  # the last one; every other first differs from T in a place where its digit is less
    for p in reversed(range(len(places))):
        sums = [1]  # of p free digits
        for _ in range(p):
            sums = [sum(sums[max(0, n - arity + 1) : n + 1]) for n in range(len(sums) + arity - 1)]
        for digit in range(places[p]):
            for n, often in enumerate(sums):
                counts[above + digit + n] = counts.get(above + digit + n, 0) + often
        above += places[p]
    return {nodes: counts[nodes] for nodes in sorted(counts) if nodes}


def most_nodes(steps: int, arity: int) -> int:
    """The largest number of nodes of a running total: the largest digit sum up to T."""
    places = digits(steps, arity)
    return max([sum(places), *(sum(places[p + 1 :]) + d - 1 + p * (arity - 1) for p, d in enumerate(places) if d)])


def nodes_of_window(window: int, steps: int, arity: int) -> int:
    """A bound on the number of nodes that do not cancel in the difference of two running totals `window` steps apart.

    Lemma. Let p be the highest digit in which t and t − w differ. Nodes above p are common, and of level p all but the difference of the
    digits; below p both have their own. If w ≤ b^p the digits differ by 1, and what t has below p is less than w. Else w has more than p
    digits.
    """
    levels, length = len(digits(steps, arity)), len(digits(window, arity))
    near = 1 + (arity - 1) * (levels - 1) + most_nodes(window - 1, arity)
    return max(near, (arity - 1) * (2 * min(length, levels) - 1))


@lru_cache(maxsize=256)
def best_arity(steps: int, contributions: int, gaussian: bool = False) -> int:
    """The arity with the least deviation of the worst running total; for Gaussian noise that of one contribution, whose ℓ₂² is its ℓ₁."""

    def variance(arity: int) -> int:
        change = l1_sensitivity(steps, 1, arity) if gaussian else l1_sensitivity(steps, contributions, arity) ** 2
        return most_nodes(steps, arity) * change

    return min(range(2, WIDEST + 1), key=variance)


# ── quantiles of sums of noise ───────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=256)
def quantile_of_sums(scale: Fraction, sums: tuple[tuple[int, int], ...], level: Fraction) -> int:
    """The least t that bounds sums of discrete Laplace noises at this confidence, by the union bound; (number of noises, how often).

    If there are many distinct numbers of noises, neighbouring ones are merged into the largest of them.
    """
    wide = -(-len(sums) // _KINDS)
    parts = [sums[i : i + wide] for i in range(0, len(sums), wide)]
    few = [(max(noises for noises, _ in part), sum(often for _, often in part)) for part in parts]
    most = max(noises for noises, _ in few)

    def covers(t: int) -> bool:
        with exact.precision(192):
            missed = sum((often * tail_of_sum(scale, noises, t + 1, most) for noises, often in few), exact.ball(0))
            return bool(missed <= exact.ball(1 - level))

    return exact.least_whole(covers, start=max(1, int(scale)))


def tail_of_sum(scale: Fraction, count: int, k: int, most: int | None = None) -> Ball:
    """P[|X₁ + … + X_m| ≥ k] for independent discrete Laplace noises, k ≥ 1, as a ball; `most` is the largest m of later calls.

    Lemma. The sum is U − V, each the number of failures before the m-th success in trials that fail with probability q = e^(−1/scale).
    U ≥ k if and only if some j < m successes come before its k-th failure, with probability C(k + j − 1, j)·q^k·(1 − q)^j. Then a race is
    left, failure by failure, V first on each turn: will V have its m successes before U has its other m − j? With a of U's and b of V's
    successes to come, V wins with probability E₂ if it is V's turn and E₁ if it is U's, where
    (1 + q)·E₂(a, b) = E₂(a, b − 1) + q·E₁(a − 1, b) and (1 + q)·E₁(a, b) = E₁(a − 1, b) + q·E₂(a, b − 1), with E₂(a, 0) = 1 and
    E₁(0, b) = 0.
    """
    q = (-1 / exact.ball(scale)).exp()
    wins, chance = _races(scale, most or count, exact.working_precision())[count], q**k
    found = exact.ball(0)
    for j in range(count):
        found += chance * wins[count - j]
        chance = chance * (1 - q) * (k + j) / (j + 1)
    return 2 * found


@lru_cache(maxsize=8)
def _races(scale: Fraction, count: int, precision: int) -> list[list[Ball]]:
    """E₂(a, b) for a = 0 … m, for each b = 0 … m: one table serves all sums of at most m noises."""
    q, one, zero = (-1 / exact.ball(scale)).exp(), exact.ball(1), exact.ball(0)
    rows = [[one] * (count + 1)]  # b = 0: V has all its successes
    for _ in range(count):
        second = rows[-1]
        mine, other = [zero], [zero]  # E₂ and E₁ for a = 0: U had all of its before
        for a in range(1, count + 1):
            mine.append((second[a] + q * other[a - 1]) / (1 + q))
            other.append((other[a - 1] + q * second[a]) / (1 + q))
        rows.append(mine)
    return rows
