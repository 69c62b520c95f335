"""The best estimate of all cells from several noisy tables, and its variance: least squares in closed form.

Flat keys fall into residuals, on which all tables act as multiples of the identity; what is left for each residual is a tree, for which
least squares takes one pass up and one pass down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.consistent.layout import Floats, Layout, Table, dimensions


def estimate(layout: Layout, noisy: Mapping[Table, Floats], precision: Mapping[Table, float]) -> Floats:
    """The finest table that fits the noisy ones best.

    Theorem (Gauss–Markov; Hay, Rastogi, Miklau & Suciu 2010 for trees; Xiao, He, Zhang & Kifer 2023 for marginals).
        For independent unbiased noise of variance 1/precision on each table, the weighted least-squares estimate of every sum of cells has
        the least variance of all unbiased linear ones. Sums of its cells are its estimates of the sums, so all tables agree. It is computed
        from released numbers alone.

    What no table determines is spread evenly.
    """
    weighted = [np.zeros((layout.nodes(level), *layout.sizes)) for level in range(len(layout.parents) + 1)]
    for table, values in noisy.items():
        weighted[table.level] += precision[table] * values.reshape(layout.spread(table))
    return _solved(layout, weighted, precision, list(noisy))


def _solved(layout: Layout, weighted: Sequence[Floats], precision: Mapping[Table, float], tables: Sequence[Table]) -> Floats:
    """The cells that solve the normal equations, whose right side is given on each level of the tree."""
    parts: dict[tuple[int, ...], list[Floats]] = {}
    found = np.zeros(layout.shape(layout.finest))
    for flat in dimensions(layout, tables):
        levels = []
        for level, one in enumerate(weighted):
            inside = one.mean(axis=tuple(i + 1 for i in range(len(layout.sizes)) if i not in flat), keepdims=True)
            levels.append(inside - sum((parts[other][level] for other in parts if set(other) < set(flat)), np.zeros(1)))
        parts[flat] = levels
        found += _fitted(layout, levels, _on_levels(layout, flat, precision))
    return found


def variances(layout: Layout, precision: Mapping[Table, float], tables: Sequence[Table]) -> dict[Table, Floats]:
    """The variance of every node's cells in the estimate of each table; it is the same in all cells of a node."""
    found = {table: np.zeros(layout.nodes(table.level)) for table in tables}
    for flat, size in dimensions(layout, [*precision, *tables]).items():
        levels = _variances(layout, _on_levels(layout, flat, precision))
        for table in found:
            if set(flat) <= set(table.flat):
                share = size * layout.beside(table) / layout.cells(Table(0, table.flat))
                found[table] += share * levels[table.level]
    return found


def _on_levels(layout: Layout, flat: tuple[int, ...], precision: Mapping[Table, float]) -> list[float]:
    """The precision with which each level of the tree is measured, for one residual of the flat keys."""
    found = [0.0] * (len(layout.parents) + 1)
    for table, one in precision.items():
        if set(flat) <= set(table.flat):
            found[table.level] += one * layout.beside(table)
    return found


def effective_noises(layout: Layout, precision: Mapping[Table, float], table: Table, node: int = 0) -> float:
    """How many equal independent noises would give a sum of the same variance and kurtosis as the error of a cell; many are nearly normal.

    It is (Σ v)²/Σ v² over the variances v that the noises of all measured cells add to that of the first cell at this node of the table.
    """
    weighted = [np.zeros((layout.nodes(level), *layout.sizes)) for level in range(len(layout.parents) + 1)]
    cell = np.zeros(layout.shape(table))
    cell[(node, *(0 for _ in table.flat))] = 1.0
    weighted[table.level] += cell.reshape(layout.spread(table))
    answer = _solved(layout, weighted, precision, [*precision, table])
    added = [(layout.summed(answer, one) * math.sqrt(amount)).ravel() ** 2 for one, amount in precision.items()]
    return float(sum(one.sum() for one in added) ** 2 / sum((one**2).sum() for one in added))


# ── one tree ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _upward(layout: Layout, precision: Sequence[float]) -> tuple[list[Floats], list[Floats]]:
    """For each level, the variance of a node's estimate from all that lies at or below it, and that of the sum of its children."""
    own: list[Floats] = [np.zeros(0)] * len(precision)
    below: list[Floats] = [np.zeros(0)] * len(precision)
    with np.errstate(divide="ignore"):
        for level in reversed(range(len(precision))):
            nodes = layout.nodes(level)
            last = level == len(layout.parents)
            below[level] = np.full(nodes, np.inf) if last else layout.up(own[level + 1], layout.edges[level], nodes)
            own[level] = 1 / (precision[level] + 1 / below[level])
    return own, below


def _children_share(own: Floats, below: Floats, edges: NDArray[np.int64]) -> Floats:
    """The share of each child in what its parent's estimate adds to the sum of its children."""
    count = np.bincount(edges, minlength=len(below)).astype(float)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isinf(below[edges]), 1 / count[edges], own / below[edges]))


def _variances(layout: Layout, precision: Sequence[float]) -> list[Floats]:
    own, below = _upward(layout, precision)
    found = [own[0]]
    for level, edges in enumerate(layout.edges):
        share = _children_share(own[level + 1], below[level], edges)
        with np.errstate(invalid="ignore"):
            alone = np.where(np.isinf(own[level + 1]), np.inf, own[level + 1] * (1 - share))
        found.append(alone + share**2 * found[level][edges])
    return found


def _fitted(layout: Layout, weighted: Sequence[Floats], precision: Sequence[float]) -> Floats:
    """The leaves of the tree that fits best; `weighted` values are multiplied by their precision."""
    own, below = _upward(layout, precision)
    up: list[Floats] = [np.zeros(0)] * len(precision)
    sums: list[Floats] = [np.zeros(0)] * len(precision)
    for level in reversed(range(len(precision))):
        wide = (-1, *(1 for _ in layout.sizes))
        last = level == len(layout.parents)
        sums[level] = np.zeros_like(weighted[level]) if last else layout.up(up[level + 1], layout.edges[level], layout.nodes(level))
        known, trust = np.isfinite(own[level]), np.isfinite(below[level])
        children = np.where(trust, 1 / np.where(trust, below[level], 1), 0).reshape(wide) * sums[level]
        up[level] = np.where(known, own[level], 0).reshape(wide) * (weighted[level] + children)
    found = up[0]
    for level, edges in enumerate(layout.edges):
        share = _children_share(own[level + 1], below[level], edges).reshape(wide)
        found = up[level + 1] + share * (found - sums[level])[edges]
    return np.broadcast_to(found, (found.shape[0], *layout.sizes))
