"""Sessions: pay first, repeats are free, refuse at the limit, never an error that depends on the data."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import BudgetExceeded, EngineError, Invalid, PolicyError, Refused
from discreet.ledger import leases
from discreet.run import execute as executing
from discreet.session.session import Session

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"


def table(people: int = 3000) -> pa.Table:
    ids = [person for person in range(people) for _ in range(1 + person % 3)]
    return pa.table(
        {
            "patient_id": ids,
            "dept": [["cardio", "ortho", "er"][i % 3] for i in range(len(ids))],
            "cost": [float(i * 37 % 500) for i in range(len(ids))],
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(table(), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def connect(path: Path, **more: Any) -> Session:
    said: dict[str, Any] = {"unit": "patient_id", "epsilon": 1, "bounds": {"cost": (0, 500)}, "contributions": {"rows": 3}}
    return discreet.connect(path, **(said | {"keys": {"dept": ["cardio", "ortho", "er"]}} | more))


def test_the_five_lines(path: Path) -> None:
    pq.write_table(table(20_000), path)  # so many that what is found privately is found well, but for one time in 10⁹
    db = discreet.connect(path, unit="patient_id", epsilon=1, delta=1e-6, bounds={"cost": (0, 500)})
    q = db.sql(SQL)
    forecast = q.plan(epsilon=0.5).error(size=10_000)
    assert set(forecast) == {"visits", "mean_cost"}
    assert db.spent.epsilon == 0
    rows = q.release(epsilon=0.5).rows
    assert {row["dept"] for row in rows} == {"cardio", "ortho", "er"}
    assert all(0 <= row["mean_cost"] <= 500 for row in rows)
    assert db.remaining.epsilon == Fraction(1, 2)


def test_ten_tenths_fit_and_the_eleventh_is_refused(path: Path) -> None:
    for more in ({}, {"delta": 1e-6}):
        db = connect(path, ledger=":memory:", **more)
        for i in range(10):
            db.ask(f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", epsilon=0.1)
        with pytest.raises(BudgetExceeded, match="still admits"):
            db.ask("SELECT COUNT(*) AS n FROM visits WHERE cost > 11", epsilon=0.1)
        assert db.spent.epsilon == 1


def test_ten_tenths_fit_whatever_noise_they_take(path: Path) -> None:
    """Questions that find groups, that are Gaussian, that choose: the pair each was calibrated to is charged."""
    db = connect(path, ledger=":memory:", delta=1e-6, keys=None, contributions={"groups": 100, "per_group": 1})
    for i in range(5):
        db.ask(f"SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE cost > {i} GROUP BY dept", epsilon=0.1)
        db.ask(f"SELECT MEDIAN(cost) AS m FROM visits WHERE cost > {i}", epsilon=0.1)
    assert db._ledger.filter.spent.basic[0] == 1
    assert db.remaining.epsilon > 0  # by another route, in which less than 1 was spent
    assert 0 < db.spent.epsilon < 1


def test_all_that_remains_is_granted(path: Path) -> None:
    db = connect(path, ledger=":memory:", delta=1e-6)
    db.ask(SQL, epsilon=0.3)
    db.ask("SELECT MEDIAN(cost) AS m FROM visits", epsilon=Fraction(1, 7))
    left = db.remaining.epsilon
    db.ask("SELECT AVG(cost) AS m FROM visits", epsilon=left)
    assert db.remaining.epsilon == 0


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


def test_another_version_or_policy_is_another_question(path: Path) -> None:
    first = connect(path).ask(SQL, epsilon=0.1)
    assert connect(path, version="2").ask(SQL, epsilon=0.1).rows != first.rows
    assert connect(path, bounds={"cost": (0, 400)}).ask(SQL, epsilon=0.1).rows != first.rows
    assert connect(path).ask(SQL, epsilon=0.1).rows == first.rows


def test_another_budget_is_a_policy_error(path: Path) -> None:
    connect(path).close()
    for more in ({"epsilon": 2}, {"delta": 1e-6}, {"unit": discreet.each_row(), "contributions": None}, {"adjacency": "replace-one"}):
        with pytest.raises(PolicyError):
            connect(path, **more)


def test_a_frame_says_that_its_budget_is_in_memory() -> None:
    with pytest.warns(UserWarning, match="in memory"):
        discreet.connect(table(), unit="patient_id", epsilon=1)
    discreet.connect(table(), unit="patient_id", epsilon=1, ledger=":memory:")


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


def test_planning_reads_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = connect(path, delta=1e-6, keys=None, bounds=None, contributions=None)
    monkeypatch.setattr(db._engine, "batches", lambda *_: pytest.fail("data was read"))
    q = db.sql(SQL)
    q.plan(epsilon=0.1).error(size=100, assume={"cost": (0, 10)})
    assert q.dry_run(epsilon=1).receipt.dry_run is True
    assert db.spent.epsilon == 0
    assert db.history() == []


def test_the_least_epsilon_for_an_error(path: Path) -> None:
    db = connect(path)
    q = db.sql(SQL)
    price = q.price({"mean_cost": 5}, size=2000)
    assert q.plan(epsilon=price).error(size=2000).worst["mean_cost"] <= 5  # type: ignore[operator]
    assert q.plan(epsilon=price * Fraction(99, 100)).error(size=2000).worst["mean_cost"] > 5  # type: ignore[operator]
    there = q.price({"mean_cost": 5}, size=2000, at={"mean_cost": 240})
    assert there < price
    assert q.plan(epsilon=there).error(size=2000, at={"mean_cost": 240})["mean_cost"] <= 5  # type: ignore[operator]
    for wrong in (5, {}, {"dept": 1}, {"mean": 1}):
        with pytest.raises(Invalid, match="mean_cost"):
            q.price(wrong, size=2000)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="at must be"):
        q.plan(epsilon=1).error(at={"zz": 1})
    with pytest.raises(Invalid, match="size"):
        q.price({"mean_cost": 5})
    assert q.release(error={"visits": 60}).receipt.epsilon == q.price({"visits": 60})


def test_groups_that_nobody_is_in(path: Path) -> None:
    """Public groups are all shown; found groups may be none, without an error."""
    db = connect(path, keys={"dept": ["cardio", "psychiatry"]})
    assert [row["dept"] for row in db.ask(SQL, epsilon=0.1).rows] == ["cardio", "psychiatry"]
    other = connect(path, delta=1e-6, keys=None, ledger=":memory:")
    assert other.ask(SQL + " HAVING COUNT(*) > 1e9", epsilon=0.1).rows == []
    nobody = other.ask(
        "SELECT dept, COUNT(*) AS n, AVG(cost) AS m, MEDIAN(cost) AS q FROM visits WHERE cost > 9e9 GROUP BY dept", epsilon=0.1
    )
    assert nobody.rows == []


def test_an_other_group(path: Path) -> None:
    db = connect(path, keys={"dept": ["cardio"]})
    rows = db.sql("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", other=True).release(epsilon=0.9).rows
    assert [row["dept"] for row in rows] == ["cardio", "(other)"]
    assert rows[1]["n"] > 1.5 * rows[0]["n"]
    with pytest.raises(Invalid):
        db.sql("SELECT COUNT(*) FROM visits", other=True)


def test_bias_can_be_paid_for(path: Path) -> None:
    db = connect(path, bounds={"cost": (0, 250)}, contributions={"rows": 2})
    row = db.sql(SQL).bias(epsilon=0.9).rows[0]
    assert abs(row["units"] - 3000) < 100
    assert abs(row["over_limit"] - 1000) < 100
    assert row["cost_clipped"] > 1000


def test_history(path: Path) -> None:
    db = connect(path)
    db.ask(SQL, epsilon=0.1)
    [entry] = db.history()
    assert entry["epsilon"] == 0.1
    assert entry["asked"] == SQL
    assert entry["answered"] is True


def test_the_receipt_says_nothing_of_the_data(path: Path, tmp_path: Path) -> None:
    """Two tables with nothing in common but their schema give the same receipt, up to the ledger's entry."""
    small = tmp_path / "other"
    small.mkdir()
    pq.write_table(table(7), small / "visits.parquet")
    a, b = (connect(place).ask(SQL, epsilon=0.1).receipt.to_json() for place in (path, small / "visits.parquet"))
    for said in (a, b):
        del said["payments"][0]["entry"], said["hash"]
    assert a == b


