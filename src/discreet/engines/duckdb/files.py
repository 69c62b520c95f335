"""What can be known of files without reading a row: that they are there, and which columns they have."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, final

import duckdb
from attrs import frozen

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.sources import Csv, Database, Parquet, Source, read_header
from discreet.errors import EngineError

Stored: TypeAlias = Mapping[str, tuple[tuple[object, ...], ...]]
"""How each column is stored: one line for itself and one for each part of it."""


@final
@frozen(eq=False)
class Looked:
    """What was seen of a source's files."""

    files: Mapping[str, tuple[int, int]]  # size and time
    columns: Stored


def look(connection: duckdb.DuckDBPyConnection, name: str, source: Source, before: Looked | None = None) -> Looked | None:
    """See whether files can be read as one table, and as the same one as before; None for what is no file.

    Only the names of files, the first line of a text file and the schemas of Parquet files are read, of these only what has changed.
    """
    match source:
        case Parquet():
            return _parquet(connection, name, source, before)
        case Csv():
            if read_header(name, Path(source.path), source.delimiter) != source.header:
                raise _changed(name)
        case Database() if not Path(source.path).is_file():
            raise _gone(name)
    return None


def _parquet(connection: duckdb.DuckDBPyConnection, name: str, source: Parquet, before: Looked | None) -> Looked:
    files = _files(connection, name, source)
    if before is not None and files == before.files:
        return before
    new = [file for file, stamp in files.items() if before is None or before.files.get(file) != stamp]
    found = _schemas(connection, new)
    columns = before.columns if before is not None else found[new[0]]
    for file in new:
        _require_same(name, columns, found[file], before is not None)
    if source.is_folder:
        _require_no_partitions(name, source, files, columns)
    return Looked(files, columns)


def _files(connection: duckdb.DuckDBPyConnection, name: str, source: Parquet) -> dict[str, tuple[int, int]]:
    listed = connection.execute(f"SELECT file FROM glob({DUCKDB.text(source.pattern)}) ORDER BY file").fetchall()
    files: dict[str, tuple[int, int]] = {}
    for (file,) in listed if source.is_folder else [(source.place,)]:
        try:
            stat = Path(file).stat()
        except OSError:
            raise _gone(name) from None
        files[str(file)] = stat.st_size, stat.st_mtime_ns
    if not files:
        raise EngineError(f"{name}: there is no Parquet file in {source.place}: name a folder or a pattern that has some")
    return files


def _schemas(connection: duckdb.DuckDBPyConnection, files: list[str]) -> dict[str, Stored]:
    """The columns of each file, with how they are stored."""
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


def _columns(lines: list[tuple[object, ...]]) -> Stored:
    """The lines of a schema, by column: the first line is the whole, each is followed by its parts."""
    columns: dict[str, tuple[tuple[object, ...], ...]] = {}
    at = 1
    while at < len(lines):
        start, open_parts = at, 1
        while open_parts and at < len(lines):
            open_parts += int(str(lines[at][1])) - 1
            at += 1
        columns[str(lines[start][0])] = tuple(lines[start:at])
    return columns


def _require_same(name: str, columns: Stored, others: Stored, opened: bool) -> None:
    """All files must have the same columns, stored in the same way: else a question fails, or a cast does, which would show a value."""
    if columns == others:
        return
    if opened:
        raise _changed(name)
    if lacking := sorted(columns.keys() ^ others.keys()):
        raise EngineError(
            f"{name}: not all of its files have {_listed(lacking)}: write them again with the same columns, or name one folder each"
        )
    different = sorted(column for column in columns if columns[column] != others[column])
    raise EngineError(f"{name}: its files store {_listed(different)} in different types: write them again with one schema")


def _require_no_partitions(name: str, source: Parquet, files: Mapping[str, tuple[int, int]], columns: Stored) -> None:
    """Folders named column=value hold a column that no file has."""
    folders = {part for file in files for part in os.path.relpath(file, source.place).split(os.sep)[:-1] if "=" in part}
    if lacking := sorted({folder.split("=")[0] for folder in folders} - columns.keys()):
        raise EngineError(
            f"{name}: {_listed(lacking)} is told by the names of folders ({lacking[0]}=…) and not stored in the files, and folders are not "
            "read as columns: write the files again with it (in DuckDB: COPY … (PARTITION_BY …, WRITE_PARTITION_COLUMNS))"
        )


def _exactly(file: str) -> str:
    """A pattern that means one file."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in file)


def _listed(columns: list[str]) -> str:
    return ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")


def _gone(name: str) -> EngineError:
    return EngineError(f"{name}: a file of it is gone: put it back, or connect again")


def _changed(name: str) -> EngineError:
    return EngineError(f"{name}: its files have other columns than when it was opened: put them back, or connect again")
