"""Many groups: more than a statement lists, and more than one batch."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars
import pytest

import discreet
from discreet.engines import engine as engines
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.private import reveal
from discreet.run import source as sources
from discreet.run.execute import total_statements

PEOPLE, PAGES = 900, 1500


def visits() -> polars.DataFrame:
    coin = np.random.default_rng(7)
    page = coin.integers(0, PAGES, 20_000)
    day = [None if p % 97 == 0 else datetime.date(2020, 1, 1) + datetime.timedelta(days=int(p)) for p in page]
    return polars.DataFrame(
        {"person": coin.integers(0, PEOPLE, 20_000), "page": page, "name": [f"it's ${p}\\" for p in page], "day": day},
        schema_overrides={"day": polars.Date},
    )


def session(**said: Any) -> discreet.Session:
    return discreet.connect({"visits": visits()}, unit="person", epsilon="1e9", delta=0.1, ledger=":memory:", **said)


KEYS = {
    "page": [*range(200, PAGES + 199), 5 * PAGES],  # a gap
    "name": [f"it's ${p}\\" for p in range(200, PAGES + 200)],
    "day": [None, *(datetime.date(2020, 1, 1) + datetime.timedelta(days=p) for p in range(200, PAGES + 200))],
}


def totals(db: discreet.Session, key: str, other: bool) -> tuple[str, list[Any]]:
    """The statement, and the exact totals behind the answer, in the order in which they are released."""
    plan = db.sql(f"SELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key}", other=other).plan(1).steps
    ((_, statement),) = total_statements(plan, DUCKDB)
    found = reveal(db._engine.run(statement.text, statement.given))
    return statement.text, sorted(zip(*(column.tolist() for column in found.values()), strict=True), key=repr)


@pytest.mark.parametrize("limits", [{"rows": 5}, {"groups": 3, "per_group": 2}], ids=str)
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_groups_go_as_a_table_or_in_the_text(key: str, other: bool, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    db = session(keys={key: KEYS[key]}, contributions=limits)
    sent, rows = totals(db, key, other)
    monkeypatch.setattr(sources, "LISTED", 10**9)
    listed, same = totals(db, key, other)
    assert len(sent) < 5000 < len(listed)
    assert rows == same
    assert len(rows) > 1000


def test_whole_keys_without_gaps_are_two_ends() -> None:
    limits = {"rows": 5}
    with session(keys={"page": range(200, 1600)}, contributions=limits) as db:
        short, rows = totals(db, "page", False)
    with session(keys={"page": [*range(200, 1600), 5 * PAGES]}, contributions=limits) as db:
        _, same = totals(db, "page", False)
    assert "BETWEEN 200 AND 1599" in short
    assert rows == same


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each row is protected and ε is so large, nothing is left to chance: all groups of two are found, and counts are exact."""
    exact = dict(visits().group_by("page").len().iter_rows())
    assert min(exact.values()) >= 2
    for rows in (100, 10**6):
        monkeypatch.setattr(engines, "BATCH", rows)
        with discreet.connect({"visits": visits()}, unit=discreet.each_row(), epsilon="1e9", delta=0.1, ledger=":memory:") as db:
            released = db.sql("SELECT page, COUNT(*) AS n FROM visits GROUP BY page").release(epsilon="1e6", delta=0.001)
        assert {row["page"]: row["n"] for row in released.rows} == exact


def test_an_abandoned_stream_lets_go() -> None:
    with session() as db:
        stream = db._engine.stream("SELECT page FROM visits")
        next(stream)
        stream.close()
        assert len(reveal(db._engine.run("SELECT page FROM visits"))["page"]) == 20_000
