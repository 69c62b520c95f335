"""Rows from a model: counts are rounded, not sampled, so that rows agree with the model.

Everything here is a deterministic function of the model. Where rows of one group need an uninformative order, they are sorted by a fixed
hash of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.arrays import NumpyArrays
from discreet.algorithms.marginals.dense import DenseTransform, squared_error_weights
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.model import DenseModel, Model, TreeModel
from discreet.algorithms.marginals.nearer import nearer
from discreet.algorithms.marginals.nesting import axes_without
from discreet.algorithms.marginals.residual import BITS, Residual
from discreet.algorithms.marginals.workload import Workload

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_GOLDEN = 0.6180339887498949  # its multiples modulo 1 have low discrepancy
_WORK, _MOST_ROUNDS = 2.5e8, 400  # cells examined to improve the rows, and how often
_PART = 2**22  # cells examined at a time


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
    weights = squared_error_weights(workload)
    transform = DenseTransform(domain, list(weights), BITS, NumpyArrays(domain.size))
    chances = model.distribution.transpose(transform.order).reshape(-1)
    places = _rounded(chances, count)
    if rounds := min(_MOST_ROUNDS, int(_WORK / domain.size)):
        each = [np.full(Residual(domain, clique, BITS).size, weight) for clique, weight in weights.items()]
        places = _nearer(transform, np.concatenate([np.zeros(0), *each]), places, chances, rounds)
    shuffled = places[np.argsort(_scrambled(count, 1), kind="stable")]
    codes = dict(zip(transform.order, np.unravel_index(shuffled, domain.shape(transform.order)), strict=True))
    return [np.asarray(codes[i], np.int64) for i in domain.columns]


def _rounded(chances: NDArray[Any], count: int) -> Integers:
    """The cell of each row, in ascending order: the differences of the rounded cumulative expectation, part by part."""
    found, sum_before, rows_before = [], 0.0, 0
    for begin in range(0, len(chances), _PART):
        sums = sum_before + np.cumsum(chances[begin : begin + _PART], dtype=np.float64)
        ends = np.minimum(np.floor(sums * count + 0.5), count).astype(np.int64)
        found.append(begin + np.repeat(np.arange(len(ends)), np.diff(ends, prepend=rows_before)))
        sum_before, rows_before = float(sums[-1]), int(ends[-1])
    last = np.full(count - rows_before, len(chances) - 1 - int(np.argmax(chances[::-1][:_PART] > 0)))
    return np.concatenate([*found, last])


def _nearer(transform: DenseTransform, weights: Floats, places: Integers, chances: NDArray[Any], rounds: int) -> Integers:
    """Move rows from the cells most in excess, over all marginals, to those most lacking; fewer at a time towards the end."""
    count = len(places)

    def slope(now: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        off = now - chances * chances.dtype.type(count)
        residuals = transform.forward(transform.marginals(off))
        return float(weights @ residuals**2), transform.arrays.take(transform.backward(weights * residuals))

    counts = np.bincount(places, minlength=len(chances)).astype(np.int32)
    value, excess = slope(counts)
    moves = max(1, count // 50)
    for _ in range(rounds):
        filled = np.flatnonzero(counts)
        sources = filled[np.argsort(excess[filled])[-moves:]]
        targets = _least(excess, moves)
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
    filled = np.flatnonzero(counts)
    return np.repeat(filled, counts[filled])


def _least(values: NDArray[Any], number: int) -> Integers:
    """The places of the least values, in ascending order of value, part by part."""
    found = np.zeros(0, np.int64)
    for begin in range(0, len(values), _PART):
        part = values[begin : begin + _PART]
        found = np.concatenate([found, begin + (np.argpartition(part, number)[:number] if number < len(part) else np.arange(len(part)))])
        found = found[np.argsort(values[found], kind="stable")[:number]]
    return found
