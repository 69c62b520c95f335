"""Whether dependence between columns can be paid for, from the noisy number of records and the scales of noise alone.

A table of independent columns spends its whole budget on single columns. Any other model spends a part of it on larger marginals, so it is
better only if the noise of its columns, and of these marginals, costs less than independence does. Both are known beforehand in records;
divided by the noisy number of records they are shares of the table. Where the noise of single columns at the whole
budget is above a fixed share, nothing else is measured. The share was chosen for each method on five public tables, so that the worst of
them does not lose; others would still gain a little above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import pi, sqrt
from typing import final

from attrs import frozen

from discreet.algorithms.marginals.counts import Counts, Marginals
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement, independent, measure, total_of
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.result import FINAL_STEPS, Result
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload
from discreet.private import Private

HALF_NORMAL = sqrt(2 / pi)  # E|Z|
_FINE = 1000  # parts of a share are whole numbers
_HOPELESS = 4.0  # noise as a multiple of the records from which the largest columns cannot be learnt anyhow, and shares are equal
_USUAL = 0.66  # the potential of the public tables on which bearable noise was found: 0.67 to 0.92


def column_noise(workload: Workload, budget: MeasurementBudget, one: float) -> float:
    """The expected ℓ₁ error of a marginal, in records, from noise on single columns that share the whole budget equally.

    It is the weighted mean over the workload of the columns' errors added up; `one` is the ℓ₂ sensitivity of a marginal, in records. What
    is bearable was found for equal shares; with those of `column_shares` noise is less.
    """
    domain = workload.domain
    amount = float(budget.amount) * (2 if budget.notion == "zcdp" else 1)
    deviation = one * sqrt(len(domain.names) / amount)
    weights = workload.weights
    cells = sum(weight * sum(domain.sizes[i] for i in clique) for clique, weight in weights.items()) / sum(weights.values())
    return HALF_NORMAL * deviation * cells


def column_shares(workload: Workload) -> list[Fraction]:
    """How a price is divided among the single columns, so that the noise of the workload's marginals is least; the shares add up to 1.

    Lemma. With noise of deviation σᵢ on the nᵢ cells of column i, in wᵢ marginals of the workload, the errors add up to Σ wᵢ·nᵢ·σᵢ. For a
        price Σ 1/σᵢ² that is fixed, this is least for 1/σᵢ² ∝ (wᵢ·nᵢ)^⅔.
    """
    domain = workload.domain
    weights = [sum(weight for clique, weight in workload.weights.items() if i in clique) for i in domain.columns]
    parts = [max(1, round(_FINE * (max(weight, 1) * size) ** (2 / 3))) for weight, size in zip(weights, domain.sizes, strict=True)]
    return [Fraction(part, sum(parts)) for part in parts]


def potential(domain: Domain, measured: Sequence[NoisyMeasurement], total: float) -> float:
    """How far pairs of columns can be from independence, on average, by their noisy single columns: 0 if all are constant.

    Lemma. ‖pᵢⱼ − pᵢ⊗pⱼ‖₁ ≤ 2·(1 − Σ pⱼ²), and the same with i: it is the mean of ‖p(j | i) − pⱼ‖₁, which is largest where i determines j.
    """
    mixed = [1 - float((column**2).sum()) for column in independent(domain, measured, total)]
    pairs = [2 * min(a, b) for a, b in combinations(mixed, 2)]
    return sum(pairs) / len(pairs) if pairs else 0.0


@final
@frozen
class Dependence:
    """The verdict on one table: the noise of its single columns at the whole budget, as a share of its records, and what is bearable."""

    noise: float
    bearable: float
    total: float

    @classmethod
    def judged(
        cls, measured: Sequence[NoisyMeasurement], workload: Workload, budget: MeasurementBudget, one: float, bearable: float
    ) -> Dependence:
        """Judge by single columns that were measured; nothing private is looked at."""
        total = total_of(measured)
        worth = min(1.0, potential(workload.domain, measured, total) / _USUAL)
        return cls(column_noise(workload, budget, one) / total, bearable * worth, total)

    @property
    def affordable(self) -> bool:
        """Whether larger marginals are worth their price."""
        return self.noise <= self.bearable

    @property
    def note(self) -> str:
        """Why columns are independent, in words."""
        noisy = f"noise on single columns is {self.noise:.2g} of a marginal, and dependence is worth its price below {self.bearable:.2g}"
        why = "no larger marginal is worth its noise" if self.affordable else noisy
        return f"columns are independent: with about {self.total:,.0f} records, {why}; the whole budget went to single columns"


def records_of(counts: Counts) -> float:
    """The ℓ₂ sensitivity of a marginal, in records."""
    return float(counts.l2_sensitivity) / counts.one


def only_columns(
    method: str,
    exact: Private[Marginals],
    measured: Sequence[NoisyMeasurement],
    spending: Spending,
    counts: Counts,
    verdict: Dependence,
    shares: Sequence[Fraction],
) -> Result:
    """Spend all that is left on single columns, by their shares, and fit independent columns to them."""
    domain, found = counts.domain, list(measured)
    parts = list(shares) if verdict.noise < _HOPELESS else [Fraction(1)] * len(shares)
    for i in domain.columns:
        found.append(measure(exact, (i,), spending, spending.left * parts[i] / sum(parts[i:]), counts))  # the last takes all
    model = fit_tree(domain, found, steps=FINAL_STEPS)
    notes = (verdict.note,) if len(domain.names) > 1 else ()
    return Result(method, model, tuple(found), tuple(spending.losses), spending.budget.loss, notes)
