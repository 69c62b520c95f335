"""The price of a plan: what was asked for, before and after its discoveries."""

from __future__ import annotations

from fractions import Fraction

import pytest
from plan.questions import DELTA, EPSILON, catalog, steps

from discreet.plan.discovery import Discovered
from discreet.plan.price import plan_loss
from discreet.plan.resolve import resolve
from discreet.query.relation.expr import Column


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM t", "SELECT SUM(x), MEDIAN(x) FROM t", "SELECT dept, COUNT(*) FROM t GROUP BY dept"])
def test_the_loss_is_within_the_price(sql: str) -> None:
    for tables in (catalog({"rows": 2}), catalog(), catalog({"groups": 2, "per_group": 1})):
        plan = steps(sql, tables)
        assert plan_loss(plan).epsilon_at(plan.delta) <= EPSILON
        assert plan.delta <= DELTA


def test_discoveries_do_not_change_it() -> None:
    plan = steps("SELECT SUM(x) FROM t", catalog(bounds=None))
    bounds = {(Column("x"), "low"): Fraction(0), (Column("x"), "high"): Fraction(9)}
    resolved = resolve(plan, Discovered(limits={"rows": 4}, bounds=bounds))
    assert plan_loss(resolved).epsilon_at(plan.delta) <= plan_loss(plan).epsilon_at(plan.delta) <= EPSILON
