"""Columns that tell units apart, in PostgreSQL and Spark: the source's own equality is kept, or the table is refused by its types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import discreet
from discreet.engines.postgres.engine import Postgres
from discreet.engines.spark.engine import Spark
from discreet.errors import EngineError
from discreet.mechanisms.mechanism import Mechanism
from discreet.private import reveal
from discreet.tables.kind import Kind

Made = Callable[[str, list[str]], Any]


@pytest.fixture
def in_postgres(postgres: str) -> Iterator[Made]:
    """Make a table t(id, x) of ids, in a schema of its own."""
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute("SET client_min_messages = warning")
        owner.execute("DROP SCHEMA IF EXISTS units CASCADE; CREATE SCHEMA units; SET search_path = units, public")
        owner.execute("CREATE COLLATION units.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        owner.execute("CREATE TYPE units.mood AS ENUM ('a', 'b', 'c')")
        owner.execute("CREATE DOMAIN units.word AS text COLLATE units.loose")

        def made(sql_type: str, ids: list[str]) -> Any:
            owner.execute(f"DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (id {sql_type}, x int)")
            with owner.cursor() as cursor:
                cursor.executemany("INSERT INTO t VALUES (%s, %s)", [(one, i) for i, one in enumerate(ids)])
            return owner, (postgres, "units.t")

        yield made
        owner.execute("DROP SCHEMA units CASCADE")


def given_to_mechanisms(source: Any, monkeypatch: pytest.MonkeyPatch, **more: Any) -> list[int]:
    """What the noise was added to: rows counted with at most one of each unit, and units."""
    seen: list[Any] = []
    release = Mechanism.release
    monkeypatch.setattr(
        Mechanism, "release", lambda self, answer, bits=None: (seen.append((self, reveal(answer))), release(self, answer, bits))[1]
    )
    with discreet.connect({"t": source}, unit="id", epsilon=1000, ledger=":memory:", contributions={"rows": 1}, **more) as db:
        db.ask("SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM t", epsilon=20)
    monkeypatch.setattr(Mechanism, "release", release)
    return [round(int(answer[0] if not isinstance(answer, int) else answer) / float(mechanism.sensitivity)) for mechanism, answer in seen]


REFUSED = [
    ("citext", "collation"),
    ("text COLLATE units.loose", "collation"),
    ("varchar(20) COLLATE units.loose", "collation"),
    ("word", "collation"),
    ("json", "equality"),
    ("numeric", "floats"),
    ("numeric(10, 2)", "floats"),
]


@pytest.mark.parametrize(("sql_type", "why"), REFUSED)
def test_types_that_postgres_holds_equal_in_its_own_way(in_postgres: Made, sql_type: str, why: str) -> None:
    if sql_type == "citext":
        owner, _ = in_postgres("int", [])
        try:
            owner.execute("CREATE EXTENSION IF NOT EXISTS citext")
        except psycopg.Error:
            pytest.skip("this PostgreSQL has no citext")
    said = set()
    for ids in ([], ["1"], ["1", "2"]):
        owner, source = in_postgres(sql_type, ids)
        with pytest.raises(EngineError, match=why) as refusal:
            discreet.connect({"t": source}, unit="id", epsilon=1, ledger=":memory:")
        said.add(str(refusal.value))
        with Postgres.open({"t": source}) as engine:  # as a column among others it is read
            assert engine.schema("t")["id"] in (Kind.TEXT, Kind.REAL)
    assert len(said) == 1
    if "lower(" in said.copy().pop():
        owner.execute('CREATE VIEW one AS SELECT lower(id::text) COLLATE "C" AS id, x FROM t')
        with discreet.connect({"t": (source[0], "units.one")}, unit="id", epsilon=1, ledger=":memory:") as db:
            assert db.sql("SELECT COUNT(*) AS n FROM t").plan(epsilon=1)


KEPT: list[tuple[str, list[str], dict[str, str]]] = [
    ("character(5)", ["ann", "ann  ", "ann "], {}),
    ("bpchar", ["ann", "ann  ", "ann "], {}),
    ("mood", ["a", "a"], {}),
    ("uuid", ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc999c0b4ef8bb6d6bb9bd380a11"], {}),
    ("timestamptz", ["2024-02-29 12:00:00+00", "2024-02-29 14:00:00+02"], {}),
    ("numeric", ["7", "7.0", "7.000000", "007.00"], {"id": "text"}),
    ("numeric", ["7", "7.0", "7.000000", "007.00"], {"id": "integer"}),
    ("double precision", ["0", "-0"], {"id": "integer"}),
    ("bigint", ["7", "07"], {"id": "text"}),
]


@pytest.mark.parametrize(("sql_type", "ids", "columns"), KEPT)
def test_what_postgres_holds_equal_is_one_unit(
    in_postgres: Made, monkeypatch: pytest.MonkeyPatch, sql_type: str, ids: list[str], columns: dict[str, str]
) -> None:
    _, source = in_postgres(sql_type, ids)
    assert given_to_mechanisms(source, monkeypatch, columns=columns) == [1, 1]


def test_long_texts_of_postgres_are_not_cut_into_one(in_postgres: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut after so many characters two people would be one: such an id is missing."""
    _, source = in_postgres("text", ["x" * 1_100_000 + end for end in "abc"] + ["short"])
    assert given_to_mechanisms(source, monkeypatch) == [1, 1]


# ── Spark ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_spark_holds_equal(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    names = spark.createDataFrame([("ann",), ("Ann",), ("ANN",)], "id STRING")
    for collation in ("UTF8_LCASE", "UNICODE_CI", "UNICODE"):
        with pytest.raises(EngineError, match="collation"):
            discreet.connect({"t": names.selectExpr(f"id COLLATE {collation} AS id")}, unit="id", epsilon=1, ledger=":memory:")
    spelt = names.selectExpr("lower(id COLLATE UTF8_LCASE) COLLATE UTF8_BINARY AS id")
    assert given_to_mechanisms(spelt, monkeypatch) == [1, 1]
    decimals = spark.createDataFrame([("7",), ("7.0",)], "id STRING").selectExpr("CAST(id AS DECIMAL(20, 3)) AS id")
    with pytest.raises(EngineError, match=r'columns=\{"id": "text"\}'):
        discreet.connect({"t": decimals}, unit="id", epsilon=1, ledger=":memory:")
    for kind in ("text", "integer"):
        assert given_to_mechanisms(decimals, monkeypatch, columns={"id": kind}) == [1, 1]
    zeros = spark.createDataFrame([(0.0,), (-0.0,), (float("nan"),), (1.5,), (1e300,)], "id DOUBLE")
    assert given_to_mechanisms(zeros, monkeypatch, columns={"id": "integer"}) == [1, 1]


def test_broken_texts_of_spark_are_missing_where_they_tell_units_apart(spark: Any) -> None:
    """Repaired, two of them would be one."""
    broken = spark.sql("SELECT CAST(id AS STRING) AS id FROM VALUES (X'61ff'), (X'61fe'), (X'61') AS v(id)")
    with Spark.open({"t": broken}, identities={"t": ["id"]}) as engine:
        assert sorted(engine.read_public("SELECT id FROM t")["id"].tolist(), key=str) == [None, None, "a"]
