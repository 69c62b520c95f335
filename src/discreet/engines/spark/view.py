"""The view of a Spark table: every column has one of our kinds, and no stored value makes a query fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.engines.identity import declare_type, use_normalized_view
from discreet.engines.spark.dialect import SPARK
from discreet.engines.view import View
from discreet.tables.kind import Kind

_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


def make_view(stored: Mapping[str, str], declared: Mapping[str, Kind], identities: Collection[str] = ()) -> View:
    """Decide the kind and the SQL of each stored column, from its type as Spark writes it; `identities` identify units.

    >>> make_view({"id": "int", "tags": "array<string>"}, {})
    View(columns=('`id` AS `id`',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    return View.of(((name, *_column(name, of, declared.get(name), name in identities)) for name, of in stored.items()), SPARK)


def _column(name: str, sql_type: str, wanted: Kind | None, identity: bool) -> tuple[Kind | None, str]:
    here = SPARK.identifier(name)
    kind, value = _read_as(sql_type, here, identity)
    return _converted(sql_type, kind, wanted, here, value, identity) or (kind, value)


def identity_problem(column: str, sql_type: str, wanted: Kind | None) -> tuple[str, str] | None:
    """Why a column does not keep the equality of its values, and what to do; None if it does."""
    if "collate" in sql_type.lower():
        return "its collation treats different texts as equal", use_normalized_view(f"lower({column}) COLLATE UTF8_BINARY")
    if sql_type.startswith("decimal") and wanted not in (Kind.TEXT, Kind.INTEGER):
        return "decimals are read as the nearest floats", declare_type(column)
    return None


def _converted(sql_type: str, kind: Kind | None, wanted: Kind | None, here: str, value: str, identity: bool) -> tuple[Kind, str] | None:
    """A number converted to its declared kind, which differs from its own; None if it cannot be, and the policy reports that."""
    if (kind, wanted) == (Kind.INTEGER, Kind.REAL):
        return Kind.REAL, f"CAST({here} AS DOUBLE)"
    match kind, wanted:
        case _ if not identity:
            return None
        case Kind.INTEGER, Kind.TEXT:
            return Kind.TEXT, f"CAST({here} AS STRING)"
        case Kind.REAL, Kind.TEXT if sql_type.startswith("decimal"):  # of one scale, so equal values have one text
            return Kind.TEXT, f"CAST({here} AS STRING)"
        case Kind.REAL, Kind.INTEGER:  # integers; other values are NULL
            number = here if sql_type.startswith("decimal") else value
            return Kind.INTEGER, f"CASE WHEN {number} % 1 = 0 THEN try_cast({number} AS BIGINT) END"
    return None


def _read_as(sql_type: str, value: str, identity: bool = False) -> tuple[Kind | None, str]:
    """The kind of a stored type, and a conversion that never fails; narrow integers stay narrow, which is fast."""
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
    """A float, or NULL if it is NaN."""
    return f"nanvl({value}, CAST(NULL AS DOUBLE))"


def _text(value: str, collated: bool = False) -> str:
    """A text compared by its bytes; invalid UTF-8 is replaced, for the conversion to Python fails on it."""
    return f"make_valid_utf8({f'{value} COLLATE UTF8_BINARY' if collated else value})"


def _between(value: str, sql_type: str, first: str, last: str) -> str:
    """Only the years 1 to 9999: Spark's calendar is longer than Python's."""
    return f"CASE WHEN {value} BETWEEN {sql_type} '{first}' AND {sql_type} '{last}' THEN {value} END"
