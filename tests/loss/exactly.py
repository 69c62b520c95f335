"""References for the tests: composed privacy losses by plain convolution on a lattice, without transforms or discretisation."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

Pmf = tuple[int, np.ndarray]  # the index of the first atom, and the masses under P


def randomized_response(multiple: int, unit: float, choices: int = 2) -> Pmf:
    """Losses ±multiple·unit and 0."""
    e = multiple * unit
    weight = math.exp(e) + choices - 1
    mass = np.zeros(2 * multiple + 1)
    mass[0], mass[multiple], mass[-1] = 1 / weight, mass[multiple] + (choices - 2) / weight, math.exp(e) / weight
    return -multiple, mass


def discrete_laplace(unit: float, shift: int) -> Pmf:
    """Noise P[x] ∝ e^(−unit·|x|) moved by `shift`: losses unit·(shift − 2x), x = 0 … shift."""
    q = math.exp(-unit)
    mass = np.zeros(2 * shift + 1)
    for x in range(1, shift):
        mass[2 * shift - 2 * x] = (1 - q) / (1 + q) * q**x
    mass[2 * shift] = 1 / (1 + q)
    mass[0] = q**shift / (1 + q)
    return -shift, mass


def convolve(a: Pmf, b: Pmf) -> Pmf:
    return a[0] + b[0], np.convolve(a[1], b[1])


def power(a: Pmf, k: int) -> Pmf:
    result: Pmf = (0, np.ones(1))
    while k:
        if k & 1:
            result = convolve(result, a)
        k >>= 1
        if k:
            a = convolve(a, a)
    return result


def compose(parts: list[tuple[Pmf, int]]) -> Pmf:
    return reduce(convolve, (power(p, k) for p, k in parts))


def delta_of(pmf: Pmf, unit: float, epsilon: float) -> float:
    """E[(1 − e^{ε−L})₊]; all terms are positive, so nothing cancels and the relative error is about 1e-12."""
    losses = unit * (pmf[0] + np.arange(len(pmf[1])))
    above = losses > epsilon
    return math.fsum((-np.expm1(epsilon - losses[above]) * pmf[1][above]).tolist())


def epsilon_of(pmf: Pmf, unit: float, delta: float) -> float:
    low, high = 0.0, unit * (pmf[0] + len(pmf[1]) - 1)
    if delta_of(pmf, unit, low) <= delta:
        return 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(pmf, unit, middle) <= delta else (middle, high)
    return high
