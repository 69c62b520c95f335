"""What bounding takes away, from a profile: corrected answers are right on average, with intervals that hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars
import pytest

import discreet
from discreet.plan.discovery import Discovered
from discreet.plan.removed import profiled_column, profiled_sizes, whole_table
from discreet.plan.resolve import resolve
from discreet.query.relation.expr import Column

RUNS = 60


def quiet(what: str, share: float) -> None:
    """Show no progress."""


def data(rows: int = 6000) -> polars.DataFrame:
    drawn = np.random.default_rng(8).lognormal(3, 0.8, rows)
    return polars.DataFrame({"id": range(rows), "cost": np.minimum(drawn, 400.0), "town": ["York"] * (rows // 2) + ["Bath"] * (rows // 2)})


def session(**declared: Any) -> discreet.Session:
    given = {"unit": "id", "epsilon": 10**6, "delta": 1e-4, "one_row_per_unit": True, "ledger": ":memory:"} | declared
    return discreet.connect({"people": data()}, **given)


@pytest.mark.slow
def test_corrected_answers_are_right_on_average() -> None:
    """Each run buys its own profile; the mean of the answers is the truth, and intervals hold in 19 of 20 runs or more."""
    truth = {"m": float(data()["cost"].mean()), "s": float(data()["cost"].sum())}  # type: ignore[arg-type]
    found: dict[str, list[tuple[float, float]]] = {"m": [], "s": []}
    for _ in range(RUNS):
        with session() as db:
            db.profile(epsilon=4, progress=quiet)
            for name, text in (("m", "AVG(cost)"), ("s", "SUM(cost)")):
                answer = db.sql(f"SELECT {text} AS {name} FROM people").release(2)
                low, high = answer.intervals[0][name]
                found[name].append((answer.rows[0][name] - truth[name], (high - low) / 2))
    for name, runs in found.items():
        errors, halves = map(np.array, zip(*runs, strict=True))
        # six standard errors, and the allowance for where in their cells values lie
        assert abs(errors.mean()) < 6 * errors.std() / math.sqrt(RUNS) + 0.2 * halves.mean()
        assert (abs(errors) <= halves).mean() > 0.75, name  # at 95 %, fewer than 45 of 60 has a probability below 1e-7


@pytest.fixture(scope="module")
def db() -> Any:
    with session() as opened:
        opened.profile(epsilon=50, progress=quiet)
        yield opened


def test_only_unchanged_columns_of_whole_tables_are_known(db: Any) -> None:
    rows = db.table("people")
    assert whole_table(rows.relation).name == "people"
    assert whole_table(rows.where("cost > 3").relation) is None
    assert profiled_column(rows.relation, Column("cost")).name == "cost"
    assert profiled_column(rows.relation, Column("id")) is None
    assert profiled_column(rows.where("cost > 3").relation, Column("cost")).name == "cost"
    doubled = rows.with_columns(twice="cost * 2")
    assert profiled_column(doubled.relation, Column("twice")) is None
    assert profiled_column(doubled.relation, Column("cost")).name == "cost"


def test_bounds_are_chosen_for_the_question(db: Any) -> None:
    """With little noise bounds are wide, with much they are narrow; they never leave the range found."""
    low, high = profiled_column(db.table("people").relation, Column("cost")).bounds
    widths = []
    for epsilon in (Fraction(1, 100), 1, 1000):
        steps = db.sql("SELECT SUM(cost) AS s FROM people").plan(epsilon).steps
        clip = resolve(steps, Discovered()).removed.clipped[Column("cost")]
        assert low <= clip.low < clip.high <= high
        widths.append(clip.high - clip.low)
    assert widths[0] < widths[-1]
    assert widths == sorted(widths)


def test_sizes_of_groups_are_known(db: Any) -> None:
    (whole,) = profiled_sizes(db.sql("SELECT COUNT(*) AS n FROM people").question)
    assert abs(whole - 6000) < 60
    sizes = profiled_sizes(db.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town").question)
    assert all(abs(size - 3000) < 60 for size in sizes)
    assert profiled_sizes(db.sql("SELECT COUNT(*) AS n FROM people WHERE cost > 3").question) == ()


def test_other_groups_and_filters_are_not_corrected(db: Any) -> None:
    for text in ("SELECT AVG(cost) AS m FROM people WHERE cost > 3", "SELECT town, AVG(cost) AS m FROM people GROUP BY town"):
        assert "the correction of clipping" not in repr(db.sql(text).release(5))
    assert "the correction of clipping" in repr(db.sql("SELECT AVG(cost) AS m FROM people").release(5))
