"""MST: its account, its tree, and its runs on neighbours."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import Leak, audit, table, taped
from algorithms.marginals.test_residuals import Understated, price

from discreet.algorithms.marginals import mst as module
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload
from discreet.mechanisms.exponential import Exponential

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2})
ROWS = [(0, 0, 0), (0, 2, 1), (1, 1, 0), (1, 1, 0)]
ANY = 1e9  # whatever the noise is, pairs are measured
BUDGETS = [MeasurementBudget.zcdp("0.5"), MeasurementBudget.gdp("0.2")]


def method(budget: MeasurementBudget, domain: Domain = DOMAIN) -> MST:
    return MST(budget=budget, workload=Workload.all_of(domain, 2), bearable=ANY)


@pytest.mark.parametrize("budget", [*BUDGETS, MeasurementBudget.zcdp("0.000177"), MeasurementBudget.gdp(30)], ids=str)
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_all_of_the_budget_is_spent_and_no_more(budget: MeasurementBudget, columns: int) -> None:
    domain = Domain.of({f"c{i}": 2 + i % 3 for i in range(columns)})
    rows = np.random.default_rng(0).integers(0, 2, (500, columns)).tolist()
    with taped() as steps:
        result = method(budget, domain).run(table(domain, rows))
    assert [step.mechanism.loss for step in steps] == [loss for _, loss in result.losses]
    assert budget.amount * (1 - Fraction(1, 10**5)) <= price(budget, result.losses) <= budget.amount
    assert result.claimed == budget.loss
    pairs = [one.clique for one in result.measured if len(one.clique) == 2]
    assert len(pairs) == columns - 1
    assert len({i for pair in pairs for i in pair}) == (columns if columns > 1 else 0)  # a tree that spans all


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("replace_one", [False, True])
def test_neighbours_share_all_but_what_is_paid_for(budget: MeasurementBudget, replace_one: bool) -> None:
    for rows in (ROWS, [(0, 0, 0)]):
        assert 0.99 < audit(method(budget), DOMAIN, rows, replace_one) <= 1


def test_an_understated_length_is_caught() -> None:
    with pytest.raises(Leak, match="Gaussian"):
        audit(method(BUDGETS[0]), DOMAIN, ROWS, make=Understated)


def test_understated_scores_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spending, "selection", lambda self, price, moved: Exponential(epsilon="0.1", sensitivity=Fraction(moved, 2)))
    with pytest.raises(Leak, match="Exponential"):
        audit(method(BUDGETS[0]), DOMAIN, ROWS)


def test_a_model_that_looks_at_the_data_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real, now = module.measure, [0]

    def measure(exact: Any, clique: Any, *rest: Any) -> Any:
        exact.map(lambda held: now.append(int(held[clique].max())))
        found = real(exact, clique, *rest)
        return type(found)(clique, found.values, found.deviation * (1 + now[-1]))

    monkeypatch.setattr(module, "measure", measure)
    with pytest.raises(Leak):
        audit(method(BUDGETS[0]), DOMAIN, ROWS)


def test_it_finds_the_tree() -> None:
    """A chain of copies with little noise: the pairs next to each other are measured."""
    random = np.random.default_rng(0)
    columns = [random.integers(0, 4, 5000)]
    for _ in range(4):
        columns.append(np.where(random.random(5000) < 0.2, random.integers(0, 4, 5000), columns[-1]))
    domain = Domain.of({f"c{i}": 4 for i in range(5)})
    with taped():
        result = method(MeasurementBudget.zcdp(1), domain).run(table(domain, np.array(columns).T.tolist()))
    assert sorted(one.clique for one in result.measured if len(one.clique) == 2) == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("rho", ["1e-9", "1", "1e6"])
@pytest.mark.parametrize("rows", [[], [(1, 2, 1)], [(0, 0, 0)] * 1000], ids=["empty", "one", "constant"])
def test_no_table_or_budget_makes_it_fail(rho: str, rows: Any) -> None:
    for seed in range(3):
        with taped(seed):
            model = method(MeasurementBudget.zcdp(rho)).run(table(DOMAIN, rows)).model
        assert np.isfinite(model.marginal((0, 1, 2))).all()
        assert model.marginal((0, 1, 2)).sum() == pytest.approx(model.total)
