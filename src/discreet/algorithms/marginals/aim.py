"""AIM: select the marginal that the model fits worst, measure it, fit again, until the budget is spent."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from math import pi, sqrt
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.candidates import Candidates
from discreet.algorithms.marginals.counts import Counts, Integers, Marginals, distance, to_counts
from discreet.algorithms.marginals.dependence import Dependence, column_shares, only_columns, records_of
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.measured import NoisyMeasurement, measure
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.result import FINAL_STEPS, Progress, Result, quiet
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
_HALF_NORMAL = sqrt(2 / pi)  # E|Z|
_NOISY, _AGAIN = 0.5, Fraction(1, 4)  # if columns have more than this share of bearable noise, they get this share of the budget again
BEARABLE = 0.2  # noise of single columns, as a share of records, above which the whole budget goes to them
_STEPS, _FEWER, _SLOW = 60, 20, 10**5  # of the fit in each round, which starts from the last one; fewer if the model has so many cells
_FEW = 8  # cells of a marginal up to which one quiet round may be chance: change and noise vary by a quarter there
_CAP = 2  # of what is left, divided by the number of columns: a round is not made dearer than this
_MOST = 10**6  # numbers in a model; more would be slow


@final
@frozen(kw_only=True)
class AIM:
    """Measure marginals adaptively (McKenna, Mullins, Sheldon & Miklau 2022).

    First measure every single column, those with more cells for more. If noise is so large that dependence cannot be paid for, measure the
    columns again with all that is left, and stop; if it is half as large, measure them once more. Then each round selects one marginal
    of the workload's closure by the exponential mechanism, with score weight·(‖counts − model‖₁ − √(2/π)·σ·cells), measures it with
    Gaussian noise, and fits the model again. When a measurement changed the model by no more than its noise, later rounds spend four times
    as much, but no more than two of as many parts of what is left as there are columns: to join d columns takes d − 1 marginals. A marginal
    of few cells changes the model by less than its noise by chance, too: there it must happen twice in a row, and later rounds spend twice
    as much. The authors' rule has no such exception: on tables of binary columns it measures fewer marginals, and errors are larger by a
    fifth.

    Theorem (adaptive composition in ρ or μ²).
        Whatever is selected, all steps together cost no more than the budget: each is priced before it is used, and the last takes what is
        left.

    Proof.
        Scores are whole numbers: the model's counts are rounded before they are compared with the data's. One unit changes a marginal by at
        most Δ in ℓ₁, so it changes each score by at most weight·Δ, some up and some down: the exponential mechanism is charged for 2·max
        weight·Δ (not half of it: the scores are not monotone), ε²/8 in ρ. A marginal changes by at most the stated ℓ₂ sensitivity, which
        prices Gaussian noise.

    Accuracy.
        No bound is known before the run; benchmarks/synthetic.py measures the error on public tables.
    """

    budget: MeasurementBudget
    workload: Workload
    rounds: int | None = None  # planned number of rounds; None for 16 per column
    selection: Fraction = Fraction(1, 10)  # share of a round's price spent on the selection
    most_cells: int = field(default=_MOST)
    bearable: float = BEARABLE

    def run(self, counts: Counts, progress: Progress = quiet) -> Result:
        """Measure and fit."""
        domain, spending = counts.domain, Spending(self.budget)
        closure = self.workload.closure()
        exact = counts.marginals([(i,) for i in domain.columns])
        price = self.budget.amount / max(self.rounds or 16 * len(domain.names), 2 * len(domain.names))
        shares, measured = column_shares(self.workload), list[NoisyMeasurement]()
        for i in domain.columns:
            measured.append(measure(exact, (i,), spending, price * (1 - self.selection) * len(shares) * shares[i], counts))
        verdict = Dependence.judged(measured, self.workload, self.budget, records_of(counts), self.bearable)
        if not verdict.affordable or not any(len(clique) > 1 for clique in closure):
            return only_columns("aim", exact, measured, spending, counts, verdict, shares)
        exact = counts.marginals(list(dict.fromkeys([*((i,) for i in domain.columns), *closure])))  # only now: larger ones take long
        if verdict.noise > _NOISY * verdict.bearable:
            for i in domain.columns:
                measured.append(measure(exact, (i,), spending, self.budget.amount * _AGAIN * shares[i], counts))
        model, allowed, alike = fit_tree(domain, measured), Candidates(domain, closure, self.most_cells), 0
        while spending.left > self.budget.amount / 10**9:
            if spending.left < 2 * price:
                price = spending.left
            last = price == spending.left
            noise = float(spending.gaussian(price * (1 - self.selection), counts.l2_sensitivity).scale) / counts.one
            candidates = allowed.of([one.clique for one in measured], spending.used)
            estimates = {clique: to_counts(model.marginal(clique), counts.one) for clique in candidates}
            scores = exact.map(partial(_scores, estimates=estimates, weights=closure, noise=counts.one * noise))
            chooser = spending.selection(price * self.selection, max(closure[clique] for clique in candidates) * counts.l1_sensitivity)
            chosen = candidates[spending.release("choice", chooser, scores)]
            steps = _FEWER if model.calibrated.tree.cells > _SLOW else _STEPS
            rest = spending.left if last else price * (1 - self.selection)
            measured.append(measure(exact, chosen, spending, rest, counts))
            model = fit_tree(domain, measured, steps=FINAL_STEPS) if last else fit_tree(domain, measured, model, steps)
            change = np.abs(model.marginal(chosen).ravel() - estimates[chosen] / counts.one).sum()
            few = domain.cells(chosen) <= _FEW
            alike = alike + 1 if change <= _HALF_NORMAL * noise * domain.cells(chosen) else 0
            if alike >= (2 if few else 1):
                price, alike = max(price, min((2 if few else 4) * price, spending.left * _CAP / len(domain.names))), 0
            progress(f"measured {domain.shown(chosen)}", min(spending.used, 1.0))
        return Result("aim", model, tuple(measured), tuple(spending.losses), self.budget.loss)


def _scores(held: Marginals, estimates: Mapping[Clique, Integers], weights: Mapping[Clique, int], noise: float) -> Integers:
    """The weighted error of the model on each candidate in excess of the noise's expected error; whole numbers."""
    found = []
    for clique, estimate in estimates.items():
        expected = round(_HALF_NORMAL * noise * estimate.size)
        score = weights[clique] * (distance(held[clique], estimate) - expected)
        found.append(min(max(score, -(2**62)), 2**62))  # clamping is 1-Lipschitz
    return np.array(found, np.int64)
