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
from discreet.engines.identity import declare_object_type, identity_refused
from discreet.engines.names import check_column_names
from discreet.engines.paths import fixed_folder
from discreet.engines.separated import DELIMITERS, SeparatedFile
from discreet.errors import EngineError
from discreet.tables.kind import Kind

_DATABASES = (".duckdb", ".ddb", ".db")
LONGEST_HEADER = 2**20  # bytes
_UNSUPPORTED_POLARS = ("Object", "Int128", "UInt128", "Float16", "Unknown")  # types for which DuckDB refuses the whole table
_UNSUPPORTED_ARROW = ("halffloat", "decimal256", "run_end_encoded", "dense_union", "month_interval", "list_view", "large_list_view")


@final
@frozen
class Parquet:
    """One Parquet file, or all files that match a pattern; they must have the same schema."""

    pattern: str
    place: str  # the file, or the folder that the pattern searches
    is_folder: bool = True


@final
@frozen
class Csv:
    """A text file with a header, in UTF-8, optionally compressed (.gz); separated by commas (.csv), tabs (.tsv) or what is declared.

    Columns are texts until a kind is declared for them, and an empty field is NULL. The file is loaded once, at the first question, into
    the scratch folder (`load.py`); `records.py` defines where a record ends.

    Assumes. Every record is well quoted: a quote that is never closed makes all following rows part of its field.
    """

    path: str
    delimiter: str
    header: tuple[str, ...]


@final
@frozen
class Database:
    """A table of a DuckDB database file, which is opened read-only."""

    path: str
    table: str


@final
@frozen(eq=False)
class LocalFrame:
    """A data frame in memory.

    `texts` are the columns whose dtype does not fix the type of their values, `unsupported` those of a type that is not read, and
    `truncated` those whose values DuckDB truncates on reading. Arrow does not validate UTF-8, so its texts are `unchecked`.

    Timestamps with a time zone are passed as naive UTC, unless they are in microseconds: DuckDB would convert them to microseconds on
    reading, which truncates some and fails on others.
    """

    frame: Any
    texts: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    unchecked: bool = False
    objects: tuple[str, ...] = ()  # of `texts`, those that may hold any Python object


@final
@frozen(eq=False)
class ConnectionTable:
    """A table of a connection that belongs to the user."""

    connection: Any
    table: str


DuckDBSource: TypeAlias = Parquet | Csv | Database | LocalFrame | ConnectionTable


def read_source(name: str, given: Any, declared: Mapping[str, Kind] | None = None, identities: Collection[str] = ()) -> DuckDBSource:
    """Classify a source by its type and its name, without reading values; `identities` are columns that identify units."""
    match given:
        case str() | Path():
            return _file(name, str(given), name)
        case SeparatedFile(path, delimiter):
            return _file(name, path, name, delimiter)
        case (str() | Path() as path, str() as table) if isinstance(given, tuple) and str(path).endswith(_DATABASES):
            return _file(name, str(path), table)
        case list() | tuple() if all(isinstance(one, str | Path) for one in given):
            raise EngineError(f"{name}: several files are one table only as a folder, or as a pattern such as 'data/*.parquet': pass that")
        case (connection, str() as table) if _library(connection) in ("duckdb", "_duckdb"):
            return ConnectionTable(connection, table)
    match _library(given):
        case "duckdb" | "_duckdb" if type(given).__name__ == "DuckDBPyConnection":
            return ConnectionTable(given, name)
        case "duckdb" | "_duckdb":
            raise EngineError(f"{name}: pass the DuckDB connection, or the result of .arrow() on the relation")
        case "pandas" if type(given).__name__ == "DataFrame":
            return _pandas(name, given, declared or {}, identities)
        case "polars" if type(given).__name__ in ("DataFrame", "LazyFrame"):
            return _polars(name, given)
        case "pyarrow" if type(given).__name__ == "RecordBatchReader":
            return _arrow(name, given.read_all())  # a stream can be consumed only once
        case "pyarrow" if type(given).__name__ in ("Table", "RecordBatch"):
            return _arrow(name, given)
        case "pyarrow" if hasattr(given, "schema") and hasattr(given, "scanner"):
            return _dataset(name, given)
    raise EngineError(f"{name}: pass a path to Parquet or CSV, a pandas, Polars or Arrow table, or a DuckDB connection")


def _library(value: object) -> str:
    return type(value).__module__.split(".")[0]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _file(name: str, given: str, table: str, delimiter: str | None = None) -> DuckDBSource:
    if "://" in given:
        raise EngineError(f"{name}: only local files are read: mount or download it")
    path = Path(given).expanduser().absolute()
    if path.is_dir():
        return Parquet(f"{glob.escape(str(path))}/**/*.parquet", str(path))
    if not path.exists():
        place = fixed_folder(path)
        if place == path.parent and not glob.has_magic(path.name):
            raise EngineError(f"{name}: there is no file {given}: check the path")
        if not place.is_dir() or path.suffix.lower() not in (".parquet", ".pq"):
            raise EngineError(f"{name}: a pattern must end in .parquet and be in a folder that exists, unlike {given}: correct the pattern")
        return Parquet(f"{glob.escape(str(place))}/{path.relative_to(place)}", str(place))
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending in DELIMITERS:
        between = delimiter or DELIMITERS[ending]
        header = read_header(name, path, between)
        if delimiter is None:
            _check_delimiter(name, header)
        return Csv(str(path), between, header)
    if path.suffix.lower() in (".parquet", ".pq"):
        return Parquet(glob.escape(str(path)), str(path), is_folder=False)
    if path.suffix.lower() in _DATABASES:
        return Database(str(path), table)
    raise EngineError(f"{name}: the extension of {path.name} must be .parquet, .csv, .tsv (.gz) or .duckdb: convert or rename the file")


