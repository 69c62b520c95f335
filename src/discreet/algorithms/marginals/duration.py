"""How long a method computes, about, on one core: from public sizes alone, so that it is known before anything is paid or read.

The constants were measured on one machine (benchmarks/synthetic_time.py prints predicted and real seconds). They serve a choice, so a
factor of two or three does no harm.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.workload import Workload

SECONDS = 60.0  # that a method may take, unless something else is said
MOST_CELLS, LEAST_CELLS = 10**6, 10**4  # of a model over a junction tree
USUAL_ROUNDS, LEAST_ROUNDS = 16, 2  # per column
_CANDIDATE, _SCORED = 8e-5, 1e-8  # for each candidate of a round, and for each of its cells
_IN_ROUND, _AT_LAST = 25, 300  # evaluations of a model over a junction tree, in each round and in the final fit
_CLIQUE, _IN_TREE = 2e-5, 1e-8  # for each measured marginal, and each cell of the tree


class Extent(NamedTuple):
    """How much AIM may do: rounds that are planned, and cells of its model."""

    rounds: int
    cells: int


def aim_seconds(workload: Workload, extent: Extent) -> float:
    """Half of the rounds that are planned: the later ones are dearer, so there are fewer; where noise is large, far fewer."""
    domain, closure = workload.domain, workload.closure()
    scored = sum(map(domain.cells, closure))
    tree = min(extent.cells / 3, domain.size, scored)  # it grows from round to round
    evaluation = _CLIQUE * (len(domain.names) + min(extent.rounds, len(closure)) / 2) + _IN_TREE * tree
    each = _CANDIDATE * len(closure) + _SCORED * scored + _IN_ROUND * evaluation
    return extent.rounds / 2 * each + 2 * _AT_LAST * evaluation


def mst_seconds(domain: Domain) -> float:
    """Scoring all pairs, and fitting a tree of them."""
    cells = sum(domain.sizes[a] * domain.sizes[b] for a, b in combinations(domain.columns, 2))
    return 10 * _SCORED * cells + _AT_LAST * (_CLIQUE * 2 * len(domain.names) + _IN_TREE * cells * 2 / len(domain.names))


def aim_within(workload: Workload, seconds: float) -> Extent:
    """As much as AIM can do in this time: a smaller model first, then fewer rounds; the least there is if even that takes longer."""
    columns = len(workload.domain.names)
    extent = Extent(USUAL_ROUNDS * columns, MOST_CELLS)
    while aim_seconds(workload, extent) > seconds and extent.cells > LEAST_CELLS:
        extent = Extent(extent.rounds, max(extent.cells // 2, LEAST_CELLS))
    while aim_seconds(workload, extent) > seconds and extent.rounds > LEAST_ROUNDS * columns:
        extent = Extent(max(extent.rounds // 2, LEAST_ROUNDS * columns), extent.cells)
    return extent
