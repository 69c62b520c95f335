"""Choose what to measure: which tables, and with which share of the budget, for the least variance of the tables that are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from discreet.algorithms.consistent.estimate import variances
from discreet.algorithms.consistent.layout import Floats, Layout, Table, closed, dimensions

Errors: TypeAlias = tuple[tuple[float, ...], ...]  # each is a weight for every table's variance, summed over its cells
_ROUNDS, _ENOUGH, _STEP = 300, 1e-3, 1e-4
_WORK = 2 * 10**7  # cells that are visited at most, in all rounds together
_LEAST = 1e-4  # smaller shares are not worth a table


@lru_cache(maxsize=64)
def strategy(
    layout: Layout, asked: tuple[Table, ...], errors: Errors = (), gaussian: bool = True, finest_cost: float = 1.0
) -> dict[Table, float]:
    """The share of each table that is measured; shares add up to 1.

    Theorem (Xiao, He, Zhang & Kifer 2023 for marginals; here for independent noise).
        Gaussian noise of variance 1/τ on each table costs μ² = Σ τ·Δ², where a unit changes that table by Δ at most, and the total variance
        of all cells that are asked for is a convex function of τ. With s the shares, f the variance and g = −∂f/∂s, Σ s·g = f, and no
        shares have less than 2f − max g. For all sets of keys of sizes n (CUBE) the least is the product of (n − 1 + √(n+1))²/n, and no
        other linear measurement with Gaussian noise has less.

    The largest of `errors` is minimised: a single one is a weighted total, several are a worst case (`total_error`, `worst_error`). Without
    them it is the total variance of all cells. Laplace noise has shares of ε, and variance as 1/s²; the best of a few starts is taken.
    `finest_cost` is the squared sensitivity of the finest table relative to that of the others.
    """
    candidates = closed(asked)
    trial = _Trial(layout, candidates, asked, gaussian, finest_cost)
    goal = np.array(errors or total_error([1.0] * len(asked)))
    starts = [np.ones(len(candidates))]
    if not gaussian:
        starts.append(np.array([1.0 if table in asked else 1e-3 for table in candidates]))
        starts.append(np.array([1.0 if all(one.within(table) for one in asked) else 1e-3 for table in candidates]))
        ends = [all(one.within(table) for one in asked) or all(table.within(one) for one in asked) for table in candidates]
        starts.append(np.array([1.0 if end else 1e-3 for end in ends]))
    shares, _ = min((_improved(trial, goal, start / start.sum()) for start in starts), key=lambda found: found[1])
    kept = {table: float(share) for table, share in zip(candidates, shares, strict=True) if share >= _LEAST}
    for table in asked:  # one with a tiny weight is still determined
        if not any(table.within(other) for other in kept):
            kept[table] = _LEAST
    together = sum(kept.values())
    return {table: share / together for table, share in kept.items()}


def total_error(weights: Sequence[float]) -> Errors:
    """The total variance of all cells, in which those of each table have a weight."""
    return (tuple(weights),)


def worst_error(layout: Layout, asked: Sequence[Table]) -> Errors:
    """The variance of a cell of each table, of which the largest counts."""
    return tuple(tuple(float(other == table) / layout.cells(table) for other in asked) for table in asked)


def spread(
    layout: Layout, shares: Mapping[Table, float], asked: Sequence[Table], gaussian: bool, finest_cost: float = 1.0
) -> dict[Table, Floats]:
    """The variance in each table's nodes, for noise that costs 1 in all."""
    return variances(layout, {table: _precision(layout, table, share, gaussian, finest_cost) for table, share in shares.items()}, asked)


def total_variance(
    layout: Layout, shares: Mapping[Table, float], asked: Sequence[Table], gaussian: bool, finest_cost: float = 1.0,
    weights: Sequence[float] | None = None,
) -> float:  # fmt: skip
    """The weighted sum of the variances of all cells that are asked for, for noise that costs 1 in all."""
    found, each = spread(layout, shares, asked, gaussian, finest_cost), [1.0] * len(asked) if weights is None else weights
    return sum(weight * float(found[table].sum()) * layout.cells(Table(0, table.flat)) for table, weight in zip(asked, each, strict=True))


