"""Fill in a draft policy from a profile: bounds, keys and limits that were bought, each marked with its price."""

from __future__ import annotations

import datetime
from fractions import Fraction

from discreet.errors import Invalid
from discreet.tables.draft import draft, toml_key, toml_text
from discreet.tables.kind import Kind, Value
from discreet.tables.profile import ColumnProfile, TableProfile
from discreet.tables.unit import EachRow, Link, Unit

_WIDE = 28  # characters before a comment
_NAMED = 5  # numbers between keys
_LOOKED_AT = 100_000  # for such numbers


def filled(text: str, profile: TableProfile) -> str:
    """The policy with what a profile found about one table in place of its open lines, `# bounds = …` and so on.

    Only lines in the form that drafts have are filled in; whatever is declared stays.
    """
    table = f"tables.{toml_key(profile.table)}"
    columns = {f"[{table}.columns.{toml_key(one.name)}]": one for one in profile.columns}
    lines, inside = [], ""
    for line in text.replace("from their schema, not their values;", "from their schema and bought profiles;", 1).split("\n"):
        inside = line.strip() if line.startswith("[") else inside
        found: str | None = None
        if inside == f"[{table}]" and line.startswith("# contributions =") and profile.limit is not None:
            found = f"contributions = {{ rows = {profile.limit} }}"
        elif inside in columns and line.startswith("# type ="):
            lines += _typed(columns[inside], profile.paid) or [line]
            continue
        elif inside in columns and line.startswith(("# bounds =", "# keys =")):
            found = _bounds(columns[inside]) if line.startswith("# bounds =") else _keys(columns[inside])
            if found is None and _is_other_kind(columns[inside]):
                continue  # what was drafted for a text
        lines.append(line if found is None else _bought(found, profile.paid, columns.get(inside)))
    return "\n".join(lines)


def _bought(found: str, paid: str, column: ColumnProfile | None) -> str:
    if column is not None and found.startswith("keys"):
        return f"{found:<{_WIDE}} # CHECK: {_left_out(column)} (bought: {paid})"
    about = "" if column is None else _outside(column, found)
    return f"{found:<{_WIDE}} # bought: {paid}{about}"


def _typed(column: ColumnProfile, paid: str) -> list[str]:
    """The type that was found, and the bounds, for which a draft of texts has no line; nothing if the file's types are declared."""
    if column.type_found is None:
        return []
    about = column.type_found.sentence(column.kind)
    lines = [f"{f'type = {toml_text(column.kind.value)}':<{_WIDE}} # CHECK: bought: {paid}; {about}"]
    bounds = _bounds(column) if _is_other_kind(column) else None
    return lines if bounds is None else [*lines, _bought(bounds, paid, column)]


def _is_other_kind(column: ColumnProfile) -> bool:
    return column.type_found is not None and column.kind is not Kind.TEXT


def drafted(profile: TableProfile, unit: Unit, one_row: bool, version: str, adjacency: str) -> str:
    """A draft of one table with everything filled in; its budget is for the owner to decide."""
    if isinstance(unit, Link):
        raise Invalid(f"the unit of {profile.table} is in another table: draft both with `discreet init`, and fill in what `rows` shows")
    schema = {one.name: one.kind for one in profile.columns}
    made = draft({profile.table: schema}, {}, protected=str(unit) if isinstance(unit, EachRow) else unit.column)
    made = made.replace('version = "1"  ', f"version = {toml_text(version)}  ", 1)
    made = made.replace('adjacency = "add/remove"', f"adjacency = {toml_text(adjacency)}", 1)
    made = made.replace("one_row_per_unit = false", f"one_row_per_unit = {str(one_row).lower()}", 1)
    return filled(made, profile)


def _bounds(column: ColumnProfile) -> str | None:
    if column.declared is not None or column.bounds is None:
        return None
    return f"bounds = [{', '.join(_number(end, column.kind) for end in column.bounds)}]"


def _keys(column: ColumnProfile) -> str | None:
    keys = [key for key in column.keys or () if key is not None]
    return f"keys = [{', '.join(map(_value, keys))}]" if keys and column.declared is None else None


def _left_out(column: ColumnProfile) -> str:
    """Which rows a list of keys leaves out, as far as the profile knows."""
    keys = [key for key in column.keys or () if key is not None]
    parts = []
    if column.values is not None:
        if column.kind is not Kind.BOOLEAN or len(keys) < 2:
            parts.append(
                "rows with other values" + (f" (which about {column.least:,.0f} units or fewer have)" if column.least >= 1 else "")
            )
        missing = next((f"about {one.count:,.0f} units" for one in column.values if one.value is None), "")
    else:
        numbers = [int(key) for key in keys if isinstance(key, int)]
        gaps = [number for number in range(min(numbers), min(max(numbers), min(numbers) + _LOOKED_AT)) if number not in set(numbers)]
        between = ", ".join(map(str, gaps[:_NAMED])) + (", …" if len(gaps) > _NAMED else "")
        parts.append("rows with other numbers" + (f", also those between ({between})," if gaps else ""))
        missing = f"about {column.histogram.missing:,.0f}" if column.histogram is not None and None in (column.keys or ()) else ""
    parts.append("rows with NULL" + (f" ({missing})" if missing else ""))
    return f"{' and '.join(parts)} are left out of questions that group by it"


def _outside(column: ColumnProfile, said: str) -> str:
    if column.histogram is None or not said.startswith("bounds"):
        return ""
    return f"; fewer than {max(column.histogram.beyond, 1):,.0f} rows outside"


def _number(value: Fraction, kind: Kind) -> str:
    if kind is Kind.DATE:
        return toml_text(datetime.date.fromordinal(int(value)).isoformat())
    return str(int(value)) if value.denominator == 1 else repr(float(value))


def _value(value: Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return toml_text(value)
        case datetime.date():
            return toml_text(value.isoformat())
    return str(value)
