"""Draft a policy from stored schemas alone; no value is looked at, and what only the owner can know is left to decide."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

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

_TOP = """\
# The privacy policy of these tables. Nothing in this draft was learnt from their values; go through every line marked CHECK.

version = "1"                # CHECK: of the data; change it whenever the data changes
adjacency = "add/remove"     # or "replace-one", if the number of protected units is public

[budget]                     # CHECK: how much may ever be learnt about one unit, from all answers together
epsilon = 1.0
delta = 1e-6                 # well below 1/(number of units); 0 only if all keys are declared

# [ledger]                   # where the spending is kept; beside this file if nothing is said
# path = "discreet.ledger"
# witness = "/mnt/safe/discreet.witness"
"""


def draft(schemas: Mapping[str, Mapping[str, Kind | None]], sources: Mapping[str, str]) -> str:
    """Write a discreet.toml to start from.

    >>> print(draft({"visits": {"patient_id": Kind.INTEGER, "cost": Kind.REAL}}, {"visits": "visits.parquet"}).split("[tables.visits]")[1])
    <BLANKLINE>
    source = "visits.parquet"
    unit = "patient_id"          # CHECK: who is protected; or "each row", or in place of this line: public = true
    one_row_per_unit = false     # CHECK: true only if no unit can ever have two rows
    # contributions = { rows = 10 }    # how much of one unit counts; found privately if nothing is said
    <BLANKLINE>
    [tables.visits.columns.patient_id]
    type = "integer"
    # bounds = [0, 100]          # values beyond count as the nearest bound; never look them up in the data
    # keys = [0, 1, 2]           # groups that are public, found privately if nothing is said
    <BLANKLINE>
    [tables.visits.columns.cost]
    type = "real"
    # bounds = [0, 100]          # values beyond count as the nearest bound; never look them up in the data
    <BLANKLINE>
    """
    return "\n".join([_TOP, *(_table(name, schema, sources.get(name)) for name, schema in schemas.items())])


def candidates(schema: Mapping[str, Kind | None]) -> list[str]:
    """Columns that may tell units apart, judged by their names only: people first, then other identifiers.

    >>> candidates({"visit_id": Kind.INTEGER, "cost": Kind.REAL, "patient": Kind.TEXT})
    ['patient', 'visit_id']
    """
    able = [name for name, kind in schema.items() if kind in (Kind.INTEGER, Kind.TEXT)]
    people = [name for name in able if any(word in name.casefold() for word in _PEOPLE)]
    others = [name for name in able if name not in people and re.search(r"(^|_)(id|uid|uuid|key)$|[a-z]I[dD]$", name, re.ASCII)]
    others += [name for name in able if name not in people + others and name.casefold().endswith("_id")]
    return people + others


def _table(name: str, schema: Mapping[str, Kind | None], source: str | None) -> str:
    found = candidates(schema)
    path = f"tables.{_key(name)}"
    unit = _text(found[0] if found else EACH_ROW)
    lines = [f"[{path}]", *([f"source = {_text(source)}"] if source is not None else [])]
    if len(found) > 1:
        lines.append(f"# columns that might say who is protected: {', '.join(map(_text, found))}")
    choice = "" if not found else f'"{EACH_ROW}", or '
    lines += [
        f"{f'unit = {unit}':<28} # CHECK: who is protected; or {choice or 'a column, or '}in place of this line: public = true",
        "one_row_per_unit = false     # CHECK: true only if no unit can ever have two rows",
        "# contributions = { rows = 10 }    # how much of one unit counts; found privately if nothing is said",
        "",
    ]
    for column, kind in schema.items():
        lines += _column(f"{path}.columns.{_key(column)}", column, kind)
    return "\n".join(lines)


def _column(path: str, name: str, kind: Kind | None) -> list[str]:
    if kind is None:
        return [f"# {_text(name)} has a stored type that cannot be used", ""]
    lines = [f"[{path}]", f'type = "{kind.value}"']
    bounds = {Kind.INTEGER: "[0, 100]", Kind.REAL: "[0, 100]", Kind.DATE: '["2020-01-01", "2029-12-31"]'}.get(kind)
    if bounds:
        lines.append(f"{f'# bounds = {bounds}':<28} # values beyond count as the nearest bound; never look them up in the data")
    keys = {Kind.INTEGER: "[0, 1, 2]", Kind.TEXT: '["a", "b"]', Kind.BOOLEAN: "[false, true]"}.get(kind)
    if keys:
        lines.append(f"{f'# keys = {keys}':<28} # groups that are public, found privately if nothing is said")
    return [*lines, ""]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    """A TOML string: JSON's escapes are among TOML's, except that TOML has DEL escaped too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
