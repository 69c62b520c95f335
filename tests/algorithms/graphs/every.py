"""All small graphs and their neighbours, and the law of a ladder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.ladder import LadderDistribution

Pairs = tuple[tuple[int, int], ...]


def graphs(nodes: int) -> Iterator[Pairs]:
    """All graphs on so many named nodes."""
    pairs = list(itertools.combinations(range(nodes), 2))
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        yield tuple(pair for pair, there in zip(pairs, chosen, strict=True) if there)


def neighbours(pairs: Pairs, protects: str) -> Iterator[Pairs]:
    """The graph without one edge, or without one node and its edges."""
    if protects == "edge":
        yield from (pairs[:i] + pairs[i + 1 :] for i in range(len(pairs)))
    else:
        for node in {end for pair in pairs for end in pair}:
            yield tuple(pair for pair in pairs if node not in pair)


def furthest(answer: Callable[[Graph], object], protects: str, nodes: int) -> int:
    """The largest ℓ₁ distance of the answers on two neighbours."""
    known = {pairs: np.atleast_1d(np.asarray(answer(Graph.of(pairs)), np.int64)) for pairs in graphs(nodes)}
    return max(int(np.abs(known[pairs] - known[other]).sum()) for pairs in known for other in neighbours(pairs, protects))


def law(ladder: LadderDistribution, far: int) -> dict[int, float]:
    """The law of the noise, number by number, as its definition has it."""
    weights = {0: 1.0}
    place = 0
    for rung in range(1, far):
        for _ in range(ladder.width(rung - 1)):
            place += 1
            weights[place] = weights[-place] = math.exp(-float(ladder.rate) * rung)
    whole = sum(weights.values())
    return {z: weight / whole for z, weight in weights.items()}
