"""ResidualPlanner: the noise for each residual that makes a workload's marginals as accurate as a budget allows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import pi, prod, sqrt
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.residual import BITS, Residual
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
_ROUNDS, _FEW = 30, 4  # adjustments of the weights: for a plan, and for a forecast
# Prior squared size of residuals beyond what smaller ones explain, as a share of n², by their number of columns.
ENERGY = (1.0, 0.2, 0.01, 0.0002)
WORTHWHILE = 0.9  # of the predicted error of independent columns: above it only they are measured (chosen on two public tables)


@final
@frozen(eq=False)
class ResidualPlan:
    """The variance of each residual's noise, in records², for Σ share/variance = 1.

    Theorem (Xiao, He, Zhang & Kifer 2023).
        Gaussian noise of variance sₐ on every residual A costs Σ pₐ/sₐ in μ² (half of it in ρ), pₐ = ∏ᵢ (1 − 1/nᵢ), because residuals are
        orthogonal: a record's own marginal splits into them. A cell of the marginal S, computed from its residuals, has variance Σ_{A ⊆ S}
        sₐ·∏_{i∈A} (1 − 1/nᵢ)·∏_{j∈S∖A} nⱼ⁻². The sum of variances Σₐ vₐ·sₐ is least for sₐ ∝ √(pₐ/vₐ).

    Accuracy.
        The expected ℓ₁ error of S is √(2/π)·(cells of S)·√(variance of a cell); it is known before anything is measured.
    """

    domain: Domain
    workload: Workload
    bits: int
    cliques: tuple[Clique, ...]
    variances: Floats

    def residual(self, clique: Clique) -> Residual:
        """One of the residuals."""
        return Residual(self.domain, clique, self.bits)

    def scaled(self, amount: float) -> Floats:
        """The variances for Σ share/variance = amount."""
        return self.variances / amount

    def expected_errors(self, amount: float) -> dict[Clique, float]:
        """The expected ℓ₁ error of each marginal of the workload, in records, for Σ share/variance = amount."""
        place = {clique: i for i, clique in enumerate(self.cliques)}
        scaled = self.scaled(amount)
        found = {}
        for clique in self.workload.cliques:
            variance = sum(scaled[place[part]] * _spread(self.domain, part, clique) for part in subsets(clique))
            found[clique] = sqrt(2 / pi) * self.domain.cells(clique) * sqrt(variance)
        return found


def subsets(clique: Clique) -> list[Clique]:
    """All subsets of a clique, the smallest first."""
    return [part for k in range(len(clique) + 1) for part in combinations(clique, k)]


def plan_residuals(domain: Domain, workload: Workload, guess: Mapping[int, float] | None = None, rounds: int = _ROUNDS) -> ResidualPlan:
    """The plan with the least expected ℓ₁ error.

    The weights of marginals are adjusted until the sum of variances is the sum of errors (each variance divided by its root). With a prior
    variance per number for each order, as a multiple of 1/amount, residuals below the noise are measured less or not at all: with s′ =
    1/(1/s + 1/guess) the posterior variance, Σ v·s′ is least for s′ ∝ √(p/v), but no larger than the prior.
    """
    cliques = tuple(sorted({part for clique in workload.cliques for part in subsets(clique)}, key=lambda c: (len(c), c)))
    place = {clique: i for i, clique in enumerate(cliques)}
    share = np.array([max(Residual(domain, clique, BITS).share, 1e-300) for clique in cliques])
    parts = [(clique, [(place[part], _spread(domain, part, clique)) for part in subsets(clique)]) for clique in workload.cliques]
    cells = np.array([domain.cells(clique) * workload.weights[clique] for clique in workload.cliques], np.float64)
    held = np.array(
        [np.inf if guess is None else max(guess.get(len(c), np.inf) / max(Residual(domain, c, BITS).size, 1), 1e-300) for c in cliques]
    )
    weight = cells.copy()
    variances = np.ones(len(cliques))
    for _ in range(rounds):
        value = np.full(len(cliques), 1e-300)
        for one, (_, spread) in zip(weight, parts, strict=True):
            for i, factor in spread:
                value[i] += one * factor
        variances, left = _filled(share, value, held)
        roots = np.array([sqrt(sum(left[i] * factor for i, factor in spread)) for _, spread in parts])
        weight = cells / roots
    return ResidualPlan(domain, workload, BITS, cliques, variances)


def prior_energies(domain: Domain, squared: float) -> dict[int, float]:
    """What residuals are expected to hold beyond smaller ones, by their number of columns, if (number of records)²·amount is `squared`."""
    guess = {order: energy * squared for order, energy in enumerate(ENERGY)}
    return {**dict.fromkeys(range(len(ENERGY), len(domain.names) + 1), ENERGY[-1] * squared / 10), **guess}


def columns_only(workload: Workload) -> Workload:
    """The single columns of a workload's marginals."""
    return Workload(workload.domain, {(i,): 1 for i in sorted({i for clique in workload.cliques for i in clique})})


def predicted_errors(workload: Workload, squared: float) -> tuple[float, float]:
    """The mean ℓ₁ error of a workload's marginals after the fit, as a share of records, and that of independent columns.

    A residual is normal around 0 with its prior energy; the fit shrinks what was measured towards 0, so its error is the posterior's. What
    independent columns do not measure keeps its prior energy. `squared` is (number of records)²·amount, in which everything scales.
    """
    domain, guess = workload.domain, prior_energies(workload.domain, squared)
    errors = []
    for measured in (workload, columns_only(workload)):
        plan = plan_residuals(domain, measured, guess, _FEW)
        precision = dict(zip(plan.cliques, 1 / plan.variances, strict=True))
        left = {
            part: 1 / (precision.get(part, 0.0) + max(Residual(domain, part, BITS).size, 1) / guess[len(part)])
            for part in {part for clique in workload.cliques for part in subsets(clique)}
        }
        found = 0.0
        for clique, weight in workload.weights.items():
            variance = sum(left[part] * _spread(domain, part, clique) for part in subsets(clique))
            found += weight * sqrt(2 / pi) * domain.cells(clique) * sqrt(variance)
        errors.append(found / sum(workload.weights.values()) / sqrt(squared))
    return errors[0], errors[1]


def _filled(share: Floats, value: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Variances with Σ share/variance = 1 (∞: not measured), and the posterior variance of each, given the prior."""
    shape = np.sqrt(share / value)

    def cost(level: float) -> float:
        return float((share * np.maximum(1 / (level * shape) - 1 / held, 0)).sum())

    low, high = 1e-200, 1e200
    for _ in range(200):
        level = sqrt(low) * sqrt(high)
        low, high = (level, high) if cost(level) > 1 else (low, level)
    precision = np.maximum(1 / (high * shape) - 1 / held, 0)
    with np.errstate(divide="ignore"):
        return 1 / precision, 1 / (precision + 1 / held)


def _spread(domain: Domain, part: Clique, clique: Clique) -> float:
    """The share of a residual's variance in each cell of a marginal."""
    return prod((1 - 1 / domain.sizes[i]) if i in part else domain.sizes[i] ** -2.0 for i in clique)
