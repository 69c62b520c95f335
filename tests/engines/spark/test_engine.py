"""The Spark engine: the user's session is left as it was, and failures say nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from engines.spark.handed import views
from engines.visits import AT

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import SentTable
from discreet.engines.spark import engine as module
from discreet.engines.spark.engine import Spark, read_files
from discreet.errors import EngineError
from discreet.tables.kind import Kind


def test_a_failed_opening_leaves_nothing(spark: Any, visits: Any) -> None:
    before = views(spark)
    for more in ({"t": (spark, "nowhere")}, {"t": spark.sql("SELECT 1 AS a, 2 AS a")}, {"t": spark.sql("SELECT array(1) AS a")}):
        with pytest.raises(EngineError):
            Spark.open({"visits": visits, **more})
    with pytest.raises(EngineError, match="at least one"):
        Spark.open({})
    assert views(spark) == before


def test_only_tested_versions_are_opened(visits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.5.1", "5.0.0", "x"):
        monkeypatch.setattr(module.pyspark, "__version__", version)
        with pytest.raises(EngineError, match="engine version outside the tested range"):
            Spark.open({"visits": visits})
    for version in ("4.0.0", "4.1.0.dev1", "4.9"):
        module._check_version(version)


def test_the_users_session_is_left_as_it_was(spark: Any, visits: Any) -> None:
    def state() -> Any:
        settings = sorted((row["key"], row["value"]) for row in spark.sql("SET").collect())
        return settings, [table.name for table in spark.catalog.listTables()], views(spark), spark.catalog.currentDatabase()

    active, before = type(spark).getActiveSession(), state()
    with Spark.open({"visits": visits}) as engine:
        given = SentTable("__g", (("v", Kind.INTEGER, [1]), ("m", Kind.TIMESTAMP, [AT])))
        engine.run("SELECT * FROM visits JOIN __g ON id = v", [given])
        list(engine.stream("SELECT * FROM visits"))
        assert len(views(spark)) == len(before[2]) + 1
        assert type(spark).getActiveSession() is active
        assert spark.sql("SELECT current_timezone() AS z").collect()[0]["z"] == spark.conf.get("spark.sql.session.timeZone")
    assert state() == before
    assert type(spark).getActiveSession() is active


def test_nothing_is_left_if_it_is_forgotten(spark: Any, visits: Any) -> None:
    before = views(spark)
    engine = Spark.open({"visits": visits})
    assert views(spark) != before
    del engine
    gc.collect()
    assert views(spark) == before


def test_a_closed_engine_answers_nothing(visits: Any) -> None:
    engine = Spark.open({"visits": visits})
    engine.close()
    engine.close()  # twice is fine
    with pytest.raises(EngineError):
        engine.run("SELECT 1 AS one")


def test_threads_may_share_an_engine(engine: Spark) -> None:
    totals: list[int] = []

    def ask(number: int) -> None:
        given = SentTable("__g", (("v", Kind.INTEGER, [number]),))
        totals.extend(int(engine.read_public("SELECT COUNT(*) AS n FROM visits")["n"][0]) for _ in range(2))
        found = list(engine.batches("SELECT id + v AS s FROM visits, __g", [given], 10))
        totals.extend(found[0]["s"].tolist())

    threads = [threading.Thread(target=ask, args=(number,)) for number in (10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(totals) == sorted([3] * 6 + [n + i for n in (10, 20, 30) for i in (1, 2, 3)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_to_connect_again(spark: Any, visits: Any) -> None:
    engine = Spark.open({"visits": visits})
    before = views(spark)
    if (child := os.fork()) == 0:  # pragma: no cover
        code = 1
        try:
            engine.run("SELECT id FROM visits")
        except EngineError as error:
            engine.close()
            code = 0 if "connect again" in str(error) else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert views(spark) == before
    assert len(engine.read_public("SELECT id FROM visits")["id"]) == 3
    engine.close()


@pytest.mark.parametrize("sql", ["SELECT 1.5 AS v", "SELECT CAST(1 AS DECIMAL(38,0)) AS v", "SELECT array(1) AS v", "SELECT NULL AS v"])
def test_results_that_numpy_would_round_are_refused(engine: Spark, sql: str) -> None:
    with pytest.raises(EngineError):
        engine.run(sql)


def test_a_question_from_connect_to_release(spark: Any) -> None:
    frame = spark.sql("SELECT id % 500 AS person, concat('d', id % 3) AS dept, CAST(id % 40 AS DOUBLE) AS cost FROM range(3000)")
    db = discreet.connect(
        {"visits": frame}, unit="person", epsilon=1000, delta=1e-6, bounds={"cost": (0, 100)}, contributions={"rows": 10}, ledger=":memory:"
    )
    with db:
        rows = db.ask("SELECT dept, COUNT(*) AS n, AVG(cost) AS m, MEDIAN(cost) AS h FROM visits GROUP BY dept", epsilon=500).rows
    assert [row["dept"] for row in rows] == ["d0", "d1", "d2"]
    assert all(row["n"] == pytest.approx(1000, abs=20) and row["m"] == pytest.approx(19.5, abs=1) for row in rows)


CONNECT = """
import warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
builder = SparkSession.builder.remote("local[1]").config("spark.sql.session.timeZone", "Asia/Tokyo")
for name, value in SETTINGS.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
warnings.simplefilter("error")
from discreet.engines.engine import SentTable
from discreet.engines.spark.engine import Spark, tables_of
from discreet.errors import EngineError
from discreet.tables.kind import Kind
frame = spark.sql("SELECT id, concat('k', id % 5) AS k, TIMESTAMP_LTZ'2026-11-15 10:30:00+02:00' AS at FROM range(1000)")
with Spark.open({"t": frame}) as engine:
    assert not spark.catalog.listTables()
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    d = engine.dialect
    assert engine.read_public(f"SELECT k, {d.shifted(d.total('id', 2**40), 0)} AS n FROM t GROUP BY k ORDER BY k")["n"].tolist()[0] == 99500
    assert str(engine.read_public("SELECT MIN(at) AS at FROM t")["at"][0]) == "2026-11-15 08:30:00"
    assert [len(batch["id"]) for batch in engine.batches("SELECT id, k FROM t", (), 300)] == [300, 300, 300, 100]
    assert [len(batch["id"]) for batch in engine.batches("SELECT id, k FROM t WHERE id < 0", (), 300)] == [0]
    given = SentTable("__g", (("v", Kind.TEXT, ["k1", "k2"]),))
    assert int(engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0]) == 1000
    inside = "SELECT COUNT(*) AS n FROM t WHERE k IN (SELECT v FROM __g)"
    assert [int(batch["n"][0]) for batch in engine.batches(inside, [given], None)] == [400]
    for wrong in ("SELECT SECRET FROM t", "SELECT raise_error('SECRET') AS v FROM t"):
        try:
            engine.run(wrong)
        except EngineError as error:
            assert error.__context__ is None
        else:
            raise AssertionError(wrong)
