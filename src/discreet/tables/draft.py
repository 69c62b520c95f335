"""Draft a policy from stored schemas; no value is read, and decisions that only the owner can make are marked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import final

from attrs import field, frozen

from discreet.tables.declaration import EACH_ROW
from discreet.tables.kind import Kind

_PEOPLE = (
    "patient",
    "person",
    "people",
    "user",
    "customer",
    "client",
    "member",
    "subject",
    "participant",
    "employee",
    "student",
    "household",
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ONE_ROW = "one_row_per_unit = false     # CHECK: true only if no unit can ever have two rows"
_UNTYPED = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)  # files without column types

_TOP = """\
# The privacy policy of these tables. This draft was made from their schema, not their values; review every line marked CHECK.

version = "1"                # CHECK: the version of the data; change it whenever the data changes
adjacency = "add/remove"     # or "replace-one", if the number of protected units is public

[budget]                     # {check}the privacy loss per unit, for all answers together
{epsilon}
{delta} # well below 1/(number of units); 0 only if all keys are declared

# [ledger]                   # where spending is recorded; by default beside this file
# path = "discreet.ledger"
# witness = "/mnt/safe/discreet.witness"
"""


@final
@frozen
class Decided:
    """What the owner has decided already: the budget, and of each table who is protected and how many rows of one unit count."""

    epsilon: str
    delta: str
    units: Mapping[str, str | None] = field(factory=dict)  # a column or "each row"; None: the table is public
    rows: Mapping[str, int] = field(factory=dict)


def draft(
    schemas: Mapping[str, Mapping[str, Kind | None]],
    sources: Mapping[str, str],
    delimiters: Mapping[str, str] | None = None,
    protected: str | None = None,
    decided: Decided | None = None,
) -> str:
    """Write a first discreet.toml; `delimiters` are those of CSV files for which one was declared, `protected` is the unit, if known.

    What was `decided` is written as it is; other decisions are marked CHECK.

    >>> print(draft({"visits": {"patient_id": Kind.INTEGER, "cost": Kind.REAL}}, {"visits": "visits.parquet"}).split("[tables.visits]")[1])
    <BLANKLINE>
    source = "visits.parquet"
    unit = "patient_id"          # CHECK: who is protected; or "each row", or instead of this line: public = true
    one_row_per_unit = false     # CHECK: true only if no unit can ever have two rows
    # size = 1000                # the number of units, if public; needs one row per unit and "replace-one"
    # contributions = { rows = 10 }    # limit per unit; by default discovered privately
    <BLANKLINE>
    [tables.visits.columns.patient_id]
    type = "integer"
    <BLANKLINE>
    [tables.visits.columns.cost]
    type = "real"
    # bounds = [0, 100]          # values are clipped to these; never take them from the data
    <BLANKLINE>
    """
    between, unit = delimiters or {}, protected or _protected(schemas)
    epsilon, delta = ("1.0", "1e-6") if decided is None else (decided.epsilon, decided.delta)
    top = _TOP.format(check="CHECK: " if decided is None else "", epsilon=f"epsilon = {epsilon}", delta=f"{f'delta = {delta}':<28}")
    tables = []
    for name, schema in schemas.items():
        if decided is not None and name in decided.units:
            mine = decided.units[name]
            said, of = _decided(mine, decided.rows.get(name)), mine or ""
        else:
            known = protected is not None or unit in schema or unit == EACH_ROW
            said, of = [*_others(schema, unit), *(_unit(unit) if known else _undecided(unit))], unit
        tables.append(_table(name, schema, sources.get(name), of, between.get(name), said))
    return "\n".join([top, *tables])


def _protected(schemas: Mapping[str, Mapping[str, Kind | None]]) -> str:
    """The protected unit: the best candidate of a single table, the most frequent person-like column of several, or each row."""
    found = [candidates(schema) for schema in schemas.values()]
    if len(found) == 1:
        return next(iter(found[0]), EACH_ROW)
    named = [name for names in found for name in names]
    return max(named, key=lambda name: (_is_person(name), named.count(name)), default=EACH_ROW)


def candidates(schema: Mapping[str, Kind | None]) -> list[str]:
    """Columns that may identify units, judged by their names only: people first, then other identifiers.

    >>> candidates({"visit_id": Kind.INTEGER, "cost": Kind.REAL, "patient": Kind.TEXT})
    ['patient', 'visit_id']
    """
    able = [name for name, kind in schema.items() if kind in (Kind.INTEGER, Kind.TEXT)]
    people = [name for name in able if _is_person(name)]
    others = [name for name in able if name not in people and re.search(r"(^|_)(id|uid|uuid|key)$|[a-z]I[dD]$", name, re.ASCII)]
    others += [name for name in able if name not in people + others and name.casefold().endswith("_id")]
    return people + others


def _is_person(name: str) -> bool:
    return any(word in name.casefold() for word in _PEOPLE)


def _table(name: str, schema: Mapping[str, Kind | None], source: str | None, protected: str, delimiter: str | None, said: list[str]) -> str:
    path = f"tables.{toml_key(name)}"
    lines = [f"[{path}]", *([f"source = {toml_text(source)}"] if source is not None else [])]
    lines += [f"delimiter = {toml_text(delimiter)}"] if delimiter is not None else []
    lines += said
    untyped = source is not None and _UNTYPED.search(source) is not None
    for column, kind in schema.items():
        lines += _column(f"{path}.columns.{toml_key(column)}", column, kind, untyped, column == protected)
    return "\n".join(lines)


def _others(schema: Mapping[str, Kind | None], protected: str) -> list[str]:
    found = candidates(schema)
    several = len(found) > 1 and protected in found
    return [f"# columns that may identify the protected units: {', '.join(map(toml_text, found))}"] if several else []


def _decided(unit: str | None, rows: int | None) -> list[str]:
    """What the owner decided about a table."""
    if unit is None:
        return [f"{'public = true':<28} # these rows describe nobody", ""]
    more = [] if unit == EACH_ROW else [_ONE_ROW]
    limit = "# contributions = { rows = 10 }    # limit per unit; by default discovered privately"
    if rows is not None:
        limit = f"contributions = {{ rows = {rows} }} # limit per unit"
    return [f"{f'unit = {toml_text(unit)}':<28} # who is protected", *more, *([] if unit == EACH_ROW else [limit]), ""]


def _unit(protected: str) -> list[str]:
    choice = "a column" if protected == EACH_ROW else f'"{EACH_ROW}"'
    return [
        f"{f'unit = {toml_text(protected)}':<28} # CHECK: who is protected; or {choice}, or instead of this line: public = true",
        _ONE_ROW,
        '# size = 1000                # the number of units, if public; needs one row per unit and "replace-one"',
        "# contributions = { rows = 10 }    # limit per unit; by default discovered privately",
        "",
    ]


def _undecided(protected: str) -> list[str]:
    """A table without the unit's column is not made public by default: its owner uncomments one line."""
    return [
        f"# This table has no column {toml_text(protected)}: uncomment one of these lines.",
        "# CHECK: public = true if these rows describe nobody",
        f'# CHECK: unit = "…" if a column here identifies the same units as {toml_text(protected)}, or "{EACH_ROW}"',
        '# CHECK: link = { column = "…", table = "…", key = "…" } if the unit is in another table',
        "",
    ]


