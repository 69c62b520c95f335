"""Rows: they add up, they are always the same, and they say what the model says."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import table, taped

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import DenseModel, Model, fit_tree
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.rows import _filled, make_rows
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload

DOMAIN = Domain.of({"a": 6, "b": 8, "c": 10, "d": 2})
N = 20_000


def made_up() -> np.ndarray:
    """A chain a → b → c, and d by itself."""
    random = np.random.default_rng(0)
    a = random.choice(6, N, p=np.array([32, 16, 8, 4, 2, 1]) / 63)
    b = (a + random.choice(8, N, p=[0.5, 0.2, 0.1, 0.1, 0.04, 0.03, 0.02, 0.01])) % 8
    c = np.where(random.random(N) < 0.6, b, random.integers(0, 10, N))
    return np.stack([a, b, c, random.integers(0, 2, N)])


def counted(domain: Domain, codes: Any, clique: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(domain.shape(clique))
    np.add.at(found, tuple(codes[i] for i in clique), 1)
    return found


def fitted(method: Any, rho: str) -> Model:
    with taped():
        model: Model = (
            method(budget=MeasurementBudget.zcdp(rho), workload=Workload.all_of(DOMAIN, 2))
            .run(CodedTable(DOMAIN, dict(zip(DOMAIN.names, made_up(), strict=True))))
            .model
        )
    return model


@pytest.mark.parametrize("method", [MST, Residuals])
@pytest.mark.parametrize("rho", ["0.0002", "0.001", "0.005", "0.05", "5"])
def test_row_errors_are_those_of_the_model(method: Any, rho: str) -> None:
    """Within 5 % as long as noise is larger than what rounding to rows costs; always far nearer than rows that are drawn."""
    model, codes, workload = fitted(method, rho), made_up(), Workload.all_of(DOMAIN, 2)
    rows = make_rows(model, round(model.total), workload)
    by_model = sum(np.abs(model.marginal(c) - counted(DOMAIN, codes, c)).sum() for c in workload.cliques)
    by_rows = sum(np.abs(counted(DOMAIN, rows, c) - counted(DOMAIN, codes, c)).sum() for c in workload.cliques)
    drawn = sum(np.sqrt(2 / np.pi * np.maximum(model.marginal(c), 0)).sum() for c in workload.cliques)
    assert by_rows <= by_model + (0.1 if method is MST else 0.02) * drawn
    if rho != "5":
        assert by_rows <= 1.05 * by_model


@pytest.mark.parametrize("method", [MST, Residuals])
@pytest.mark.parametrize("count", [0, 1, 7, 1000, 20_001])
def test_counts_add_up_and_rows_are_always_the_same(method: Any, count: int) -> None:
    model, workload = fitted(method, "0.05"), Workload.all_of(DOMAIN, 2)
    rows = make_rows(model, count, workload)
    assert len(rows) == 4
    for column, size in zip(rows, DOMAIN.sizes, strict=True):
        assert column.dtype == np.int64
        assert len(column) == count
        assert not count or 0 <= column.min() <= column.max() < size
    again = make_rows(model, count, workload)
    assert all(np.array_equal(a, b) for a, b in zip(rows, again, strict=True))


@pytest.mark.parametrize("method", [MST, Residuals])
def test_single_columns_are_as_exact_as_whole_rows_can_be(method: Any) -> None:
    model = fitted(method, "0.05")
    count = round(model.total)
    rows = make_rows(model, count, Workload.all_of(DOMAIN, 2))
    for i in DOMAIN.columns:
        assert np.abs(counted(DOMAIN, rows, (i,)) - model.marginal((i,)) * count / model.total).max() <= 0.002 * count


def test_independent_columns_stay_so() -> None:
    """In models without pairs, other generators make columns that follow each other (correlation 1)."""
    domain = Domain.of({f"c{i}": 2 + i for i in range(6)})
    random = np.random.default_rng(1)
    measured = [NoisyMeasurement((i,), 10_000 * random.dirichlet(np.full(s, 3.0)), 1.0) for i, s in enumerate(domain.sizes)]
    model = fit_tree(domain, measured)
    for count in (1000, 20_000):
        rows = make_rows(model, count, Workload.all_of(domain, 2))
        for i, j in combinations(domain.columns, 2):
            assert abs(np.corrcoef(rows[i], rows[j])[0, 1]) < 4.5 / np.sqrt(count)
            product = np.outer(counted(domain, rows, (i,)), counted(domain, rows, (j,))) / count
            square = ((counted(domain, rows, (i, j)) - product) ** 2 / product).sum()
            freedom = (domain.sizes[i] - 1) * (domain.sizes[j] - 1)
            assert square < freedom + 6 * np.sqrt(2 * freedom) + 6


def test_conditional_independence_stays() -> None:
    """c and a given b: a chain's ends are independent within each code of the middle."""
    model = fitted(MST, "5")
    rows = make_rows(model, N, Workload.all_of(DOMAIN, 2))
    three = counted(DOMAIN, rows, (0, 1, 2))
    np.testing.assert_allclose(np.abs(three - model.marginal((0, 1, 2)) * N / model.total).sum() / N, 0, atol=0.12)
    assert abs(np.corrcoef(rows[0], rows[3])[0, 1]) < 0.04


