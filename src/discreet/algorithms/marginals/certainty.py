"""Standard errors: the variance that Gaussian measurements leave in a weighted sum of cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.residual import BITS, contrasts

Floats = NDArray[np.float64]
# Typical squared size of residuals on public tables, as a share of n², by their number of columns; the error if they are not measured.
GUESSED = (0.0, 0.3, 0.08, 0.02)


class Certainty(NamedTuple):
    """A standard error in records, and whether every component of the answer was measured."""

    error: float
    measured: bool


def certainty(
    domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, total: float, clique: Clique, weights: Floats
) -> Certainty:
    """The standard error of Σ weights × cells of a clique.

    The sum splits into the clique's residuals. A measured residual, alone or inside a marginal, has the variance of its noise: for a
    marginal with noise s² in each cell, s²·∏ nⱼ over the columns that are summed out. A residual that was not measured is estimated as 0
    and has an assumed variance (GUESSED): then the answer depends on the model, and `measured` is False.
    """
    variance, known = 0.0, True
    for k in range(len(clique) + 1):
        for part in combinations(clique, k):
            share = _share(domain, clique, part, weights)
            if share <= 1e-12 * float((weights**2).sum()):
                continue
            precision = _precision(domain, measured, residuals, part)
            if not precision:
                known = False
                least = max(total, _uncertainty(domain, measured, residuals))
                variance += share * GUESSED[min(k, len(GUESSED) - 1)] * least**2 / max(prod(domain.sizes[i] - 1 for i in part), 1)
            else:
                variance += share / precision
    return Certainty(float(np.sqrt(variance)), known)


def _uncertainty(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool) -> float:
    """The standard deviation of the number of records."""
    precision = _precision(domain, measured, residuals, ())
    return float(precision**-0.5) if precision else 0.0


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
