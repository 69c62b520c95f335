"""Any marginal of a calibrated tree, against the whole distribution."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from algorithms.marginals.test_beliefs import by_force
from algorithms.marginals.test_junction_tree import made_up

from discreet.algorithms.marginals.beliefs import Beliefs
from discreet.algorithms.marginals.calibrated import Calibrated
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.junction_tree import junction_tree
from discreet.algorithms.marginals.nesting import axes_without


@pytest.mark.parametrize("seed", range(60))
def test_every_marginal_of_every_order(seed: int) -> None:
    """In some order of asking, so that what is remembered from one question serves another."""
    domain, cliques = made_up(seed)
    cliques = cliques or [(0,)]
    beliefs = Beliefs(junction_tree(domain, cliques), cliques)
    random = np.random.default_rng(seed)
    flat = random.normal(0, 2, beliefs.size)
    _, whole = by_force(domain, cliques, beliefs.split(flat))
    calibrated = Calibrated(beliefs.tree, beliefs.of(flat)[1])
    asked = [c for k in range(min(5, len(domain.names)) + 1) for c in combinations(domain.columns, k)]
    random.shuffle(asked)
    for clique in asked:
        clique = tuple(map(int, clique))
        found = calibrated.marginal(clique)
        assert found.shape == domain.shape(clique)
        np.testing.assert_allclose(found, whole.sum(axis=axes_without(clique, tuple(domain.columns))), atol=1e-12)


def test_cells_without_mass() -> None:
    """Separators of probability 0 divide nothing by nothing."""
    domain = Domain.of({"a": 2, "b": 3, "c": 2})
    cliques: list[Clique] = [(0, 1), (1, 2)]
    beliefs = Beliefs(junction_tree(domain, cliques), cliques)
    flat = np.zeros(beliefs.size)
    for part in beliefs.split(flat):
        part[...] = -2000.0
    beliefs.split(flat)[0][:, 1] = 0.0
    beliefs.split(flat)[1][1, :] = 0.0
    found = Calibrated(beliefs.tree, beliefs.of(flat)[1]).marginal((0, 2))
    np.testing.assert_allclose(found, 0.25)
