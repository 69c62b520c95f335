"""Quantiles through a session: intervals that hold, with declared bounds and without, and what is stored and said about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.plan.range_discovery import RangeDiscovery
from discreet.session.release import Release

GROUPS = [f"g{i:02}" for i in range(60)]


def table(size: int) -> dict[str, Any]:
    """Groups of equal size with skewed numbers of many sizes, whole ones among them."""
    coin = np.random.default_rng(5)
    n = size * len(GROUPS)
    return {
        "id": range(n),
        "g": np.repeat(GROUPS, size),
        "x": np.exp(coin.normal(8, 2, n)) - 500,
        "k": coin.poisson(40, n),
        "z": np.where(coin.random(n) < 0.7, 0.0, coin.normal(3, 1, n)),
    }


def session(rows: dict[str, Any], **more: Any) -> discreet.Session:
    given: dict[str, Any] = {"unit": "id", "epsilon": 10**6, "one_row_per_unit": True, "keys": {"g": GROUPS}} | more
    return discreet.connect({"t": pa.table(rows)}, ledger=":memory:", **given)


def misses(release: Release, rows: dict[str, Any], columns: dict[str, tuple[str, float]]) -> int:
    found = 0
    for row, ends in zip(release.rows, release.intervals, strict=True):
        for name, (column, q) in columns.items():
            truth, (low, high) = np.quantile(np.asarray(rows[column])[np.asarray(rows["g"]) == row["g"]], q), ends[name]
            assert low <= row[name] <= high
            found += not low <= truth <= high
    return found


SQL = "SELECT g, MEDIAN(x) AS m, QUANTILE(k, 0.8) AS q, MEDIAN(z) AS z, MIN(x) AS least FROM t GROUP BY g"
TRUTHS = {"m": ("x", 0.5), "q": ("k", 0.8), "z": ("z", 0.5), "least": ("x", 0.01)}


@pytest.mark.parametrize("bounds", [{}, {"x": (-1000, 10**6), "k": (0, 200), "z": (-10, 10)}], ids=["without bounds", "with bounds"])
def test_intervals_hold_the_quantiles(bounds: dict[str, Any]) -> None:
    """60 groups, four quantiles at 95 %: 37 misses of 240 have a probability below 10⁻⁷ if each has 0.05."""
    rows = table(500)
    assert misses(session(rows, bounds=bounds).sql(SQL).release(epsilon=8), rows, TRUTHS) <= 36


def test_a_value_that_most_rows_have_is_found_exactly() -> None:
    found = session(table(500)).sql("SELECT MEDIAN(z) AS z FROM t").release(epsilon=1)
    assert found.rows[0]["z"] == 0
    low, high = found.intervals[0]["z"]
    assert -1e-5 < low <= 0 <= high < 1e-5


def test_no_bounds_are_discovered_for_quantiles_alone() -> None:
    db = session(table(20), delta=1e-6)
    plan = db.sql("SELECT MEDIAN(x) AS m, QUANTILE(k, 0.25) AS q FROM t").plan(1)
    assert plan.steps.discoveries == ()
    both = db.sql("SELECT MEDIAN(x) AS m, AVG(k) AS a FROM t").plan(1)
    assert {one.name for one in both.steps.discoveries if isinstance(one, RangeDiscovery)} == {"k"}
    assert "without bounds" in str(plan.explain())


def test_the_confidence_is_fixed_when_paying() -> None:
    db = session(table(500))
    asked = db.sql("SELECT MEDIAN(k) AS m FROM t")
    reaches = [asked.plan(1, confidence=level).steps.choices[0].mechanism.reach for level in (0.5, 0.95, 0.999)]
    assert reaches == sorted(set(reaches))
    wide = asked.release(epsilon=1, confidence=0.999)
    assert wide.confidence == 0.999
    assert asked.release(epsilon=1, confidence=0.999).repeated
    assert not asked.release(epsilon=1).repeated


def test_ends_are_saved_and_read_back() -> None:
    db = session(table(100))
    told = db.sql("SELECT g, MEDIAN(x) AS m, COUNT(*) AS n FROM t GROUP BY g ORDER BY m DESC LIMIT 3").release(epsilon=5)
    again = Release.from_text(told.to_text())
    assert again.intervals == told.intervals
    assert all(low <= row["m"] <= high for row, ends in zip(told.rows, told.intervals, strict=True) for low, high in [ends["m"]])
    assert set(told.to_columns()) == {"g", "m", "m_low", "m_high", "n", "n_low", "n_high"}
    assert "…" in str(told) or "±" in str(told)


def test_a_mode_says_how_many_votes_it_may_be_behind() -> None:
    db = session(table(50), keys={"g": GROUPS, "k": list(range(100))})
    told = db.sql("SELECT MODE(k) AS m FROM t").release(epsilon=1, confidence=0.9)
    (note,) = [one for one in told.receipt.notes if "votes" in one]
    assert note.startswith("m has at most ")
    assert note.endswith("with confidence 90 %")
    assert note in str(told)


def test_an_interval_that_goes_on_to_the_largest_numbers_says_so_in_words() -> None:
    """With so few rows the guard of a maximum lies above all of them, where nothing but the type ends an interval."""
    rows = {"id": range(400), "x": [float(i % 50) for i in range(400)]}
    with discreet.connect({"t": pa.table(rows)}, unit="id", epsilon=100, one_row_per_unit=True, ledger=":memory:") as db:
        told = db.sql("SELECT MIN(x) AS lowest, MAX(x) AS highest, MEDIAN(x) AS middle FROM t").release(epsilon=6)
    ends = told.intervals[0]
    assert (ends["lowest"][0], ends["highest"][1]) == (-(2.0**60), 2.0**60)  # numbers stay numbers for programs
    assert "1,152,921,504" not in str(told)
    assert str(told).count(" … no upper end)") == str(told).count("(no lower end … ") == 1
    for shown in (str(told), told._repr_html_()):
        assert "a larger epsilon, declared bounds or a profile end it" in shown
    with session(rows, keys=None, bounds={"x": (0, 2.0**70)}) as db:  # declared, so that it is an end
        assert "no upper end" not in str(db.sql("SELECT MAX(x) AS m FROM t").release(epsilon=1))
