"""What belongs to a session is not copied or pickled: the error says what to do."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.errors import Invalid


@pytest.fixture
def db(tmp_path: Path) -> discreet.Session:
    owner = duckdb.connect()
    owner.execute("CREATE TABLE visits AS SELECT i AS id, 1 AS cost, DATE '2024-01-01' AS day FROM range(9) AS t(i)")
    return discreet.connect(
        {"visits": (owner, "visits")},
        unit="id",
        epsilon=9,
        delta=1e-3,
        bounds={"cost": (0, 1)},
        contributions={"rows": 1},
        ledger=tmp_path / "l",
    )


def belonging(db: discreet.Session) -> list[tuple[Any, str]]:
    graph = discreet.graph({"edges": (duckdb.connect().execute("CREATE TABLE e AS SELECT 1 AS a, 2 AS b"), "e")}, source="a", target="b",
                           protects="edge", epsilon=1, ledger=":memory:")  # fmt: skip
    return [
        (db, "connect again where it is needed, with the same ledger"),
        (graph, "open it again where it is needed, with the same ledger"),
        (db.sql("SELECT COUNT(*) AS n FROM visits"), "send its SQL text"),
        (db.table("visits").where("cost > 0").count(), "send its SQL text"),
        (db.interactive(["cost"], epsilon=1, accuracy=50), "open one where it is needed"),
        (db.daily("visits", day="day", start="2024-01-01", days=2, epsilon=1), "with the same arguments"),
        (db.watch(epsilon=1, threshold=5), "cannot be copied"),
    ]


def test_what_belongs_to_a_session_is_not_copied(db: discreet.Session) -> None:
    for one, advice in belonging(db):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(Invalid, match=advice):
                copied(one)


def test_what_was_released_is_anybodys(db: discreet.Session) -> None:
    release = db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert pickle.loads(pickle.dumps(release)).rows == copy.deepcopy(release).rows == release.rows
