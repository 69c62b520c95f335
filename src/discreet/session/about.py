"""What may be told about tables for free: what is declared, profiled and documented, and example questions. Nothing here reads a row."""

from __future__ import annotations

from typing import Any

from discreet.exact import short
from discreet.ledger.standing import Allowance, Amount
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.table import Table

_MOST_KEYS = 1000  # public keys of a column that are listed


def about(name: str, catalog: Catalog) -> dict[str, Any]:
    """What is declared and profiled, and examples."""
    return {
        "name": name,
        "protects": catalog.protected,
        "adjacency": catalog.adjacency,
        "version": catalog.version,
        "tables": [table_of(table) for table in catalog.tables],
        "examples": examples(catalog),
    }


def table_of(table: Table) -> dict[str, Any]:
    """A table: its columns, who is protected, and what is public about it."""
    found = {
        "name": table.name,
        "private": table.private,
        "unit": table.unit_column,
        "size": table.size,
        "contributions": {
            "rows": table.contributions.rows,
            "groups": table.contributions.groups,
            "per_group": table.contributions.per_group,
        },
        "columns": [column_of(column) for column in table.columns],
    }
    if table.profile is not None:
        found["profile"] = {"rows": table.profile.rows, "units": table.profile.units}
    return found


def column_of(column: ColumnMetadata) -> dict[str, Any]:
    """A column: its type, bounds and public keys."""
    keys = (
        None
        if column.keys is None
        else [key if key is None or isinstance(key, str | int | bool) else str(key) for key in column.keys[:_MOST_KEYS]]
    )
    return {
        "name": column.name,
        "type": column.kind.value,
        "bounds": None if column.bounds is None else [short(end) for end in column.bounds],
        "keys": keys,
        "more_keys": max(0, len(column.keys or ()) - _MOST_KEYS),
        "nullable": column.nullable,
    }


def budget_of(allowance: Allowance) -> dict[str, Any]:
    """What an account was granted, has spent, and may still spend."""
    period = {} if allowance.period is None else {"renews": str(allowance.period.next.start)}
    return {
        "granted": amount(allowance.granted),
        "spent": amount(allowance.spent),
        "remaining": amount(allowance.remaining),
    } | period


def amount(of: Amount) -> dict[str, Any]:
    """An ε and a δ, exactly, and what they mean; an ε of None is infinite."""
    return {"epsilon": None if of.epsilon is None else short(of.epsilon), "delta": short(of.delta), "meaning": of.meaning}


def examples(catalog: Catalog) -> list[str]:
    """Questions that can be asked here, from the schema alone."""
    found = []
    for table in catalog.tables:
        if not table.private:
            continue
        found.append(f"SELECT COUNT(*) AS n FROM {quoted(table.name)}")
        measures = [column for column in table.columns if column.bounds is not None and column.kind.value in ("integer", "real")]
        groups = [column for column in table.columns if column.keys is not None]
        if measures:
            found.append(f"SELECT AVG({quoted(measures[0].name)}) AS mean FROM {quoted(table.name)}")
        if groups:
            found.append(f"SELECT {quoted(groups[0].name)}, COUNT(*) AS n FROM {quoted(table.name)} GROUP BY {quoted(groups[0].name)}")
    return found


def quoted(name: str) -> str:
    """A name as SQL reads it, whatever it contains."""
    return name if name.isidentifier() and name.islower() else '"' + name.replace('"', '""') + '"'