frame.createOrReplaceTempView("mine")
with Spark.open(tables_of(spark)) as engine:
    assert int(engine.read_public("SELECT COUNT(*) AS n FROM mine")["n"][0]) == 1000
assert spark.sql("SELECT 1 AS one").collect()[0][0] == 1
print("done")
"""


@pytest.mark.slow
def test_spark_connect(spark: Any, tmp_path: Path) -> None:
    """In a process of its own: here it would be mistaken for the other kind of session."""
    pytest.importorskip("grpc")
    pytest.importorskip("grpc_status")
    text = f"SETTINGS = {{'spark.ui.enabled': 'false', 'spark.log.level': 'OFF', 'spark.sql.warehouse.dir': {str(tmp_path)!r}}}{CONNECT}"
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=400,
        cwd=tmp_path,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip().endswith("done"), done.stderr[-3000:]
    assert "SECRET" not in done.stdout + "".join(line for line in done.stderr.splitlines() if "Traceback" not in line)


def test_the_same_table_as_duckdb_has(folder: Path, spark: Any) -> None:
    place = folder / "visits.parquet"
    with DuckDB.open({"visits": place}) as here, Spark.open(read_files({"visits": place}, spark)) as there:
        assert here.schema("visits") == there.schema("visits")
        sql = "SELECT dept, COUNT(*) AS n, MAX(cost) AS c, MIN(day) AS d, MAX(seen) AS s FROM visits GROUP BY dept ORDER BY dept NULLS LAST"
        assert {k: v.tolist() for k, v in here.read_public(sql).items()} == {k: v.tolist() for k, v in there.read_public(sql).items()}
