"""Fit a log-linear model to noisy measurements: the maximum a posteriori distribution around a prior."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_MEMORY = 12  # pairs kept by L-BFGS
_DECREASE = 1e-4


class Features(Protocol):
    """Functions of a row whose means are measured; the model's weights are exp(Σ potential × feature)."""

    @property
    def size(self) -> int:
        """The number of features."""

    def evaluate(self, potentials: Floats) -> tuple[float, Floats]:
        """The log of the total weight, and the mean of each feature."""


def fit(
    features: Features,
    base: Floats,
    measured: Floats,
    deviation: Floats,
    total: float,
    prior: float,
    start: Floats,
    steps: int,
    close: float,
    rounding: float = 0.0,
) -> Floats:
    """The potentials beyond `base` of the p that minimises  Σ ((total·p(f) − measured)/deviation)²/2 + prior·total·KL(p ‖ base).

    The second term is a prior with the weight of `prior`·total records. The dual problem is solved: with potential −u/(prior·deviation) for
    each feature, minimise  prior·total·ln Σ weights + |u|²/2 + u·measured/deviation,  whose gradient is u − (total·p(f) −
    measured)/deviation. L-BFGS stops when the root mean square of the gradient is below `close`, in units of the noise, or after `steps`
    steps. `rounding` is the rounding error of ln Σ weights.
    """

    def dual(u: Floats) -> tuple[float, Floats]:
        log_total, averages = features.evaluate(base - u / (prior * deviation))
        return prior * total * log_total + float(u @ u) / 2 + float(u @ (measured / deviation)), u - (
            total * averages - measured
        ) / deviation

    u = _minimise(dual, -start * prior * deviation, steps, close * float(np.sqrt(max(len(measured), 1))), rounding * prior * total)
    return -u / (prior * deviation)


def _minimise(function: Callable[[Floats], tuple[float, Floats]], at: Floats, steps: int, close: float, slack: float) -> Floats:
    """L-BFGS with backtracking by halving (Nocedal 1980).

    Values within `slack`, their rounding error, are not compared: there a step is accepted by its slope (Hager & Zhang 2005).
    """
    value, slope = function(at)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        length = float(np.sqrt(slope @ slope))
        if length <= close:
            break
        direction = _direction(slope, pairs)
        fall = float(direction @ slope)
        if fall <= 0:
            pairs.clear()
            direction, fall = slope, length**2
        rate = 1.0 if pairs else min(1.0, 1.0 / length)
        while True:
            there = at - rate * direction
            value_there, slope_there = function(there)
            if value_there <= value - _DECREASE * rate * fall:
                break
            if slack and value_there < value + slack and float(slope_there @ direction) >= (2 * _DECREASE - 1) * fall:
                break
            rate /= 2
            if rate < 1e-9:
                return at
        step, change = there - at, slope_there - slope
        curvature = float(step @ change)
        if curvature > 1e-12 * float(change @ change):
            pairs.append((step, change, curvature))
        at, value, slope = there, value_there, slope_there
    return at


def _direction(slope: Floats, pairs: deque[tuple[Floats, Floats, float]]) -> Floats:
    direction = slope.copy()
    used = []
    for step, change, curvature in reversed(pairs):
        share = float(step @ direction) / curvature
        direction -= share * change
        used.append(share)
    if pairs:
        step, change, curvature = pairs[-1]
        direction *= curvature / float(change @ change)
    for (step, change, curvature), share in zip(pairs, reversed(used), strict=True):
        direction += (share - float(change @ direction) / curvature) * step
    return direction
