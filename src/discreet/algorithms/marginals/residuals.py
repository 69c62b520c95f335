"""Measure every residual of a workload by plan, and fit a model over the whole domain."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.algorithms.marginals.counts import Counts, Marginals
from discreet.algorithms.marginals.device import arrays_on, forecast
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement, merge_measurements
from discreet.algorithms.marginals.model import DenseModel, fit_dense
from discreet.algorithms.marginals.residual import BITS, Residual, contrasts
from discreet.algorithms.marginals.residual_planner import (
    WORTHWHILE,
    ResidualPlan,
    columns_only,
    plan_residuals,
    predicted_errors,
    prior_energies,
)
from discreet.algorithms.marginals.result import Progress, Result, quiet
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Invalid
from discreet.private import Private

Floats = NDArray[np.float64]
_LEAST, _MOST = Fraction(1, 50), Fraction(1, 3)  # share of the budget for the number of records
_DIGITS = 10**9


@final
@frozen(kw_only=True)
class Residuals:
    """Measure residuals with planned noise (ResidualPlanner), then fit the distribution to them.

    The number of records is measured first, for its planned share of the budget; it determines which residuals are certainly below the
    noise and are left out. Where larger marginals are not predicted to help, only single columns are measured. Where few are left,
    the number of records is worth more than it was given at first, and is measured again.

    Theorem (Gaussian composition).
        The residuals of one clique, as whole numbers, change by at most the root of `Residual.sensitivity_squared` for one unit; Gaussian
        noise on all of them costs what is claimed, in ρ and in μ². Fitting is post-processing.

    Accuracy.
        `expected_errors` gives the expected ℓ₁ error of each marginal before the fit, in records; distributions are non-negative, so the
        fit reduces it.
    """

    budget: MeasurementBudget
    workload: Workload
    worthwhile: float = WORTHWHILE
    device: str = "auto"  # where the model is fitted

    def expected_errors(self, one: float = 1.0) -> dict[Clique, float]:
        """The expected ℓ₁ error of each marginal before the fit, in records, if a unit has the weight of `one` record; no data is read."""
        plan = plan_residuals(self.workload.domain, self.workload)
        return plan.expected_errors(_amount(self.budget, Fraction(1)) / one**2)

    @property
    def _first(self) -> Fraction:
        """The share of the budget for the number of records."""
        plan = plan_residuals(self.workload.domain, self.workload)
        return min(max(Fraction(1 / float(plan.variances[0])).limit_denominator(10**6), _LEAST), _MOST)

    def run(self, counts: Counts, progress: Progress = quiet) -> Result:
        """Measure and fit."""
        domain, spending = counts.domain, Spending(self.budget)
        held = counts.marginals([(), *self.workload.closure()])
        part = self._first
        mechanism = spending.gaussian(self.budget.amount * part, Fraction(counts.one_sided_sensitivity))
        count = spending.release("number of records", mechanism, held.map(lambda marginals: marginals[()]))
        raw = float(np.asarray(count)[0]) / counts.one
        total = max(1.0, raw)
        amount = _amount(self.budget, 1 - part) * (counts.one / counts.l1_sensitivity) ** 2
        squared = max(total, float(mechanism.scale) / counts.one) ** 2 * amount  # noise may hide this many records
        fitted, alone = predicted_errors(self.workload, squared)
        worthwhile = fitted <= self.worthwhile * alone or all(len(clique) < 2 for clique in self.workload.cliques)
        measures = self.workload if worthwhile else columns_only(self.workload)
        plan = plan_residuals(domain, measures, prior_energies(domain, squared))
        first = NoisyMeasurement((), np.array([raw]), float(mechanism.scale) / counts.one)
        wanted = min(Fraction(1 / float(plan.variances[0])).limit_denominator(10**6), _MOST)  # the first residual is the number of records
        if wanted > 2 * part:
            mechanism = spending.gaussian(spending.left * wanted, Fraction(counts.one_sided_sensitivity))
            count = spending.release("number of records again", mechanism, held.map(lambda marginals: marginals[()]))
            again = NoisyMeasurement((), np.asarray(count, np.float64) / counts.one, float(mechanism.scale) / counts.one)
            first = merge_measurements([first, again])[0]
        measured = [first, *_measured(plan, spending, held, counts, progress)]
        progress("fitting", 0.9)
        notes = () if worthwhile else (_note(total, fitted, alone),)
        model = fit_residuals(domain, measured, self.device)
        return Result("residuals", model, tuple(measured), tuple(spending.losses), self.budget.loss, notes)


def _note(total: float, fitted: float, alone: float) -> str:
    return (
        f"columns are independent: with about {total:,.0f} records, larger marginals would bring the predicted error from {alone:.2g} to "
        f"{fitted:.2g} of a marginal only, and less than a tenth is not worth their noise; the whole budget went to single columns"
    )


def fit_residuals(domain: Domain, measured: Sequence[NoisyMeasurement], device: str = "auto") -> DenseModel:
    """The model over the whole domain that fits measured residuals best; the first measurement is the number of records."""
    total, residuals = max(1.0, float(measured[0].values[0])), measured[1:]
    expected = forecast(domain, [one.clique for one in residuals], device)
    if expected.too_large:
        raise Invalid(
            f"the model of these {domain.size:.2g} combinations of values needs {expected.too_large}: open the table where torch has a "
            "larger GPU (pip install 'discreet[gpu]')"
        )
    # ρ is the cost of a record's contribution to each residual at this noise
    rho = sum(Residual(domain, one.clique, BITS).share / one.deviation**2 for one in residuals) / 2
    return fit_dense(domain, residuals, BITS, _alone(domain, residuals, total), total, rho, arrays_on(expected.device, domain))


def _amount(budget: MeasurementBudget, share: Fraction) -> float:
    """The value of Σ share/variance: μ², or 2ρ."""
    return float(budget.amount * share) * (2 if budget.notion == "zcdp" else 1)


def _measured(
    plan: ResidualPlan, spending: Spending, held: Private[Marginals], counts: Counts, progress: Progress
) -> list[NoisyMeasurement]:
    """Release residuals of equal noise and sensitivity together, as one vector."""
    budget = spending.left
    shares = {
        clique: plan.residual(clique).share / variance for clique, variance in zip(plan.cliques, plan.variances, strict=True) if clique
    }
    used = [clique for clique in plan.cliques if clique and shares[clique] > 0 and plan.residual(clique).size]
    whole = sum(shares[clique] for clique in used)
    priced = [(Fraction(int(shares[clique] / whole * _DIGITS), _DIGITS) * budget, plan.residual(clique)) for clique in used]
    priced = [(price, residual) for price, residual in priced if price > 0]
    found: list[NoisyMeasurement] = []
    squares = {residual: residual.sensitivity_squared(counts.l1_sensitivity, counts.l2_sensitivity) for _, residual in priced}
    together = sorted(priced, key=lambda one: (len(one[1].clique), one[0], squares[one[1]], one[1].clique))
    for (_, price, each), group in groupby(together, key=lambda one: (len(one[1].clique), one[0], squares[one[1]])):
        residuals = [residual for _, residual in group]
        found += _released(residuals, price * len(residuals), each * len(residuals), spending, held, counts)
        progress(f"measured {len(found):,} of {len(priced):,} residuals", 0.8 * len(found) / len(priced))
    return found


def _released(
    residuals: Sequence[Residual],
    price: Fraction,
    sensitivity_squared: Fraction,
    spending: Spending,
    held: Private[Marginals],
    counts: Counts,
) -> list[NoisyMeasurement]:
    mechanism = spending.gaussian(price, exact.rational_up(lambda: exact.ball(sensitivity_squared).sqrt()))

    def answers(marginals: Marginals) -> NDArray[Any]:
        return np.concatenate([residual.of(marginals[residual.clique]) for residual in residuals])

    noisy = np.asarray(spending.release(f"{len(residuals)} residuals", mechanism, held.map(answers)), np.float64)
    unit = residuals[0].unit * counts.one
    ends = np.cumsum([0, *(residual.size for residual in residuals)])
    return [
        NoisyMeasurement(residual.clique, noisy[a:b] / unit, float(mechanism.scale) / unit)
        for residual, a, b in zip(residuals, ends, ends[1:], strict=False)
    ]


def _alone(domain: Domain, measured: Sequence[NoisyMeasurement], total: float) -> list[Floats]:
    """Each column's own distribution, from its own residual; every code has positive probability."""
    found = []
    known = {one.clique: one for one in measured}
    for i, size in enumerate(domain.sizes):
        values = np.full(size, total / size)
        if (one := known.get((i,))) is not None:
            values = np.maximum(values + one.values @ (contrasts(size, BITS) / 2**BITS), one.deviation / 4)
        found.append(values / values.sum())
    return found
