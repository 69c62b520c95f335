"""The choice of noise: never worse than the other."""

from __future__ import annotations

from fractions import Fraction

from plan.questions import DELTA, DEPTS, catalog

from discreet.plan.noise import choose_noise
from discreet.query.sql.read import read
from discreet.tables.table import Contributions

YEARS = [f"d{i}" for i in range(60)]


def chosen(sql: str, limits: dict[str, int], delta: Fraction = DELTA, keys: list[str] = DEPTS) -> str:
    return choose_noise(read(sql, catalog(keys=keys)), Contributions.of(limits), Fraction(1), delta, Fraction(0)).noise


def test_one_count_takes_laplace_and_many_groups_take_gaussian_noise() -> None:
    assert chosen("SELECT COUNT(*) FROM t", {"rows": 1}) == "laplace"
    assert chosen("SELECT dept, COUNT(*) FROM t GROUP BY dept", {"groups": 60, "per_group": 1}, keys=YEARS) == "gaussian"


def test_without_a_delta_there_is_no_gaussian_noise() -> None:
    assert chosen("SELECT dept, COUNT(*) FROM t GROUP BY dept", {"groups": 60, "per_group": 1}, Fraction(0), YEARS) == "laplace"


def test_shares_of_selected_values_and_totals_add_up() -> None:
    question = read("SELECT MEDIAN(x) AS m, COUNT(*) AS n FROM t", catalog())
    budget = choose_noise(question, Contributions(rows=2), Fraction(1), Fraction(0), Fraction(0))
    assert budget.epsilon + sum(epsilon for _, epsilon in budget.choices) == 1
    assert [name for name, _ in budget.choices] == ["m"]
