"""Rows from a model: counts are rounded, not sampled, so that rows agree with the model.

Everything here is a deterministic function of the model. Where rows of one group need an uninformative order, they are sorted by a fixed
hash of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.dense import Transform
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.model import DenseModel, Model, TreeModel
from discreet.algorithms.marginals.nearer import nearer
from discreet.algorithms.marginals.nesting import axes_without
from discreet.algorithms.marginals.residual import BITS
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_GOLDEN = 0.6180339887498949  # its multiples modulo 1 have low discrepancy
_WORK = 2.5e7  # cells examined to improve the rows


def make_rows(model: Model, count: int, workload: Workload) -> list[Integers]:
    """Generate `count` rows, as one array of codes per column."""
    if isinstance(model, DenseModel):
        return nearer(model, _dense_rows(model, count, workload), workload)
    assert isinstance(model, TreeModel)
    return nearer(model, _tree_rows(model, count), workload)


# ── from a junction tree ─────────────────────────────────────────────────────────────────────────────────────────────


def _tree_rows(model: TreeModel, count: int) -> list[Integers]:
    """The first clique's columns together, then each further clique's new columns, given the columns it shares."""
    domain, tree = model.domain, model.calibrated.tree
    columns: list[Integers] = [np.zeros(count, np.int64) for _ in domain.columns]
    known: list[int] = []
    for place, (home, separator) in enumerate([(0, ()), *((edge.child, edge.separator) for edge in tree.edges)]):
        clique = tree.cliques[home]
        given = tuple(i for i in separator if i in known)
        new = tuple(i for i in clique if i not in known)
        belief = model.calibrated.beliefs[home]
        joint = belief.sum(axis=axes_without(tuple(sorted((*given, *new))), clique))
        order = [sorted((*given, *new)).index(i) for i in (*given, *new)]
        probabilities = joint.transpose(order).reshape(domain.cells(given), domain.cells(new))
        others = [columns[i] for i in known if i not in given]
        codes = _filled(_coded(domain, columns, given, count), probabilities, others, place)
        for i, code in zip(new, np.unravel_index(codes, domain.shape(new)), strict=True):
            columns[i] = code.astype(np.int64)
        known += new
    return columns


def _coded(domain: Domain, columns: Sequence[Integers], clique: Clique, count: int) -> Integers:
    code = np.zeros(count, np.int64)
    for i in clique:
        code = code * domain.sizes[i] + columns[i]
    return code


def _filled(groups: Integers, probabilities: Floats, others: Sequence[Integers], salt: int) -> Integers:
    """A cell for each row, so that each group's cells follow its probabilities, rounded.

    Counts are differences of rounded cumulative sums, so each is within one of its expectation and they add up; each group starts at a
    different fractional offset, so that the roundings of many small groups cancel. Within a group rows are sorted by their other columns,
    the latest first, and cells are assigned evenly along that order, so that similar rows receive all of them.
    """
    present, sizes = np.unique(groups, return_counts=True)
    weights = probabilities[present]
    sums = weights.sum(axis=1, keepdims=True)
    weights = np.where(sums > 0, weights, 1.0)  # a group of probability 0: any cell will do
    shares = weights / weights.sum(axis=1, keepdims=True)
    begin = (np.arange(len(present)) * _GOLDEN + salt * _GOLDEN**2) % 1
    cumulative = (
        (part := np.cumsum(shares, axis=1)) / part[:, -1:] * sizes[:, None]
    )  # reaches `sizes` exactly before cells of probability 0
    cumulative[:, -1] = sizes
    ends = np.floor(cumulative + begin[:, None]).astype(np.int64)
    counts = np.diff(ends, axis=1, prepend=0)
    cells = np.repeat(np.tile(np.arange(probabilities.shape[1]), len(present)), counts.ravel())
    order = np.lexsort((_dealt(groups, others, salt), groups))
    out = np.empty(len(groups), np.int64)
    out[order] = cells
    return out


def _dealt(groups: Integers, others: Sequence[Integers], salt: int) -> Floats:
    """For each row a number between 0 and 1; within each group, along the other columns' order, they have low discrepancy."""
    order = np.lexsort((_scrambled(len(groups), salt), *others, groups))
    ordered = groups[order]
    turn = np.arange(len(groups)) - np.searchsorted(ordered, ordered)
    out = np.empty(len(groups))
    out[order] = (turn * _GOLDEN) % 1
    return out


def _scrambled(count: int, salt: int) -> NDArray[np.uint64]:
    """Fixed pseudorandom numbers (splitmix64; Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(salt << 40)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


# ── from the whole domain ────────────────────────────────────────────────────────────────────────────────────────────


def _dense_rows(model: DenseModel, count: int, workload: Workload) -> list[Integers]:
    """Round every cell, then move rows while that brings the workload's marginals nearer."""
    domain = model.domain
    expected = model.distribution.ravel() * count
    counts = np.diff(np.floor(np.cumsum(expected) + 0.5), prepend=0.0)
    counts[-1] += count - counts.sum()
    counts = _nearer(domain, counts, expected, workload)
    places = np.repeat(np.arange(domain.size), counts.astype(np.int64))
    shuffled = places[np.argsort(_scrambled(count, 1), kind="stable")]
    return [np.asarray(code, np.int64) for code in np.unravel_index(shuffled, domain.sizes)]


def _nearer(domain: Domain, counts: Floats, expected: Floats, workload: Workload) -> Floats:
    """Move rows from the cells most in excess, over all marginals, to those most lacking; fewer at a time towards the end."""
    transform = Transform(domain, BITS)
    weight = transform.weights(workload)

    def slope(now: Floats) -> tuple[float, Floats]:
        off = transform.forward(now - expected) * weight
        back = transform.backward(off)
        return float(back @ (now - expected)), back

    value, excess = slope(counts)
    moves = max(1, int(counts.sum()) // 50)
    for _ in range(int(_WORK / len(counts))):
        filled = np.flatnonzero(counts)
        sources = filled[np.argsort(excess[filled])[-moves:]]
        targets = np.argsort(excess)[:moves] if moves * 8 > len(excess) else np.argpartition(excess, moves)[:moves]
        number = min(len(sources), len(targets))
        moved = counts.copy()
        np.subtract.at(moved, sources[-number:], 1)
        np.add.at(moved, targets[:number], 1)
        value_there, excess_there = slope(moved)
        if value_there < value:
            counts, value, excess = moved, value_there, excess_there
        elif moves == 1:
            break
        else:
            moves = max(1, moves // 2)
    return counts
