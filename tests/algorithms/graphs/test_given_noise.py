"""What mechanisms over graphs hand to their noise, caught on the way: over small graphs it moves no further than the noise is made for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.graphs.caught import Caught
from algorithms.graphs.every import graphs, neighbours

from discreet.algorithms.graphs.degrees import DegreeHistogram, DegreeSequence
from discreet.algorithms.graphs.edges import EdgeCount
from discreet.algorithms.graphs.projection import DegreeBound

NODES = 5
COUNTS = [
    EdgeCount(epsilon=1),
    DegreeSequence(epsilon=1, nodes=4),
    *(DegreeHistogram(epsilon=1, most=most) for most in (1, 3)),
    *(kind(epsilon=1, protects="node", most=most) for kind in (EdgeCount, DegreeHistogram) for most in (1, 2, 3)),
]


@pytest.mark.parametrize("mechanism", COUNTS, ids=str)
def test_what_is_noised_moves_as_far_as_the_noise_is_made_for(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    caught, protects = Caught(monkeypatch), getattr(mechanism, "protects", "edge")
    known = {pairs: caught.of(mechanism, pairs) for pairs in graphs(NODES)}
    (noise,) = {noise for noise, _ in known.values()}
    far = max(np.abs(known[pairs][1] - known[other][1]).sum() for pairs in known for other in neighbours(pairs, protects))
    assert far == noise.sensitivity
    assert noise.loss.epsilon_at(0) == mechanism.loss.epsilon_at(0) == 1


def test_the_stream_of_a_bound_moves_by_at_most_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer, on all graphs of five nodes and node neighbours; a star more moves one by 1 itself, so it is not made smaller either."""
    caught, mechanism = Caught(monkeypatch), DegreeBound(epsilon=1, count_epsilon=1, largest=8)
    known = {pairs: caught.of(mechanism, pairs) for pairs in graphs(NODES)}
    (search,) = {search for search, _ in known.values()}
    assert (search.sensitivity, search.hits, search.epsilon) == (1, 1, 1)
    assert search.threshold == -Fraction(1, 2) - mechanism.margin
    far = Fraction(0)
    for pairs in known:
        assert len(known[pairs][1]) == 3
        for other in neighbours(pairs, "node"):
            far = max(far, *(abs(a - b) for a, b in zip(known[pairs][1], known[other][1], strict=True)))
    assert Fraction(1, 4) <= far <= 1
    for hub in (2, 4, 8):  # stars and cliques beside a hub, where bounds bind
        for base in ([(100 + i, 200 + i) for i in range(hub)], [(100 + i, 100 + j) for i in range(hub) for j in range(i)]):
            whole = [*base, *((0, end) for end in {end for pair in base for end in pair})]
            more, less = (caught.of(mechanism, tuple(pairs))[1] for pairs in (whole, base))
            far = max(far, *(abs(a - b) for a, b in zip(more, less, strict=True)))
    assert Fraction(1, 2) <= far <= 1
