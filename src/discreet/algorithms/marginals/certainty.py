"""What Gaussian measurements say of a weighted sum of cells without a model, and the standard error of that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.nesting import axes_without, summed
from discreet.algorithms.marginals.residual import BITS, contrasts, marginal_from

Floats = NDArray[np.float64]


def standard_error(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, clique: Clique, weights: Floats) -> float | None:
    """The standard error that noise leaves in Σ weights × cells of a clique, in records; None if a part of it was not measured.

    The sum splits into the clique's residuals. A measured residual, alone or inside a marginal, has the variance of its noise: for a
    marginal with noise s² in each cell, s²·∏ nⱼ over the columns that are summed out. What was not measured follows from the model alone,
    and how far off that is cannot be told.
    """
    variance = 0.0
    for part in _subsets(clique):
        share = _share(domain, clique, part, weights)
        if share <= 1e-12 * float((weights**2).sum()):
            continue
        precision = _precision(domain, measured, residuals, part)
        if not precision:
            return None
        variance += share / precision
    return float(np.sqrt(variance))


def measured_marginal(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, clique: Clique) -> Floats:
    """A marginal by what was measured of it, without a model: unbiased, with the errors of `standard_error`; unmeasured residuals are 0."""
    return marginal_from(domain, clique, {part: _estimated(domain, measured, residuals, part) for part in _subsets(clique)})


def _subsets(clique: Clique) -> list[Clique]:
    return [part for k in range(len(clique) + 1) for part in combinations(clique, k)]


def _estimated(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, part: Clique) -> Floats:
    """A residual: the mean of what was measured of it, weighted by precision."""
    total, weight = np.zeros(prod(domain.sizes[i] - 1 for i in part)), 0.0
    for one in measured:
        if not (precision := _precision(domain, [one], residuals, part)):
            continue
        array = one.values if residuals else summed(one.values.reshape(domain.shape(one.clique)), axes_without(part, one.clique))
        for axis, i in enumerate(() if residuals else part):
            array = np.moveaxis(np.tensordot(contrasts(domain.sizes[i], BITS) / 2**BITS, array, (1, axis)), 0, axis)
        total, weight = total + precision * array.ravel(), weight + precision
    return total / weight if weight else total


def _share(domain: Domain, clique: Clique, part: Clique, weights: Floats) -> float:
    """|projection of the weights on a residual|², for a residual in records."""
    array = weights
    for axis, i in enumerate(clique):
        size = domain.sizes[i]
        matrix = contrasts(size, BITS) / 2**BITS if i in part else np.full((1, size), 1 / size)
        array = np.moveaxis(np.tensordot(matrix, array, (1, axis)), 0, axis)
    return float((array**2).sum())


def _precision(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, part: Clique) -> float:
    if residuals:
        return sum(1 / one.deviation**2 for one in measured if one.clique == part)
    inside = set(part)
    return sum(
        1 / (one.deviation**2 * prod(domain.sizes[i] for i in one.clique if i not in inside))
        for one in measured
        if inside <= set(one.clique)
    )
