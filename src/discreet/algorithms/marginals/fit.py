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
    indicators: bool = False,
) -> Floats:
    """The potentials beyond `base` of the p that minimises  Σ ((total·p(f) − measured)/deviation)²/2 + prior·total·KL(p ‖ base).

    The second term is a prior with the weight of `prior`·total records. The dual problem is solved: with potential −u/(prior·deviation) for
    each feature, minimise  prior·total·ln Σ weights + |u|²/2 + u·measured/deviation,  whose gradient is u − (total·p(f) −
    measured)/deviation. L-BFGS stops when the root mean square of the gradient is below `close`, in units of the noise, or after `steps`
    steps. `rounding` is the rounding error of ln Σ weights. Where features are `indicators`, 0 or 1 for each row, their variances at the
    start are known, and with them the diagonal of the second derivative, 1 + total·variance/(prior·deviation²): u is scaled by its root,
    which takes a third of the steps.
    """

    def dual(u: Floats) -> tuple[float, Floats]:
        log_total, averages = features.evaluate(base - u / (prior * deviation))
        return prior * total * log_total + float(u @ u) / 2 + float(u @ (measured / deviation)), u - (
            total * averages - measured
        ) / deviation

    u, scale = -start * prior * deviation, np.ones(len(measured))
    if indicators:
        _, averages = features.evaluate(base + start)
        scale += total * averages * (1 - averages) / (prior * deviation**2)
    u = _minimise(dual, u, scale**-0.5, steps, close * float(np.sqrt(max(len(measured), 1))), rounding * prior * total)
    return -u / (prior * deviation)


def _minimise(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, scale: Floats, steps: int, close: float, slack: float
) -> Floats:
    """L-BFGS with backtracking by halving (Nocedal 1980), in coordinates that are divided by `scale`.

    Values within `slack`, their rounding error, are not compared: there a step is accepted by its slope (Hager & Zhang 2005).
    """

    def scaled(at: Floats) -> tuple[float, Floats, float]:
        value, slope = function(scale * at)
        return value, scale * slope, float(np.sqrt(slope @ slope))

    at = start / scale
    value, slope, true_length = scaled(at)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        if true_length <= close:
            break
        length = float(np.sqrt(slope @ slope))
        direction = _direction(slope, pairs)
        fall = float(direction @ slope)
        if fall <= 0:
            pairs.clear()
            direction, fall = slope, length**2
        rate = 1.0 if pairs else min(1.0, 1.0 / length)
        while True:
            there = at - rate * direction
            value_there, slope_there, length_there = scaled(there)
            if value_there <= value - _DECREASE * rate * fall:
                break
            if slack and value_there < value + slack and float(slope_there @ direction) >= (2 * _DECREASE - 1) * fall:
                break
            rate /= 2
            if rate < 1e-9:
                return scale * at
        step, change = there - at, slope_there - slope
        curvature = float(step @ change)
        if curvature > 1e-12 * float(change @ change):
            pairs.append((step, change, curvature))
        at, value, slope, true_length = there, value_there, slope_there, length_there
    return scale * at


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
