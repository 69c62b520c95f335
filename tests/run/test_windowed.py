"""Columns over several released rows: their values, and intervals that hold as often as they say."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet

SIZES = {"a": 400, "b": 300, "c": 200, "d": 100}
TEXT = (
    "SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY k) AS running, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k) AS change, "
    "100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, "
    "SUM(COUNT(*)) OVER (ORDER BY COUNT(*) DESC) AS top, MAX(COUNT(*)) OVER () AS most FROM t GROUP BY k"
)
TRUTH = {
    "running": [400, 700, 900, 1000],
    "change": [None, -100, -100, -100],
    "share": [40, 30, 20, 10],
}


def opened(budget: int = 10**6, **more: Any) -> discreet.Session:
    ks = [k for k, n in SIZES.items() for _ in range(n)]
    table = pa.table({"id": list(range(len(ks))), "k": ks})
    return discreet.connect(
        {"t": table}, unit="id", one_row_per_unit=True, epsilon=budget, keys={"k": list(SIZES)}, ledger=":memory:", **more
    )


def test_values_are_those_of_the_released_rows() -> None:
    rows = opened().sql(TEXT).release(epsilon=1).rows
    counts = [row["n"] for row in rows]
    assert [row["running"] for row in rows] == [sum(counts[: i + 1]) for i in range(4)]
    assert [row["change"] for row in rows] == [None, *(b - a for a, b in itertools.pairwise(counts))]
    assert [row["share"] for row in rows] == pytest.approx([100 * n / sum(counts) for n in counts])
    assert [row["r"] for row in rows] == [1 + sum(other > n for other in counts) for n in counts]


def test_smooth_columns_have_intervals_and_others_none() -> None:
    release = opened().sql(TEXT).release(epsilon=1)
    for place, found in enumerate(release.intervals):
        assert set(found) >= {"n", "running", "share"}
        assert not set(found) & {"r", "top", "most"}  # ranks, an order of noisy values, an extreme
        assert (found.get("change", (None, None))[0] is None) == (place == 0)
    widths = [high - low for low, high in (found["running"] for found in release.intervals)]
    assert widths == sorted(widths)
    assert widths[3] > 1.5 * widths[0]


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_intervals_hold_as_often_as_they_say(delta: float) -> None:
    """600 questions, each with 4 rows: fewer than 0.9 of 600 would have a probability below 1e-7 at a coverage of 0.95."""
    runs = 600
    db = opened(10**9, delta=1e-3)
    held = {name: np.zeros(4) for name in TRUTH}
    for run in range(runs):
        asked = db.sql(TEXT.replace("FROM t", f"FROM t WHERE {run} = {run}"))
        for place, found in enumerate(asked.release(epsilon=1, delta=delta).intervals):
            for name, truth in TRUTH.items():
                low, high = found.get(name, (None, None))
                if truth[place] is not None:
                    held[name][place] += low <= truth[place] <= high
    for name, truth in TRUTH.items():
        for place, value in enumerate(truth):
            if value is not None:
                assert 0.9 * runs <= held[name][place] <= 0.99 * runs, (name, place, held[name][place] / runs)


def test_a_rounded_share_has_its_rounding_in_the_interval() -> None:
    share = "100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()"
    release = opened().sql(f"SELECT k, ROUND({share}) AS share, {share} AS exact FROM t GROUP BY k").release(epsilon=1)
    for row, found in zip(release.rows, release.intervals, strict=True):
        assert found["share"][0] <= row["exact"] <= found["share"][1]


def test_having_comes_before_windows() -> None:
    text = "SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total FROM t GROUP BY k HAVING COUNT(*) > 250 ORDER BY total, k LIMIT 1"
    [row] = opened().sql(text).release(epsilon=100).rows
    assert row["k"] == "a"
    assert row["total"] == pytest.approx(700, abs=20)


def test_a_forecast_leaves_windows_out_and_the_price_is_that_of_the_counts() -> None:
    db = opened()
    plain = db.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k").plan(epsilon=1)
    over = db.sql(TEXT).plan(epsilon=1)
    assert set(over.error()) == {"n"}
    assert over.error()["n"] == plain.error()["n"]
    assert math.isclose(float(over.loss.epsilon_at(0)), float(plain.loss.epsilon_at(0)))


def test_a_selected_value_gives_no_interval() -> None:
    db = opened()
    text = "SELECT k, COUNT(*) + SUM(MEDIAN(id)) OVER () AS x, LAG(MEDIAN(id)) OVER (ORDER BY k) AS y FROM t GROUP BY k"
    release = db.sql(text.replace("id", "LEAST(LENGTH(k), 5)")).release(epsilon=10)
    assert not any(set(found) & {"x", "y"} for found in release.intervals)


def test_the_group_of_all_others_is_a_row_like_any() -> None:
    ks = [1] * 300 + [2] * 200 + [7] * 100
    table = pa.table({"id": list(range(len(ks))), "k": ks})
    db = discreet.connect({"t": table}, unit="id", one_row_per_unit=True, epsilon=9, keys={"k": [1, 2]}, ledger=":memory:")
    text = "SELECT k, MIN(k) OVER () AS least, SUM(k) OVER () AS keys, SUM(COUNT(*)) OVER () AS total FROM t GROUP BY k"
    rows = db.sql(text, other=True).release(epsilon=9).rows
    assert [row["least"] for row in rows] == [1, 1, 1]
    assert [row["keys"] for row in rows] == [3, 3, 3]
    assert rows[0]["total"] == pytest.approx(600, abs=30)
