"""Sources of Spark tables: all give the same table, and what is no source is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engines.visits import KINDS, ROWS

from discreet.engines.spark.engine import Spark, read_files, tables_of
from discreet.errors import EngineError
from discreet.private import Private

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


def test_columns_that_differ_in_case_alone_are_refused(spark: Any) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = spark.sql("SELECT 1 AS a, 2 AS A")
        with pytest.raises(EngineError, match="upper and lower case"):
            Spark.open({"t": frame})
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