def _check_delimiter(name: str, header: tuple[str, ...]) -> None:
    """Refuse a first line that is one name with another delimiter in it, unless its own delimiter is declared."""
    other = next((one for one in ";\t|," if one in header[0]), None) if len(header) == 1 else None
    if other is not None:
        word = "tab" if other == "\t" else other
        raise EngineError(
            f'{name}: the first line has one column whose name contains "{word}": if that separates the fields, declare delimiter="{word}" '
            f'(command line: --delimiter "{word}"; discreet.toml: delimiter = "{word}" in [tables.{name}])'
        )


def read_header(name: str, path: Path, delimiter: str) -> tuple[str, ...]:
    """The names in the first line; nothing else of the file is read."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            line = file.readline(LONGEST_HEADER)
        if len(line) == LONGEST_HEADER:
            raise csv.Error
        names = tuple(next(csv.reader([line.decode("utf-8-sig").rstrip("\r\n")], delimiter=delimiter, strict=True)))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, StopIteration):
        raise EngineError(f"{name}: the first line must contain the column names, in UTF-8 and well quoted: add or correct it") from None
    return check_column_names(name, names)


# ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pandas(name: str, frame: Any, declared: Mapping[str, Kind], identities: Collection[str]) -> LocalFrame:
    """Convert object columns to texts, for an engine would infer their type from their values; other dtypes stay as they are."""
    check_column_names(name, tuple(frame.columns))
    dtypes = dict(frame.dtypes.items())
    texts = tuple(column for column, dtype in dtypes.items() if _is_untyped(dtype))
    unsupported = tuple(column for column, dtype in dtypes.items() if column not in texts and not _is_supported(dtype))
    kept = frame.drop(columns=list(unsupported)) if unsupported else frame
    read: dict[str, Any] = {}
    for column in texts:
        convert: Callable[[Any], str | None] = objects.as_text
        if column in identities:
            kind = declared.get(column, Kind.TEXT if _is_text(dtypes[column]) else None)
            if kind is None:
                raise identity_refused(
                    name, column, f"a pandas column of dtype {dtypes[column]} may hold values of any type", declare_object_type(column)
                )
            convert = objects.as_identity(kind)
        read[column] = objects.to_texts(kept[column].astype(object).to_numpy(), convert)
    for column, dtype in dtypes.items():
        if (
            column not in unsupported
            and getattr(dtype, "kind", "O") == "M"
            and getattr(dtype, "tz", None) is not None
            and dtype.unit != "us"
        ):
            read[column] = kept[column].dt.tz_convert(None)
    untyped = tuple(column for column in texts if str(dtypes[column]) == "object")
    return LocalFrame(kept.assign(**read) if read else kept, texts, unsupported, objects=untyped)


def _is_untyped(dtype: Any) -> bool:
    """Whether a pandas dtype does not fix the type of its values: object, texts stored as Python objects, categories other than texts."""
    named = str(dtype)
    return (
        getattr(dtype, "storage", "") == "python"
        or named == "object"
        or (named == "category" and str(dtype.categories.dtype) not in ("str", "string"))
    )


def _is_text(dtype: Any) -> bool:
    """Whether a dtype allows only texts and missing values."""
    return str(dtype) in ("str", "string")


def _is_supported(dtype: Any) -> bool:
    named = str(dtype)
    return (getattr(dtype, "kind", "O") in "biufM" and not named.startswith("Sparse")) or named in ("str", "string", "category")


def _polars(name: str, frame: Any) -> LocalFrame:
    schema = frame.collect_schema()
    check_column_names(name, tuple(schema))
    unsupported = tuple(column for column, dtype in schema.items() if str(dtype).split("(")[0] in _UNSUPPORTED_POLARS)
    kept = frame.drop(list(unsupported)) if unsupported else frame
    for column, dtype in schema.items():
        if getattr(dtype, "time_zone", None) is not None and dtype.time_unit != "us":
            kept = kept.cast({column: int}).cast({column: type(dtype)(dtype.time_unit)})
    return LocalFrame(kept, unsupported=unsupported)


def _arrow(name: str, table: Any) -> LocalFrame:
    check_column_names(name, tuple(table.schema.names))
    unsupported = _unsupported_by_arrow(table.schema)
    kept = table.select([column for column in table.schema.names if column not in unsupported]) if unsupported else table
    for place, field in enumerate(kept.schema):
        if _is_zoned(field.type):
            kept = kept.set_column(place, field.name, kept.column(place).cast("int64").cast(f"timestamp[{field.type.unit}]"))
    return LocalFrame(kept, unsupported=unsupported, truncated=_truncated_by_arrow(table.schema), unchecked=True)


def _dataset(name: str, dataset: Any) -> LocalFrame:
    """Files behind an Arrow dataset, which are read only by a query: columns on which DuckDB would fail are not read."""
    check_column_names(name, tuple(dataset.schema.names))
    unsupported = {*_unsupported_by_arrow(dataset.schema), *(field.name for field in dataset.schema if _is_zoned(field.type))}
    return LocalFrame(dataset, unsupported=tuple(sorted(unsupported)), truncated=_truncated_by_arrow(dataset.schema), unchecked=True)


def _unsupported_by_arrow(schema: Any) -> tuple[str, ...]:
    return tuple(field.name for field in schema if str(field.type).startswith(_UNSUPPORTED_ARROW))


def _is_zoned(arrow_type: Any) -> bool:
    return str(arrow_type).startswith(("timestamp[s, tz", "timestamp[ms, tz", "timestamp[ns, tz"))


def _truncated_by_arrow(schema: Any) -> tuple[str, ...]:
    """Dates that are stored in milliseconds."""
    return tuple(field.name for field in schema if str(field.type).startswith("date64"))
