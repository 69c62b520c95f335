"""The sampling error of answers from a random sample of the units, and intervals for it and the noise together; from public numbers alone.

A statistic changes by Σ cᵢ·(Iᵢ/q − 1), where Iᵢ is 1 if unit i is in the sample and cᵢ is what the unit adds to the statistic. This has the
variance Σ cᵢ²·(1 − q)/q. With weights w of a unit's rows that add up to at most L in a group, cᵢ² = (Σ w·g)² ≤ L·Σ w·g² (Cauchy–Schwarz),
and every statistic bounds Σ w·g² by its own value (`Additive.squares`). The bound grows with the true value, so the half-width h is the
solution of h² = noise² + z²·L·(1 − q)/q·squares(value ± h).

This is a score interval, whose ends allow for the larger variance of a larger truth. It is exact enough where few units are in the sample:
of all contributions from 0 to L with the same sum, equal ones of L have the longest tails, and then the number of them in the sample is
nearly Poisson, for which it has the stated coverage (tests/run/test_sampling_error.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import NormalDist
from typing import assert_never, final

import numpy as np
from attrs import frozen

from discreet.plan.bounding import Bounding, Groups, Rows, Single
from discreet.plan.scaling import bounding_for
from discreet.plan.steps import Steps
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.run.intervals import half_widths, laplace_excess
from discreet.run.tables import noisy_totals_of

_LEAST = 0.9  # the confidence of the least sampling error that intervals allow for
_STEPS = 60  # towards a half-width; each halves its distance at least


@final
@frozen(eq=False)
class SamplingError:
    """What a plan's sample adds to the errors of its statistics, at one confidence."""

    plan: Steps
    confidence: float

    @property
    def z(self) -> float:
        """The quantile of normal errors; at least that of 0.9, for with fewer units in the sample than one it would cover too little."""
        return NormalDist().inv_cdf((1 + max(self.confidence, _LEAST)) / 2)

    def part(self, statistic: Additive, of: Totals, cells: Cells, noise: Floats) -> Floats:
        """The half-width for the sampling error alone, of a statistic whose interval for the noise has this half-width."""
        total = self.half_width(statistic, of, cells, noise)
        return np.where(np.isinf(total), total, np.sqrt(np.maximum(total**2 - self.wider(noise) ** 2, 0.0)))

    def together(self, noise: Floats, sampling: Floats) -> Floats:
        """The half-width for noise and sampling error together, which are independent."""
        return np.asarray(np.hypot(self.wider(noise), sampling))

    def wider(self, noise: Floats) -> Floats:
        """The half-width for the noise, no less than that of normal noise of its variance: so squares of half-widths may be added.

        At a confidence below about 0.9, an interval for Laplace noise is narrower than that.
        """
        return np.asarray(noise / min(1.0, laplace_excess(1.0, self.confidence)))

    def half_width(self, statistic: Additive, of: Totals, cells: Cells, noise: Floats) -> Floats:
        """The half-width for noise and sampling error together, of a statistic whose interval for the noise has this half-width."""
        factor, own, most = self._factor(statistic, of), self.wider(noise), self._most(cells)
        low, high = statistic.limits(of)
        error = np.full(len(noise), high - low) if np.isfinite(high - low) else own
        for _ in range(_STEPS):
            error = np.hypot(own, self.z * np.sqrt(factor * statistic.squares(of, cells, most, error)))
        return error

    def _factor(self, statistic: Additive, of: Totals) -> float:
        """L·(1 − q)/q."""
        return max(self._weight(total) for total in statistic.needs(of)) * self._odds

    @property
    def _odds(self) -> float:
        rate = self.plan.question.sample
        assert rate is not None
        return float((1 - rate) / rate)

    def _weight(self, total: Total) -> float:
        assert self.plan.bounding is not None
        return float(_most_in_a_group(bounding_for(total, self.plan.bounding, bool(self.plan.question.keys))))

    def _most(self, cells: Cells) -> Cells:
        """Counts that the true ones hardly exceed: h² = noise² + z²·L·(1 − q)/q·(count + h), solved for count + h."""
        found = {}
        for one in self.plan.totals:
            if not one.total.factors and one.total in cells:
                rate = self.z**2 * self._weight(one.total) * self._odds
                count = np.maximum(cells[one.total], 0.0)
                noise = self.wider(np.full(len(count), float(one.unit) * one.mechanism.error(self.confidence)))
                found[one.total] = count + rate / 2 + np.sqrt(rate**2 / 4 + noise**2 + rate * count)
        return found


def _most_in_a_group(bounding: Bounding) -> int:
    """The most that the weights of a unit's rows add up to in one group."""
    match bounding:
        case Single():
            return 1
        case Rows(rows):
            return rows
        case Groups(_, per_group):
            return per_group
        case _:
            assert_never(bounding)


def with_sampling_error(plan: Steps, statistic: Additive, of: Totals, cells: Cells, noise: Floats, confidence: float) -> Floats:
    """Half-widths of a statistic for the noise, with the sampling error added if the plan reads a sample."""
    if plan.question.sample is None:
        return noise
    with np.errstate(all="ignore"):
        return SamplingError(plan, confidence).half_width(statistic, of, cells, noise)


def sampling_error_through(
    plan: Steps, statistics: Mapping[str, Additive], of: Totals, cells: Cells, noise: Floats, confidence: float,
    output: Callable[[Mapping[str, Floats]], Floats],
) -> Floats:  # fmt: skip
    """The same for an output that is computed from statistics: at most the sum of what each one's own sampling error moves it by."""
    if plan.question.sample is None:
        return noise
    found, moved = SamplingError(plan, confidence), np.zeros(len(noise))
    values = {name: one.value(of, cells, clipped=False) for name, one in statistics.items()}
    for name, one in statistics.items():
        own = half_widths(partial(_value, one, of), cells, noisy_totals_of([one], plan), confidence)
        step = found.part(one, of, cells, own)
        ahead, behind = (output({**values, name: values[name] + sign * step}) for sign in (1, -1))
        moved = moved + np.abs(ahead - behind) / 2
    return found.together(noise, moved)


def _value(statistic: Additive, of: Totals, cells: Cells) -> Floats:
    return statistic.value(of, cells, clipped=False)
