"""AIM: choose the marginal that the model gets most wrong, measure it, fit again, until the budget is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import pi, sqrt
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.counts import Counts, Integers, Marginals, distance, to_counts
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.junction_tree import tree_cells
from discreet.algorithms.marginals.measured import NoisyMeasurement, measure, total_of
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.result import FINAL_STEPS, Progress, Result, quiet
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
_HALF_NORMAL = sqrt(2 / pi)  # E|Z|
_POOR, _AGAIN = 0.15, Fraction(1, 4)  # columns that are off by a larger share of all records are measured again, for so much of the budget
_MOST = 10**6  # numbers in a model; more would take long


@final
@frozen(kw_only=True)
class AIM:
    """Measure adaptively (McKenna, Mullins, Sheldon & Miklau 2022).

    First every column by itself, and once more if that was mostly noise. Then each round chooses one marginal of the workload's closure by
    the exponential mechanism, score weight·(‖counts − model‖₁ − √(2/π)·σ·cells), measures it with Gaussian noise, and fits the model again.
    When a measurement changed the model by no more than its noise, the next rounds pay four times as much.

    Theorem (adaptive composition in ρ or μ²).
        Whatever is chosen, all steps together cost no more than the budget: each is priced before it is used, the last takes what is left.

    Proof.
        Scores are whole numbers: the model's counts are to_counts before they meet the data's. One unit moves a marginal by at most Δ in ℓ₁,
        so it moves each score by weight·Δ at most, some up and some down: the exponential mechanism pays for 2·max weight·Δ (not half of
        it: the scores are not monotone), ε²/8 in ρ. A marginal moves by the stated ℓ₂ length, which prices Gaussian noise.

    Accuracy.
        No bound is known before the run; benchmarks/synthetic.py measures it on public tables.
    """

    budget: MeasurementBudget
    workload: Workload
    rounds: int | None = None  # as many are planned for; None for 16 for each column
    selection: Fraction = Fraction(1, 10)  # share of a round's price that its choice costs
    most_cells: int = field(default=_MOST)

    def run(self, counts: Counts, progress: Progress = quiet) -> Result:
        """Measure and fit."""
        domain, spending = counts.domain, Spending(self.budget)
        closure = self.workload.closure()
        exact = counts.marginals(list(dict.fromkeys([*((i,) for i in domain.columns), *closure])))
        price = self.budget.amount / max(self.rounds or 16 * len(domain.names), 2 * len(domain.names))
        measured: list[NoisyMeasurement] = []
        for i in domain.columns:
            measured.append(measure(exact, (i,), spending, price * (1 - self.selection), counts))
        if _column_error(measured) > _POOR:
            for i in domain.columns:
                measured.append(measure(exact, (i,), spending, self.budget.amount * _AGAIN / len(domain.names), counts))
        model = fit_tree(domain, measured)
        while spending.left > self.budget.amount / 10**9:
            if spending.left < 2 * price:
                price = spending.left
            last = price == spending.left
            noise = float(spending.gaussian(price * (1 - self.selection), counts.l2_sensitivity).scale) / counts.one
            candidates = self._candidates(closure, [one.clique for one in measured], spending.used)
            estimates = {clique: to_counts(model.marginal(clique), counts.one) for clique in candidates}
            scores = exact.map(partial(_scores, estimates=estimates, weights=closure, noise=counts.one * noise))
            chooser = spending.selection(price * self.selection, max(closure[clique] for clique in candidates) * counts.l1_sensitivity)
            chosen = candidates[spending.release("choice", chooser, scores)]
            rest = spending.left if last else price * (1 - self.selection)
            measured.append(measure(exact, chosen, spending, rest, counts))
            model = fit_tree(domain, measured, steps=FINAL_STEPS) if last else fit_tree(domain, measured, model)
            change = np.abs(model.marginal(chosen).ravel() - estimates[chosen] / counts.one).sum()
            if change <= _HALF_NORMAL * noise * domain.cells(chosen):
                price *= 4
            progress(f"measured {domain.shown(chosen)}", min(spending.used, 1.0))
        return Result("aim", model, tuple(measured), tuple(spending.losses), self.budget.loss)

    def _candidates(self, closure: Mapping[Clique, int], cliques: Sequence[Clique], used: float) -> list[Clique]:
        """Marginals whose model is not too large for how much is spent; those that are measured already always fit."""
        domain, known = self.workload.domain, set(cliques)
        return [clique for clique in closure if clique in known or tree_cells(domain, [*cliques, clique]) <= self.most_cells * used]


def _column_error(measured: Sequence[NoisyMeasurement]) -> float:
    """By which share of all records columns by themselves are off, on average, by what was released of them."""
    total = total_of(measured)
    return sum(_HALF_NORMAL * one.deviation * one.values.size for one in measured) / len(measured) / total


def _scores(held: Marginals, estimates: Mapping[Clique, Integers], weights: Mapping[Clique, int], noise: float) -> Integers:
    """How wrong the model is about each candidate beyond what noise alone would be, weighted; whole numbers."""
    found = []
    for clique, estimate in estimates.items():
        expected = round(_HALF_NORMAL * noise * estimate.size)
        score = weights[clique] * (distance(held[clique], estimate) - expected)
        found.append(min(max(score, -(2**62)), 2**62))  # which moves no two scores further apart
    return np.array(found, np.int64)
