"""Predicted seconds: they grow with public sizes, and AIM is given no more to do than fits the time."""

from __future__ import annotations

from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.duration import LEAST_CELLS, SECONDS, aim_within
from discreet.algorithms.marginals.duration import MOST_CELLS as TREE_CELLS
from discreet.algorithms.marginals.methods import NAMES, method_of, predicted_seconds
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload


def test_aim_has_less_to_do_in_less_time() -> None:
    workload = Workload.all_of(Domain.of({f"c{i}": 20 for i in range(12)}), 3)
    assert aim_within(workload, float("inf")) == (16 * 12, TREE_CELLS)
    found = [aim_within(workload, seconds) for seconds in (1000, 100, 30, 10, 0.1)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == (2 * 12, LEAST_CELLS)
    for seconds in (1000, 100):
        assert predicted_seconds("aim", workload, seconds) <= seconds
    method = method_of("aim", MeasurementBudget.zcdp(1), workload, 100)
    assert isinstance(method, AIM)
    assert (method.rounds, method.most_cells) == found[1]


def test_predictions_grow_with_public_sizes() -> None:
    for name in NAMES:
        few, many = (predicted_seconds(name, Workload.all_of(Domain.of({f"c{i}": 6 for i in range(k)}), 3), SECONDS) for k in (4, 8))
        assert 0 < few < many
