"""Where dependence cannot be paid for, methods give independent columns: by released numbers, at the whole budget, and no worse."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import audit, table, taped
from algorithms.marginals.test_accuracy import counted, read
from algorithms.marginals.test_residuals import price

from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.dependence import Dependence, column_noise, column_shares, only_columns
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import measure
from discreet.algorithms.marginals.model import fit_tree
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending
from discreet.algorithms.marginals.workload import Workload

DATA = Path(os.environ.get("DISCREET_DATA", "/work/shared/data"))
METHODS = [AIM, MST, Residuals]
DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2})
ROWS = [(0, 0, 0), (0, 2, 1), (1, 1, 0), (1, 1, 0)]
SMALL, LARGE = MeasurementBudget.zcdp("0.001"), MeasurementBudget.zcdp(200)


@pytest.mark.parametrize("method", METHODS)
def test_noise_decides(method: Any) -> None:
    """The same rows: with little budget single columns only, with a large one larger marginals."""
    rows = [(i % 2, i % 3, i % 2) for i in range(60)]
    for budget, largest in ((SMALL, 1), (LARGE, 2)):
        result = method(budget=budget, workload=Workload.all_of(DOMAIN, 2)).run(table(DOMAIN, rows))
        assert max(len(one.clique) for one in result.measured) == largest
        assert bool(result.notes) == (largest == 1)
        assert all(note.startswith("columns are independent: with about ") for note in result.notes)
        assert budget.amount * (1 - Fraction(1, 10**5)) <= price(budget, result.losses) <= budget.amount


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("replace_one", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_neighbours_decide_alike(method: Any, replace_one: bool) -> None:
    """With what was released replayed, neighbours measure the same, fit the same and say the same."""
    for seed in range(3):
        assert audit(method(budget=SMALL, workload=Workload.all_of(DOMAIN, 2)), DOMAIN, ROWS, replace_one, seed) <= 1


def test_larger_marginals_are_counted_only_where_they_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting thousands of marginals takes longer than all else, so AIM judges by its single columns first."""
    rows, asked = [(i % 2, i % 3, i % 2) for i in range(60)], list[Any]()
    plain = CodedTable.marginals
    monkeypatch.setattr(CodedTable, "marginals", lambda self, cliques: asked.extend(cliques) or plain(self, cliques))
    for budget, largest in ((SMALL, 1), (LARGE, 2)):
        asked.clear()
        AIM(budget=budget, workload=Workload.all_of(DOMAIN, 2)).run(table(DOMAIN, rows))
        assert max(map(len, asked)) == largest


def test_shares_of_columns_make_noise_least() -> None:
    """Moving any part of the price from one column to another makes the noise of the workload's marginals larger."""
    domain = Domain.of({"a": 2, "b": 90, "c": 11, "unused": 5})
    workload = Workload(domain, {(0, 1): 1, (1, 2): 3})
    shares = column_shares(workload)
    weights = (1, 4, 3, 1)  # of each column in the workload; one that is not in it counts as one

    def noise(parts: list[Fraction]) -> float:
        return sum(weight * size / float(part) ** 0.5 for weight, size, part in zip(weights, domain.sizes, parts, strict=True))

    assert sum(shares) == 1
    for i, j in permutations(range(4), 2):
        for step in (Fraction(1, 100), Fraction(1, 200)):
            moved = list(shares)
            moved[i], moved[j] = moved[i] - step, moved[j] + step
            assert moved[i] <= 0 or noise(moved) > noise(shares)
    assert noise(shares) < 0.85 * noise([Fraction(1, 4)] * 4)


@pytest.mark.parametrize(("noise", "equal"), [(0.5, False), (3.9, False), (4.1, True)])
def test_independent_columns_are_measured_by_their_shares(noise: float, equal: bool) -> None:
    """All that is left of the budget, by shares; in equal parts where noise is several times the table and nothing large can be learnt."""
    domain, budget = Domain.of({"a": 2, "b": 40}), MeasurementBudget.gdp("0.001")
    counts, spending, shares = table(domain, [(0, 3)] * 20), Spending(budget), column_shares(Workload.all_of(domain, 2))
    exact = counts.marginals([(0,), (1,)])
    result = only_columns("aim", exact, [], spending, counts, Dependence(noise, 0.2, 20.0), shares)
    spent = [1 / one.deviation**2 for one in result.measured]
    assert spent == pytest.approx([0.0005, 0.0005] if equal else [float(share) * 0.001 for share in shares], rel=1e-3)
    assert [one.clique for one in result.measured] == [(0,), (1,)]


@pytest.mark.parametrize("rounds", [6, 10])
@pytest.mark.parametrize(("budget", "again"), [("0.0059", True), ("0.02", False)])
def test_columns_with_much_noise_are_measured_once_more(budget: str, again: bool, rounds: int) -> None:
    """Noise of 0.14 and of 0.08 of 600 records, where 0.2 is bearable; however many rounds are planned."""
    rows, singles = [(i % 2, i % 3, i % 2) for i in range(600)], [(0,), (1,), (2,)]
    result = AIM(budget=MeasurementBudget.gdp(budget), workload=Workload.all_of(DOMAIN, 2), rounds=rounds).run(table(DOMAIN, rows))
    assert not result.notes
    begins = [one.clique for one in result.measured[:6]]
    assert (begins == 2 * singles) == again
    assert begins[:3] == singles


def test_noise_of_columns() -> None:
    workload = Workload.all_of(DOMAIN, 3)
    one = column_noise(workload, MeasurementBudget.gdp(3), 1.0)
    assert one == pytest.approx(0.7979 * (2 + 3 + 2), rel=1e-3)  # σ = √(3 columns / μ²) = 1 in each of 7 cells
    assert column_noise(workload, MeasurementBudget.zcdp("1.5"), 2.0) == pytest.approx(2 * one)
    heavy = Workload(DOMAIN, {(0,): 1, (1,): 3})
    assert column_noise(heavy, MeasurementBudget.gdp(3), 1.0) == pytest.approx(0.7979 * (2 + 3 * 3) / 4, rel=1e-3)


def independent(budget: MeasurementBudget, coded: CodedTable) -> Any:
    """Single columns at the whole budget: what anybody can do."""
    domain, spending = coded.domain, Spending(budget)
    exact = coded.marginals([(i,) for i in domain.columns])
    return fit_tree(domain, [measure(exact, (i,), spending, budget.amount / len(domain.names), coded) for i in domain.columns])


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "titanic.csv").exists(), reason="public tables are not here (DISCREET_DATA)")
@pytest.mark.parametrize("method", [AIM, MST])
@pytest.mark.parametrize("rho", ["0.00005", "0.0005", "0.005", "0.05", "1"])
def test_never_worse_than_independent_columns_on_titanic(method: Any, rho: str) -> None:
    domain, columns = read("titanic")
    workload, coded = Workload.all_of(domain, 3), CodedTable(domain, columns)
    codes = [columns[name] for name in domain.names]
    truth, budget = {c: counted(domain, c, codes) for c in workload.cliques}, MeasurementBudget.zcdp(rho)
    off = []
    for seed in range(8):
        with taped(seed):  # coins are fixed, so that no test fails by chance
            models = [method(budget=budget, workload=workload).run(coded).model, independent(budget, coded)]
        off.append([np.mean([np.abs(truth[c] - model.marginal(c).ravel()).sum() for c in workload.cliques]) for model in models])
    ours, theirs = np.mean(off, axis=0)
    assert ours <= theirs * 1.02 + 2 * float(np.std([a - b for a, b in off])) / len(off) ** 0.5
