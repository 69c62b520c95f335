"""A table as we see it in Spark: every column one of our kinds, and no value on which a query could fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import final

from attrs import frozen

from discreet.engines.identity import declare, one_spelling
from discreet.engines.spark.dialect import SPARK
from discreet.tables.kind import Kind

_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


@final
@frozen
class View:
    """The columns to select, in SQL, and the kinds of all columns of the source; None is a type that we do not use."""

    columns: tuple[str, ...]
    kinds: dict[str, Kind | None]


def view(stored: Mapping[str, str], declared: Mapping[str, Kind], identities: Collection[str] = ()) -> View:
    """Decide how each stored column is seen, by its type as Spark writes it; `identities` tell units apart.

    >>> view({"id": "int", "tags": "array<string>"}, {})
    View(columns=('`id` AS `id`',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    columns: list[str] = []
    kinds: dict[str, Kind | None] = {}
    for name, sql_type in stored.items():
        here = SPARK.identifier(name)
        kind, value = _read_as(sql_type, here, name in identities)
        kind, value = _bent(sql_type, kind, declared.get(name), here, value, name in identities) or (kind, value)
        kinds[name] = kind
        if kind is not None:
            columns.append(f"{value} AS {here}")
    return View(tuple(columns), kinds)


def why_unkept(column: str, sql_type: str, wanted: Kind | None) -> tuple[str, str] | None:
    """Why values of a column are not told apart as its own `=` does, and what to do; else None."""
    if "collate" in sql_type.lower():
        return "its collation holds different texts equal", one_spelling(f"lower({column}) COLLATE UTF8_BINARY")
    if sql_type.startswith("decimal") and wanted not in (Kind.TEXT, Kind.INTEGER):
        return "decimals are read as the nearest floats", declare(column)
    return None


def _bent(sql_type: str, kind: Kind | None, wanted: Kind | None, here: str, value: str, identity: bool) -> tuple[Kind, str] | None:
    """A number read as the kind declared for it, which is not its own; None where it stays what it is, and the policy complains."""
    if (kind, wanted) == (Kind.INTEGER, Kind.REAL):
        return Kind.REAL, f"CAST({here} AS DOUBLE)"
    match kind, wanted:
        case _ if not identity:
            return None
        case Kind.INTEGER, Kind.TEXT:
            return Kind.TEXT, f"CAST({here} AS STRING)"
        case Kind.REAL, Kind.TEXT if sql_type.startswith("decimal"):  # of one scale, so each value has one text
            return Kind.TEXT, f"CAST({here} AS STRING)"
        case Kind.REAL, Kind.INTEGER:  # what is whole; the rest is missing
            number = here if sql_type.startswith("decimal") else value
            return Kind.INTEGER, f"CASE WHEN {number} % 1 = 0 THEN try_cast({number} AS BIGINT) END"
    return None


def _read_as(sql_type: str, value: str, identity: bool = False) -> tuple[Kind | None, str]:
    """The kind of a stored type and how to get there without ever failing; narrow integers stay narrow, which is fast."""
    match sql_type.replace("(", " ").split(" ")[0]:
        case "boolean":
            return Kind.BOOLEAN, value
        case name if name in _INTEGERS:
            return Kind.INTEGER, value
        case "double":
            return Kind.REAL, _number(value)
        case "float":
            return Kind.REAL, _number(f"CAST({value} AS DOUBLE)")
        case "decimal":
            return Kind.REAL, f"CAST({value} AS DOUBLE)"
        case "string" | "char" | "varchar":
            return Kind.TEXT, f"CASE WHEN is_valid_utf8({value}) THEN {value} END" if identity else _text(value, "collate" in sql_type)
        case "date":
            return Kind.DATE, _between(value, "DATE", "0001-01-01", "9999-12-31")
        case "timestamp_ntz":
            return Kind.TIMESTAMP, _between(value, "TIMESTAMP_NTZ", _FIRST, _LAST)
        case "timestamp":
            moment = _between(value, "TIMESTAMP_LTZ", f"{_FIRST}Z", f"{_LAST}Z")
            return Kind.TIMESTAMP, f"CAST({moment} AS TIMESTAMP_NTZ)"  # our sessions are in UTC
    return None, value


def _number(value: str) -> str:
    """A float, or NULL where it is NaN."""
    return f"nanvl({value}, CAST(NULL AS DOUBLE))"


def _text(value: str, collated: bool = False) -> str:
    """A text that is one: bytes that are no UTF-8 are replaced, for the way to Python fails on them; compared by its bytes."""
    return f"make_valid_utf8({f'{value} COLLATE UTF8_BINARY' if collated else value})"


def _between(value: str, sql_type: str, first: str, last: str) -> str:
    """Only the years 1 to 9999: Spark's calendar is longer than Python's."""
    return f"CASE WHEN {value} BETWEEN {sql_type} '{first}' AND {sql_type} '{last}' THEN {value} END"
