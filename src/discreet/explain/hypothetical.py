"""A hypothetical group, for which errors are forecast: what its rows add to each total on average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import final

from attrs import frozen

from discreet.plan.steps import Steps
from discreet.query.relation.expr import Column, Expr
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Factor, Total
from discreet.run.tables import totals_behind

CORRELATION = 0.5  # the assumed correlation of two numbers


@final
@frozen
class HypotheticalGroup:
    """A hypothetical group: the means of numbers between their bounds, their variances, and correlations."""

    plan: Steps
    known: Mapping[tuple[str, tuple[Expr, ...]], float]  # means, variances and correlations given by `at`
    place: float  # else means lie this share of the way from the middle to an end,
    spread: float  # and variances are this share of the square of half the width

    @classmethod
    def of(cls, plan: Steps, at: Mapping[str, float], place: float, spread: float) -> HypotheticalGroup:
        """With the given values of statistics, by the names of their outputs, and of columns."""
        outputs = {name: expr.name for name, expr in plan.question.outputs if isinstance(expr, Column)}
        statistics = plan.question.additive
        known: dict[tuple[str, tuple[Expr, ...]], float] = {}
        for name, value in at.items():
            asked: Additive | None = statistics.get(outputs.get(name, name))
            known |= asked.implies(value) if asked is not None else {("mean", (Column(name),)): value}
        return cls(plan, known, place, spread)

    def mean_of(self, total: Total) -> float:
        """What a row adds to a total on average."""
        match total.factors:
            case ():
                return 1.0
            case (one,):
                return self._power(one)
            case (first, second) if first.power == second.power == 1:
                related = self.known.get(("correlation", (first.expr, second.expr)))
                related = self.known.get(("correlation", (second.expr, first.expr)), CORRELATION) if related is None else related
                deviations = math.sqrt(self._variance(first.expr) * self._variance(second.expr))
                return self._power(first) * self._power(second) + related * deviations
            case factors:
                return math.prod(map(self._power, factors))

    def _power(self, factor: Factor) -> float:
        """The mean of a power, as of a normal distribution: binomially in its distance from the middle and its central moments."""
        distance, variance = self._mean(factor.expr) - float(factor.grid.mid), self._variance(factor.expr)
        central = [1.0, 0.0, variance, 0.0, 3 * variance**2 if factor.power == 4 else 0.0]  # it may be no float if it is not needed
        return sum(math.comb(factor.power, k) * central[k] * distance ** (factor.power - k) for k in range(factor.power + 1))

    def _mean(self, expr: Expr) -> float:
        low, high = self._ends(expr)
        mean = self.known.get(("mean", (expr,)), (low + high) / 2 + self.place * (high - low) / 2)
        return min(max(mean, low), high)  # no mean lies outside its range

    def _variance(self, expr: Expr) -> float:
        low, high = self._ends(expr)
        return self.known.get(("variance", (expr,)), self.spread * ((high - low) / 2) ** 2)

    def _ends(self, expr: Expr) -> tuple[float, float]:
        within = totals_behind(self.plan).range(expr)
        return float(within.low), float(within.high)
