"""Models of a table: a distribution over rows with known marginals, and the number of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.arrays import Arrays, NumpyArrays
from discreet.algorithms.marginals.beliefs import Beliefs
from discreet.algorithms.marginals.calibrated import Calibrated
from discreet.algorithms.marginals.dense import DenseResiduals
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.fit import fit
from discreet.algorithms.marginals.junction_tree import junction_tree
from discreet.algorithms.marginals.measured import NoisyMeasurement, independent, merge_measurements, total_of
from discreet.algorithms.marginals.nesting import axes_without

Floats = NDArray[np.float64]
_CLOSE = 0.02  # the fit stops at this share of the noise
# The prior has the weight of this share of all records, times ρ^POWER, where ρ is the cost of the measurements. Tuned on public tables
# (benchmarks/synthetic.py); it affects accuracy only.
GUESS, DENSE_GUESS, POWER = 0.06, 0.11, 0.4
# Over the whole domain it has more where many numbers were measured: most of these are noise of nearly empty cells, which cannot become
# negative, so that a fit to them would add to rare values. Three records for each number, up to a third of all.
_DENSE_MOST, _EACH = 0.33, 3.0
DENSE_STEPS = 400  # of a fit over the whole domain


class Model(Protocol):
    """The model from which rows and answers are computed."""

    @property
    def domain(self) -> Domain:
        """The columns and their codes."""

    @property
    def total(self) -> float:
        """The number of records."""

    def marginal(self, clique: Clique) -> Floats:
        """The number of records in each cell, as an array with one axis per column."""


@final
@frozen(eq=False)
class TreeModel:
    """A log-linear model over a junction tree."""

    total: float
    calibrated: Calibrated = field(repr=False)
    potentials: dict[Clique, Floats] = field(repr=False)

    @property
    def domain(self) -> Domain:
        return self.calibrated.tree.domain

    def marginal(self, clique: Clique) -> Floats:
        return self.total * self.calibrated.marginal(clique)


@final
@frozen(eq=False)
class DenseModel:
    """A distribution over the whole domain, and those of its marginals that are computed already."""

    domain: Domain
    total: float
    distribution: NDArray[Any] = field(repr=False)
    known: Mapping[Clique, Floats] = field(factory=dict, repr=False)

    def marginal(self, clique: Clique) -> Floats:
        held = [one for one in self.known if set(clique) <= set(one)]
        if not held:
            axes = axes_without(clique, tuple(self.domain.columns))
            return self.total * np.asarray(self.distribution.sum(axis=axes, dtype=np.float64))
        least = min(held, key=lambda one: (self.domain.cells(one), one))
        return self.total * np.asarray(self.known[least].sum(axis=axes_without(clique, least)))


def fit_tree(domain: Domain, measured: Sequence[NoisyMeasurement], warm: TreeModel | None = None, steps: int = 60) -> TreeModel:
    """The model that fits the measurements best; `warm` is an earlier model to start from."""
    once = merge_measurements(measured)
    total, cliques = total_of(once), [one.clique for one in once]
    beliefs = Beliefs(junction_tree(domain, cliques), cliques)
    base, alone = np.zeros(beliefs.size), independent(domain, once, total)
    for one, part in zip(once, beliefs.split(base), strict=True):
        if len(one.clique) == 1:
            part += np.log(alone[one.clique[0]])
    known = {} if warm is None else warm.potentials
    start = np.concatenate([known[clique].ravel() if clique in known else np.zeros(domain.cells(clique)) for clique in cliques])
    rho = sum(0.5 / one.deviation**2 for one in once)
    prior = GUESS * min(rho, 10.0) ** POWER
    potentials = fit(beliefs, base, *_in_a_row(once), total, prior, start, steps, _CLOSE, indicators=True)
    _, found = beliefs.of(base + potentials)
    return TreeModel(total, Calibrated(beliefs.tree, found), dict(zip(cliques, beliefs.split(potentials), strict=True)))


def _in_a_row(measured: Sequence[NoisyMeasurement]) -> tuple[Floats, Floats]:
    """All measured numbers as one vector, and the standard deviation of each."""
    return np.concatenate([one.values for one in measured]), np.concatenate([np.full(one.values.size, one.deviation) for one in measured])


def fit_dense(
    domain: Domain,
    measured: Sequence[NoisyMeasurement],
    bits: int,
    alone: Sequence[Floats],
    total: float,
    rho: float,
    arrays: Arrays | None = None,
) -> DenseModel:
    """The model over the whole domain that fits measured residuals best; ρ is their cost, and `arrays` is where it is fitted."""
    held = NumpyArrays(domain.size) if arrays is None else arrays
    features = DenseResiduals(domain, [one.clique for one in measured], bits, [np.log(column) for column in alone], held)
    potentials = np.zeros(features.size)
    if measured:
        values, deviations = _in_a_row(measured)
        prior = min(max(_EACH * values.size / total, DENSE_GUESS), _DENSE_MOST) * min(rho, 10.0) ** POWER
        zeros, close = potentials, _CLOSE / 2
        potentials = fit(features, zeros, values, deviations, total, prior, zeros, DENSE_STEPS, close, features.rounding)
    return DenseModel(domain, total, *features.of(potentials))
