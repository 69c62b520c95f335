"""A hypothetical group: what its rows add to the totals of a plan on average."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.explain.hypothetical import HypotheticalGroup
from discreet.plan.steps import Steps


def plan_of(text: str) -> Steps:
    table = pa.table({"id": [1, 2], "x": [1.0, 2.0], "y": [3.0, 4.0]})
    bounds = {"x": (0, 128), "y": (0, 128)}
    with discreet.connect({"t": table}, unit="id", epsilon=9, bounds=bounds, one_row_per_unit=True, ledger=":memory:") as db:
        return db.sql(text).plan(1).steps


def means(text: str, at: dict[str, float], place: float = 0.5, spread: float = 0.25) -> dict[tuple[int, ...], float]:
    """The mean of each total, by the powers of its factors, whose middle is taken off."""
    plan = plan_of(text)
    group = HypotheticalGroup.of(plan, at, place, spread)
    return {tuple(factor.power for factor in one.total.factors): group.mean_of(one.total) for one in plan.totals}


def test_a_mean_that_is_given_or_lies_between_the_middle_and_an_end() -> None:
    assert means("SELECT AVG(x) AS m FROM t", {"m": 100}) == {(): 1.0, (1,): pytest.approx(100 - 64)}
    assert means("SELECT AVG(x) AS m FROM t", {}) == {(): 1.0, (1,): pytest.approx(32)}
    assert means("SELECT AVG(x) AS m FROM t", {"m": 1000})[1,] == pytest.approx(64), "no mean lies outside its bounds"


def test_powers_and_products_follow_from_variance_and_correlation() -> None:
    found = means("SELECT VARIANCE(x) AS v FROM t", {"x": 80, "v": 100})
    assert found[2,] == pytest.approx(16**2 + 100)
    found = means("SELECT CORR(x, y) AS r FROM t", {"r": 0.25}, place=0)
    assert found[1, 1] == pytest.approx(0.25 * 32**2), "a quarter of the square of half the width is the assumed variance"