def _precision(layout: Layout, table: Table, share: float, gaussian: bool, finest_cost: float) -> float:
    return (share if gaussian else share**2) / (finest_cost if table == layout.finest else 1.0)


def _improved(trial: _Trial, goal: Floats, shares: Floats) -> tuple[Floats, float]:
    """Multiplicative steps: each share grows with the root of what it gains."""
    power, weight, best = 1 / 2 if trial.gaussian else 1 / 3, np.ones(len(goal)), (shares, np.inf)
    for _ in range(trial.rounds):
        variance, slopes = trial.at(shares)
        errors = goal @ variance
        value = float(errors.max())
        if value < best[1]:
            best = (shares, value)
        if len(goal) > 1:  # the largest errors weigh more from round to round
            weight = weight * (errors / value) ** 0.5
            weight = weight / weight.sum()
        gains = np.maximum(weight @ goal @ slopes, 0.0)
        if trial.gaussian and len(goal) == 1 and gains.max() <= value * (1 + _ENOUGH):
            break
        shares = shares * gains**power
        shares = np.maximum(shares / shares.sum(), 1e-12)
    return best


@final
@frozen(eq=False, slots=False)
class _Trial:
    """The variance of each table that is asked for, summed over its cells, as a function of the shares of what is measured."""

    layout: Layout
    candidates: tuple[Table, ...]
    asked: tuple[Table, ...]
    gaussian: bool
    finest_cost: float

    @cached_property
    def rounds(self) -> int:
        """As many as are quick, where the tree is large."""
        each = (len(self.candidates) + 1) * sum(self.layout.nodes(table.level) for table in (*self.candidates, *self.asked))
        return _ROUNDS if not self.layout.parents else max(10, min(_ROUNDS, _WORK // each))

    def at(self, shares: Floats) -> tuple[Floats, Floats]:
        """The variances, and how they fall with each share."""
        return self._in_closed_form(shares) if not self.layout.parents else self._by_differences(shares)

    def _in_closed_form(self, shares: Floats) -> tuple[Floats, Floats]:
        """Without a hierarchy each residual has one precision, Σ (what measures it)."""
        measures, enters = self._residuals
        costs = np.array([self.finest_cost if table == self.layout.finest else 1.0 for table in self.candidates])
        precision, slope = (shares / costs, 1 / costs) if self.gaussian else (shares**2 / costs, 2 * shares / costs)
        known = measures @ precision
        return enters @ (1 / known), (enters / known**2) @ measures * slope

    @cached_property
    def _residuals(self) -> tuple[Floats, Floats]:
        """How much each candidate measures each residual, and how much each residual enters the variance of each table."""
        layout, found = self.layout, dimensions(self.layout, [*self.candidates, *self.asked])
        measures = [[layout.beside(table) if set(flat) <= set(table.flat) else 0 for table in self.candidates] for flat in found]
        enters = [
            [size * layout.beside(table) if set(flat) <= set(table.flat) else 0 for flat, size in found.items()] for table in self.asked
        ]
        return np.array(measures, float), np.array(enters, float)

    def _by_differences(self, shares: Floats) -> tuple[Floats, Floats]:
        here, slopes = self._variances(shares), np.zeros((len(self.asked), len(shares)))
        for i, share in enumerate(shares):
            moved = shares.copy()
            moved[i] += share * _STEP
            slopes[:, i] = (here - self._variances(moved)) / (moved[i] - share)
        return here, slopes

    def _variances(self, shares: Floats) -> Floats:
        found = spread(self.layout, dict(zip(self.candidates, shares, strict=True)), self.asked, self.gaussian, self.finest_cost)
        return np.array([float(found[table].sum()) * self.layout.cells(Table(0, table.flat)) for table in self.asked])
