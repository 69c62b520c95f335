"""What can be known without reading a private row is checked before paying, on every road."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.engines import disk
from discreet.engines.engine import REOPEN
from discreet.errors import EngineError

Road = Callable[[Any], Any]
ROADS: dict[str, Road] = {
    "sql": lambda db: db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=0.1),
    "found keys": lambda db: db.ask("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", epsilon=0.1),
    "fluent": lambda db: db.table("visits").sum("cost").release(epsilon=0.1),
    "function": lambda db: db.estimate("visits", lambda block: float(len(block["cost"])), epsilon=0.1, bounds=(0, 100)),
    "statistic": lambda db: db.table("visits").per_unit(t="MAX(cost)").estimate("median", "t", epsilon=0.1),
    "synthesize": lambda db: db.synthesize("visits", epsilon=0.5, columns=["cost", "dept"]),
    "interactive": lambda db: db.interactive(["cost"], epsilon=10**5, accuracy=60, table="visits").ask({"cost": (0, 10)}),
    "watch": lambda db: db.watch(epsilon=0.1, threshold=10).ask("SELECT COUNT(*) FROM visits"),
    "daily": lambda db: db.daily("visits", day="day", start="2024-01-01", days=3, epsilon=0.1).release(until="2024-01-02"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "visits.parquet"
    made = "SELECT CAST(i % 50 AS INTEGER) AS id, CAST(i % 90 AS INTEGER) AS cost, 'd' || i % 2 AS dept, "
    made += "DATE '2024-01-01' + CAST(i % 3 AS INTEGER) AS day FROM range(300) AS t(i)"
    duckdb.connect().execute(f"COPY ({made}) TO '{place}'")
    return place


def connected(file: Path) -> discreet.Session:
    return discreet.connect(str(file), unit="id", epsilon=10**6, delta=1e-3, bounds={"cost": (0, 100)}, contributions={"rows": 10})


def refused_for_nothing(db: Any, ask: Road, match: str) -> None:
    """The road is refused before its first debit."""
    with pytest.raises(EngineError, match=match) as caught:
        ask(db)
    assert str(caught.value).endswith("Nothing was charged")
    assert db.spent.epsilon == 0
    assert db.history() == []


def in_a_child(act: Callable[[], Any]) -> Any:
    """What an action gives in a forked child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(act()).encode())
        except BaseException:
            os.write(writer, json.dumps(traceback.format_exc()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told)


@pytest.mark.parametrize("road", ROADS)
def test_every_road_works_where_nothing_is_in_the_way(road: str, file: Path) -> None:
    with connected(file) as db:
        ROADS[road](db)
        assert db.spent.epsilon is not None
        assert db.spent.epsilon > 0


@pytest.mark.parametrize("road", ROADS)
def test_after_a_fork_no_road_pays(road: str, file: Path) -> None:
    with connected(file) as db:

        def ask() -> list[Any]:
            try:
                ROADS[road](db)
            except EngineError as error:
                return [str(error), float(db.spent.epsilon or 0)]
            return ["answered", float(db.spent.epsilon or 0)]

        assert in_a_child(ask) == [f"{REOPEN}. Nothing was charged", 0]
        assert db.spent.epsilon == 0


@pytest.mark.parametrize("road", ROADS)
def test_a_file_that_is_gone_costs_nothing(road: str, file: Path) -> None:
    with connected(file) as db:
        file.unlink()
        refused_for_nothing(db, ROADS[road], r"^visits: one of its files is missing.*connect again")


def test_a_file_with_other_columns_costs_nothing(file: Path) -> None:
    with connected(file) as db:
        duckdb.connect().execute(f"COPY (SELECT 1 AS id, 2 AS price) TO '{file}'")
        refused_for_nothing(db, ROADS["sql"], "the columns of its files have changed since it was opened")


def test_a_stored_answer_needs_no_engine(file: Path) -> None:
    with connected(file) as db:
        first = ROADS["sql"](db)
        file.unlink()
        assert ROADS["sql"](db).rows == first.rows


def test_a_table_that_was_dropped_costs_nothing(tmp_path: Path) -> None:
    owner = duckdb.connect()
    owner.execute("CREATE TABLE visits AS SELECT i % 5 AS id, 1 AS cost FROM range(10) AS t(i)")
    with discreet.connect({"visits": (owner, "visits")}, unit="id", epsilon=1, ledger=tmp_path / "l") as db:
        owner.execute("DROP TABLE visits")
        refused_for_nothing(db, ROADS["sql"], "missing")
        owner.execute("CREATE TABLE visits AS SELECT i % 5 AS id, 1 AS cost FROM range(10) AS t(i)")
        ROADS["sql"](db)  # it is there again


def test_an_engine_that_was_closed_costs_nothing(file: Path) -> None:
    with connected(file) as db:
        db._engine.close()
        refused_for_nothing(db, ROADS["sql"], "connection to DuckDB is closed: connect again")


def test_no_room_on_the_disk_costs_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with connected(file) as db:
        monkeypatch.setattr(disk, "MINIMUM_FREE", 2**62)
        refused_for_nothing(db, ROADS["sql"], "is full: free some space")


def test_a_graph_that_was_read_needs_its_file_no_more(tmp_path: Path) -> None:
    edges = tmp_path / "friends.parquet"
    duckdb.connect().execute(f"COPY (SELECT i AS a, i + 1 AS b FROM range(9) AS t(i)) TO '{edges}'")
    with discreet.graph(str(edges), source="a", target="b", protects="edge", epsilon=9) as asked:
        moved = edges.rename(tmp_path / "elsewhere.parquet")
        refused_for_nothing(asked, lambda db: db.edges(epsilon=1), "missing")
        moved.rename(edges)
        asked.edges(epsilon=1)
        edges.unlink()
        asked.edges(epsilon=2)
        assert asked.spent.epsilon == 3
