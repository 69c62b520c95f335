"""A CSV file as Parquet files in the scratch folder: read once, at the first question, and cut into records by us."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.records import MOST, pieces
from discreet.engines.duckdb.sources import LONGEST_HEADER, Csv
from discreet.errors import EngineError

_TOGETHER = 8  # pieces that are read at the same time, and make one file


def prepare(connection: duckdb.DuckDBPyConnection, source: Csv, folder: Path) -> str:
    """The relation that a CSV file will be: texts, and as yet no row."""
    folder.mkdir()
    columns = ", ".join(f"CAST(NULL AS VARCHAR) AS {DUCKDB.identifier(column)}" for column in source.header)
    _write(connection, f"SELECT {columns} LIMIT 0", folder / "empty.parquet")
    return f"read_parquet({DUCKDB.text(str(folder))} || '/*.parquet', hive_partitioning=false)"


def require_room(folder: Path, sources: Iterable[Csv]) -> None:
    """There must be as much room as the files themselves take, though what is kept is packed and mostly smaller."""
    needed = sum(Path(source.path).stat().st_size for source in sources)
    if shutil.disk_usage(folder).free < needed:
        raise EngineError(
            f"{folder.parent} has no room for a copy of the CSV files: make some, or set TMPDIR to a folder with more and connect again"
        )


def load(connection: duckdb.DuckDBPyConnection, source: Csv, folder: Path) -> None:
    """Read the rows.

    A record with too few fields is left out, and so is one that is no UTF-8; further fields are ignored. Each is read by itself, so none
    changes how another is read, and none makes an error.
    """
    for old in folder.glob("rows-*"):
        old.unlink()  # of an attempt that was interrupted
    with open_text(source) as file:
        file.readline(LONGEST_HEADER)
        first = source.delimiter.join(f"c{i}" for i in range(len(source.header))).encode() + b"\n"
        waiting: list[Path] = []
        for number, piece in enumerate(pieces(file, source.delimiter)):
            assert len(piece) < MOST
            waiting.append(folder / f"rows-{number}.csv")
            # a first line of ours: DuckDB drops a byte order mark at the beginning of a file, and a row might begin with one
            waiting[-1].write_bytes(first + piece)
            if len(waiting) == _TOGETHER:
                _convert(connection, source, waiting)
        if waiting:
            _convert(connection, source, waiting)


def open_text(source: Csv) -> BinaryIO:
    """The bytes of a text file, unpacked."""
    return cast(BinaryIO, gzip.open(source.path)) if source.path.lower().endswith(".gz") else Path(source.path).open("rb")


def _convert(connection: duckdb.DuckDBPyConnection, source: Csv, waiting: list[Path]) -> None:
    """Make one Parquet file of pieces. Everything is said, so nothing is sniffed; one buffer holds a piece, so nothing is split."""
    files = ", ".join(DUCKDB.text(str(file)) for file in waiting)
    names = ", ".join(f"{DUCKDB.text(column)}: 'VARCHAR'" for column in source.header)
    said = [
        f"columns={{{names}}}, delim={DUCKDB.text(source.delimiter)}, quote='\"', escape='\"', comment='', nullstr='', header=true",
        "auto_detect=false, ignore_errors=true, strict_mode=false, null_padding=false, compression='none', hive_partitioning=false",
        f"parallel=false, buffer_size={MOST}, max_line_size={MOST}",
    ]
    rows = f"SELECT * FROM read_csv([{files}], {', '.join(said)})"
    _write(connection, rows, waiting[0].with_suffix(".parquet"))
    for file in waiting:
        file.unlink()
    waiting.clear()


def _write(connection: duckdb.DuckDBPyConnection, rows: str, file: Path) -> None:
    connection.execute(f"COPY ({rows}) TO {DUCKDB.text(str(file))} (FORMAT parquet, COMPRESSION zstd)")
