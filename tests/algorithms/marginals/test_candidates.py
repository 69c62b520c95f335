"""Which marginals may be selected next: those whose junction tree is small enough, as one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.algorithms.marginals.candidates import Candidates, trees_cells
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.junction_tree import tree_cells


@pytest.mark.parametrize("columns", [1, 3, 8, 12, 70])
def test_sizes_are_those_of_the_junction_tree(columns: int) -> None:
    """Exactly those of `tree_cells`, also with columns of one code and more columns than a machine word has bits."""
    random = np.random.default_rng(columns)
    domain = Domain.of({f"c{i}": int(random.choice([1, 2, 2, 3, 7, 40])) for i in range(columns)})
    cliques = [clique for k in (1, 2, 3) for clique in combinations(domain.columns, k)]
    for _ in range(3):
        known = [cliques[i] for i in random.choice(len(cliques), columns)]
        further = [cliques[i] for i in random.choice(len(cliques), 40)]
        expected = [float(tree_cells(domain, [*known, clique])) for clique in further]
        np.testing.assert_allclose(trees_cells(domain, known, further), expected, rtol=1e-9)


def test_nothing_further_is_no_graph() -> None:
    assert trees_cells(Domain.of({"a": 2}), [(0,)], []) == []


def test_the_limit_grows_with_the_share_and_measured_marginals_always_qualify() -> None:
    domain = Domain.of({"a": 10, "b": 10, "c": 2, "d": 2})
    closure = dict.fromkeys([(0,), (2, 3), (0, 1), (0, 1, 2)], 1)
    allowed = Candidates(domain, closure, 250)
    columns = [(i,) for i in domain.columns]
    assert allowed.of(columns, 0.09) == [(0,)]
    assert allowed.of([*columns, (0, 1)], 0.09) == [(0,), (0, 1)]
    assert allowed.of([*columns, (0, 1)], 0.5) == [(0,), (2, 3), (0, 1)]
    assert allowed.of([*columns, (0, 1)], 1) == list(closure)