def test_hidden_costs_are_said(path: Path) -> None:
    with pytest.raises(Invalid, match="epsilon"):
        connect(path).sql(SQL).release()
    with pytest.raises(Invalid, match="not both"):
        connect(path).sql(SQL).release(epsilon=1, error={"visits": 1})
    with pytest.raises(Refused):
        connect(path).sql("SELECT * FROM visits")


def test_in_python(path: Path) -> None:
    db = connect(path)
    asked = db.table("visits").group_by("dept").count(name="visits").mean("cost", name="mean_cost")
    first = asked.release(epsilon=0.3)
    assert db.ask(SQL, epsilon=0.3).rows == first.rows
    assert db.spent.epsilon == Fraction(3, 10)


def test_a_mean_without_missing_values_shares_the_count(path: Path) -> None:
    sure, unsure = (connect(path, ledger=":memory:", not_null=names).sql(SQL).plan(epsilon=0.5) for names in (["cost"], []))
    assert len(sure.steps.totals) == 2 < len(unsure.steps.totals)
    assert sure.error(size=1000)["mean_cost"] < unsure.error(size=1000)["mean_cost"]  # type: ignore[operator]
    with pytest.raises(PolicyError, match="prize"):
        connect(path, ledger=":memory:", not_null=["prize"])


