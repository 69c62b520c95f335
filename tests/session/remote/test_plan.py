"""A remote plan says what the local one says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session.project import POLICY

import discreet
from discreet.errors import Invalid
from discreet.explain.forecast import Forecast
from discreet.explain.text import Explanation

SQL = "SELECT year, COUNT(*) AS n, AVG(cost) AS m, MEDIAN(cost) AS q FROM visits GROUP BY year"


@pytest.fixture
def both(shared: Any, tmp_path: Any) -> Any:
    """The same plan, of the same account of two sessions."""
    from session.clinic import visits

    visits().write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "discreet.toml").write_text(POLICY.replace("epsilon = 2", "epsilon = 1000"))
    with discreet.connect(tmp_path) as here:
        yield here.sql(SQL).plan(0.5, delta=1e-9), shared.sql(SQL).plan(0.5, delta=1e-9)


def test_price_and_loss_are_the_same(both: Any) -> None:
    here, there = both
    assert (there.epsilon, there.delta, there.title, there.loss) == (here.epsilon, here.delta, here.title, here.loss)
    assert there.priced.question == here.priced.question
    assert repr(there) == repr(here).replace("Plan(", "RemotePlan(")


def test_errors_are_the_same(both: Any) -> None:
    here, there = both
    for asked in ({}, {"size": 100}, {"confidence": 0.5, "size": 10}, {"at": {"m": 100}}, {"size": 10, "assume": {}}):
        mine, found = here.error(**asked), there.error(**asked)
        assert isinstance(found, Forecast)
        assert dict(found) == dict(mine)
        assert (found.worst, found.confidence, found.ranks, repr(found)) == (mine.worst, mine.confidence, mine.ranks, repr(mine))
    with pytest.raises(Invalid, match="at must be"):
        there.error(at={"zz": 1})
    with pytest.raises(Invalid, match="does not take"):
        there.error(questions=3)
    assert there.shown(1000) == here.shown(1000)


def test_explanations_are_the_same(both: Any) -> None:
    here, there = both
    assert isinstance(there.explain(), Explanation)
    assert str(there.explain()) == str(here.explain())
    assert there._repr_html_() == here._repr_html_()
    assert there.explain().to_html().startswith("<!doctype html>")
    assert there.explain().to_json() == json.loads(json.dumps(here.explain().to_json()))


def test_keys_that_are_found(shared: Any, tmp_path: Any) -> None:
    from session.clinic import visits

    visits().write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "discreet.toml").write_text(POLICY.replace("epsilon = 2", "epsilon = 1000"))
    text = "SELECT year, dept, COUNT(*) AS n FROM visits GROUP BY ROLLUP (year, dept)"
    with discreet.connect(tmp_path) as db:
        here, there = db.sql(text).plan(2, delta=1e-9), shared.sql(text).plan(2, delta=1e-9)
        assert str(there.explain()) == str(here.explain())
        assumed = dict.fromkeys(here.error().assumed, 3)
        assert dict(there.error(assume=assumed)) == dict(here.error(assume=assumed))
        assert there.shown(100) == here.shown(100)
    rows = shared.sql(text).release(2, delta=1e-9).rows
    assert rows[-1]["n"] == sum(row["n"] for row in rows if row["dept"] is not None)
    assert any(row["year"] == "(other)" for row in rows)
