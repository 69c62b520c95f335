"""Checks of files that read no row: whether they exist, and which columns they have."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, final

import duckdb
from attrs import frozen

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.sources import Csv, Database, DuckDBSource, Parquet, read_header
from discreet.engines.paths import require_no_partitions
from discreet.errors import EngineError

ParquetSchema: TypeAlias = Mapping[str, tuple[tuple[object, ...], ...]]
"""The schema lines of each column: one for the column and one for each nested part."""


@final
@frozen(eq=False)
class FileState:
    """The files of a source and their schema, as last checked."""

    files: Mapping[str, tuple[int, int]]  # size and modification time
    columns: ParquetSchema


def check_files(
    connection: duckdb.DuckDBPyConnection, name: str, source: DuckDBSource, before: FileState | None = None
) -> FileState | None:
    """Check that files make one table, with the same schema as before; None for sources other than Parquet files.

    Only the names of files, the first line of a CSV file, and the schemas of Parquet files that have changed are read.
    """
    match source:
        case Parquet():
            return _parquet(connection, name, source, before)
        case Csv():
            if read_header(name, Path(source.path), source.delimiter) != source.header:
                raise _changed(name)
        case Database() if not Path(source.path).is_file():
            raise _missing(name)
    return None


def _parquet(connection: duckdb.DuckDBPyConnection, name: str, source: Parquet, before: FileState | None) -> FileState:
    files = _files(connection, name, source)
    if before is not None and files == before.files:
        return before
    new = [file for file, stamp in files.items() if before is None or before.files.get(file) != stamp]
    found = _schemas(connection, new)
    columns = before.columns if before is not None else found[new[0]]
    for file in new:
        _require_same(name, columns, found[file], before is not None)
    if source.is_folder:
        _require_stored(name, source, files, columns)
    return FileState(files, columns)


def _files(connection: duckdb.DuckDBPyConnection, name: str, source: Parquet) -> dict[str, tuple[int, int]]:
    listed = connection.execute(f"SELECT file FROM glob({DUCKDB.text(source.pattern)}) ORDER BY file").fetchall()
    files: dict[str, tuple[int, int]] = {}
    for (file,) in listed if source.is_folder else [(source.place,)]:
        try:
            stat = Path(file).stat()
        except OSError:
            raise _missing(name) from None
        files[str(file)] = stat.st_size, stat.st_mtime_ns
    if not files:
        raise EngineError(f"{name}: there is no Parquet file in {source.place}: give a folder or a pattern that has some")
    return files


def _schemas(connection: duckdb.DuckDBPyConnection, files: list[str]) -> dict[str, ParquetSchema]:
    """The schema of each file."""
    if not files:
        return {}
    asked = ", ".join(DUCKDB.text(_exactly(file)) for file in files)
    rows = connection.execute(
        "SELECT file_name, name, COALESCE(num_children, 0), type, type_length, repetition_type = 'REPEATED', converted_type, "
        f"scale, precision, logical_type FROM parquet_schema([{asked}])"
    ).fetchall()
    lines: dict[str, list[tuple[object, ...]]] = {file: [] for file in files}
    for file, *line in rows:
        lines[str(file)].append(tuple(line))
    return {file: _columns(found) for file, found in lines.items()}


def _columns(lines: list[tuple[object, ...]]) -> ParquetSchema:
    """The lines of a schema by column. The first line is the whole schema; each line is followed by its nested parts."""
    columns: dict[str, tuple[tuple[object, ...], ...]] = {}
    at = 1
    while at < len(lines):
        start, open_parts = at, 1
        while open_parts and at < len(lines):
            open_parts += int(str(lines[at][1])) - 1
            at += 1
        columns[str(lines[start][0])] = tuple(lines[start:at])
    return columns


def _require_same(name: str, columns: ParquetSchema, others: ParquetSchema, opened: bool) -> None:
    """All files must have the same columns of the same types: otherwise a query or a cast may fail, which would reveal a value."""
    if columns == others:
        return
    if opened:
        raise _changed(name)
    if missing := sorted(columns.keys() ^ others.keys()):
        raise EngineError(
            f"{name}: not all of its files have {_listed(missing)}: write them again with the same columns, or give each its own folder"
        )
    different = sorted(column for column in columns if columns[column] != others[column])
    raise EngineError(f"{name}: its files store {_listed(different)} in different types: write them again with one schema")


def _require_stored(name: str, source: Parquet, files: Mapping[str, tuple[int, int]], columns: ParquetSchema) -> None:
    folders = {part for file in files for part in os.path.relpath(file, source.place).split(os.sep)[:-1]}
    require_no_partitions(name, folders, columns, " (in DuckDB: COPY … (PARTITION_BY …, WRITE_PARTITION_COLUMNS))")


def _exactly(file: str) -> str:
    """A glob pattern that matches only this file."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in file)


def _listed(columns: list[str]) -> str:
    return ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")


def _missing(name: str) -> EngineError:
    return EngineError(f"{name}: one of its files is missing: restore it, or connect again")


def _changed(name: str) -> EngineError:
    return EngineError(f"{name}: the columns of its files have changed since it was opened: restore the files, or connect again")
