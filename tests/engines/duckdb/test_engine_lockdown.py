"""A locked door, and errors that say nothing."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from engines.visits import TABLE

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import FAILED
from discreet.errors import EngineError

# ── lock-down ────────────────────────────────────────────────────────────────────────────────────────────────────────

DENIED = [
    "SELECT * FROM read_text('{folder}/outside.txt')",
    "SELECT * FROM read_blob('{folder}/outside.txt')",
    "SELECT * FROM '{folder}/visits.csv'",
    "SELECT * FROM read_csv('{folder}/visits.csv')",
    "SELECT * FROM read_parquet('{folder}/many/part.parquet')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_json_auto('/etc/passwd')",
    "COPY visits TO '{folder}/visits.parquet'",
    "COPY visits TO '{folder}/new.csv'",
    "EXPORT DATABASE '{folder}/export'",
    "ATTACH '{folder}/visits.duckdb' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 1",
    "RESET lock_configuration",
    "SET enable_external_access = true",
    "PRAGMA database_list",
    "SELECT * FROM local_variable",
    "SELECT * FROM HOSTILE",
    "CREATE TABLE mine AS SELECT 1",
    "DROP VIEW visits",
    "CREATE MACRO f() AS 1",
    "SELECT 1; SELECT 2",
    "SELECT * FROM query('COPY visits TO ''{folder}/q.csv''')",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE SELECT 1",
    "",
    "CREATE SECRET (TYPE s3)",
    "SELECT * FROM sqlite_scan('{folder}/x', 't')",
    "SELECT getenv('HOME') AS h",
    "CHECKPOINT",
    "this is no SQL",
]


@pytest.mark.parametrize("sql", DENIED)
def test_hostile_statements_fail_alike(engine: DuckDB, folder: Path, sql: str) -> None:
    local_variable = {"v": np.array([1])}  # a replacement scan would find it
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(EngineError) as caught:
        engine.run(sql.format(folder=folder))
    assert str(caught.value) == FAILED
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert sorted(path.name for path in folder.iterdir()) == before
    assert len(engine.read_public("SELECT id FROM visits")["id"]) == 3
    assert local_variable


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST(dept AS INTEGER) FROM visits",
        "SELECT error(dept) FROM visits",
        "SELECT strptime(dept, '%Y') FROM visits",
        "SELECT (SELECT dept FROM visits)",
        "SELECT SECRET FROM visits",
    ],
)
def test_errors_contain_no_data(engine: DuckDB, sql: str) -> None:
    for run in (engine.run, engine.read_public):
        with pytest.raises(EngineError) as caught:
            run(sql)
        assert "SECRET" not in str(caught.value)
        assert str(caught.value) == FAILED
        assert caught.value.__context__ is None


def test_settings_are_those_of_a_locked_room(engine: DuckDB) -> None:
    found = engine.read_public("SELECT name, CAST(value AS VARCHAR) AS value FROM duckdb_settings()")
    settings = dict(zip(found["name"], found["value"], strict=True))
    off = ["enable_external_access", "autoinstall_known_extensions", "autoload_known_extensions", "python_enable_replacements"]
    assert [settings[name] for name in off] == ["false"] * len(off)
    assert settings["lock_configuration"] == "true"
    assert settings["pandas_analyze_sample"] == "0"


def test_a_users_connection_is_left_as_it_was() -> None:
    with duckdb.connect() as user:
        user.execute(TABLE)
        look = "SELECT name, value FROM duckdb_settings() ORDER BY name"
        before = user.execute(look).fetchall()
        with DuckDB.open({"other": (user, "visits"), "visits": user}) as engine:
            assert len(engine.read_public("SELECT * FROM other, visits WHERE other.id = visits.id")) == 12
        assert user.execute(look).fetchall() == before
        assert user.execute("SELECT table_name FROM information_schema.tables").fetchall() == [("visits",)]


def test_a_database_file_is_opened_for_reading_only(folder: Path) -> None:
    with DuckDB.open({"v": (folder / "visits.duckdb", "visits")}) as engine:
        for sql in ("INSERT INTO source_0.visits SELECT * FROM source_0.visits", "DROP TABLE source_0.visits"):
            with pytest.raises(EngineError):
                engine.run(sql)
        assert len(engine.read_public("SELECT id FROM v")["id"]) == 3
