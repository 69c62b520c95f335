"""How columns of each source are read, and which are not."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl

from discreet.engines.duckdb.read_options import read_options, unsupported_columns
from discreet.engines.duckdb.sources import Csv, Database, LocalFrame, Parquet
from discreet.engines.duckdb.view import ReadOptions


def test_options_by_source() -> None:
    assert read_options(Csv("x.csv", ",", ("id", "cost")), ["id"]) == ReadOptions(("id", "cost"), of_csv=True, identities=["id"])
    frame = LocalFrame(None, texts=("o",), unchecked=True)
    assert read_options(frame, ()) == ReadOptions(("o",), any_kind=True, checked=False)
    assert read_options(Database("x.duckdb", "t"), ["id"]) == ReadOptions(identities=["id"])


def test_timestamps_in_milliseconds_are_not_read_from_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"ms": [0], "us": [0]}).select(pl.col("ms").cast(pl.Datetime("ms")), pl.col("us").cast(pl.Datetime("us")))
    frame.write_parquet(tmp_path / "t.parquet")
    source = Parquet(str(tmp_path / "t.parquet"), str(tmp_path / "t.parquet"), is_folder=False)
    connection = duckdb.connect(":memory:")
    assert unsupported_columns(connection, source, ["ms", "us"]) == ("ms",)
    assert unsupported_columns(connection, source, ["us"]) == ()


def test_frames_know_their_unsupported_columns() -> None:
    connection = duckdb.connect(":memory:")
    assert unsupported_columns(connection, LocalFrame(None, unsupported=("o",)), ["o"]) == ("o",)
    assert unsupported_columns(connection, Csv("x.csv", ",", ("id",)), ["id"]) == ()
