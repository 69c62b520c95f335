"""Queries: planned for nothing, with the error before paying; groups, bias and what is said about them."""

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
from discreet.errors import BudgetExceeded, Invalid, PolicyError, Refused


def test_planning_reads_nothing(opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    db = opened(delta=1e-6, keys=None, bounds=None, contributions=None)
    monkeypatch.setattr(db._engine, "batches", lambda *_: pytest.fail("data was read"))
    q = db.sql(SQL)
    q.plan(epsilon=0.1).error(size=100, assume={"cost": (0, 10)})
    assert q.dry_run(epsilon=1).receipt.dry_run is True
    assert db.spent.epsilon == 0
    assert db.history() == []


def test_the_least_epsilon_for_an_error(opened: Callable[..., Any]) -> None:
    db = opened()
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


def test_groups_that_nobody_is_in(opened: Callable[..., Any]) -> None:
    """Public groups are all shown; found groups may be none, without an error."""
    db = opened(keys={"dept": ["cardio", "psychiatry"]})
    assert [row["dept"] for row in db.ask(SQL, epsilon=0.1).rows] == ["cardio", "psychiatry"]
    other = opened(delta=1e-6, keys=None)
    assert other.ask(SQL + " HAVING COUNT(*) > 1e9", epsilon=0.1).rows == []
    nobody = other.ask(
        "SELECT dept, COUNT(*) AS n, AVG(cost) AS m, MEDIAN(cost) AS q FROM visits WHERE cost > 9e9 GROUP BY dept", epsilon=0.1
    )
    assert nobody.rows == []


def test_an_other_group(opened: Callable[..., Any]) -> None:
    db = opened(keys={"dept": ["cardio"]})
    rows = db.sql("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", other=True).release(epsilon=0.9).rows
    assert [row["dept"] for row in rows] == ["cardio", "(other)"]
    assert rows[1]["n"] > 1.5 * rows[0]["n"]
    with pytest.raises(Invalid):
        db.sql("SELECT COUNT(*) FROM visits", other=True)


def test_bias_can_be_paid_for(opened: Callable[..., Any]) -> None:
    db = opened(bounds={"cost": (0, 250)}, contributions={"rows": 2})
    row = db.sql(SQL).bias(epsilon=0.9).rows[0]
    assert abs(row["units"] - 3000) < 100
    assert abs(row["over_limit"] - 1000) < 100
    assert row["cost_clipped"] > 1000


def test_the_bias_of_bounds_and_limits_that_were_found(opened: Callable[..., Any]) -> None:
    db = opened(epsilon=100, bounds={}, contributions=None)
    asked = db.sql("SELECT AVG(cost) AS m FROM visits")
    with pytest.raises(Refused, match="of=release"):
        asked.bias(epsilon=1)
    told = asked.release(epsilon=5)
    assert set(told.receipt.discovered["bounds"]) == {"cost"}
    row = asked.bias(epsilon=5, of=told).rows[0]
    assert set(row) == {"units", "over_limit", "cost_clipped"}
    assert abs(row["units"] - 3000) < 100
    assert row["cost_clipped"] < 300  # few values lie beyond bounds that were found
    with pytest.raises(Invalid, match="of= must be a release of this question"):
        db.sql("SELECT SUM(cost) AS s FROM visits").bias(epsilon=1, of=told)


def test_hidden_costs_are_said(opened: Callable[..., Any]) -> None:
    with pytest.raises(Invalid, match="epsilon"):
        opened().sql(SQL).release()
    with pytest.raises(Invalid, match="not both"):
        opened().sql(SQL).release(epsilon=1, error={"visits": 1})
    with pytest.raises(Refused):
        opened().sql("SELECT * FROM visits")


def test_in_python(opened: Callable[..., Any]) -> None:
    db = opened()
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


def test_jumps_have_no_interval(opened: Callable[..., Any]) -> None:
    """CASE and comparisons of noisy numbers may be wrong altogether, so they have no ±; rounding is looked through."""
    q = opened().sql("SELECT CASE WHEN COUNT(*) > 5 THEN 1 ELSE 0 END AS big, ROUND(AVG(cost), 0) AS m, COUNT(*) > 5 AS b FROM visits")
    assert q.plan(epsilon=0.5).error(size=100)["big"] is None
    [ends] = q.release(epsilon=0.5).intervals
    assert set(ends) == {"m"}
    assert ends["m"][0] < ends["m"][1]


def test_a_clipped_count_is_not_certain(opened: Callable[..., Any]) -> None:
    release = opened(keys={"dept": [f"nobody{i}" for i in range(200)]}).ask(SQL, epsilon=0.2)
    assert all(ends["visits"][0] < ends["visits"][1] for ends in release.intervals)


def test_what_was_found_is_said(path: Path, opened: Callable[..., Any]) -> None:
    pq.write_table(table(20_000), path)
    db = opened(epsilon=2, delta=1e-6, bounds=None, keys=None, contributions=None)
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


def test_no_delta_left_is_said(opened: Callable[..., Any]) -> None:
    db = opened(delta=1e-6, epsilon=100, keys=None)
    ask = "SELECT dept, COUNT(*) AS n FROM visits WHERE cost > {} GROUP BY dept"
    for i in range(12):
        db.ask(ask.format(i), epsilon=0.1, delta="1/32000000")
    with pytest.raises(BudgetExceeded, match="declare its keys"):
        db.ask(ask.format(12), epsilon=0.1, delta="1/2000000")


def test_short_reprs_and_escaped_pages(path: Path) -> None:
    """Names of columns and keys come from data: none of them is markup in a page."""
    evil = "<script>alert(1)</script>"
    with discreet.connect(path, unit="patient_id", epsilon=1, keys={"dept": [evil]}, contributions={"rows": 3}, ledger=":memory:") as db:
        q = db.sql(f'SELECT dept AS "{evil}", COUNT(*) AS n FROM visits GROUP BY dept')
        assert repr(q).startswith("Query(SELECT dept AS")
        assert max(len(repr(one)) for one in (q, q.plan(0.5), db.table("visits").count().done(), db)) < 200
        for shown in (q, q.plan(0.5), q.release(0.5), db):
            assert "<script>" not in shown._repr_html_(), shown
        assert "&lt;script&gt;" in q._repr_html_()


def test_what_was_built_in_python_can_be_read_in_the_history(opened: Callable[..., Any]) -> None:
    db = opened()
    asked = db.table("visits").where("cost > 10").count(name="n")
    first = asked.release(epsilon=0.1)
    assert [one["asked"] for one in db.history()] == ["visits.where('cost > 10').count(name='n')"]
    same = db.ask("SELECT COUNT(*) AS n FROM visits WHERE cost > 10", epsilon=0.1)
    assert (same.repeated, same.rows) == (True, first.rows), "how it was asked is part of the question"


def test_an_unknown_price_suggests_the_one_that_was_meant(opened: Callable[..., Any]) -> None:
    q = opened().sql("SELECT COUNT(*) AS n FROM visits")
    with pytest.raises(TypeError, match=r"release\(\) has no argument 'epsilom'; did you mean epsilon\?"):
        q.release(epsilom=1)
    with pytest.raises(TypeError, match="did you mean size"):
        q.price({"n": 60}, sise=3)


def test_an_unknown_argument_suggests_the_one_that_was_meant(path: Path) -> None:
    db = connect(path, delta=1e-6)
    for call, said in (
        (lambda: db.sql("SELECT 1", dialec="x"), "did you mean dialect"),
        (lambda: db.table("visits").mean("cost", bound=(0, 1)), r"mean\(\) has no argument 'bound'; did you mean bounds"),
        (lambda: db.interactive(["dept"], 1, 100, bin=3), r"interactive\(\) has no argument 'bin'; did you mean bins"),
        (lambda: db.synthesize("visits", 1, metod="aim"), "did you mean method"),
        (lambda: discreet.connect("x.csv", epsilom=1), r"connect\(\) has no argument"),
    ):
        with pytest.raises(TypeError, match=said):
            call()


def test_a_price_prints_as_a_decimal(opened: Callable[..., Any]) -> None:
    price = opened().sql("SELECT COUNT(*) AS n FROM visits").price({"n": 60})
    assert isinstance(price, Fraction)
    assert "/" not in f"{price}{price!r}"
    assert Fraction(str(price)) == price


def test_a_question_explains_itself_at_a_price(opened: Callable[..., Any]) -> None:
    with opened() as db:
        query = db.sql("SELECT COUNT(*) AS n FROM visits")
        assert str(query.explain(epsilon=0.5)) == str(query.plan(epsilon=0.5).explain())
