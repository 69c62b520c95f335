"""Days that were released: rows, windows, errors and receipt."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from session.feeds.visits import Row, day, feed_of, session

from discreet.errors import Invalid, LedgerError
from discreet.ledger.receipt import verify_receipt
from discreet.session.feeds.days import Days

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


# ── a saved window ───────────────────────────────────────────────────────────────────────────────────────────────────

ROWS: list[Row] = [(unit, unit % 8, 1) for unit in range(80)]


def forged(days: Days, place: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """The same days with other answers, sealed as a forger would."""
    said = json.loads(days.to_text())
    del said["seal"]
    change(said["answers"])
    body = json.dumps(said, separators=(",", ":"))[:-1]
    place.write_text(f'{body},"seal":"{hashlib.sha256(body.encode()).hexdigest()}"}}')
    return place


def test_a_changed_total_behind_a_window_is_found(tmp_path: Path) -> None:
    """A window is a difference of two totals, and the ledger holds each of them, from however many batches."""
    with session(ROWS) as db:
        feed = feed_of(db, delta=0, windows=(3,))
        feed.release(until=day(2))
        days = feed.release(until=day(6))
        days.save(tmp_path / "days.json")
        Days.open(tmp_path / "days.json").verify(db._ledger)
        for place in range(len(days)):
            for value in (days.steps[place] + 1, float(days.steps[place])):  # 3.0 is another text than 3
                made = Days.open(
                    forged(days, tmp_path / "forged.json", lambda said, at=place, new=value: said["totals"].__setitem__(at, new))
                )
                with pytest.raises(LedgerError, match="do not trust these"):
                    made.verify(db._ledger)
        for change in (lambda said: said["totals"].append(9), lambda said: said["totals"].pop(0), lambda said: said["totals"].reverse()):
            made = Days.open(forged(days, tmp_path / "forged.json", change))
            with pytest.raises(LedgerError, match="do not trust these"):
                made.verify(db._ledger)


@pytest.mark.parametrize("change", [{"windows": [2, 5]}, {"windows": []}, {"confidence": "1/2"}, {"windows": [1], "confidence": "99/100"}])
def test_another_window_or_confidence_shows_what_the_feed_itself_would(tmp_path: Path, change: dict[str, Any]) -> None:
    """Lengths and confidence are how the totals are looked at; no number of a window is in the file, so none can be false."""
    with session(ROWS) as db:
        days = feed_of(db, windows=(3,)).release(until=day(6))
        assert set(days.answers()) == {"totals", "confidence", "windows"}
        made = Days.open(forged(days, tmp_path / "forged.json", lambda said: said.update(change)))
        made.verify(db._ledger)
        lengths, level = change.get("windows", [3]), change.get("confidence", "0.95")
        assert made.rows == feed_of(db, windows=lengths).release(until=day(6), confidence=level).rows
        assert made.accuracy_notes != days.accuracy_notes or "confidence" not in change


@pytest.mark.parametrize(
    "change",
    [
        {"windows": [0]}, {"windows": [-1]}, {"windows": [2.0]}, {"windows": [True]}, {"windows": ["3"]}, {"windows": [3, 3]},
        {"windows": [5, 2]}, {"windows": [10**9]}, {"windows": None}, {"windows": {"3": [1, 2, 3]}}, {"last_3": [9, 9, 9]},
        {"confidence": "1"}, {"confidence": "0"}, {"confidence": 0.95}, {"totals": []}, {"totals": [1] * 9}, {"totals": [True]},
        {"totals": [10**400]}, {"totals": [None]},
    ],
)  # fmt: skip
def test_what_no_feed_shows_is_not_opened(tmp_path: Path, change: dict[str, Any]) -> None:
    with session(ROWS) as db:
        days = feed_of(db, windows=(3,)).release(until=day(6))
    with pytest.raises(Invalid):
        Days.open(forged(days, tmp_path / "forged.json", lambda said: said.update(change)))
