"""Days that were released: rows, windows, errors and receipt."""

from __future__ import annotations

import math
from pathlib import Path

import polars
import pytest
from session.feeds.visits import Row, day, feed_of, session

from discreet.errors import Invalid
from discreet.ledger.receipt import verify_receipt

# ── what people see ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_windows_and_errors() -> None:
    rows: list[Row] = [(unit, unit % 8, 1) for unit in range(800)]
    with session(rows) as db:
        days = feed_of(db, epsilon=90, per_day=1, active_days=1, delta=0, windows=(3,)).release(until=day(7))
        assert [row["day"] for row in days] == [day(i) for i in range(8)]
        assert max(abs(row["total"] - 100 * (i + 1)) for i, row in enumerate(days)) <= 3
        assert max(abs(row["last_3"] - 100 * min(i + 1, 3)) for i, row in enumerate(days)) <= 3
        assert set(days.rows[0]) == {"day", "total", "total_error", "last_3", "last_3_error"}
        assert polars.DataFrame(days.to_columns()).shape == (8, 5)
        assert "2026-01-08" in repr(days)
        assert all(map(math.isfinite, days.errors))


def test_the_receipt_holds() -> None:
    with session([(1, 1, 1)]) as db:
        for said in ({}, {"delta": 0}):
            receipt = feed_of(db, **said).release(until=day(1)).receipt.to_json()
            verify_receipt(receipt, db._ledger)
            with pytest.raises(Invalid, match="changed"):
                verify_receipt(receipt | {"epsilon": "2"})


def test_days_are_looked_at_and_taken_elsewhere(tmp_path: Path) -> None:
    with session([(unit, unit % 8, 1) for unit in range(80)]) as db:
        days = feed_of(db, windows=(7,)).release(until=day(7))
    assert "last_7" in days._repr_html_()
    assert list(days.to_pandas().columns) == list(days.to_polars().columns) == list(days.to_columns())
    days.plot(tmp_path / "days.png", "last_7")
    assert (tmp_path / "days.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(Invalid, match="no column to draw of that name"):
        days.plot(column="last_8")
