"""Where a table comes from: a file, a data frame, or a table of a database."""

from __future__ import annotations

import csv
import datetime
import glob
import gzip
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias, final
from uuid import UUID

import numpy as np
from attrs import frozen

from discreet.errors import EngineError

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_DATABASES = (".duckdb", ".ddb", ".db")
LONGEST_HEADER = 2**20  # characters
_PLAIN = (str, bool, int, float, Decimal, datetime.date, UUID, np.generic)  # what an object column may hold; the rest counts as missing


_UNREAD_POLARS = ("Object", "Int128", "UInt128", "Float16", "Unknown")  # types that DuckDB would refuse with the whole table
_UNREAD_ARROW = ("halffloat", "decimal256", "run_end_encoded", "dense_union", "month_interval", "list_view", "large_list_view")


@final
@frozen
class Parquet:
    """One Parquet file, or all that a pattern names, which must have the same columns."""

    pattern: str
    place: str  # the file, or the folder in which the pattern looks
    is_folder: bool = True


@final
@frozen
class Csv:
    """A text file with a header, separated by commas (.csv) or tabs (.tsv), in UTF-8, perhaps packed (.gz).

    Columns are texts until a kind is declared for them, and an empty field is missing. It is read once, at the first question, into the
    scratch folder (`load.py`). How its records are told apart is said in `records.py`.

    Assumes. Every record is well quoted: a quote that is never closed takes the rows that follow into its field.
    """

    path: str
    delimiter: str
    header: tuple[str, ...]


@final
@frozen
class Database:
    """A table of a database file, which is opened for reading only."""

    path: str
    table: str


@final
@frozen(eq=False)
class Frame:
    """A data frame in memory; `texts` are the columns whose stored type says nothing, `unread` those of a type that we do not use."""

    frame: Any
    texts: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@final
@frozen(eq=False)
class Stored:
    """A table of a connection that the user keeps."""

    connection: Any
    table: str


Source: TypeAlias = Parquet | Csv | Database | Frame | Stored


def read_source(name: str, given: Any) -> Source:
    """Find out what a source is, from its type and its name and without reading values."""
    match given:
        case str() | Path():
            return _file(name, str(given), name)
        case (str() | Path() as path, str() as table):
            return _file(name, str(path), table)
        case (connection, str() as table) if _library(connection) in ("duckdb", "_duckdb"):
            return Stored(connection, table)
    match _library(given):
        case "duckdb" | "_duckdb":
            return Stored(given, name)
        case "pandas" if type(given).__name__ == "DataFrame":
            return _pandas(name, given)
        case "polars" if type(given).__name__ in ("DataFrame", "LazyFrame"):
            return _polars(name, given)
        case "pyarrow" if type(given).__name__ == "RecordBatchReader":
            return _arrow(name, given.read_all())  # a stream can be read only once
        case "pyarrow" if type(given).__name__ in ("Table", "RecordBatch"):
            return _arrow(name, given)
        case "pyarrow" if hasattr(given, "schema") and hasattr(given, "scanner"):
            return Frame(given)  # a dataset
    raise EngineError(f"{name}: give a path to Parquet or CSV, a pandas, Polars or Arrow table, or a DuckDB connection")


def _library(value: object) -> str:
    return type(value).__module__.split(".")[0]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _file(name: str, given: str, table: str) -> Source:
    if "://" in given:
        raise EngineError(f"{name}: only local files are read; mount or copy it")
    path = Path(given).expanduser().absolute()
    if path.is_dir():
        return Parquet(f"{glob.escape(str(path))}/**/*.parquet", str(path))
    if not path.exists():
        place = fixed_part(path)
        if place == path.parent and not glob.has_magic(path.name):
            raise EngineError(f"{name}: there is no file {given}")
        if not place.is_dir() or path.suffix.lower() not in (".parquet", ".pq"):
            raise EngineError(f"{name}: a pattern must lie in a folder that is there and end in .parquet: {given} does not")
        return Parquet(f"{glob.escape(str(place))}/{path.relative_to(place)}", str(place))
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending in _DELIMITERS:
        return Csv(str(path), _DELIMITERS[ending], read_header(name, path, _DELIMITERS[ending]))
    if path.suffix.lower() in (".parquet", ".pq"):
        return Parquet(glob.escape(str(path)), str(path), is_folder=False)
    if path.suffix.lower() in _DATABASES:
        return Database(str(path), table)
    raise EngineError(f"{name}: {path.name} must end in .parquet, .csv, .tsv (.gz) or .duckdb")


