"""The table in every kind of file, and an engine that reads one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from engines.visits import CSV, TABLE

from discreet.engines.duckdb.engine import DuckDB


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same table in every kind of file."""
    place = tmp_path_factory.mktemp("sources")
    (place / "many").mkdir()
    with duckdb.connect(str(place / "visits.duckdb")) as connection:
        connection.execute(TABLE)
        for file in ("visits.parquet", "odd [1] name's.parquet", "many/part.parquet"):
            quoted = str(place / file).replace("'", "''")
            connection.execute(f"COPY visits TO '{quoted}' (FORMAT parquet)")
    (place / "visits.csv").write_text(CSV)
    (place / "visits.tsv").write_text(CSV.replace(",", "\t"))
    (place / "outside.txt").write_text("SECRET")
    return place


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[DuckDB]:
    with DuckDB.open({"visits": folder / "visits.parquet"}) as found:
        yield found
