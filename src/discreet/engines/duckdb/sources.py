"""Where a table comes from: a file, a data frame, or a table of a database."""

from __future__ import annotations

import csv
import glob
import gzip
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias, final

from attrs import frozen

from discreet.engines.duckdb import objects
from discreet.engines.identity import objects_as, unkept
from discreet.errors import EngineError
from discreet.tables.kind import Kind

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_DATABASES = (".duckdb", ".ddb", ".db")
LONGEST_HEADER = 2**20  # characters
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
    """A data frame in memory; `texts` are the columns whose stored type says nothing, `unread` those of a type that we do not use, and
    `cut` those whose values DuckDB cuts while it reads them. Arrow does not check that its texts are texts: they are `unchecked`.

    Moments with a zone are handed over as what they are inside, in UTC, unless they are in microseconds: DuckDB would make microseconds of
    them while it reads, which cuts some and fails on others.
    """

    frame: Any
    texts: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    unchecked: bool = False


@final
@frozen(eq=False)
class Stored:
    """A table of a connection that the user keeps."""

    connection: Any
    table: str


Source: TypeAlias = Parquet | Csv | Database | Frame | Stored


def read_source(name: str, given: Any, declared: Mapping[str, Kind] | None = None, identities: Collection[str] = ()) -> Source:
    """Find out what a source is, from its type and its name and without reading values; `identities` are columns that tell units apart."""
    match given:
        case str() | Path():
            return _file(name, str(given), name)
        case (str() | Path() as path, str() as table) if isinstance(given, tuple) and str(path).endswith(_DATABASES):
            return _file(name, str(path), table)
        case list() | tuple() if all(isinstance(one, str | Path) for one in given):
            raise EngineError(f"{name}: several files are one table only as a folder, or as a pattern such as 'data/*.parquet': give that")
        case (connection, str() as table) if _library(connection) in ("duckdb", "_duckdb"):
            return Stored(connection, table)
    match _library(given):
        case "duckdb" | "_duckdb" if type(given).__name__ == "DuckDBPyConnection":
            return Stored(given, name)
        case "duckdb" | "_duckdb":
            raise EngineError(f"{name}: give the DuckDB connection, or what the relation's .arrow() gives")
        case "pandas" if type(given).__name__ == "DataFrame":
            return _pandas(name, given, declared or {}, identities)
        case "polars" if type(given).__name__ in ("DataFrame", "LazyFrame"):
            return _polars(name, given)
        case "pyarrow" if type(given).__name__ == "RecordBatchReader":
            return _arrow(name, given.read_all())  # a stream can be read only once
        case "pyarrow" if type(given).__name__ in ("Table", "RecordBatch"):
            return _arrow(name, given)
        case "pyarrow" if hasattr(given, "schema") and hasattr(given, "scanner"):
            return _dataset(name, given)
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


def _pandas(name: str, frame: Any, declared: Mapping[str, Kind], identities: Collection[str]) -> Frame:
    """Make texts of object columns, whose type an engine would guess from their values; other dtypes are kept as they are."""
    check_names(name, tuple(frame.columns))
    dtypes = dict(frame.dtypes.items())
    texts = tuple(column for column, dtype in dtypes.items() if _says_nothing(dtype))
    unread = tuple(column for column, dtype in dtypes.items() if column not in texts and not _is_known(dtype))
    kept = frame.drop(columns=list(unread)) if unread else frame
    read: dict[str, Any] = {}
    for column in texts:
        way: Callable[[Any], str | None] = objects.shown
        if column in identities:
            kind = declared.get(column, Kind.TEXT if _is_text(dtypes[column]) else None)
            if kind is None:
                raise unkept(name, column, f"a pandas column of dtype {dtypes[column]} may hold values of any type", objects_as(column))
            way = objects.named(kind)
        read[column] = objects.texts(kept[column].astype(object).to_numpy(), way)
    for column, dtype in dtypes.items():
        if column not in unread and getattr(dtype, "kind", "O") == "M" and getattr(dtype, "tz", None) is not None and dtype.unit != "us":
            read[column] = kept[column].dt.tz_convert(None)
    return Frame(kept.assign(**read) if read else kept, texts, unread)


def _says_nothing(dtype: Any) -> bool:
    """Whether a pandas dtype leaves open what the values are: object, texts kept as Python objects, and categories that are not texts."""
    named = str(dtype)
    return (
        getattr(dtype, "storage", "") == "python"
        or named == "object"
        or (named == "category" and str(dtype.categories.dtype) not in ("str", "string"))
    )


def _is_text(dtype: Any) -> bool:
    """Whether a dtype has texts only, and what is missing."""
    return str(dtype) in ("str", "string")


def _is_known(dtype: Any) -> bool:
    named = str(dtype)
    return (getattr(dtype, "kind", "O") in "biufM" and not named.startswith("Sparse")) or named in ("str", "string", "category")


def _polars(name: str, frame: Any) -> Frame:
    schema = frame.collect_schema()
    check_names(name, tuple(schema))
    unread = tuple(column for column, dtype in schema.items() if str(dtype).split("(")[0] in _UNREAD_POLARS)
    kept = frame.drop(list(unread)) if unread else frame
    for column, dtype in schema.items():
        if getattr(dtype, "time_zone", None) is not None and dtype.time_unit != "us":
            kept = kept.cast({column: int}).cast({column: type(dtype)(dtype.time_unit)})
    return Frame(kept, unread=unread)


def _arrow(name: str, table: Any) -> Frame:
    check_names(name, tuple(table.schema.names))
    unread = _unread_arrow(table.schema)
    kept = table.select([column for column in table.schema.names if column not in unread]) if unread else table
    for place, field in enumerate(kept.schema):
        if _is_zoned(field.type):
            kept = kept.set_column(place, field.name, kept.column(place).cast("int64").cast(f"timestamp[{field.type.unit}]"))
    return Frame(kept, unread=unread, cut=_cut_by_arrow(table.schema), unchecked=True)


def _dataset(name: str, dataset: Any) -> Frame:
    """Files behind Arrow, which are read only when they are asked: what DuckDB would fail on while it reads stays unread."""
    check_names(name, tuple(dataset.schema.names))
    unread = {*_unread_arrow(dataset.schema), *(field.name for field in dataset.schema if _is_zoned(field.type))}
    return Frame(dataset, unread=tuple(sorted(unread)), cut=_cut_by_arrow(dataset.schema), unchecked=True)


def _unread_arrow(schema: Any) -> tuple[str, ...]:
    return tuple(field.name for field in schema if str(field.type).startswith(_UNREAD_ARROW))


def _is_zoned(arrow_type: Any) -> bool:
    return str(arrow_type).startswith(("timestamp[s, tz", "timestamp[ms, tz", "timestamp[ns, tz"))


def _cut_by_arrow(schema: Any) -> tuple[str, ...]:
    """Dates that are kept in milliseconds."""
    return tuple(field.name for field in schema if str(field.type).startswith("date64"))
