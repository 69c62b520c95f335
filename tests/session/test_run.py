"""Questions that are bought: pay first, repeats are free, failures keep the debit."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from session.visits import SQL, connect, table

from discreet.errors import EngineError
from discreet.ledger import leases
from discreet.run import execute as executing


def test_the_same_question_is_free(path: Path) -> None:
    db = connect(path)
    first = db.ask(SQL, epsilon=0.3)
    again = db.ask("select dept, count(*) AS visits, avg(cost) AS mean_cost from visits group by 1", epsilon=0.3)
    assert again.rows == first.rows
    assert again.repeated
    assert not first.repeated
    assert db.spent.epsilon == Fraction(3, 10)
    other = db.ask(SQL, epsilon=0.2)
    assert other.rows != first.rows
    db.close()
    script = f"""
import discreet, json
db = discreet.connect({str(path)!r}, unit="patient_id", epsilon=1, bounds={{"cost": (0, 500)}}, contributions={{"rows": 3}},
                      keys={{"dept": ["cardio", "ortho", "er"]}})
print(json.dumps(db.ask({SQL!r}, epsilon=0.3).rows))
"""
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(there.stdout) == first.rows


def test_failures_keep_the_debit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = connect(path)

    def fail(*_: Any) -> Any:
        raise EngineError("the engine failed")
        yield

    monkeypatch.setattr(db._engine, "batches", fail)
    with pytest.raises(EngineError):
        db.ask(SQL, epsilon=0.4)
    assert db.spent.epsilon == Fraction(4, 10)
    monkeypatch.undo()
    assert len(db.ask(SQL, epsilon=0.4).rows) == 3  # a payment is for one draw: it is charged again
    assert db.spent.epsilon == Fraction(8, 10)


def test_pay_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first statement that reads data the debit is on disk."""
    db, seen = connect(path), []
    run = db._engine.batches
    monkeypatch.setattr(db._engine, "batches", lambda *asked: (seen.append(connect(path).spent.epsilon), run(*asked))[1])
    db.ask(SQL, epsilon=0.25)
    assert seen == [Fraction(1, 4)]


def test_the_receipt_says_nothing_of_the_data(path: Path, tmp_path: Path) -> None:
    """Two tables with nothing in common but their schema give the same receipt, up to the ledger's entry."""
    small = tmp_path / "other"
    small.mkdir()
    pq.write_table(table(7), small / "visits.parquet")
    a, b = (connect(place).ask(SQL, epsilon=0.1).receipt.to_json() for place in (path, small / "visits.parquet"))
    for said in (a, b):
        del said["payments"][0]["entry"], said["hash"]
    assert a == b


def test_a_slow_question_that_is_asked_by_many_is_paid_for_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others wait as long as whoever paid is at it, and not for some seconds only."""
    monkeypatch.setattr(leases, "LASTS", 0.5)
    monkeypatch.setattr("discreet.ledger.payment.LASTS", 0.5)
    execute = executing.execute

    def slowly(*args: Any) -> Any:
        time.sleep(2)
        return execute(*args)

    monkeypatch.setattr("discreet.session.run.execute", slowly)
    db, found = connect(path, ledger=":memory:", epsilon=9), []
    threads = [threading.Thread(target=lambda: found.append(db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).rows)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2]
    assert db.spent.epsilon == 1
