"""Questions that read a sample, here and on a server: scaled answers, honest intervals, the price, and what they cannot be part of."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from session.visits import SQL, connect

from discreet.engines.engine import SentTable
from discreet.errors import Invalid, Refused
from discreet.run import execute

ROWS = "SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m, COUNT(DISTINCT patient_id) AS p, SUM(cost) / COUNT(*) AS r FROM visits"
TRUTH = {"n": 5999, "s": 1496275.0, "m": 249.4, "p": 3000, "r": 249.4}  # of `visits.table`


def test_answers_are_scaled_up_and_covered(opened: Callable[..., Any]) -> None:
    db = opened(epsilon=1000)
    found = db.sql(ROWS, sample=0.2).release(epsilon=500, confidence=0.999999)
    (row,), (ends,) = found.rows, found.intervals
    for name, value in TRUTH.items():
        assert ends[name][0] <= value <= ends[name][1]
    assert row["n"] != 5999  # almost without noise it would be, if all units were read
    assert abs(row["n"] - 5999) < 1000
    assert abs(row["m"] - 249.4) < 25
    assert "for the noise and the sampling error" in str(found)
    assert "a fresh secret sample of 20 % of the units" in str(found)


def test_sums_of_tiny_numbers_have_intervals(opened: Callable[..., Any]) -> None:
    """Their bounds are narrower than the grid, and once became bounds of both signs after paying."""
    found = opened(epsilon=1000).sql("SELECT SUM(cost / 1e12) AS s FROM visits", sample=0.5).release(epsilon=500, confidence=0.999999)
    low, high = found.intervals[0]["s"]
    assert 0 <= low <= TRUTH["s"] / 1e12 <= high


def test_the_whole_price_is_charged_once_and_a_repeat_is_free(opened: Callable[..., Any]) -> None:
    db = opened()
    first = db.sql(SQL, sample=0.1).release(epsilon=0.25)
    again = db.sql(SQL, sample="0.1").release(epsilon=0.25)
    assert first.rows == again.rows
    assert db.spent.epsilon == Fraction(1, 4)
    assert db.ask(SQL, sample=0.1, epsilon=0.25).rows == first.rows
    db.ask(SQL, sample=0.2, epsilon=0.25)  # another question
    db.sql(SQL).release(epsilon=0.25)
    assert db.spent.epsilon == Fraction(3, 4)


def test_python_and_sql_ask_the_same(opened: Callable[..., Any]) -> None:
    db = opened()
    asked = db.table("visits").count(name="n").with_sample(0.1)
    assert repr(asked) == "visits.count(name='n').with_sample(0.1)"
    assert asked.release(epsilon=0.25).rows == db.sql("SELECT COUNT(*) AS n FROM visits", sample=0.1).release(epsilon=0.25).rows
    assert db.spent.epsilon == Fraction(1, 4)


def test_the_text_may_ask_for_a_sample(opened: Callable[..., Any]) -> None:
    db = opened()
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.25, sample = 0.1) COUNT(*) AS n FROM visits"
    assert "a fresh secret sample of 10 % of the units" in str(db.sql(text).release())
    with pytest.raises(Invalid, match="sample is given twice"):
        db.sql(text, sample=0.2)


def test_the_error_is_known_before_paying_and_grows_with_the_size(opened: Callable[..., Any]) -> None:
    db = opened()
    whole, part = (db.sql("SELECT COUNT(*) AS n FROM visits", sample=share).plan(epsilon=0.5) for share in (None, 0.1))
    few, many = (float(part.error(size=size)["n"]) for size in (1_000, 1_000_000))
    assert float(whole.error(size=1_000)["n"]) < few < many
    assert many == pytest.approx(1.96 * (3 * 1_000_000 * 9) ** 0.5, rel=0.02)  # L·T·(1 − q)/q
    told = str(part.explain())
    assert "10 % of the units are read" in told
    assert "with the sampling error, in a group of 1,000,000 rows" in told
    assert "times that of reading all units at this price" in told
    assert "on 10 % of the units" in repr(part)
    assert db.spent.epsilon == 0


def test_a_target_that_only_more_units_reach(opened: Callable[..., Any]) -> None:
    asked = opened().sql("SELECT COUNT(*) AS n FROM visits", sample=0.1)
    assert asked.price({"n": 2000}, size=10_000) > 0
    with pytest.raises(Invalid, match="read more of the units than sample= does"):
        asked.price({"n": 20}, size=10_000)


def test_a_dry_run_reads_a_sample_of_mock_data(opened: Callable[..., Any]) -> None:
    assert opened().sql(SQL, sample=0.5).dry_run(epsilon=1).receipt.dry_run is True


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 2, "x", True, 1e-9, Fraction(1, 3 * 10**9)])
def test_shares_that_make_no_sample_are_refused(opened: Callable[..., Any], wrong: Any) -> None:
    with pytest.raises(Invalid, match="sample"):
        opened().sql(SQL, sample=wrong)


def test_nothing_else_shares_a_sample(opened: Callable[..., Any]) -> None:
    db = opened()
    asked = db.sql("SELECT COUNT(*) AS n FROM visits", sample=0.1)
    with pytest.raises(Refused, match="reads a sample of its own"):
        db.batch([asked, "SELECT COUNT(*) AS n FROM visits"], 0.5)
    with pytest.raises(Refused, match="a sample is not refined"):
        asked.release(epsilon=0.1).refine(epsilon=0.1)
    with pytest.raises(Invalid, match="after the statistics"):
        db.table("visits").with_sample(0.1).done()
    with pytest.raises(Refused, match="leave out sample="):
        db.watch(epsilon=0.1, threshold=10).ask(asked)
    with pytest.raises(Refused, match="only COUNT"):
        db.sql("SELECT MEDIAN(cost) AS m FROM visits", sample=0.1).plan(epsilon=0.1)


def test_intervals_of_another_confidence_are_free(opened: Callable[..., Any]) -> None:
    db = opened()
    first = db.sql("SELECT COUNT(*) AS n FROM visits", sample=0.1).release(epsilon=0.25)
    wider = first.at_confidence(0.999)
    assert wider.rows == first.rows
    assert wider.intervals[0]["n"][1] > first.intervals[0]["n"][1]
    assert db.spent.epsilon == Fraction(1, 4)


def test_the_key_is_kept_nowhere(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    drawn: list[str] = []
    draw = execute.draw_key

    def noted() -> SentTable:
        found = draw()
        drawn.append(str(found.columns[0][2][0]))
        return found

    monkeypatch.setattr(execute, "draw_key", noted)
    ledger = tmp_path / "paid.ledger"
    with caplog.at_level(0), connect(path, ledger=str(ledger)) as db:
        asked = db.sql(SQL, sample=0.1)
        found = asked.release(epsilon=0.25)
        shown = [found.to_text(), str(found), repr(found.receipt), str(asked.plan(epsilon=0.25).explain()), str(db.history()), caplog.text]
    (key,) = drawn
    assert not any(key in text for text in shown)
    stored = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert ledger in stored
    assert not any(key.encode() in file.read_bytes() for file in stored)


def test_a_query_shows_its_sample(path: Path) -> None:
    with connect(path) as db:
        assert repr(db.sql("SELECT COUNT(*) AS n FROM visits", sample=0.1)) == "Query(SELECT COUNT(*) AS n FROM visits, sample=0.1)"
        long = repr(db.sql(ROWS, sample=0.1))
        assert long.endswith("…, sample=0.1)")
        assert "sample" not in repr(db.sql("SELECT COUNT(*) AS n FROM visits"))
        assert repr(db.table("visits").count(name="n").with_sample(0.1).done()).count("sample") == 1
