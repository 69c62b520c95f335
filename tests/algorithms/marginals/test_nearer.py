"""Changes that bring rows nearer to a model: always nearer, always the same, and none where they would cost too much."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.marginals import nearer as changes
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.nearer import nearer
from discreet.algorithms.marginals.workload import Workload

DOMAIN = Domain.of({"a": 3, "b": 12, "c": 2, "one": 1})
WORKLOAD = Workload.of(DOMAIN, {("a", "b"): 2, ("b", "c"): 1, ("a", "c", "one"): 1})
COUNT = 3000


def model():  # type: ignore[no-untyped-def]
    random = np.random.default_rng(3)
    measured = [NoisyMeasurement((i,), COUNT * random.dirichlet(np.ones(size)), 1.0) for i, size in enumerate(DOMAIN.sizes)]
    return fit_tree(DOMAIN, [*measured, NoisyMeasurement((0, 1), COUNT * random.dirichlet(np.ones(36)), 1.0)])


def drawn(count: int = COUNT) -> list[np.ndarray]:
    random = np.random.default_rng(4)
    return [random.integers(0, size, count) for size in DOMAIN.sizes]


def distance(rows: list[np.ndarray]) -> float:
    """What is made small: Σ weight·(rows − model)²."""
    found = 0.0
    for clique, weight in WORKLOAD.weights.items():
        counts = np.zeros(DOMAIN.shape(clique))
        np.add.at(counts, tuple(rows[i] for i in clique), 1)
        found += weight * float(((counts - model().marginal(clique) * len(rows[0]) / model().total) ** 2).sum())
    return found


def test_rows_come_near_and_are_always_the_same() -> None:
    """From rows that have nothing to do with the model to a mean squared distance of about one row in each cell."""
    before = drawn()
    found = nearer(model(), before, WORKLOAD)
    assert distance(found) < 0.001 * distance(before)
    assert distance(found) < 1.5 * sum(map(DOMAIN.cells, WORKLOAD.cliques))
    assert all(np.array_equal(a, b) for a, b in zip(before, drawn(), strict=True))  # what was given is not changed
    assert all(np.array_equal(a, b) for a, b in zip(found, nearer(model(), before, WORKLOAD), strict=True))
    for column, size in zip(found, DOMAIN.sizes, strict=True):
        assert 0 <= column.min() <= column.max() < size


def test_less_work_is_less_near_but_never_farther() -> None:
    distances = [distance(nearer(model(), drawn(), WORKLOAD, work)) for work in (0, 1e4, 1e5, 1e6)]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] == distance(drawn())


@pytest.mark.parametrize("limit", ["_CELLS", "_COUNTED"])
def test_nothing_is_done_where_it_would_take_long(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, limit, 10)
    assert all(np.array_equal(a, b) for a, b in zip(nearer(model(), drawn(), WORKLOAD), drawn(), strict=True))


def test_no_rows_and_one_row() -> None:
    assert [len(column) for column in nearer(model(), drawn(0), WORKLOAD)] == [0] * 4
    assert [len(column) for column in nearer(model(), drawn(1), WORKLOAD)] == [1] * 4
