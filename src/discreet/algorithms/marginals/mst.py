"""MST: every single column, and the pairs of a maximum spanning tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import final

import numpy as np
from attrs import frozen

from discreet.algorithms.marginals.counts import Counts, Integers, distance, to_counts
from discreet.algorithms.marginals.dependence import HALF_NORMAL, Dependence, column_shares, only_columns, records_of
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.measured import measure
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.result import FINAL_STEPS, Progress, Result, quiet
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload

_THIRD = Fraction(1, 3)
BEARABLE = 0.12  # noise of single columns, as a share of records, above which the whole budget goes to them


@final
@frozen(kw_only=True)
class MST:
    """Measure all columns, select a spanning tree of pairs, measure these (McKenna, Miklau & Sheldon 2021).

    Pairs whose noise is certain to cost more than their dependence is worth are no candidates, so the tree may be a forest. Where noise on
    the columns is too large already, or no pair is left, the whole budget goes to the columns. Both are decided from the noisy columns.

    Theorem (adaptive composition in ρ or μ²).
        A third of the budget goes to each of: the columns, the selection of at most d − 1 pairs one after the other by the exponential
        mechanism, and the pairs; what the selection leaves goes to the pairs. Scores ‖counts − independent model‖₁ − expected noise are
        whole numbers and change by at most Δ, some up and some down.

    Accuracy.
        No bound is known before the run.
    """

    budget: MeasurementBudget
    workload: Workload
    bearable: float = BEARABLE

    def run(self, counts: Counts, progress: Progress = quiet) -> Result:
        """Measure and fit."""
        domain, spending = counts.domain, Spending(self.budget)
        columns, pairs = [(i,) for i in domain.columns], list(combinations(domain.columns, 2))
        exact, shares = counts.marginals([*columns, *pairs]), column_shares(self.workload)
        measured = [measure(exact, (i,), spending, self.budget.amount * _THIRD * shares[i], counts) for i in domain.columns]
        progress("measured each column", _share(spending))
        verdict = Dependence.judged(measured, self.workload, self.budget, records_of(counts), self.bearable)
        each = self.budget.amount * _THIRD / max(len(columns) - 1, 1)
        noise = HALF_NORMAL * float(spending.gaussian(each, counts.l2_sensitivity).scale)
        pairs = [pair for pair in pairs if noise * domain.cells(pair) <= 2 * self.bearable * verdict.total * counts.one]
        if not verdict.affordable or not pairs:
            return only_columns("mst", exact, measured, spending, counts, verdict, shares)
        model = fit_tree(domain, measured)
        estimates = {pair: to_counts(model.marginal(pair), counts.one) for pair in pairs}
        scores = exact.map(lambda held: {pair: distance(held[pair], e) - round(noise * e.size) for pair, e in estimates.items()})
        tree: list[Clique] = []
        group = list(domain.columns)  # connected columns have the same number
        while open_pairs := [pair for pair in pairs if group[pair[0]] != group[pair[1]]]:
            chooser = spending.selection(each, counts.l1_sensitivity)
            a, b = open_pairs[spending.release("choice", chooser, scores.map(partial(_listed, pairs=open_pairs)))]
            group = [group[a] if one == group[b] else one for one in group]
            tree.append((a, b))
            progress(f"chose {domain.shown((a, b))}", _share(spending))
        for left, pair in zip(range(len(tree), 0, -1), tree, strict=True):
            measured.append(measure(exact, pair, spending, spending.left / left, counts))
            progress(f"measured {domain.shown(pair)}", _share(spending))
        return Result("mst", fit_tree(domain, measured, steps=FINAL_STEPS), tuple(measured), tuple(spending.losses), self.budget.loss)


def _share(spending: Spending) -> float:
    return min(spending.used, 1.0)


def _listed(scores: Mapping[Clique, int], pairs: Sequence[Clique]) -> Integers:
    return np.array([scores[pair] for pair in pairs], np.int64)
