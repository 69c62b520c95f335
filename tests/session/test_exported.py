"""Releases in other tools: intervals are columns everywhere, and what the numbers mean travels with them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from session.clinic import clinic

from discreet.ledger.receipt import Receipt
from discreet.session.release import Release

NAMES = ["dept", "n", "n_low", "n_high", "m", "m_low", "m_high"]


@pytest.fixture(scope="module")
def release() -> Iterator[Release]:
    with clinic() as db:
        yield db.ask("SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY dept", epsilon=0.5)


def check(told: Any, release: Release) -> None:
    """The metadata of a release."""
    assert (told["protects"], told["epsilon"], told["delta"], told["confidence"]) == ("each patient_id", "0.5", "0", 0.95)
    assert told["columns"]["n"] == {"role": "answer", "measures": "number of rows", "low": "n_low", "high": "n_high"}
    assert told["columns"]["dept"] == {"role": "key"}
    assert any("clipping cost to 0 … 500" in note for note in told["notes"])
    assert "Laplace" in told["method"]
    assert Receipt.from_json(told["receipt"]) == release.receipt


def test_arrow(release: Release) -> None:
    table = release.to_arrow()
    assert table.column_names == NAMES
    check(json.loads(table.schema.metadata[b"discreet"]), release)
    fields = {field.name: json.loads(field.metadata[b"discreet"]) for field in table.schema}
    assert fields["n_low"] == {"role": "low end", "of": "n", "confidence": 0.95}
    assert fields["m"]["of"] == "cost"
    assert release.to_arrow(intervals=False).column_names == ["dept", "n", "m"]


def test_parquet_keeps_it(release: Release, tmp_path: Path) -> None:
    release.to_parquet(tmp_path / "answer.parquet")
    table = pq.read_table(tmp_path / "answer.parquet")
    assert table.equals(release.to_arrow())
    check(json.loads(table.schema.metadata[b"discreet"]), release)
    check(json.loads(polars.read_parquet_metadata(tmp_path / "answer.parquet")["discreet"]), release)
    query = f"SELECT decode(value) FROM parquet_kv_metadata('{tmp_path / 'answer.parquet'}') WHERE decode(key) = 'discreet'"
    check(json.loads(duckdb.sql(query).fetchall()[0][0]), release)


def test_csv_has_it_beside_it(release: Release, tmp_path: Path) -> None:
    release.to_csv(tmp_path / "answer.csv")
    with (tmp_path / "answer.csv").open() as file:
        assert next(csv.reader(file)) == NAMES
    said = json.loads((tmp_path / "answer.csv-metadata.json").read_text())
    assert (said["@context"], said["url"]) == ("http://www.w3.org/ns/csvw", "answer.csv")
    assert [column["name"] for column in said["tableSchema"]["columns"]] == NAMES
    check(said["discreet"], release)
    release.to_csv(tmp_path / "alone.csv", sidecar=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["alone.csv", "answer.csv", "answer.csv-metadata.json"]


def test_a_stream_for_every_library(release: Release) -> None:
    assert pa.table(release).equals(release.to_arrow())
    assert polars.DataFrame(release).equals(release.to_polars())
    assert duckdb.sql("SELECT dept, n_low FROM release ORDER BY dept").fetchall() == sorted(
        (row["dept"], ends["n"][0]) for row, ends in zip(release.rows, release.intervals, strict=True)
    )
    assert list(pandas.DataFrame.from_arrow(release).columns) == NAMES


def test_narwhals(release: Release) -> None:
    narwhals = pytest.importorskip("narwhals")
    for frame in (narwhals.from_arrow(release, backend="polars"), narwhals.from_native(release.to_arrow())):
        assert frame.columns == NAMES
        assert frame.filter(narwhals.col("dept") == "er")["n_low"].to_list() == [release.intervals[0]["n"][0]]


def test_ibis(release: Release) -> None:
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("pyarrow_hotfix", reason="ibis-framework[duckdb] is not installed")
    table = ibis.memtable(release.to_arrow())
    assert list(table.columns) == NAMES
    assert table.filter(table.dept == "er").n_low.execute().tolist() == [release.intervals[0]["n"][0]]


def test_answers_that_are_all_missing_are_numbers() -> None:
    with clinic(keys={"dept": ["nowhere"]}) as db:
        table = db.ask("SELECT dept, AVG(cost) AS m FROM visits GROUP BY dept", epsilon=1).to_arrow()
        assert table["m"].to_pylist() == [None]
        assert {str(table.schema.field(name).type) for name in ("m", "m_low", "m_high")} == {"double"}


def test_a_synthetic_table_says_so(tmp_path: Path) -> None:
    with clinic() as db:
        made = db.synthesize("visits", epsilon=2, columns=["dept", "cost"])
        made.to_parquet(tmp_path / "rows.parquet")
        told = json.loads(pq.read_schema(tmp_path / "rows.parquet").metadata[b"discreet"])
        assert told["columns"] == {"dept": {"role": "synthetic"}, "cost": {"role": "synthetic"}}
        assert (told["kind"], told["epsilon"]) == ("synthetic table", "2")


def test_the_method_has_no_endless_numbers() -> None:
    with clinic() as db:
        told = db.ask("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", epsilon="0.123456789123456789").metadata()
    assert told["method"] == "Laplace noise with ε = 0.1235"
    assert not re.search(r"\d{10}", told["method"])
