"""Sources are classified by type and name; data frames keep their types, and object columns become texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.engines.duckdb.sources import ConnectionTable, Csv, Database, LocalFrame, Parquet, read_header, read_source
from discreet.errors import EngineError
from discreet.tables.kind import Kind


def test_files_by_their_ending(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.PQ", "c.duckdb", "odd [1].parquet"):
        (tmp_path / name).touch()
    (tmp_path / "d.tsv").write_text("id\tcost\n")
    assert read_source("t", tmp_path / "a.parquet") == Parquet(str(tmp_path / "a.parquet"), str(tmp_path / "a.parquet"), is_folder=False)
    odd = read_source("t", str(tmp_path / "odd [1].parquet"))
    assert isinstance(odd, Parquet)
    assert odd.pattern.endswith("odd [[]1].parquet")
    assert read_source("t", tmp_path / "c.duckdb") == Database(str(tmp_path / "c.duckdb"), "t")
    assert read_source("t", (tmp_path / "c.duckdb", "visits")) == Database(str(tmp_path / "c.duckdb"), "visits")
    assert read_source("t", tmp_path / "d.tsv") == Csv(str(tmp_path / "d.tsv"), "\t", ("id", "cost"))
    assert read_source("t", tmp_path) == Parquet(f"{tmp_path}/**/*.parquet", str(tmp_path))


def test_connections() -> None:
    connection = duckdb.connect(":memory:")
    for source, table in ((connection, "t"), ((connection, "visits"), "visits")):
        found = read_source("t", source)
        assert isinstance(found, ConnectionTable)
        assert (found.connection, found.table) == (connection, table)
    with pytest.raises(EngineError, match=r"pass the DuckDB connection, or the result of \.arrow\(\)"):
        read_source("t", connection.sql("SELECT 1 AS x"))


@pytest.mark.parametrize("header", [b'"a,b\n', b"\xff,b\n", b"a" * (2**20 + 1)], ids=["open quote", "no utf-8", "endless"])
def test_a_header_that_is_none(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(header)
    with pytest.raises(EngineError, match="the first line must contain the column names"):
        read_header("t", tmp_path / "x.csv", ",")


def test_a_header_may_have_a_byte_order_mark_and_quotes(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b'\xef\xbb\xbfid,"a ""b"", c"\r\n1,2\n')
    assert read_header("t", tmp_path / "x.csv", ",") == ("id", 'a "b", c')


def test_pandas_objects_become_texts_and_other_types_stay() -> None:
    frame = pd.DataFrame({"n": [1, 2], "o": pd.Series([1, "x"], dtype=object), "c": pd.Series([1j, 2j])})
    found = read_source("t", frame)
    assert isinstance(found, LocalFrame)
    assert (found.texts, found.unsupported) == (("o",), ("c",))
    assert list(found.frame["o"]) == ["1", "x"]
    assert found.frame["n"].dtype == frame["n"].dtype
    assert list(frame["o"]) == [1, "x"]  # the user's frame does not change


def test_pandas_objects_that_identify_units_need_a_type() -> None:
    frame = pd.DataFrame({"id": pd.Series([1, "1"], dtype=object)})
    with pytest.raises(EngineError, match=r'id identifies units.*columns=\{"id": "text"\}'):
        read_source("t", frame, identities=["id"])
    found = read_source("t", frame, {"id": Kind.TEXT}, ["id"])
    assert isinstance(found, LocalFrame)
    assert [value if isinstance(value, str) else None for value in found.frame["id"]] == [None, "1"]  # 1 is no text


@pytest.mark.parametrize(
    ("frame", "unsupported", "truncated"),
    [
        (pl.DataFrame({"a": [1], "o": pl.Series([object()], dtype=pl.Object)}), ("o",), ()),
        (pl.LazyFrame({"a": [1]}), (), ()),
        (pa.table({"a": [1], "d": pa.array([0], pa.date64())}), (), ("d",)),
        (pa.table({"a": [1], "h": pa.array([0], pa.decimal256(40))}), ("h",), ()),
    ],
)
def test_polars_and_arrow(frame: Any, unsupported: tuple[str, ...], truncated: tuple[str, ...]) -> None:
    found = read_source("t", frame)
    assert isinstance(found, LocalFrame)
    assert (found.unsupported, found.truncated) == (unsupported, truncated)
    assert found.unchecked is isinstance(frame, pa.Table)


def test_zoned_timestamps_are_passed_as_naive_utc() -> None:
    moment = pd.Timestamp("2024-01-01 12:00", tz="Asia/Tokyo")
    for frame in (
        pd.DataFrame({"m": pd.Series([moment]).astype("datetime64[ns, Asia/Tokyo]")}),
        pl.DataFrame({"m": [moment.to_pydatetime()]}).with_columns(pl.col("m").dt.cast_time_unit("ms")),
        pa.table({"m": pa.array([moment.value], pa.timestamp("ns", "Asia/Tokyo"))}),
    ):
        found = read_source("t", frame)
        assert isinstance(found, LocalFrame)
        [(read,)] = (
            duckdb.connect(":memory:").from_arrow(pa.table(found.frame)).fetchall()
            if isinstance(found.frame, pa.Table)
            else [(found.frame["m"][0],)]
        )
        assert pd.Timestamp(read) == pd.Timestamp("2024-01-01 03:00")