def test_a_closed_session_charges_nothing(path: Path) -> None:
    db = connect(path)
    db.close()
    with pytest.raises(Invalid, match="closed"):
        db.ask(SQL, epsilon=0.5)
    assert connect(path).spent.epsilon == 0


def test_rows_without_a_key(tmp_path: Path) -> None:
    rows = pa.table({"id": list(range(4000)), "k": ["a", None] * 2000, "flag": [True, None, False, False] * 1000})
    pq.write_table(rows, tmp_path / "t.parquet")
    said: dict[str, Any] = {"unit": "id", "epsilon": 9, "one_row_per_unit": True, "ledger": ":memory:"}
    with_null = discreet.connect(tmp_path / "t.parquet", keys={"k": ["a", None]}, **said).ask(
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k", epsilon=3
    )
    assert [row["k"] for row in with_null.rows] == ["a", None]
    assert abs(with_null.rows[1]["n"] - 2000) < 20
    assert with_null.receipt.notes == ()
    without = discreet.connect(tmp_path / "t.parquet", **said).ask("SELECT flag, COUNT(*) AS n FROM t GROUP BY flag", epsilon=3)
    assert [row["flag"] for row in without.rows] == [False, True]
    assert "flag (NULL)" in without.receipt.notes[0]


def test_jumps_have_no_interval(path: Path) -> None:
    """CASE and comparisons of noisy numbers may be wrong altogether, so they have no ±; rounding is looked through."""
    q = connect(path).sql("SELECT CASE WHEN COUNT(*) > 5 THEN 1 ELSE 0 END AS big, ROUND(AVG(cost), 0) AS m, COUNT(*) > 5 AS b FROM visits")
    assert q.plan(epsilon=0.5).error(size=100)["big"] is None
    [ends] = q.release(epsilon=0.5).intervals
    assert set(ends) == {"m"}
    assert ends["m"][0] < ends["m"][1]


def test_a_clipped_count_is_not_certain(path: Path) -> None:
    release = connect(path, keys={"dept": [f"nobody{i}" for i in range(200)]}).ask(SQL, epsilon=0.2)
    assert all(ends["visits"][0] < ends["visits"][1] for ends in release.intervals)


def test_what_was_found_is_said(path: Path) -> None:
    pq.write_table(table(20_000), path)
    db = discreet.connect(path, unit="patient_id", epsilon=2, delta=1e-6)
    found = db.ask("SELECT COUNT(*) AS n, AVG(cost) AS m FROM visits", epsilon=2).receipt.discovered
    assert found["limits"]["rows"] in (2, 3)
    assert 400 <= float(found["bounds"]["cost"]["high"]) <= 1000


def test_the_tail_is_not_cut_for_nothing(path: Path) -> None:
    """A tenth of the people have a hundred rows each: a percentile of people would cut them; a limit that spares a few does not."""
    ids = [person for person in range(10_000) for _ in range(100 if person % 10 == 0 else 1)]
    pq.write_table(pa.table({"patient_id": ids}), path)
    db = discreet.connect(path, unit="patient_id", epsilon=2, ledger=":memory:")
    [row] = db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=2).rows
    assert abs(row["n"] - len(ids)) < 0.05 * len(ids)


def test_several_files_need_to_say_where_their_ledger_lies(path: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"patient_id": [1], "age": [3]}), tmp_path / "people.parquet")
    both = {"visits": path, "people": tmp_path / "people.parquet"}
    with pytest.raises(Invalid, match="ledger="):
        discreet.connect(both, unit="patient_id", epsilon=1)
    (tmp_path / "link.parquet").symlink_to(path)
    connect(path).ask(SQL, epsilon=0.4)
    assert discreet.connect({"visits": tmp_path / "link.parquet"}, unit="patient_id", epsilon=1).spent.epsilon == Fraction(4, 10)


def test_no_delta_left_is_said(path: Path) -> None:
    db = connect(path, ledger=":memory:", delta=1e-6, epsilon=100, keys=None)
    ask = "SELECT dept, COUNT(*) AS n FROM visits WHERE cost > {} GROUP BY dept"
    for i in range(12):
        db.ask(ask.format(i), epsilon=0.1, delta="1/32000000")
    with pytest.raises(BudgetExceeded, match="declare its keys"):
        db.ask(ask.format(12), epsilon=0.1, delta="1/2000000")


def test_three_thirds_fit_a_budget_of_one(path: Path) -> None:
    db = connect(path, ledger=":memory:", epsilon=1)
    for i in range(3):
        db.ask(f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", epsilon="1/3")
    with pytest.raises(BudgetExceeded):
        db.ask("SELECT COUNT(*) AS n FROM visits WHERE cost > 9", epsilon=0.1)


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
