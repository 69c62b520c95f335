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
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.measured import measure
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.result import FINAL_STEPS, Progress, Result, quiet
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload

_THIRD = Fraction(1, 3)


@final
@frozen(kw_only=True)
class MST:
    """Measure all columns, select a spanning tree of pairs, measure these (McKenna, Miklau & Sheldon 2021).

    Theorem (adaptive composition in ρ or μ²).
        A third of the budget goes to each of: the columns, the selection of d − 1 pairs one after the other by the exponential mechanism,
        and the pairs. Scores ‖counts − independent model‖₁ are whole numbers and change by at most Δ, some up and some down.

    Accuracy.
        No bound is known before the run.
    """

    budget: MeasurementBudget
    workload: Workload

    def run(self, counts: Counts, progress: Progress = quiet) -> Result:
        """Measure and fit."""
        domain, spending = counts.domain, Spending(self.budget)
        columns, pairs = [(i,) for i in domain.columns], list(combinations(domain.columns, 2))
        if not pairs:
            measured = [measure(counts.marginals(columns), columns[0], spending, self.budget.amount, counts)]
            return Result("mst", fit_tree(domain, measured, steps=FINAL_STEPS), tuple(measured), tuple(spending.losses), self.budget.loss)
        exact = counts.marginals([*columns, *pairs])
        measured = [measure(exact, column, spending, self.budget.amount * _THIRD / len(columns), counts) for column in columns]
        progress("measured each column", _share(spending))
        model = fit_tree(domain, measured)
        estimates = {pair: to_counts(model.marginal(pair), counts.one) for pair in pairs}
        scores = exact.map(lambda held: {pair: distance(held[pair], estimates[pair]) for pair in pairs})
        tree: list[Clique] = []
        group = list(domain.columns)  # connected columns have the same number
        for _ in range(len(columns) - 1):
            open_pairs = [pair for pair in pairs if group[pair[0]] != group[pair[1]]]
            chooser = spending.selection(self.budget.amount * _THIRD / (len(columns) - 1), counts.l1_sensitivity)
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
