"""The view of a PostgreSQL table: every column has one of our kinds, and no stored value makes a query fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import final

from attrs import frozen

from discreet.engines.identity import declare_type, use_normalized_view
from discreet.engines.postgres.dialect import POSTGRES
from discreet.engines.view import View
from discreet.tables.kind import Kind

LONGEST, KEPT = 10**6, 250_000  # a text of more bytes is truncated to so many characters

_INTEGERS = {"int2", "int4", "int8"}
_SHORT = {"uuid", "name"}
_SIZED = {"varchar", "bpchar"}  # with a declared length; the padding of a bpchar is dropped
_LONG = {"text", "varchar", "bpchar", "json", "citext"}
_WIDEST = 300  # digits before or after the point that a float always holds


@final
@frozen
class StoredColumn:
    """A column in the system catalog: its name, base type and modifier, whether the role may read it, and whether its collation treats
    only identical bytes as equal."""

    name: str
    type: str
    modifier: int = -1
    is_enum: bool = False
    readable: bool = True
    bytewise: bool = True


def make_view(stored: Sequence[StoredColumn], declared: Mapping[str, Kind], identities: Collection[str] = ()) -> View:
    """Decide the kind and the SQL of each stored column, from its type; `identities` identify units.

    >>> make_view([StoredColumn("id", "int4"), StoredColumn("tags", "_text")], {})
    View(columns=('"id" AS "id"',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    return View.of(((column.name, *_column(column, declared.get(column.name), column.name in identities)) for column in stored), POSTGRES)


def _column(column: StoredColumn, wanted: Kind | None, identity: bool) -> tuple[Kind | None, str]:
    here = POSTGRES.identifier(column.name)
    kind, value = _read_as(column, here, identity) if column.readable else (None, here)
    return _converted(column, kind, wanted, here, identity) or (kind, value)


def identity_problem(column: StoredColumn, wanted: Kind | None) -> tuple[str, str] | None:
    """Why a column does not keep the equality of its values, and what to do; None if it does."""
    if not column.readable:
        return None
    if column.type == "citext" or not column.bytewise:
        return "its type or collation treats different texts as equal", use_normalized_view(f'lower({column.name}::text) COLLATE "C"')
    if column.type == "json":
        return "json has no equality", use_normalized_view(f"{column.name}::jsonb::text")
    if column.type == "numeric" and wanted not in (Kind.TEXT, Kind.INTEGER):
        return "decimals are read as the nearest floats", declare_type(column.name)
    return None


def _converted(column: StoredColumn, kind: Kind | None, wanted: Kind | None, here: str, identity: bool) -> tuple[Kind, str] | None:
    """A number converted to its declared kind, which differs from its own; None if it cannot be, and the policy reports that."""
    if (kind, wanted) == (Kind.INTEGER, Kind.REAL):
        return Kind.REAL, f"CAST({here} AS DOUBLE PRECISION)"
    match kind, wanted:
        case _ if not identity:
            return None
        case Kind.INTEGER, Kind.TEXT:
            return Kind.TEXT, _bytewise(here)
        case Kind.REAL, Kind.TEXT if column.type == "numeric":  # 1.0 and 1.00 are equal
            return Kind.TEXT, _bytewise(f"CASE WHEN {here} <> 'NaN' THEN CAST(TRIM_SCALE({here}) AS TEXT) END")
        case Kind.REAL, Kind.INTEGER:  # integers; other values are NULL
            inside = f"{here} >= {-(2**63)} AND {here} < {2**63}"  # NaN is above all numbers
            return Kind.INTEGER, f"CASE WHEN {inside} THEN CASE WHEN {here} = FLOOR({here}) THEN CAST({here} AS BIGINT) END END"
    return None


def _read_as(column: StoredColumn, value: str, identity: bool = False) -> tuple[Kind | None, str]:
    """The kind of a stored type, and a conversion that never fails; narrow integers stay narrow, which the planner can use."""
    if column.is_enum:
        return Kind.TEXT, _bytewise(value)
    match column.type:
        case "bool":
            return Kind.BOOLEAN, value
        case name if name in _INTEGERS:
            return Kind.INTEGER, value
        case "oid":
            return Kind.INTEGER, f"CAST({value} AS BIGINT)"
        case "float8":
            return Kind.REAL, f"NULLIF({value}, CAST('NaN' AS DOUBLE PRECISION))"
        case "float4":
            return Kind.REAL, f"NULLIF(CAST({value} AS DOUBLE PRECISION), CAST('NaN' AS DOUBLE PRECISION))"
        case "numeric":
            return Kind.REAL, _decimal(value, column.modifier)
        case name if name in _SHORT or (name in _SIZED and 4 <= column.modifier <= KEPT):
            return Kind.TEXT, _bytewise(value)
        case name if name in _LONG:
            text = value if name in ("text", "varchar") else f"CAST({value} AS TEXT)"
            return Kind.TEXT, _bytewise(_null_if_long(text) if identity else _truncated(text))
        case "date":
            return Kind.DATE, _in_calendar(value, "DATE")
        case "timestamp":
            return Kind.TIMESTAMP, _in_calendar(value, "TIMESTAMP")
        case "timestamptz":
            return Kind.TIMESTAMP, _utc(value)
    return None, value


def _bytewise(value: str) -> str:
    """A text compared by its bytes: a collation may treat different texts as equal."""
    return f'CAST({value} AS TEXT) COLLATE "C"'


def _truncated(value: str) -> str:
    """A text that no function makes longer than PostgreSQL's 2^30 bytes; the length of a text is known without reading it."""
    return f"CASE WHEN OCTET_LENGTH({value}) > {LONGEST} THEN LEFT({value}, {KEPT}) ELSE {value} END"


def _null_if_long(value: str) -> str:
    """A text that identifies units: truncated texts could become equal, so a long one is NULL."""
    return f"CASE WHEN OCTET_LENGTH({value}) <= {LONGEST} THEN {value} END"


def _decimal(value: str, modifier: int) -> str:
    """A decimal as the nearest float, or NULL if it is NaN; PostgreSQL's have up to 131,072 digits, and floats end at 10^308."""
    real = f"CAST({value} AS DOUBLE PRECISION)"
    if _fits(modifier):
        return f"CASE WHEN {value} <> 'NaN' THEN {real} END"
    beyond = f"WHEN {value} >= 1e{_WIDEST} THEN 'Infinity' WHEN {value} <= -1e{_WIDEST} THEN '-Infinity'"
    return f"CASE WHEN {value} = 'NaN' THEN NULL {beyond} WHEN {value} > -1e-{_WIDEST} AND {value} < 1e-{_WIDEST} THEN 0 ELSE {real} END"


def _fits(modifier: int) -> bool:
    """Whether the declared precision and scale keep a decimal within floats; the modifier encodes both in one number."""
    if modifier < 4:
        return False
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    scale = (scale ^ 1024) - 1024
    return precision - scale <= _WIDEST and scale <= _WIDEST


def _in_calendar(value: str, sql_type: str) -> str:
    """Only the years 1 to 9999: PostgreSQL also has infinite dates and dates BC."""
    end = "" if sql_type == "DATE" else " 23:59:59.999999"
    return f"CASE WHEN {value} BETWEEN {sql_type} '0001-01-01' AND {sql_type} '9999-12-31{end}' THEN {value} END"


def _utc(value: str) -> str:
    """A timestamp with a time zone as naive UTC, whatever the session; only the years 1 to 9999."""
    first, last = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {value} AT TIME ZONE 'UTC' END"
