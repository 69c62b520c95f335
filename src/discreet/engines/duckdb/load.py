"""Load a CSV file into Parquet files in the scratch folder: once, at the first question, split into records by us."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.records import MOST, record_blocks
from discreet.engines.duckdb.sources import LONGEST_HEADER, Csv
from discreet.errors import EngineError

_TOGETHER = 8  # blocks that are read at the same time and make one Parquet file


def prepare(connection: duckdb.DuckDBPyConnection, source: Csv, folder: Path) -> str:
    """The relation that a CSV file will be loaded into: columns of texts, and no row yet."""
    folder.mkdir()
    columns = ", ".join(f"CAST(NULL AS VARCHAR) AS {DUCKDB.identifier(column)}" for column in source.header)
    _write(connection, f"SELECT {columns} LIMIT 0", folder / "empty.parquet")
    return f"read_parquet({DUCKDB.text(str(folder))} || '/*.parquet', hive_partitioning=false)"


def require_disk_space(folder: Path, sources: Iterable[Csv]) -> None:
    """Require as much free space as the files themselves take; the compressed copy is mostly smaller."""
    needed = sum(Path(source.path).stat().st_size for source in sources)
    if shutil.disk_usage(folder).free < needed:
        raise EngineError(
            f"{folder.parent} has no space for a copy of the CSV files: free some, or set TMPDIR to a folder with more and connect again"
        )


def load(connection: duckdb.DuckDBPyConnection, source: Csv, folder: Path) -> None:
    """Load the rows.

    A record with too few fields is dropped, and so is one that is not UTF-8; extra fields are ignored. Each record is read by itself, so
    none changes how another is read, and none causes an error.
    """
    for old in folder.glob("rows-*"):
        old.unlink()  # left by an interrupted attempt
    with open_text(source) as file:
        file.readline(LONGEST_HEADER)
        first = source.delimiter.join(f"c{i}" for i in range(len(source.header))).encode() + b"\n"
        waiting: list[Path] = []
        for number, block in enumerate(record_blocks(file, source.delimiter)):
            assert len(block) < MOST
            waiting.append(folder / f"rows-{number}.csv")
            # a header of ours: DuckDB drops a byte order mark at the start of a file, and a row might begin with one
            waiting[-1].write_bytes(first + block)
            if len(waiting) == _TOGETHER:
                _convert(connection, source, waiting)
        if waiting:
            _convert(connection, source, waiting)


def open_text(source: Csv) -> BinaryIO:
    """The bytes of a CSV file, decompressed."""
    return cast(BinaryIO, gzip.open(source.path)) if source.path.lower().endswith(".gz") else Path(source.path).open("rb")


def _convert(connection: duckdb.DuckDBPyConnection, source: Csv, waiting: list[Path]) -> None:
    """Convert blocks into one Parquet file. All options are given, so nothing is sniffed; a buffer holds a block, so nothing is split."""
    files = ", ".join(DUCKDB.text(str(file)) for file in waiting)
    names = ", ".join(f"{DUCKDB.text(column)}: 'VARCHAR'" for column in source.header)
    options = [
        f"columns={{{names}}}, delim={DUCKDB.text(source.delimiter)}, quote='\"', escape='\"', comment='', nullstr='', header=true",
        "auto_detect=false, ignore_errors=true, strict_mode=false, null_padding=false, compression='none', hive_partitioning=false",
        f"parallel=false, buffer_size={MOST}, max_line_size={MOST}",
    ]
    rows = f"SELECT * FROM read_csv([{files}], {', '.join(options)})"
    _write(connection, rows, waiting[0].with_suffix(".parquet"))
    for file in waiting:
        file.unlink()
    waiting.clear()


def _write(connection: duckdb.DuckDBPyConnection, rows: str, file: Path) -> None:
    connection.execute(f"COPY ({rows}) TO {DUCKDB.text(str(file))} (FORMAT parquet, COMPRESSION zstd)")
