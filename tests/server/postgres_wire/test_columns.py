"""The columns of an answer are known before it is asked for: every kind of output fits the type that was told."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars
import pytest

import discreet
from discreet.errors import Refused
from discreet.server.postgres_wire.columns import answer_columns, answer_rows
from discreet.server.postgres_wire.types import written
from discreet.session.session import Session

OUTPUTS = [
    "COUNT(*)", "COUNT(DISTINCT person)", "SUM(age)", "SUM(cost)", "AVG(age)", "MEDIAN(age)", "MIN(cost)", "MAX(age)", "STDDEV(cost)",
    "VARIANCE(age)", "MODE(dept)", "MODE(age)", "MODE(day)", "COUNT(*) * 2", "COUNT(*) / 2", "ROUND(AVG(cost), 1)", "SUM(cost) / COUNT(*)",
    "MEDIAN(age) + 1", "COUNT(*) > 5", "CASE WHEN COUNT(*) > 5 THEN 'many' ELSE 'few' END", "COALESCE(AVG(cost), 0)", "ABS(SUM(age))",
    "FLOOR(AVG(age))", "CORR(age, cost)", "QUANTILE_CONT(cost, 0.9)",
]  # fmt: skip
LARGE = [
    "COUNT(*)", "COUNT(*) + 1", "COUNT(*) * 1000000000000000000", "COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*)",
    "FLOOR(SUM(cost) * 1e30)", "CEIL(SUM(cost) * 1e30)", "ROUND(SUM(cost) * 1e30)", "FLOOR(EXP(COUNT(*)))", "-COUNT(*)", "ABS(COUNT(*))",
    "COUNT(DISTINCT person)", "MEDIAN(age) * 1000000000000000000", "COALESCE(COUNT(*), 0)", "GREATEST(COUNT(*), 5)", "POWER(COUNT(*), 10)",
    "CASE WHEN COUNT(*) > 5 THEN COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) * COUNT(*) ELSE 0 END",
]  # fmt: skip
WINDOWS = [
    "RANK() OVER (ORDER BY COUNT(*))", "ROW_NUMBER() OVER (ORDER BY dept)", "SUM(COUNT(*)) OVER (ORDER BY dept)",
    "LAG(COUNT(*)) OVER (ORDER BY dept)", "COUNT(*) / SUM(COUNT(*)) OVER ()", "FIRST_VALUE(dept) OVER (ORDER BY dept)",
]  # fmt: skip
KEYS = ["dept", "age", "day", "new", "EXTRACT(year FROM day)", "dept = 'eyes'", "FLOOR(age / 20) * 20"]


@pytest.fixture(scope="module", params=[True, False], ids=["one row each", "several rows"])
def session(request: pytest.FixtureRequest) -> Session:
    rng, rows = np.random.default_rng(0), 800
    frame = polars.DataFrame(
        {
            "person": np.arange(rows) if request.param else rng.integers(0, 200, rows),
            "cost": rng.gamma(2.0, 50.0, rows),
            "age": rng.integers(0, 90, rows),
            "dept": rng.choice(["eyes", "heart"], rows),
            "day": [datetime.date(2026, 1, 1 + i % 5) for i in range(rows)],
            "new": rng.integers(0, 2, rows) == 1,
            "room": rng.integers(0, 3, rows),
        }
    )
    found = discreet.connect(
        {"visits": frame},
        unit="person",
        epsilon=10_000,
        delta=1e-6,
        contributions={"rows": 1 if request.param else 4},
        bounds={"cost": (0, 500), "age": (0, 90)},
        keys={"dept": ["eyes", "heart"]},
        ledger=":memory:",
    )
    assert isinstance(found, Session)
    return found


def check(session: Session, text: str) -> list[tuple[Any, ...]]:
    query = session.sql(text, dialect="duckdb")
    columns = answer_columns(query.plan(epsilon=20).steps, intervals=True)
    release = query.release(epsilon=20)
    rows = answer_rows(release, columns)
    for row in rows:
        for value, column in zip(row, columns, strict=True):
            written(value, column.type, 0)  # a Failure if it does not fit
            written(value, column.type, 1)
    known = release.to_columns()
    told = {column.name for column in columns}
    assert set(known) <= told, "an interval that the plan did not announce"
    return rows


@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs(session: Session, output: str) -> None:
    assert check(session, f"SELECT {output} AS x FROM visits")


@pytest.mark.parametrize("output", LARGE)
def test_numbers_of_more_than_64_bits_are_given(session: Session, output: str) -> None:
    """Whether a number fits its type is not found out after the question was paid for."""
    assert check(session, f"SELECT {output} AS x FROM visits")


@pytest.mark.parametrize("output", WINDOWS)
def test_windows(session: Session, output: str) -> None:
    assert check(session, f"SELECT dept, {output} AS x FROM visits GROUP BY dept")


@pytest.mark.parametrize("key", KEYS)
def test_keys(session: Session, key: str) -> None:
    check(session, f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY {key}")


@pytest.mark.parametrize("output", ["room", "day", "COALESCE(room, 0)", "room + 1", "room IS NULL", "COUNT(*) / room"])
def test_keys_with_others_are_text(session: Session, output: str) -> None:
    """Values that are not found are in a row whose key is no number: whether there is one is not found out after paying."""
    key = "day" if output == "day" else "room"
    rows = check(session, f"SELECT {output} AS k, COUNT(*) AS n FROM visits GROUP BY ROLLUP ({key})")
    assert all(isinstance(row[0], str | None) for row in rows)
    assert key != output or "(other)" in {row[0] for row in rows}


def test_types_follow_from_the_plan(session: Session) -> None:
    plan = session.sql("SELECT dept, COUNT(*) AS n, AVG(cost) AS m, MODE(dept) AS d FROM visits GROUP BY dept").plan(epsilon=1)
    found = {column.name: column.type.name for column in answer_columns(plan.steps, intervals=True)}
    assert list(found) == ["dept", "n", "n_low", "n_high", "m", "m_low", "m_high", "d"]
    assert (found["dept"], found["m"], found["m_low"], found["d"]) == ("text", "float8", "float8", "text")
    without = answer_columns(plan.steps, intervals=False)
    assert [column.name for column in without] == ["dept", "n", "m", "d"]


def test_names_that_collide(session: Session) -> None:
    plan = session.sql("SELECT COUNT(*) AS n, AVG(cost) AS n_low FROM visits").plan(epsilon=1)
    with pytest.raises(Refused, match="rename it"):
        answer_columns(plan.steps, intervals=True)
