"""The Spark engine: the same table from every source, the user's session left as it was, and no value on which a statement fails."""

from __future__ import annotations

import datetime
import gc
import logging
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines.visits import AT, DAY, KINDS, ROWS, TABLE
from pyspark.logger import PySparkLogger

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import PublicTable
from discreet.engines.spark import connection
from discreet.engines.spark import engine as module
from discreet.engines.spark.engine import Spark, read_files, tables_of
from discreet.errors import EngineError
from discreet.private import Private
from discreet.tables.kind import Kind


@pytest.fixture(scope="module")
def visits(spark: Any) -> Any:
    """The table as a DataFrame."""
    return spark.sql(
        TABLE.split(" AS ", 1)[1]
        .replace("1::BIGINT, 0.5::DOUBLE", "1L, 0.5D")
        .replace("'inf'::DOUBLE", "double('inf')")
        .replace("TIMESTAMP ", "TIMESTAMP_NTZ ")
    )


@pytest.fixture(scope="module")
def engine(visits: Any) -> Iterator[Spark]:
    with Spark.open({"visits": visits}) as found:
        yield found


def views(spark: Any) -> list[str]:
    """What was handed over and is still there."""
    return [row["viewName"] for row in spark.sql("SHOW VIEWS IN global_temp").collect()]


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────────

FILES = ["visits.parquet", "odd [1] name's.parquet", "many", "many/*.parquet", "m*y/part.parquet"]


@pytest.mark.parametrize("given", [*FILES, "frame", "view", "table", "long name"])
def test_every_source_gives_the_same_table(spark: Any, visits: Any, folder: Path, given: str) -> None:
    user = spark.newSession()
    source: Any = (user, "stored.visits")
    match given:
        case "frame":
            source = visits
        case "view":
            user.sql("CREATE TEMPORARY VIEW visits AS SELECT 1")
            visits.createOrReplaceTempView("visits")
            source = spark
        case "table" | "long name":
            user.sql("CREATE DATABASE IF NOT EXISTS stored")
            visits.write.mode("overwrite").saveAsTable("stored.visits")
            if given == "table":
                user.sql("USE stored")
                source = user
        case _:
            source = read_files({"visits": folder / given}, spark)["visits"]
    with Spark.open({"visits": source}, {"visits": KINDS}) as engine:
        assert engine.schema("visits") == KINDS
        found = engine.read_public("SELECT * FROM visits ORDER BY id")
        assert list(zip(*(found[name] for name in KINDS), strict=True)) == ROWS
        assert isinstance(engine.run("SELECT id FROM visits"), Private)


def test_tables_of_a_session(spark: Any, visits: Any) -> None:
    user = spark.newSession()
    user.sql("CREATE DATABASE IF NOT EXISTS several")
    user.sql("USE several")
    user.sql("CREATE TABLE IF NOT EXISTS a AS SELECT 1 AS x")
    user.sql("CREATE TABLE IF NOT EXISTS b AS SELECT 2 AS x")
    user.sql("CREATE TEMPORARY VIEW b AS SELECT 3 AS x")
    found = tables_of(user)
    assert found is not None
    assert set(found) == {"a", "b"}
    with Spark.open(found) as engine:
        assert [engine.read_public(f"SELECT x FROM {name}")["x"][0] for name in "ab"] == [1, 3]  # a view of one's own hides a table
    for other in (visits, "visits.parquet", None, 5):
        assert tables_of(other) is None


def test_a_table_is_looked_up_again_and_a_frame_is_kept(spark: Any) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW one AS SELECT 1 AS x")
    spark.sql("CREATE TABLE growing USING parquet AS SELECT x FROM one")
    with Spark.open({"growing": spark}) as engine:
        spark.sql("INSERT INTO growing VALUES (2)")
        assert engine.read_public("SELECT COUNT(*) AS n FROM growing")["n"][0] == 2
        spark.sql("INSERT OVERWRITE growing VALUES (3)")
        assert engine.read_public("SELECT x FROM growing")["x"].tolist() == [3]


def test_files_without_a_session_are_read_in_the_one_that_runs(folder: Path) -> None:
    with Spark.open(read_files({"visits": str(folder / "visits.parquet"), "other": folder / "many"})) as engine:
        assert engine.read_public("SELECT COUNT(*) AS n FROM visits")["n"][0] == 3
        assert engine.schema("other") == KINDS


