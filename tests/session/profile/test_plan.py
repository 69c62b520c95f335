"""The plan of a profile: every measurement has its share, and all of them together the price."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars
import pytest
from session.profile.people import session

from discreet.errors import Refused


@pytest.mark.parametrize(
    "declared", [{}, {"each": 3}, {"bounds": {"age": (0, 99), "cost": (0, 100)}, "keys": {"town": ["York"]}}, {"delta": 0}]
)
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_shares_add_up_to_the_price(declared: dict[str, Any], adjacency: str) -> None:
    with session(adjacency=adjacency, **declared) as db:
        plan = db.profile().plan(Fraction(1, 2))
    assert 1 - Fraction(1, 1000) < sum(plan.shares.values()) <= 1
    assert min(plan.shares.values()) > 0
    assert plan.loss.epsilon_at(float(plan.delta)) <= 0.5000001
    assert set(plan.error()) == {task.column.name for task in plan.tasks}


def test_columns_are_counted_by_what_is_declared() -> None:
    with session(bounds={"age": (0, 99)}, keys={"kind": [0, 1]}) as db:
        plan = db.profile().plan(1)
    assert {task.column.name: task.how for task in plan.tasks} == {
        "age": "bounded", "cost": "range", "town": "values", "kind": "listed", "day": "range", "ok": "listed", "name": "values",
    }  # fmt: skip
    assert dict(plan.left_out) == {"id": "it identifies the protected unit"}
    said = plan.explain()
    assert "id is left out" in said
    assert "bought once" in said


def test_without_a_delta_values_are_left_out_and_the_noise_is_laplace() -> None:
    with session(delta=0) as db:
        plan = db.profile().plan(1)
    assert (plan.noise, plan.delta) == ("laplace", 0)
    assert {"town", "name"} <= dict(plan.left_out).keys()


def test_a_table_with_nothing_to_count_is_refused() -> None:
    with session(data={"t": polars.DataFrame({"id": [1], "name": ["x"]})}, delta=0) as db, pytest.raises(Refused, match="delta"):
        db.profile().plan(1)