def _column(path: str, name: str, kind: Kind | None, untyped: bool, is_unit: bool) -> list[str]:
    if kind is None:
        return [f"# {toml_text(name)} has a stored type that is not supported", ""]
    lines = [f"[{path}]", f'type = "{kind.value}"']
    if untyped:
        lines[-1] = f"{lines[-1]:<28} # CHECK: this file has no types; one of {', '.join(one.value for one in Kind)}"
    if untyped and kind is Kind.TEXT and not is_unit:  # open: a profile finds it
        lines[-1] = f"# {lines[-1]}"
    if is_unit:
        return [*lines, ""]
    bounds = {Kind.INTEGER: "[0, 100]", Kind.REAL: "[0, 100]", Kind.DATE: '["2020-01-01", "2029-12-31"]'}.get(kind)
    if bounds:
        lines.append(f"{f'# bounds = {bounds}':<28} # values are clipped to these; never take them from the data")
    keys = {Kind.INTEGER: "[0, 1, 2]", Kind.TEXT: '["a", "b"]', Kind.BOOLEAN: "[false, true]"}.get(kind)
    if keys:
        lines.append(f"{f'# keys = {keys}':<28} # public groups; by default discovered privately")
    return [*lines, ""]


def toml_key(name: str) -> str:
    """A name as a key of TOML."""
    return name if _BARE.fullmatch(name) else toml_text(name)


def toml_text(value: str) -> str:
    """A TOML string: JSON's escapes are valid TOML, except that TOML also escapes DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
