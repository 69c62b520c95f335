"""A table as we see it in PostgreSQL: every column one of our kinds, and no stored value on which a query could fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import final

from attrs import frozen

from discreet.engines.identity import declare, one_spelling
from discreet.engines.postgres.dialect import POSTGRES
from discreet.tables.kind import Kind

LONGEST, KEPT = 10**6, 250_000  # a text of more bytes counts as so many of its first characters

_INTEGERS = {"int2", "int4", "int8"}
_SHORT = {"uuid", "name"}
_SIZED = {"varchar", "bpchar"}  # if that is said; the blanks that fill a bpchar up are left out
_LONG = {"text", "varchar", "bpchar", "json", "citext"}
_WIDEST = 300  # digits before or after the point that a float surely holds


@final
@frozen
class Stored:
    """A column as the catalogue has it: its name, its type below all domains, that type's modifier, whether we may read it, and whether its
    collation holds only the same bytes equal."""

    name: str
    type: str
    modifier: int = -1
    is_enum: bool = False
    readable: bool = True
    bytewise: bool = True


@final
@frozen
class View:
    """The columns to select, in SQL, and the kinds of all columns of the source; None is a type that we do not use."""

    columns: tuple[str, ...]
    kinds: dict[str, Kind | None]


def view(stored: Sequence[Stored], declared: Mapping[str, Kind], identities: Collection[str] = ()) -> View:
    """Decide how each stored column is seen; `identities` tell units apart.

    >>> view([Stored("id", "int4"), Stored("tags", "_text")], {})
    View(columns=('"id" AS "id"',), kinds={'id': <Kind.INTEGER: 'integer'>, 'tags': None})
    """
    columns: list[str] = []
    kinds: dict[str, Kind | None] = {}
    for column in stored:
        here = POSTGRES.identifier(column.name)
        kind, value = _read_as(column, here, column.name in identities) if column.readable else (None, here)
        kind, value = _bent(column, kind, declared.get(column.name), here, column.name in identities) or (kind, value)
        kinds[column.name] = kind
        if kind is not None:
            columns.append(f"{value} AS {here}")
    return View(tuple(columns), kinds)


def why_unkept(column: Stored, wanted: Kind | None) -> tuple[str, str] | None:
    """Why values of a column are not told apart as its own `=` does, and what to do; else None."""
    if not column.readable:
        return None
    if column.type == "citext" or not column.bytewise:
        return "its type or collation holds different texts equal", one_spelling(f'lower({column.name}::text) COLLATE "C"')
    if column.type == "json":
        return "json has no equality", one_spelling(f"{column.name}::jsonb::text")
    if column.type == "numeric" and wanted not in (Kind.TEXT, Kind.INTEGER):
        return "decimals are read as the nearest floats", declare(column.name)
    return None


def _bent(column: Stored, kind: Kind | None, wanted: Kind | None, here: str, identity: bool) -> tuple[Kind, str] | None:
    """A number read as the kind declared for it, which is not its own; None where it stays what it is, and the policy complains."""
    if (kind, wanted) == (Kind.INTEGER, Kind.REAL):
        return Kind.REAL, f"CAST({here} AS DOUBLE PRECISION)"
    match kind, wanted:
        case _ if not identity:
            return None
        case Kind.INTEGER, Kind.TEXT:
            return Kind.TEXT, _bytewise(here)
        case Kind.REAL, Kind.TEXT if column.type == "numeric":  # 1.0 and 1.00 are one value
            return Kind.TEXT, _bytewise(f"CASE WHEN {here} <> 'NaN' THEN CAST(TRIM_SCALE({here}) AS TEXT) END")
        case Kind.REAL, Kind.INTEGER:  # what is whole; the rest is missing
            inside = f"{here} >= {-(2**63)} AND {here} < {2**63}"  # NaN is above all numbers
            return Kind.INTEGER, f"CASE WHEN {inside} THEN CASE WHEN {here} = FLOOR({here}) THEN CAST({here} AS BIGINT) END END"
    return None


def _read_as(column: Stored, value: str, identity: bool = False) -> tuple[Kind | None, str]:
    """The kind of a stored type and how to get there without ever failing; narrow integers stay narrow, of which more is known."""
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
            return Kind.TEXT, _bytewise(_short(text) if identity else _cut(text))
        case "date":
            return Kind.DATE, _in_calendar(value, "DATE")
        case "timestamp":
            return Kind.TIMESTAMP, _in_calendar(value, "TIMESTAMP")
        case "timestamptz":
            return Kind.TIMESTAMP, _utc(value)
    return None, value


def _bytewise(value: str) -> str:
    """A text that is compared byte by byte: a collation may hold different texts equal."""
    return f'CAST({value} AS TEXT) COLLATE "C"'


def _cut(value: str) -> str:
    """A text that no function makes too long for PostgreSQL, which ends at 2^30 bytes; the length of one is known without reading it."""
    return f"CASE WHEN OCTET_LENGTH({value}) > {LONGEST} THEN LEFT({value}, {KEPT}) ELSE {value} END"


def _short(value: str) -> str:
    """A text that tells units apart: cut ones would be one, so a long one is missing."""
    return f"CASE WHEN OCTET_LENGTH({value}) <= {LONGEST} THEN {value} END"


def _decimal(value: str, modifier: int) -> str:
    """A decimal as the nearest float, or NULL where it is NaN; PostgreSQL's have up to 131,072 digits, and floats end at 10^308."""
    real = f"CAST({value} AS DOUBLE PRECISION)"
    if _fits(modifier):
        return f"CASE WHEN {value} <> 'NaN' THEN {real} END"
    beyond = f"WHEN {value} >= 1e{_WIDEST} THEN 'Infinity' WHEN {value} <= -1e{_WIDEST} THEN '-Infinity'"
    return f"CASE WHEN {value} = 'NaN' THEN NULL {beyond} WHEN {value} > -1e-{_WIDEST} AND {value} < 1e-{_WIDEST} THEN 0 ELSE {real} END"


def _fits(modifier: int) -> bool:
    """Whether a declared precision and scale keep a decimal within floats; PostgreSQL packs both into one number."""
    if modifier < 4:
        return False
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    scale = (scale ^ 1024) - 1024
    return precision - scale <= _WIDEST and scale <= _WIDEST


def _in_calendar(value: str, sql_type: str) -> str:
    """Only the years 1 to 9999: PostgreSQL also has infinite dates, and dates before Christ."""
    end = "" if sql_type == "DATE" else " 23:59:59.999999"
    return f"CASE WHEN {value} BETWEEN {sql_type} '0001-01-01' AND {sql_type} '9999-12-31{end}' THEN {value} END"


def _utc(value: str) -> str:
    """A moment with a zone, in UTC in every session; only the years 1 to 9999."""
    first, last = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {value} AT TIME ZONE 'UTC' END"
