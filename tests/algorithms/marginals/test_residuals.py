"""The method Residuals: its account, its runs on neighbours, and its errors against what was predicted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import Leak, audit, every_row, table, taped
from algorithms.marginals.test_residual import from_residuals

from discreet.algorithms.marginals import residuals as module
from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.residual import BITS, Residual
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.loss.loss import Loss

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2})
ROWS = [(0, 0, 0), (0, 2, 1), (1, 1, 0), (1, 1, 0)]
ANY = 1e9  # whatever is predicted, larger residuals are measured
BUDGETS = [MeasurementBudget.zcdp(50), MeasurementBudget.gdp(80)]  # so much that residuals of these few records are measured


def price(budget: MeasurementBudget, losses: tuple[tuple[str, Loss], ...]) -> Fraction:
    return sum((budget.price(loss) for _, loss in losses), Fraction(0))


@pytest.mark.parametrize(
    "budget",
    [MeasurementBudget.zcdp("0.5"), MeasurementBudget.gdp("0.2"), MeasurementBudget.zcdp("0.05"), MeasurementBudget.gdp(30)],
    ids=str,
)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_all_of_the_budget_is_spent_and_no_more(budget: MeasurementBudget, k: int) -> None:
    domain = Domain.of({f"c{i}": 2 + i % 3 for i in range(6)})
    rows = np.random.default_rng(0).integers(0, 2, (500, 6)).tolist()
    with taped() as steps:
        result = Residuals(budget=budget, workload=Workload.all_of(domain, k), worthwhile=ANY).run(table(domain, rows))
    assert [step.mechanism.loss for step in steps] == [loss for _, loss in result.losses]
    assert budget.amount * (1 - Fraction(1, 10**5)) <= price(budget, result.losses) <= budget.amount
    assert result.claimed == budget.loss


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_neighbours_share_all_but_what_is_paid_for(budget: MeasurementBudget, k: int) -> None:
    for rows in (ROWS, []):
        assert audit(Residuals(budget=budget, workload=Workload.all_of(DOMAIN, k), worthwhile=ANY), DOMAIN, rows) == pytest.approx(
            1, abs=1e-5
        )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_replaced_records_share_all_but_what_is_paid_for(k: int) -> None:
    """A contrast of two codes moves by twice its length when one is replaced by the other, not by √2 of it."""
    assert audit(Residuals(budget=BUDGETS[0], workload=Workload.all_of(DOMAIN, k), worthwhile=ANY), DOMAIN, ROWS, replace_one=True) <= 1


class Understated:
    """A table that says it moves by half as much as it does."""

    def __init__(self, domain: Domain, rows: Any, replace_one: bool = False) -> None:
        self._real = table(domain, rows, replace_one)
        self.domain, self.one, self.l1_sensitivity, self.l2_sensitivity = (
            domain,
            1,
            self._real.l1_sensitivity,
            self._real.l2_sensitivity / 2,
        )
        self.one_sided_sensitivity = self._real.one_sided_sensitivity
        self.marginals = self._real.marginals


def test_an_understated_length_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    method = Residuals(budget=BUDGETS[0], workload=Workload.all_of(DOMAIN, 2), worthwhile=ANY)
    with pytest.raises(Leak, match="Gaussian"):
        audit(method, DOMAIN, ROWS, make=Understated)
    short = property(lambda self: int(np.prod([1 << 2 * self.bits] * len(self.clique)) // 2 ** len(self.clique) // 2))
    monkeypatch.setattr(Residual, "length_squared", short)
    with pytest.raises(Leak, match="Gaussian"):
        audit(method, DOMAIN, ROWS)


def test_a_model_that_looks_at_the_data_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    real = CodedTable.marginals

    def spying(self: CodedTable, cliques: Any) -> Any:
        held = real(self, cliques)
        held.map(lambda marginals: seen.append(float(marginals[()].sum())))
        return held

    fitted = module.fit_residuals
    monkeypatch.setattr(CodedTable, "marginals", spying)

    def looking(domain: Any, measured: Any, *rest: Any) -> Any:
        return fitted(domain, [type(measured[0])((), np.array([seen[-1]]), 1.0), *measured[1:]], *rest)

    monkeypatch.setattr(module, "fit_residuals", looking)
    with pytest.raises(Leak, match="models"):
        audit(Residuals(budget=BUDGETS[0], workload=Workload.all_of(DOMAIN, 2), worthwhile=ANY), DOMAIN, ROWS)


def test_few_records_and_little_budget_still_spend_it() -> None:
    budget = MeasurementBudget.zcdp("0.000177")
    rows = np.random.default_rng(0).integers(0, 2, (500, 3)).tolist()
    for seed in range(10):
        with taped(seed):
            result = Residuals(budget=budget, workload=Workload.all_of(DOMAIN, 2), worthwhile=ANY).run(table(DOMAIN, rows))
        assert price(budget, result.losses) >= budget.amount * (1 - Fraction(1, 10**5))


def raw_over_predicted(columns: int, k: int, budget: MeasurementBudget, runs: int) -> float:
    """The error of marginals put together from what was released, without a fit, over `expected_errors`."""
    domain = Domain.of({f"c{i}": 2 for i in range(columns)})
    workload = Workload.all_of(domain, k)
    random = np.random.default_rng(1)
    rows = np.where(random.random((20_000, columns)) < 0.3, random.integers(0, 2, (20_000, 1)), random.integers(0, 2, (20_000, columns)))
    truth = np.zeros(domain.sizes)
    np.add.at(truth, tuple(rows.T), 1)
    method, coded = Residuals(budget=budget, workload=workload, worthwhile=ANY), table(domain, rows.tolist())
    errors = []
    for seed in range(runs):
        with taped(seed):
            result = method.run(coded)
        found = {one.clique: one.values * Residual(domain, one.clique, BITS).unit for one in result.measured}
        for clique in workload.cliques:
            marginal = truth.sum(axis=tuple(i for i in domain.columns if i not in clique))
            errors.append(np.abs(from_residuals(domain, clique, found) - marginal).sum())
    return float(np.mean(errors) / np.mean(list(method.expected_errors().values())))


@pytest.mark.parametrize("budget", [MeasurementBudget.zcdp("0.02"), MeasurementBudget.gdp("0.04")], ids=str)
def test_raw_errors_are_as_predicted(budget: MeasurementBudget) -> None:
    assert raw_over_predicted(8, 3, budget, 8) == pytest.approx(1, abs=0.05)


def test_raw_errors_are_as_predicted_with_few_columns() -> None:
    assert raw_over_predicted(6, 2, MeasurementBudget.zcdp("0.02"), 20) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("rho", ["1e-9", "1e-4", "1", "1e6"])
@pytest.mark.parametrize("rows", [[], [(1, 2, 1)], [(0, 0, 0)] * 1000], ids=["empty", "one", "constant"])
def test_no_table_or_budget_makes_it_fail(rho: str, rows: Any) -> None:
    for seed in range(3):
        with taped(seed):
            result = Residuals(budget=MeasurementBudget.zcdp(rho), workload=Workload.all_of(DOMAIN, 2), worthwhile=ANY).run(
                table(DOMAIN, rows)
            )
        whole = result.model.marginal((0, 1, 2))
        assert np.isfinite(whole).all()
        assert (whole >= 0).all()


def test_much_budget_gives_the_table() -> None:
    rows = [row for row in every_row(DOMAIN) for _ in range(1 + 7 * sum(row))]
    with taped():
        result = Residuals(budget=MeasurementBudget.zcdp(10**6), workload=Workload.all_of(DOMAIN, 3), worthwhile=ANY).run(
            table(DOMAIN, rows)
        )
    truth = np.zeros(DOMAIN.sizes)
    np.add.at(truth, tuple(np.array(rows).T), 1)
    np.testing.assert_allclose(result.model.marginal((0, 1, 2)), truth, atol=0.5)


def test_columns_of_one_code() -> None:
    domain = Domain.of({"a": 1, "b": 1})
    with taped():
        result = Residuals(budget=MeasurementBudget.zcdp(1), workload=Workload.all_of(domain, 2), worthwhile=ANY).run(
            table(domain, [(0, 0)] * 50)
        )
    assert result.model.marginal((0, 1)).shape == (1, 1)
    domain = Domain.of({"a": 1, "b": 3, "c": 1})
    with taped():
        result = Residuals(budget=MeasurementBudget.zcdp(1), workload=Workload.all_of(domain, 2), worthwhile=ANY).run(
            table(domain, [(0, 2, 0)] * 50)
        )
    assert result.model.marginal((1,))[2] > 0.9 * result.model.total


def test_noise_of_many_nearly_empty_cells_adds_little_to_a_rare_value() -> None:
    """Cells cannot become negative, so a fit that believes all noise gives a rare value too many records: 100, not 80."""
    coin = np.random.default_rng(8)
    domain, n = Domain.of({"a": 20, "b": 20, "c": 3}), 6000
    a = np.minimum(coin.geometric(0.15, n), 20) - 1
    c = np.where(np.arange(n) < 80, 2, coin.integers(0, 2, n))
    rows = np.column_stack([a, (a + coin.integers(0, 8, n)) % 20, c]).tolist()
    above = []
    for _ in range(16):
        found = Residuals(budget=MeasurementBudget.gdp(5), workload=Workload.all_of(domain, 3)).run(table(domain, rows))
        above.append(float(found.model.marginal((2,))[2]) - 80)
    assert np.mean(above) < 15  # about 10 ± 1