@pytest.mark.parametrize("cells", [1, 2, 50])
@pytest.mark.parametrize("groups", [1, 3, 500])
def test_groups_are_filled_within_one(cells: int, groups: int) -> None:
    random = np.random.default_rng(cells * groups)
    numbers = random.integers(0, groups, 2000)
    chances = random.dirichlet(np.ones(cells) * 0.3, groups)
    found = _filled(numbers, chances, [], 3)
    for group in range(groups):
        size = (numbers == group).sum()
        seen = np.bincount(found[numbers == group], minlength=cells)
        assert np.abs(seen - chances[group] * size).max() < 1 + 1e-9
    whole = np.bincount(found, minlength=cells)
    expected = (chances[numbers]).sum(axis=0)
    assert np.abs(whole - expected).max() <= 8 * np.sqrt(groups)  # roundings cancel rather than add up


def test_groups_that_the_model_does_not_know() -> None:
    assert set(_filled(np.zeros(100, np.int64), np.zeros((1, 4)), [], 0).tolist()) == {0, 1, 2, 3}
    assert _filled(np.zeros(0, np.int64), np.ones((1, 4)), [], 0).tolist() == []


def test_cells_without_chance_get_no_rows() -> None:
    for count in (1, 3, 10, 49, 1000, 12345):
        for k in range(2, 12):
            chances = np.append(np.random.default_rng(k).dirichlet(np.ones(k)), [0.0, 0.0])[None]
            found = _filled(np.zeros(count, np.int64), chances / chances.sum(), [], 0)
            assert found.max() < k, (count, k)


@pytest.mark.parametrize(
    "distribution",
    [np.eye(1, 24)[0].reshape(2, 3, 4), np.full((2, 3, 4), 1 / 24), np.eye(1, 24, 23)[0].reshape(2, 3, 4)],
    ids=["first", "uniform", "last"],
)
def test_degenerate_dense_models(distribution: np.ndarray) -> None:
    domain = Domain.of({"a": 2, "b": 3, "c": 4})
    for count in (0, 1, 5, 24, 1000):
        rows = make_rows(DenseModel(domain, float(count), distribution), count, Workload.all_of(domain, 2))
        found = counted(domain, rows, (0, 1, 2))
        assert found.sum() == count
        assert (found[distribution == 0] == 0).all()


def test_a_domain_of_one_row() -> None:
    domain = Domain.of({"a": 1, "b": 1})
    assert [c.tolist() for c in make_rows(DenseModel(domain, 3.0, np.ones((1, 1))), 3, Workload.all_of(domain, 2))] == [[0] * 3] * 2
    with taped():
        model = MST(budget=MeasurementBudget.zcdp(1), workload=Workload.all_of(domain, 2)).run(table(domain, [(0, 0)] * 9)).model
    assert [c.tolist() for c in make_rows(model, 2, Workload.all_of(domain, 2))] == [[0, 0], [0, 0]]
