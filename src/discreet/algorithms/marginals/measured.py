"""Noisy measurements, and the independent columns they imply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.counts import Counts, Marginals
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.spending import Spending
from discreet.private import Private

Floats = NDArray[np.float64]


@final
@frozen(eq=False)
class NoisyMeasurement:
    """A released marginal or residual, in records, and the standard deviation of the noise in each cell."""

    clique: Clique
    values: Floats
    deviation: float


def total_of(measured: Iterable[NoisyMeasurement]) -> float:
    """The number of records: the precision-weighted mean of all marginals' sums; at least 1."""
    sums = [(float(one.values.sum()), one.values.size * one.deviation**2) for one in measured]
    weight = sum(1 / variance for _, variance in sums)
    return max(1.0, sum(value / variance for value, variance in sums) / weight)


def merge_measurements(measured: Sequence[NoisyMeasurement]) -> list[NoisyMeasurement]:
    """One measurement per clique: repeated ones are averaged, weighted by precision."""
    found: dict[Clique, NoisyMeasurement] = {}
    for one in measured:
        if (other := found.get(one.clique)) is not None:
            a, b = 1 / one.deviation**2, 1 / other.deviation**2
            one = NoisyMeasurement(one.clique, (a * one.values + b * other.values) / (a + b), (a + b) ** -0.5)
        found[one.clique] = one
    return list(found.values())


def independent(domain: Domain, measured: Sequence[NoisyMeasurement], total: float) -> list[Floats]:
    """Each column's distribution from its own measurements; counts are at least a quarter of the noise, so no code is impossible."""
    found = [np.full(size, 1 / size) for size in domain.sizes]
    for one in merge_measurements([one for one in measured if len(one.clique) == 1]):
        values = np.maximum(one.values, one.deviation / 4)
        found[one.clique[0]] = values / values.sum()
    return found


def measure(exact: Private[Marginals], clique: Clique, spending: Spending, price: Fraction, counts: Counts) -> NoisyMeasurement:
    """Release a marginal with Gaussian noise, for a price."""
    mechanism = spending.gaussian(price, counts.l2_sensitivity)
    noisy = spending.release(f"marginal of {counts.domain.shown(clique)}", mechanism, exact.map(lambda held: held[clique]))
    return NoisyMeasurement(clique, np.asarray(noisy, np.float64) / counts.one, float(mechanism.scale) / counts.one)