@pytest.mark.parametrize("file", ["visits.csv", "visits.tsv", "visits.csv.gz", "hdfs://host/visits.CSV"])
def test_text_files_are_refused(spark: Any, folder: Path, file: str) -> None:
    with pytest.raises(EngineError, match=r"CSV is not read with Spark.*write the table as Parquet"):
        read_files({"t": file if "://" in file else folder / file}, spark)


def test_files_that_make_no_table_are_refused(spark: Any, tmp_path: Path) -> None:
    table = spark.range(4).selectExpr("id", "id % 2 AS year", "'a b' AS dept")
    table.write.partitionBy("year", "dept").parquet(str(tmp_path / "by year=x"))
    (tmp_path / "mixed").mkdir()
    for columns in (["id"], ["id", "dept"]):
        table.select(*columns).write.parquet(str(tmp_path / "mixed" / f"with {len(columns)}"))
    for given, why in {
        "by year=x": r"dept, year is stored only in folder names \(dept=…\)",
        "by year=x/*/*/*.parquet": "dept, year is stored only in folder names",
        "mixed": "not all of its files have dept: write them again",
        "mixed/with*/*.parquet": "not all of its files have dept",
        "none/*/x.parquet": "there is no file",
        "none": "there is no file",
    }.items():
        with pytest.raises(EngineError, match=why):
            read_files({"t": tmp_path / given}, spark)
    with Spark.open(read_files({"t": tmp_path / "by year=x" / "year=1" / "dept=a b"}, spark)) as engine:  # above what was given
        assert engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0] == 2


def test_frames_of_one_session_may_be_mixed(spark: Any, visits: Any) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS mixed AS SELECT 3L AS id")
    with Spark.open({"visits": visits, "more": (spark, "mixed"), "beside": spark.newSession().sql("SELECT 1L AS id")}) as engine:
        joined = "SELECT COUNT(*) AS n FROM visits JOIN more ON visits.id = more.id JOIN beside ON beside.id <> more.id"
        assert engine.read_public(joined)["n"][0] == 1


@pytest.mark.parametrize("given", [5, "visits", (5, "visits"), None, object()])
def test_what_is_no_source(given: Any) -> None:
    with pytest.raises(EngineError, match="visits: give a Spark DataFrame"):
        Spark.open({"visits": given})


@pytest.mark.parametrize("table", ["nowhere", "no.where", "SECRET; DROP TABLE x", ""])
def test_a_table_that_is_not_there(spark: Any, visits: Any, table: str) -> None:
    with pytest.raises(EngineError, match="it cannot be opened") as caught:
        Spark.open({"visits": visits, "t": (spark, table)})
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert "SECRET" not in str(caught.value)


def test_a_failed_opening_leaves_nothing(spark: Any, visits: Any) -> None:
    before = views(spark)
    for more in ({"t": (spark, "nowhere")}, {"t": spark.sql("SELECT 1 AS a, 2 AS a")}, {"t": spark.sql("SELECT array(1) AS a")}):
        with pytest.raises(EngineError):
            Spark.open({"visits": visits, **more})
    with pytest.raises(EngineError, match="at least one"):
        Spark.open({})
    assert views(spark) == before


