"""The laws of the mechanisms' outputs, from their theorems and nothing else: closed forms, sums, and Gauss–Legendre between kinks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def grid(kinks: Iterable[float], low: float, high: float, longest: float) -> tuple[Floats, Floats]:
    """Nodes and weights on [low, high]: pieces no longer than `longest` that no kink cuts.

    The integrands are sums of exponentials on each piece, entire functions; 24 nodes on a piece over which the exponents move by
    less than 4 leave a relative error below 10⁻¹⁵.
    """
    edges = sorted({low, high, *(k for k in kinks if low < k < high)})
    fine: list[float] = []
    for a, b in itertools.pairwise(edges):
        fine += np.linspace(a, b, max(1, math.ceil((b - a) / longest)) + 1)[:-1].tolist()
    cuts = np.array([*fine, high])
    half = np.diff(cuts)[:, None] / 2
    middle = (cuts[:-1] + cuts[1:])[:, None] / 2
    return (middle + half * _NODES).ravel(), (half * _WEIGHTS).ravel()


# ── noise, of scale 1 ────────────────────────────────────────────────────────────────────────────────────────────────


def exponential_survival(x: Floats) -> Floats:
    return np.exp(-np.maximum(x, 0))


def exponential_below(x: Floats) -> Floats:
    return -np.expm1(-np.maximum(x, 0))


def exponential_density(x: Floats) -> Floats:
    return np.where(x >= 0, np.exp(-np.maximum(x, 0)), 0.0)


def laplace_survival(x: Floats) -> Floats:
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


def laplace_below(x: Floats) -> Floats:
    return laplace_survival(-x)


def laplace_density(x: Floats) -> Floats:
    return np.exp(-np.abs(x)) / 2


NOISES = {
    "exponential": (exponential_density, exponential_below, exponential_survival),
    "laplace": (laplace_density, laplace_below, laplace_survival),
}
_FAR = 60.0  # e^(−60) is nothing beside the chances looked at


# ── selection ────────────────────────────────────────────────────────────────────────────────────────────────────────


def softmax(scores: Sequence[Any], rate: Fraction | float) -> Floats:
    """P[i] ∝ e^(rate·score), computed from exact differences."""
    top = max(scores)
    weights = np.exp([float(rate * (s - top)) for s in scores])
    return np.asarray(weights / weights.sum())


def noisy_max(scores: Sequence[Any], rate: Fraction | float, noise: str) -> Floats:
    """P[i has the largest rate·score + noise]."""
    if noise == "gumbel":
        return softmax(scores, rate)
    if noise == "geometric":
        return geometric_max(scores, rate)
    density, below, _ = NOISES[noise]
    values = [float(rate * s) for s in scores]
    low, high = min(values) - _FAR, max(values) + _FAR
    x, w = grid(values, low, high, 1.0)
    each = [below(x - v) for v in values]
    return np.array([(w * density(x - v) * np.prod(each[:i] + each[i + 1 :], axis=0)).sum() for i, v in enumerate(values)])


def geometric_max(scores: Sequence[int], rate: Fraction | float) -> Floats:
    """P[i is the first of those with the largest score + G], G geometric with ratio e^(−rate)."""
    r = float(rate)
    k = np.arange(math.ceil(80 / r) + max(scores) - min(scores))
    mass = np.exp(-r * k) * -math.expm1(-r)
    chances = []
    for i, s in enumerate(scores):
        others = np.ones(len(k))
        for j, t in enumerate(scores):
            if j != i:
                reach = k + s - t - (1 if j < i else 0)  # G_j may be at most this
                others *= np.where(reach >= 0, -np.expm1(-r * (reach + 1.0)), 0.0)
        chances.append((mass * others).sum())
    return np.array(chances)


def top_k(scores: Sequence[Any], rate: Fraction | float, k: int) -> dict[tuple[int, ...], float]:
    """The law of k exponential mechanisms one after the other, each on the candidates left."""
    law: dict[tuple[int, ...], float] = {}
    for order in itertools.permutations(range(len(scores)), k):
        chance, left = 1.0, list(range(len(scores)))
        for i in order:
            chance *= float(softmax([scores[j] for j in left], rate)[left.index(i)])
            left.remove(i)
        law[order] = chance
    return law


def quantile_scores(points: Sequence[int], q: Fraction, start: int, stop: int, offset: Fraction | int = 0) -> list[Fraction]:
    """−(the distance of q·n + offset from the ranks #{x < z} … #{x ≤ z}) for each grid point z; the ranks of the ends are not bounded."""
    target, scores = q * len(points) + offset, []
    for z in range(start, stop):
        below = -math.inf if z == start else sum(x < z for x in points)
        upto = math.inf if z == stop - 1 else sum(x <= z for x in points)
        scores.append(-max([Fraction(0), *(Fraction(gap) for gap in (below - target, target - upto) if not math.isinf(gap))]))
    return scores


def quantiles(points: Sequence[int], qs: Sequence[Fraction], size: int, each: Fraction) -> dict[tuple[int, ...], float]:
    """The law of several quantiles: the middle one first, by an exponential mechanism of `each`, then both sides."""

    def split(points: tuple[int, ...], start: int, stop: int, qs: tuple[Fraction, ...], low: Fraction, high: Fraction) -> dict[Any, float]:
        if not qs:
            return {(): 1.0}
        middle = len(qs) // 2
        share = (qs[middle] - low) / (high - low)
        rate = each / (2 * max(share, 1 - share))
        law: dict[Any, float] = {}
        for z, p in zip(range(start, stop), softmax(quantile_scores(points, share, start, stop), rate), strict=True):
            left = split(tuple(x for x in points if x <= z), start, z + 1, qs[:middle], low, qs[middle])
            right = split(tuple(x for x in points if x > z), min(z + 1, stop - 1), stop, qs[middle + 1 :], qs[middle], high)
            for (a, pa), (b, pb) in itertools.product(left.items(), right.items()):
                law[(*a, z, *b)] = law.get((*a, z, *b), 0.0) + float(p) * pa * pb
        return law

    return split(tuple(points), 0, size, tuple(qs), Fraction(0), Fraction(1))


# ── sparse vector ────────────────────────────────────────────────────────────────────────────────────────────────────


def patterns(questions: int, hits: int | None) -> list[tuple[int, ...]]:
    """All answer patterns of a stream that stops after so many hits (None: never)."""
    found: list[tuple[int, ...]] = []

    def go(pattern: tuple[int, ...]) -> None:
        if len(pattern) == questions or (hits is not None and sum(pattern) >= hits):
            found.append(pattern)
        else:
            go((*pattern, 0))
            go((*pattern, 1))

    go(())
    return found


def sparse_vector(
    answers: Sequence[float],
    threshold_scale: float,
    question_scale: float,
    hits: int | None,
    *,
    shift: float = 0.0,
    noise: str = "exponential",
    gaps: Sequence[float] = (),
) -> dict[tuple[Any, ...], float]:
    """P[pattern] for  answer + ν ≥ shift + ρ,  or with `gaps` the density of the pattern with these gaps at the hits.

    ρ of scale `threshold_scale` is integrated out; a question is above with the survival function of ν at shift + ρ − answer.
    """
    density, below, survival = NOISES[noise]
    kinks = [a - shift for a in answers] + [a - shift - g for a in answers for g in gaps] + [0.0]
    reach = 45 * threshold_scale + max(map(abs, kinks))
    low = 0.0 if noise == "exponential" else -reach
    x, w = grid(kinks, low, reach, min(threshold_scale, question_scale))
    w = w * density(x / threshold_scale) / threshold_scale
    need = [(shift + x - a) / question_scale for a in answers]
    down = [below(n) for n in need]
    law: dict[tuple[Any, ...], float] = {}
    if not gaps:
        up = [survival(n) for n in need]
        for pattern in patterns(len(answers), hits):
            steps = [up[i] if above else down[i] for i, above in enumerate(pattern)]
            law[pattern] = float((w * np.prod(steps, axis=0)).sum())
        return law
    for pattern in patterns(len(answers), hits):
        for chosen in itertools.product(gaps, repeat=sum(pattern)):
            told = iter(chosen)
            steps, outcome = [], []
            for i, above in enumerate(pattern):
                g = next(told) if above else None
                steps.append(density(need[i] + g / question_scale) / question_scale if g is not None else down[i])
                outcome.append(g)
            law[tuple(outcome)] = float((w * np.prod(steps, axis=0)).sum())
    return law


# ── added noise and coins ────────────────────────────────────────────────────────────────────────────────────────────


def truncated_geometric(rate: float, bound: int) -> dict[int, float]:
    """P[z] ∝ e^(−rate·|z|) on −bound … bound."""
    weights = {z: math.exp(-rate * abs(z)) for z in range(-bound, bound + 1)}
    total = math.fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def discrete_laplace(rate: float, reach: int) -> dict[int, float]:
    """P[z] = tanh(rate/2)·e^(−rate·|z|), as far as ±reach."""
    return {z: math.tanh(rate / 2) * math.exp(-rate * abs(z)) for z in range(-reach, reach + 1)}


def rounded_laplace(scale: float, centre: float, reach: int) -> dict[int, float]:
    """P[round(centre + Z) = k] for continuous Laplace noise."""
    law = stats.laplace(loc=centre, scale=scale)
    return {
        k: float(law.cdf(k + 0.5) - law.cdf(k - 0.5) if k < centre else law.sf(k - 0.5) - law.sf(k + 0.5)) for k in range(-reach, reach + 1)
    }


def rounded_gaussian(scale: float, reach: int) -> dict[int, float]:
    """P[round(Z) = k] for Gaussian noise."""
    return {k: float(stats.norm.sf((abs(k) - 0.5) / scale) - stats.norm.sf((abs(k) + 0.5) / scale)) for k in range(-reach, reach + 1)}


def randomized_response(epsilon: float, choices: int, true: int) -> Floats:
    """e^ε : 1 : … : 1."""
    odds = np.ones(choices)
    odds[true] = math.exp(epsilon)
    return odds / odds.sum()


def partition_curve(epsilon: float, delta: float, size: int) -> Callable[[int], float]:
    """πₙ by the recursion, in floats."""
    curve = [0.0]
    while len(curve) <= size:
        p = curve[-1]
        curve.append(min(math.exp(epsilon) * p + delta, 1 - math.exp(-epsilon) * (1 - p - delta), 1.0))
    return lambda n: curve[min(n, size)]
