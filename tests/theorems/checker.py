"""Privacy checked without sampling: laws over all neighbouring inputs of a box, and the worst they do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = tuple[Any, ...]
Floats = NDArray[np.float64]
OutputLaw = Callable[[Vector], Floats]  # chances (or densities) of all outputs, always in the same order


def box(values: Iterable[Any], size: int) -> list[Vector]:
    """All vectors with entries among the values."""
    return list(itertools.product(tuple(values), repeat=size))


def neighbours(vectors: Iterable[Vector], moves: Sequence[Any], *, monotone: bool = False) -> Iterator[tuple[Vector, Vector]]:
    """All pairs in which every entry moves by one of the moves; monotone: all in one direction (both orders are looked at anyway)."""
    steps = [m for m in moves if m >= 0] if monotone else list(moves)
    for vector in vectors:
        for move in itertools.product(steps, repeat=len(vector)):
            if any(move):
                yield vector, tuple(a + b for a, b in zip(vector, move, strict=True))


def worst_log_ratio(law: OutputLaw, pairs: Iterable[tuple[Vector, Vector]]) -> float:
    """The largest |ln P[output | x] − ln P[output | x′]| over all pairs and outputs; ∞ when only one of them can be."""
    known = lru_cache(maxsize=None)(law)
    worst = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for x, y in pairs:
            p, q = known(x), known(y)
            both = (p > 0) | (q > 0)
            worst = max(worst, float(np.abs(np.log(p[both]) - np.log(q[both])).max()))
    return worst


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    """Σ max(p − e^ε q, 0)."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def worst_delta(law: OutputLaw, pairs: Iterable[tuple[Vector, Vector]], epsilons: Sequence[float]) -> Floats:
    """The largest hockey-stick divergence at each ε, in both directions."""
    known = lru_cache(maxsize=None)(law)
    worst = np.zeros(len(epsilons))
    factors = np.exp(np.array(epsilons))[:, None]
    for x, y in pairs:
        p, q = known(x), known(y)
        worst = np.maximum(worst, np.maximum(p - factors * q, 0).sum(axis=1))
        worst = np.maximum(worst, np.maximum(q - factors * p, 0).sum(axis=1))
    return worst


def profile_excess(law: OutputLaw, pairs: Iterable[tuple[Vector, Vector]], loss: Any, epsilons: Sequence[float]) -> float:
    """The largest true δ over the δ that a loss claims, over the given ε; above 1 the loss is too small. Tiny δ are left out."""
    true = worst_delta(law, pairs, epsilons)
    claimed = np.array([loss.delta_at(e) for e in epsilons])
    return float((true / np.maximum(claimed, 1e-13)).max())
