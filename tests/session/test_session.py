"""Sessions: budgets, limits, policies and history."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from session.visits import SQL, connect, table

import discreet
from discreet.errors import BudgetExceeded, Invalid, PolicyError


def test_the_five_lines(path: Path, opened: Callable[..., Any]) -> None:
    pq.write_table(table(20_000), path)  # so many that what is found privately is found well, but for one time in 10⁹
    db = opened(delta=1e-6, keys=None, contributions=None)
    q = db.sql(SQL)
    forecast = q.plan(epsilon=0.5).error(size=10_000)
    assert set(forecast) == {"visits", "mean_cost"}
    assert db.spent.epsilon == 0
    rows = q.release(epsilon=0.5).rows
    assert {row["dept"] for row in rows} == {"cardio", "ortho", "er"}
    assert all(0 <= row["mean_cost"] <= 500 for row in rows)
    assert db.remaining.epsilon == Fraction(1, 2)


def test_ten_tenths_fit_and_the_eleventh_is_refused(opened: Callable[..., Any]) -> None:
    for more in ({}, {"delta": 1e-6}):
        db = opened(**more)
        for i in range(10):
            db.ask(f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", epsilon=0.1)
        with pytest.raises(BudgetExceeded, match="still admits"):
            db.ask("SELECT COUNT(*) AS n FROM visits WHERE cost > 11", epsilon=0.1)
        assert db.spent.epsilon == 1


def test_ten_tenths_fit_whatever_noise_they_take(opened: Callable[..., Any]) -> None:
    """Questions that find groups, that are Gaussian, that choose: the pair each was calibrated to is charged."""
    db = opened(delta=1e-6, keys=None, contributions={"groups": 100, "per_group": 1})
    for i in range(5):
        db.ask(f"SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE cost > {i} GROUP BY dept", epsilon=0.1)
        db.ask(f"SELECT MEDIAN(cost) AS m FROM visits WHERE cost > {i}", epsilon=0.1)
    assert db._ledger.filter.spent.basic[0] == 1
    assert db.remaining.epsilon > 0  # by another route, in which less than 1 was spent
    assert 0 < db.spent.epsilon < 1


def test_all_that_remains_is_granted(opened: Callable[..., Any]) -> None:
    db = opened(delta=1e-6)
    db.ask(SQL, epsilon=0.3)
    db.ask("SELECT MEDIAN(cost) AS m FROM visits", epsilon=Fraction(1, 7))
    left = db.remaining.epsilon
    db.ask("SELECT AVG(cost) AS m FROM visits", epsilon=left)
    assert db.remaining.epsilon == 0


def test_another_version_or_policy_is_another_question(path: Path) -> None:
    first = connect(path).ask(SQL, epsilon=0.1)
    assert connect(path, version="2").ask(SQL, epsilon=0.1).rows != first.rows
    assert connect(path, bounds={"cost": (0, 400)}).ask(SQL, epsilon=0.1).rows != first.rows
    assert connect(path).ask(SQL, epsilon=0.1).rows == first.rows


def test_another_budget_is_a_policy_error_once_something_was_spent(path: Path) -> None:
    connect(path).close()
    connect(path, epsilon=2, adjacency="replace-one").close()
    connect(path).ask(SQL, epsilon=0.1)
    for more in ({"epsilon": 2}, {"delta": 1e-6}, {"unit": discreet.each_row(), "contributions": None}, {"adjacency": "replace-one"}):
        with pytest.raises(PolicyError):
            connect(path, **more)


def test_a_frame_says_that_its_budget_is_in_memory() -> None:
    with pytest.warns(UserWarning, match="in memory"):
        discreet.connect(table(), unit="patient_id", epsilon=1)
    discreet.connect(table(), unit="patient_id", epsilon=1, ledger=":memory:")


def test_history(opened: Callable[..., Any]) -> None:
    db = opened()
    db.ask(SQL, epsilon=0.1)
    [entry] = db.history()
    assert entry["epsilon"] == 0.1
    assert entry["asked"] == SQL
    assert entry["answered"] is True


def test_a_closed_session_charges_nothing(path: Path) -> None:
    db = connect(path)
    db.close()
    with pytest.raises(Invalid, match="closed"):
        db.ask(SQL, epsilon=0.5)
    assert connect(path).spent.epsilon == 0


def test_a_closed_session_asks_nothing(opened: Callable[..., Any]) -> None:
    db = opened()
    asked = db.sql(SQL)
    db.close()
    for act in (lambda: asked.release(0.5), lambda: asked.plan(0.5), lambda: db.ask(SQL, epsilon=0.5)):
        with pytest.raises(Invalid, match="closed"):
            act()


def test_several_files_need_to_say_where_their_ledger_lies(path: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"patient_id": [1], "age": [3]}), tmp_path / "people.parquet")
    both = {"visits": path, "people": tmp_path / "people.parquet"}
    with pytest.raises(Invalid, match="ledger="):
        discreet.connect(both, unit="patient_id", epsilon=1)
    (tmp_path / "link.parquet").symlink_to(path)
    connect(path).ask(SQL, epsilon=0.4)
    assert discreet.connect({"visits": tmp_path / "link.parquet"}, unit="patient_id", epsilon=1).spent.epsilon == Fraction(4, 10)


def test_three_thirds_fit_a_budget_of_one(opened: Callable[..., Any]) -> None:
    db = opened(epsilon=1)
    for i in range(3):
        db.ask(f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", epsilon="1/3")
    with pytest.raises(BudgetExceeded):
        db.ask("SELECT COUNT(*) AS n FROM visits WHERE cost > 9", epsilon=0.1)
