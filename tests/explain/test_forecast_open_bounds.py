"""Forecasts before paying: what is declared is forecast, and only what depends on an open bound is not."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import discreet

TABLE = pa.table({"id": list(range(100)), "cost": [float(i) for i in range(100)], "age": [float(i % 50) for i in range(100)]})


def session(**more: Any) -> discreet.Session:
    return discreet.connect({"t": TABLE}, unit="id", epsilon=10, delta=1e-6, ledger=":memory:", one_row_per_unit=True, **more)


def test_an_open_bound_hides_only_what_depends_on_it() -> None:
    db = session(bounds={"cost": (0, 100)})
    told = db.sql("SELECT COUNT(*) AS n, AVG(cost) AS c, AVG(age) AS a FROM t").plan(epsilon=1).error(size=1000)
    assert isinstance(told["n"], float)
    assert isinstance(told["c"], float)
    assert told["a"] is None
    assumed = db.sql("SELECT COUNT(*) AS n, AVG(cost) AS c, AVG(age) AS a FROM t").plan(epsilon=1).error(size=1000, assume={"age": (0, 50)})
    assert assumed["n"] == told["n"]
    assert assumed["c"] == pytest.approx(told["c"])
    assert isinstance(assumed["a"], float)


def test_the_bounds_of_a_pair_are_assumed_by_the_names_of_its_columns() -> None:
    plan = session().sql("SELECT CORR(cost, age) AS r FROM t").plan(epsilon=1)
    assert plan.error(size=1000)["r"] is None
    assert 0 < plan.error(size=1000, assume={"cost": (0, 100), "age": (0, 50)})["r"] <= 2  # type: ignore[operator]
