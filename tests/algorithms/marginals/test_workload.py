"""Workloads: which marginals, their weights, and the closure by brute force."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb

import pytest

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.workload import MOST_CELLS, Workload
from discreet.errors import Invalid

DOMAIN = Domain.of({"a": 10, "b": 2, "c": 5, "d": 3})


def test_all_marginals_of_k_columns() -> None:
    for k in (1, 2, 3, 4, 9):
        workload = Workload.all_of(DOMAIN, k)
        assert len(workload.cliques) == comb(4, min(k, 4))
        assert workload.cells == sum(map(DOMAIN.cells, combinations(range(4), min(k, 4))))
    with pytest.raises(Invalid, match="k"):
        Workload.all_of(DOMAIN, 0)


def test_by_name_with_weights() -> None:
    workload = Workload.of(DOMAIN, {("b", "a"): 3, ("a", "b"): 2, ("d",): 1})
    assert dict(workload.weights) == {(0, 1): 5, (3,): 1}


def test_refused() -> None:
    with pytest.raises(Invalid, match="tuple of columns"):
        Workload.of(DOMAIN, ["a"])
    with pytest.raises(Invalid, match="at least one"):
        Workload.of(DOMAIN, [])
    for weight in (0, -1, 1.5):
        with pytest.raises(Invalid, match="weight"):
            Workload.of(DOMAIN, {("a",): weight})  # type: ignore[dict-item]


def test_the_closure_by_brute_force() -> None:
    for workload in (Workload.all_of(DOMAIN, 3), Workload.of(DOMAIN, {("a", "b", "c"): 2, ("c", "d"): 7})):
        parts = {p for c in workload.cliques for p in chain.from_iterable(combinations(c, k) for k in range(1, len(c) + 1))}
        closure = workload.closure()
        assert set(closure) == parts
        for part, weight in closure.items():
            assert weight == sum(w * len(set(part) & set(c)) for c, w in workload.weights.items())
        assert list(closure) == sorted(closure, key=lambda part: (len(part), part))


def test_the_usual_workload_is_not_too_large() -> None:
    assert len(Workload.usual(DOMAIN).cliques) == 4  # three columns each
    assert all(len(c) == 1 for c in Workload.usual(Domain.of({"a": 7})).cliques)
    wide = Workload.usual(Domain.of({f"c{i}": 100 for i in range(30)}))
    assert {len(c) for c in wide.cliques} == {2}
    assert wide.cells <= MOST_CELLS
    assert {len(c) for c in Workload.usual(Domain.of({f"c{i}": 2 for i in range(600)})).cliques} == {1}
