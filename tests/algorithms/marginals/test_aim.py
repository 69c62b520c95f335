"""AIM: its account, its choices, and its runs on neighbours."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import Leak, audit, table, taped
from algorithms.marginals.test_residuals import Understated, price

from discreet.algorithms.marginals import model as fitting
from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.junction_tree import tree_cells
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload
from discreet.mechanisms.exponential import Exponential

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2})
ROWS = [(0, 0, 0), (0, 2, 1), (1, 1, 0), (1, 1, 0)]
ANY = 1e9  # whatever the noise is, larger marginals are measured
BUDGETS = [MeasurementBudget.zcdp("0.5"), MeasurementBudget.gdp("0.2")]


def method(budget: MeasurementBudget, domain: Domain = DOMAIN, k: int = 2, rounds: int | None = 8) -> AIM:
    return AIM(budget=budget, workload=Workload.all_of(domain, k), rounds=rounds, bearable=ANY)


@pytest.mark.parametrize("budget", [*BUDGETS, MeasurementBudget.zcdp("0.000177"), MeasurementBudget.gdp(30)], ids=str)
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_all_of_the_budget_is_spent_and_no_more(budget: MeasurementBudget, columns: int) -> None:
    domain = Domain.of({f"c{i}": 2 + i % 3 for i in range(columns)})
    rows = np.random.default_rng(0).integers(0, 2, (500, columns)).tolist()
    with taped() as steps:
        result = method(budget, domain, 3, None).run(table(domain, rows))
    assert [step.mechanism.loss for step in steps] == [loss for _, loss in result.losses]
    assert budget.amount * (1 - Fraction(1, 10**5)) <= price(budget, result.losses) <= budget.amount
    assert result.claimed == budget.loss


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("replace_one", [False, True])
def test_neighbours_share_all_but_what_is_paid_for(budget: MeasurementBudget, replace_one: bool) -> None:
    for rows in (ROWS, [(0, 0, 0)]):
        assert 0.99 < audit(method(budget), DOMAIN, rows, replace_one) <= 1


def test_weighted_workloads_too() -> None:
    workload = Workload.of(DOMAIN, {("a", "b"): 7, ("c",): 2})
    assert audit(AIM(budget=BUDGETS[0], workload=workload, rounds=8, bearable=ANY), DOMAIN, ROWS) <= 1


def test_an_understated_length_is_caught() -> None:
    with pytest.raises(Leak, match="Gaussian"):
        audit(method(BUDGETS[0]), DOMAIN, ROWS, make=Understated)


def test_forgotten_weights_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spending, "selection", lambda self, price, moved: Exponential(epsilon="0.1", sensitivity=1))
    with pytest.raises(Leak, match="Exponential"):
        audit(method(BUDGETS[0]), DOMAIN, ROWS)


def test_a_total_from_the_data_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def make(domain: Domain, rows: Any, replace_one: bool) -> Any:
        now[0] = 1.0 + len(rows)
        return table(domain, rows, replace_one)

    monkeypatch.setattr(fitting, "total_of", lambda measured: now[0])
    with pytest.raises(Leak):
        audit(method(BUDGETS[0]), DOMAIN, ROWS, make=make)


def test_columns_outside_the_workload() -> None:
    with taped():
        result = AIM(budget=MeasurementBudget.zcdp(1), workload=Workload.of(DOMAIN, [("a", "b")])).run(table(DOMAIN, ROWS * 50))
    assert result.model.marginal((0, 1, 2)).sum() == pytest.approx(result.model.total)


def test_models_stay_small() -> None:
    domain = Domain.of({f"c{i}": 4 for i in range(6)})
    rows = np.random.default_rng(0).integers(0, 4, (2000, 6)).tolist()
    most = 200
    with taped():
        result = AIM(budget=MeasurementBudget.zcdp(1), workload=Workload.all_of(domain, 3), most_cells=most).run(table(domain, rows))
    assert tree_cells(domain, [one.clique for one in result.measured]) <= most


def test_a_clear_dependence_is_found() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, (4000, 4))
    codes[:, 3] = (codes[:, 0] + codes[:, 1]) % 3
    domain = Domain.of({f"c{i}": 3 for i in range(4)})
    with taped():
        model = method(MeasurementBudget.zcdp(1), domain, 3, None).run(table(domain, codes.tolist())).model
    truth = np.zeros((3, 3, 3))
    np.add.at(truth, tuple(codes[:, [0, 1, 3]].T), 1)
    assert np.abs(model.marginal((0, 1, 3)) - truth).sum() < 0.05 * 4000


@pytest.mark.parametrize("rho", ["1e-9", "1", "1e6"])
@pytest.mark.parametrize("rows", [[], [(1, 2, 1)], [(0, 0, 0)] * 1000], ids=["empty", "one", "constant"])
def test_no_table_or_budget_makes_it_fail(rho: str, rows: Any) -> None:
    for seed in range(2):
        with taped(seed):
            model = method(MeasurementBudget.zcdp(rho)).run(table(DOMAIN, rows)).model
        assert np.isfinite(model.marginal((0, 1, 2))).all()
        assert model.marginal((0, 1, 2)).sum() == pytest.approx(model.total)
