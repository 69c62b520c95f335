"""What to say about columns whose types nobody declared: all of them at once, with the line to write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from discreet.tables.kind import Kind
from discreet.tables.table import Table

_MOST = 40  # columns that a message names


def ask_for_types(table: str, columns: Sequence[str], *, profile: bool = False) -> str:
    """Ask for the types of all columns of a table that have none; with `profile`, a profile is named as another way.

    >>> print(ask_for_types("trips", ["fare", "day"]))
    fare and day of trips have no declared types and are read as text, for none are guessed from values. Write columns={"fare": "text", \
"day": "text"} with what each holds: boolean, integer, real, text, date or timestamp (command line: --type fare=text, discreet.toml: \
type = "text" in [tables.trips.columns.fare])
    """
    named = list(columns[:_MOST])
    more = f" and {len(columns) - _MOST} more columns" if len(columns) > _MOST else ""
    listed = ", ".join(named) + more if more or len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    line = ", ".join(f'{json.dumps(name, ensure_ascii=False)}: "text"' for name in named) + (", …" if more else "")
    kinds = [kind.value for kind in Kind]
    verb = "has no declared type and is" if len(columns) == 1 else "have no declared types and are"
    spelled = json.dumps(table, ensure_ascii=False)
    bought = f"; or buy a profile, which finds types privately: db.profile({spelled}, epsilon=…), or discreet profile"
    return (
        f"{listed} of {table} {verb} read as text, for none are guessed from values. Write columns={{{line}}} with what each holds: "
        f'{", ".join(kinds[:-1])} or {kinds[-1]} (command line: --type {named[0]}=text, discreet.toml: type = "text" in '
        f"[tables.{table}.columns.{named[0]}]){bought if profile else ''}"
    )


def missing_types(tables: Iterable[Table]) -> str:
    """The same for several tables; empty if all types are known."""
    found = {table.name: table for table in tables if table.untyped}
    # of a table that has a profile, the columns that it left as text are asked for
    bought = {name: table.private and table.profile is None for name, table in found.items()}
    return ". ".join(ask_for_types(name, found[name].untyped, profile=bought[name]) for name in sorted(found))