def test_columns_that_differ_in_case_alone_are_refused(spark: Any) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = spark.sql("SELECT 1 AS a, 2 AS A")
        with pytest.raises(EngineError, match="upper and lower case"):
            Spark.open({"t": frame})
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_only_tested_versions_are_opened(visits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.5.1", "5.0.0", "x"):
        monkeypatch.setattr(module.pyspark, "__version__", version)
        with pytest.raises(EngineError, match="engine version outside the tested range"):
            Spark.open({"visits": visits})
    for version in ("4.0.0", "4.1.0.dev1", "4.9"):
        module._check_version(version)


# ── the user's session ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_users_session_is_left_as_it_was(spark: Any, visits: Any) -> None:
    def state() -> Any:
        settings = sorted((row["key"], row["value"]) for row in spark.sql("SET").collect())
        return settings, [table.name for table in spark.catalog.listTables()], views(spark), spark.catalog.currentDatabase()

    active, before = type(spark).getActiveSession(), state()
    with Spark.open({"visits": visits}) as engine:
        given = PublicTable("__g", (("v", Kind.INTEGER, [1]), ("m", Kind.TIMESTAMP, [AT])))
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
        given = PublicTable("__g", (("v", Kind.INTEGER, [number]),))
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


def test_progress_is_told_only_if_wanted(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_OFTEN", 0.001)
    told: list[float] = []
    with Spark.open({"t": spark.range(0, 3_000_000, 1, 6)}, progress=told.append) as engine:
        engine.run("SELECT CAST(SUM(hash(id) % 7) AS BIGINT) AS n FROM t")
    assert told
    assert all(0 <= part <= 1 for part in told)


class Kept(logging.Handler):
    """What is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def test_what_spark_says_is_not_logged(engine: Spark, spark: Any) -> None:
    kept, logger = Kept(), PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(kept)
    try:
        for sql in ("SELECT SECRET FROM visits", "SELECT raise_error('SECRET') AS v FROM visits", "SECRET"):
            for run in (engine.run, lambda sql: list(engine.stream(sql))):
                with pytest.raises(EngineError):
                    run(sql)  # type: ignore[operator]
        assert kept.said == []
        with pytest.raises(Exception, match="theirs"):  # the user's own errors are logged as ever
            spark.sql("SELECT theirs").collect()
        assert len(kept.said) == 1
    finally:
        logger.removeHandler(kept)


# ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────────

FIRST, LAST = datetime.datetime(1, 1, 1), datetime.datetime.max
TYPES: dict[str, tuple[str, Kind, Any]] = {
    "boolean": ("true", Kind.BOOLEAN, True),
    "tinyint": ("CAST(-128 AS TINYINT)", Kind.INTEGER, -128),
    "smallint": ("CAST(5 AS SMALLINT)", Kind.INTEGER, 5),
    "int": ("-2147483648", Kind.INTEGER, -(2**31)),
    "bigint": ("-9223372036854775808", Kind.INTEGER, -(2**63)),
    "float": ("CAST(1.5 AS FLOAT)", Kind.REAL, 1.5),
    "float nan": ("CAST('NaN' AS FLOAT)", Kind.REAL, None),
    "double": ("5e-324D", Kind.REAL, 5e-324),
    "double nan": ("double('NaN')", Kind.REAL, None),
    "double inf": ("double('-inf')", Kind.REAL, -math.inf),
    "decimal": ("CAST(1.25 AS DECIMAL(5,2))", Kind.REAL, 1.25),
    "long decimal": (
        "CAST('12345678901234567890.123456789012345678' AS DECIMAL(38,18))",
        Kind.REAL,
        12345678901234567890.123456789012345678,
    ),
    "largest decimal": (f"CAST('{'9' * 38}' AS DECIMAL(38,0))", Kind.REAL, 1e38),
    "string": ("'é '", Kind.TEXT, "é "),
    "empty": ("''", Kind.TEXT, ""),
    "collated": ("'A' COLLATE UTF8_LCASE", Kind.TEXT, "A"),
    "char": ("CAST('x' AS CHAR(3))", Kind.TEXT, "x"),
    "varchar": ("CAST('x' AS VARCHAR(3))", Kind.TEXT, "x"),
    "no utf-8": ("CAST(X'61FF62' AS STRING)", Kind.TEXT, "a\ufffdb"),
    "with nul": ("CAST(X'610062' AS STRING)", Kind.TEXT, "a\x00b"),
    "date": ("DATE'2026-11-15'", Kind.DATE, DAY),
    "date before 1": ("DATE'0001-01-01' - INTERVAL 1 DAY", Kind.DATE, None),
    "date after 9999": ("DATE'9999-12-31' + INTERVAL 1 DAY", Kind.DATE, None),
    "furthest date": ("date_from_unix_date(2147483647)", Kind.DATE, None),
    "first date": ("DATE'0001-01-01'", Kind.DATE, FIRST.date()),
    "moment": ("TIMESTAMP_NTZ'2026-11-15 08:30:00'", Kind.TIMESTAMP, AT),
    "first moment": ("TIMESTAMP_NTZ'0001-01-01 00:00:00'", Kind.TIMESTAMP, FIRST),
    "moment after 9999": ("TIMESTAMP_NTZ'9999-12-31 23:59:59.999999' + INTERVAL '0.000001' SECOND", Kind.TIMESTAMP, None),
    "zoned": ("TIMESTAMP_LTZ'2026-11-15 10:30:00+02:00'", Kind.TIMESTAMP, AT),
    "zoned first": ("TIMESTAMP_LTZ'0001-01-01 00:00:00Z'", Kind.TIMESTAMP, FIRST),
    "zoned last": ("TIMESTAMP_LTZ'9999-12-31 23:59:59.999999Z'", Kind.TIMESTAMP, LAST),
    "zoned furthest": ("timestamp_micros(9223372036854775807)", Kind.TIMESTAMP, None),
    "zoned lowest": ("timestamp_micros(-9223372036854775808)", Kind.TIMESTAMP, None),
}
UNUSED = [
    "X'00'",
    "array(1)",
    "map(1, 2)",
    "named_struct('a', 1)",
    "parse_json('1')",
    "INTERVAL 1 DAY",
    "INTERVAL 1 MONTH",
    "NULL",
    "TIME'10:00:00'",
]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_stored_types_become_kinds(spark: Any, zone: str) -> None:
    user = spark.newSession()
    user.conf.set("spark.sql.session.timeZone", zone)
    written = ", ".join(f"{text} AS `{name}`" for name, (text, _, _) in TYPES.items())
    with Spark.open({"t": user.sql(f"SELECT {written}")}) as engine:
        assert engine.schema("t") == {name: kind for name, (_, kind, _) in TYPES.items()}
        found = engine.read_public("SELECT * FROM t")
    assert {name: values.tolist()[0] for name, values in found.items()} == {name: value for name, (_, _, value) in TYPES.items()}


def test_unused_types_are_shown_but_not_read(spark: Any) -> None:
    frame = spark.sql(f"SELECT 1 AS id, {', '.join(f'{text} AS c{i}' for i, text in enumerate(UNUSED))}")
    with Spark.open({"t": frame}) as engine:
        assert engine.schema("t") == {"id": Kind.INTEGER} | {f"c{i}": None for i in range(len(UNUSED))}
        assert list(engine.read_public("SELECT * FROM t")) == ["id"]


def test_collated_texts_are_compared_by_their_bytes(spark: Any) -> None:
    frame = spark.sql("SELECT x COLLATE UTF8_LCASE AS x FROM VALUES ('a'), ('A'), ('b') AS v(x)")
    with Spark.open({"t": frame}) as engine:
        found = engine.read_public("SELECT COUNT(DISTINCT x) AS n, SUM(CASE WHEN x = 'A' THEN 1 ELSE 0 END) AS m, MIN(x) AS least FROM t")
        assert [values.tolist()[0] for values in found.values()] == [3, 1, "A"]


def test_whole_numbers_declared_real_are_real(visits: Any) -> None:
    with Spark.open({"visits": visits}, {"visits": {"id": Kind.REAL, "dept": Kind.INTEGER}}) as engine:
        assert engine.schema("visits")["id"] is Kind.REAL
        assert engine.schema("visits")["dept"] is Kind.TEXT  # a stored type is not bent; the policy complains
        assert engine.read_public("SELECT id FROM visits")["id"].dtype == np.float64


@pytest.mark.parametrize("sql", ["SELECT 1.5 AS v", "SELECT CAST(1 AS DECIMAL(38,0)) AS v", "SELECT array(1) AS v", "SELECT NULL AS v"])
def test_results_that_numpy_would_round_are_refused(engine: Spark, sql: str) -> None:
    with pytest.raises(EngineError):
        engine.run(sql)


def test_decimals_are_never_in_the_way(spark: Any) -> None:
    """Rounded as Python rounds them."""
    values = [Decimal("0.1"), Decimal("123456789.987654321"), Decimal("-99999999999999999999.999999999999999999"), Decimal("1e-18")]
    frame = spark.sql("SELECT CAST(x AS DECIMAL(38,18)) AS x FROM VALUES " + ", ".join(f"('{value}')" for value in values) + " AS v(x)")
    with Spark.open({"t": frame}) as engine:
        assert sorted(engine.read_public("SELECT x FROM t")["x"]) == sorted(float(value) for value in values)


# ── long results ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("partitions", [1, 3, 40])
def test_a_long_result_comes_in_batches(spark: Any, partitions: int) -> None:
    with Spark.open({"t": spark.range(0, 200_003, 1, partitions)}) as engine:
        batches = list(engine.batches("SELECT id, CAST(id AS STRING) AS k FROM t WHERE id % 2 = 0 OR id > 100000", (), 10_000))
    assert {len(batch["id"]) for batch in batches[:-1]} == {10_000}
    ids = np.concatenate([batch["id"] for batch in batches])
    assert sorted(ids.tolist()) == [i for i in range(200_003) if i % 2 == 0 or i > 100_000]
    assert all(str(i) == k for batch in batches for i, k in zip(batch["id"].tolist(), batch["k"].tolist(), strict=True))
    assert batches[0]["id"].flags.writeable


def test_a_table_that_is_too_long_to_be_sent_around_is_not(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long it is depends on the data, so it must not show."""
    monkeypatch.setitem(connection.SETTINGS, "spark.sql.maxBroadcastTableSize", "1MB")
    sql = "SELECT /*+ BROADCAST(u) */ COUNT(u.id) AS n FROM t AS r LEFT JOIN (SELECT id FROM t WHERE id > 5) AS u ON r.id = u.id"
    with Spark.open({"t": spark.range(0, 100_000, 1, 3)}) as engine:
        with pytest.raises(Exception, match="Cannot broadcast"):
            list(engine._fetched(module._statement(sql, engine._views), None))
        assert engine.read_public(sql)["n"].tolist() == [99_994]
        assert [batch["n"].tolist() for batch in engine.batches(sql, (), 10)] == [[99_994]]
        assert engine._own.conf.get("spark.sql.maxBroadcastTableSize") == "1MB"  # only that statement went the slow way


# ── totality ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["false", "true"], ids=["ansi off", "ansi on"])
def extremes(request: pytest.FixtureRequest, spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spark]:
    """Values that hurt, with and without errors for overflow."""
    monkeypatch.setitem(connection.SETTINGS, "spark.sql.ansi.enabled", request.param)
    reals = [
        "0D",
        "-0D",
        "1e300D",
        "-1e300D",
        "5e-324D",
        "double('inf')",
        "double('-inf')",
        "double('NaN')",
        "NULL",
        "4.6e18D",
        "9.3e18D",
        "0.5D",
    ]
    wholes = [0, 1, -1, 2**63 - 1, -(2**63), 2**31, -(2**31), 2**53 + 1]
    rows = [f"({x}, CAST({n} AS BIGINT))" for x in reals for n in wholes]
    with Spark.open({"t": spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS v(x, n)")}) as engine:
        yield engine


def test_primitives_do_not_fail(extremes: Spark) -> None:
    d = extremes.dialect
    assert d.name == "spark"
    each = [
        d.floor("x"),
        d.ceil("x"),
        d.floor_real("x"),
        d.times("x", "1e-300D"),
        d.over("x", "3D"),
        d.exp("LEAST(x, 200D)"),
        d.floor("x * 1e10D"),
    ]
    each += [f"CASE WHEN {d.is_number('x')} THEN 1 ELSE 0 END", d.hash_order([("n", Kind.INTEGER), ("x", Kind.REAL)], "salt")]
    sums = [d.shifted(d.total("n", 2**63), bits) for bits in (0, 7, 40)]
    found = extremes.read_public(f"SELECT {', '.join(f'{text} AS v{i}' for i, text in enumerate(each))} FROM t")
    assert all(len(values) == 96 for values in found.values())
    totals = extremes.read_public(f"SELECT {', '.join(f'{text} AS v{i}' for i, text in enumerate(sums))} FROM t")
    total = 12 * (2**31 - 2**31 + 2**53 + 1 - 1)
    assert [int(values[0]) for values in totals.values()] == [total, total >> 7, total >> 40]


def test_what_stands_behind_a_guard_is_not_computed_before_it(extremes: Spark) -> None:
    """Spark computes common parts of expressions once, and some of them early."""
    risky = "CAST(x * 1000 AS BIGINT)"
    guarded = f"CASE WHEN x > -9e15D AND x < 9e15D THEN {risky} ELSE 0 END"
    assert (
        len(extremes.read_public(f"SELECT {guarded} AS a, {guarded} + 1 AS b, CASE WHEN n = 0 THEN 0 ELSE 100 div n END AS c FROM t")["a"])
        == 96
    )
    both = f"x > -9e15D AND x < 9e15D AND {risky} > 5"
    assert extremes.read_public(f"SELECT COUNT(*) AS c FROM t WHERE ({both}) OR (n > 5 AND {both})")["c"].tolist() == [8]
    twice = f"SELECT ({both}) AS a, (n > 5 AND ({both})) AS b, CASE WHEN {both} THEN {risky} END AS c FROM t"
    assert len(extremes.read_public(twice)["a"]) == 96


# ── the whole road ───────────────────────────────────────────────────────────────────────────────────────────────────


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
from discreet.engines.engine import PublicTable
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
    given = PublicTable("__g", (("v", Kind.TEXT, ["k1", "k2"]),))
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
