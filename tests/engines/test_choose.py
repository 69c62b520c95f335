"""Which engine data belongs to, and what may not be mixed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

from discreet.engines import choose
from discreet.engines.choose import belongs_to, open_engine, tables_of
from discreet.errors import EngineError, Error, Invalid

ADDRESS = "postgresql://host/database"


@pytest.mark.parametrize(
    ("source", "engine"),
    [
        ("visits.parquet", None),
        (Path("visits.csv"), None),
        (("clinic.duckdb", "visits"), None),
        (ADDRESS, "postgres"),
        ((ADDRESS, "clinic.visits"), "postgres"),
        (polars.DataFrame(), "duckdb"),
        (duckdb.connect(":memory:"), "duckdb"),
    ],
)
def test_the_engine_of_a_source(source: Any, engine: str | None) -> None:
    assert belongs_to(source) == engine


def test_spark_is_known_by_its_module() -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    assert belongs_to(frame) == "spark"
    assert belongs_to((frame, "visits")) == "spark"


def test_files_and_frames_open_in_duckdb(tmp_path: Path) -> None:
    frame = polars.DataFrame({"id": [1, 2]})
    frame.write_parquet(tmp_path / "a.parquet")
    with open_engine({"a": tmp_path / "a.parquet", "b": frame}) as engine:
        assert engine.name == "duckdb"
        assert engine.read_public("SELECT COUNT(*) AS n FROM a JOIN b ON a.id = b.id")["n"].tolist() == [2]


@pytest.mark.parametrize(
    ("sources", "engine", "error", "why"),
    [
        ({"a": "a.parquet", "b": ADDRESS}, None, EngineError, "PostgreSQL does not read files: load the file into a table"),
        ({"a": polars.DataFrame(), "b": ADDRESS}, None, EngineError, r"different engines \(duckdb, postgres\): move them all to one"),
        ({"a": polars.DataFrame()}, "postgres", EngineError, "different engines"),
        ({"a": "a.parquet"}, "sqlite", Invalid, "engine must be"),
    ],
)
def test_what_may_not_be_mixed(sources: dict[str, Any], engine: str | None, error: type[Error], why: str) -> None:
    with pytest.raises(error, match=why):
        open_engine(sources, engine=engine)


def test_libraries_are_required_before_they_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []
    monkeypatch.setattr(choose, "require", lambda library, extra=None: asked.append((library, extra)))
    for engine in ("spark", "postgres", "duckdb", None):
        choose.require_libraries(engine)
    assert asked == [("pyspark", "spark"), ("pyarrow", "spark"), ("psycopg", "postgres")]


def test_tables_of_a_connection() -> None:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE a (x INTEGER)")
    found = tables_of(connection)
    assert found == {"a": (connection, "a")}
    assert tables_of(polars.DataFrame()) is None
