"""Ranges from a profile: they clip what is summed, and leave conditions and groups as they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

import discreet
from discreet.plan.profiled_range import known_range, wider_range
from discreet.query.relation.expr import Column

N = 6000


def people() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, N)
    age[:6] = 5000  # a few rows that no profile finds
    return pd.DataFrame({"age": age, "fare": rng.gamma(2.0, 20.0, N), "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(age % 30, "D")})


def session() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return discreet.connect(
            {"t": people()}, unit=discreet.each_row(), epsilon=1000, delta=1e-3, columns={"day": "date"}, ledger=":memory:"
        )


def test_conditions_and_groups_see_true_values() -> None:
    """Values beyond a profile's range were once counted at its end."""
    with session() as db:
        db.profile(epsilon=1)
        ages = db._pipeline.catalog.tables[0].profile.column("age").bounds
        assert ages is not None
        assert ages[1] < 1000
        counted = db.ask("SELECT COUNT(*) AS n FROM t WHERE age > 1000", epsilon=20).rows[0]["n"]
        assert abs(counted - 6) < 4
        last = int(ages[1])
        there = db.ask(f"SELECT COUNT(*) AS n FROM t WHERE age = {last}", epsilon=20).rows[0]["n"]
        assert abs(there - int((people()["age"] == last).sum())) < 5


def test_expressions_of_profiled_columns_have_ranges_and_are_not_discovered() -> None:
    with session() as db:
        assert len(db.sql("SELECT SUM(2 * fare + age) AS s FROM t").plan(epsilon=1).steps.discoveries) == 1
        db.profile(epsilon=20)
        plan = db.sql("SELECT SUM(2 * fare + age) AS s FROM t").plan(epsilon=1).steps
        assert plan.discoveries == ()
        relation = plan.question.relation
        fare, wider = known_range(relation, Column("fare")), wider_range(relation, Column("fare"))
        assert fare is not None and wider is not None  # noqa: PT018
        assert fare.known
        assert 100 < fare.high < 1000
        assert wider.low == 0
        assert wider.high > 5 * fare.high


def test_the_mean_is_corrected_and_its_interval_holds() -> None:
    with session() as db:
        db.profile(epsilon=5)
        told = db.ask("SELECT AVG(fare) AS m FROM t", epsilon=5)
        low, high = told.intervals[0]["m"]
        assert abs(told.rows[0]["m"] - people()["fare"].mean()) <= 2 * (high - low)  # four half-widths: no test fails by chance
        assert "for the correction of clipping" in repr(told)
