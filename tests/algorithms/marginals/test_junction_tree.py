"""Junction trees: every clique has a home, the running intersection holds, all columns are there."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.junction_tree import JunctionTree, junction_tree, tree_cells


def made_up(seed: int) -> tuple[Domain, list[tuple[int, ...]]]:
    """A random domain and random cliques of it."""
    random = np.random.default_rng(seed)
    columns = int(random.integers(1, 9))
    domain = Domain.of({f"c{i}": int(random.integers(1, 5)) for i in range(columns)})
    cliques = []
    for _ in range(int(random.integers(0, 9))):
        size = int(random.integers(0, min(4, columns) + 1))
        cliques.append(tuple(sorted(random.choice(columns, size, replace=False).tolist())))
    return domain, cliques


def path(tree: JunctionTree, a: int, b: int) -> list[int]:
    """The cliques from one to another."""
    up = {edge.child: edge.parent for edge in tree.edges}

    def ancestors(i: int) -> list[int]:
        return [i, *ancestors(up[i])] if i in up else [i]

    one, two = ancestors(a), ancestors(b)
    common = next(i for i in one if i in two)
    return one[: one.index(common) + 1] + two[: two.index(common)]


@pytest.mark.parametrize("seed", range(60))
def test_it_is_a_junction_tree(seed: int) -> None:
    domain, cliques = made_up(seed)
    tree = junction_tree(domain, cliques)
    assert set().union(*tree.cliques) == set(domain.columns)
    assert all(list(c) == sorted(c) for c in tree.cliques)
    assert not any(set(a) <= set(b) for i, a in enumerate(tree.cliques) for j, b in enumerate(tree.cliques) if i != j)
    assert len(tree.edges) == len(tree.cliques) - 1
    seen = {0}
    for edge in tree.edges:  # parents before children
        assert edge.parent in seen
        assert edge.child not in seen
        seen.add(edge.child)
        assert set(edge.separator) == set(tree.cliques[edge.parent]) & set(tree.cliques[edge.child])
    for a in range(len(tree.cliques)):
        for b in range(a):
            shared = set(tree.cliques[a]) & set(tree.cliques[b])
            assert all(shared <= set(tree.cliques[i]) for i in path(tree, a, b))
    for clique in cliques:
        home = tree.cliques[tree.home(clique)]
        assert set(clique) <= set(home)
        assert domain.cells(home) == min(domain.cells(c) for c in tree.cliques if set(clique) <= set(c))
    assert tree.cells == tree_cells(domain, cliques) == sum(map(domain.cells, tree.cliques))


def test_known_trees() -> None:
    domain = Domain.of(dict.fromkeys("abcd", 2))
    assert set(junction_tree(domain, [(0, 1), (1, 2), (2, 3)]).cliques) == {(0, 1), (1, 2), (2, 3)}
    assert sorted(map(len, junction_tree(domain, [(0, 1), (1, 2), (2, 3), (0, 3)]).cliques)) == [3, 3]  # a ring needs one chord
    assert junction_tree(domain, []).cliques == ((0,), (1,), (2,), (3,))
    assert junction_tree(domain, [(0, 1, 2, 3)]).edges == ()


def test_many_columns() -> None:
    """A chain of 200 columns keeps its pairs."""
    domain = Domain.of({f"c{i}": 3 for i in range(200)})
    tree = junction_tree(domain, [(i, i + 1) for i in range(199)])
    assert tree.cells == 199 * 9