def fixed_part(pattern: Path) -> Path:
    """The folder of a pattern up to its first sign that stands for others."""
    magic = next((i for i, part in enumerate(pattern.parts) if glob.has_magic(part)), len(pattern.parts) - 1)
    return Path(*pattern.parts[:magic])


def read_header(name: str, path: Path, delimiter: str) -> tuple[str, ...]:
    """The names in the first line; nothing else of the file is looked at."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            line = file.readline(LONGEST_HEADER)
        if len(line) == LONGEST_HEADER:
            raise csv.Error
        names = tuple(next(csv.reader([line.decode("utf-8-sig").rstrip("\r\n")], delimiter=delimiter, strict=True)))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, StopIteration):
        raise EngineError(f"{name}: the first line must hold the names of the columns, in UTF-8 and well quoted") from None
    return check_names(name, names)


def check_names(name: str, columns: tuple[Any, ...]) -> tuple[str, ...]:
    """Column names must be told apart without looking at case, as SQL does."""
    if not all(isinstance(column, str) and column for column in columns):
        raise EngineError(f"{name}: every column must have a name that is a text")
    if not columns or len({column.casefold() for column in columns}) != len(columns):
        raise EngineError(f"{name}: the names of the columns must differ in more than upper and lower case, and there must be one")
    return columns


# ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pandas(name: str, frame: Any) -> Frame:
    """Make texts of object columns, whose type an engine would guess from their values; other dtypes are kept as they are."""
    check_names(name, tuple(frame.columns))
    texts = tuple(column for column, dtype in frame.dtypes.items() if _says_nothing(dtype))
    unread = tuple(column for column, dtype in frame.dtypes.items() if column not in texts and not _is_known(dtype))
    kept = frame.drop(columns=list(unread)) if unread else frame
    if texts:
        kept = kept.assign(**{column: _texts(kept[column].astype(object).to_numpy()) for column in texts})
    return Frame(kept, texts, unread)


def _says_nothing(dtype: Any) -> bool:
    """Whether a pandas dtype leaves open what the values are: object, texts kept as Python objects, and categories that are not texts."""
    named = str(dtype)
    return (
        getattr(dtype, "storage", "") == "python"
        or named == "object"
        or (named == "category" and str(dtype.categories.dtype) not in ("str", "string"))
    )


def _is_known(dtype: Any) -> bool:
    named = str(dtype)
    return (getattr(dtype, "kind", "O") in "biufM" and not named.startswith("Sparse")) or named in ("str", "string", "category")


def _texts(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = [_text(value) for value in values]
    return found


def _text(value: Any) -> str | None:
    """A text as it is, plain values as Python writes them, and None for all else; it never fails, whatever the value."""
    try:
        if not isinstance(value, _PLAIN) or value != value:
            return None
        text = str(value)
    except Exception:  # such as integers of more than 4300 digits
        return None
    # lone surrogates cannot be stored; an error there would tell that there is one
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _polars(name: str, frame: Any) -> Frame:
    schema = frame.collect_schema()
    check_names(name, tuple(schema))
    unread = tuple(column for column, dtype in schema.items() if str(dtype).split("(")[0] in _UNREAD_POLARS)
    return Frame(frame.drop(list(unread)) if unread else frame, unread=unread)


def _arrow(name: str, table: Any) -> Frame:
    check_names(name, tuple(table.schema.names))
    unread = tuple(field.name for field in table.schema if str(field.type).startswith(_UNREAD_ARROW))
    return Frame(table.select([column for column in table.schema.names if column not in unread]) if unread else table, unread=unread)
