"""Columns that identify units: two rows belong to one unit if and only if the source's own `=` says so.

A column is refused when its table is opened if reading it would merge two units or split one. The decision uses stored types and
collations, never values, so a refusal reveals nothing about anybody. A value that a kind cannot hold is read as NULL, and rows without a
unit are dropped; this preserves equality too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from discreet.errors import EngineError

Identities: TypeAlias = Mapping[str, Collection[str]]
"""The columns of each table that identify units, link to them, or identify the nodes of a graph."""


def identity_refused(table: str, column: str, why: str, instead: str) -> EngineError:
    """The refusal of a column whose equality cannot be preserved, with what to do."""
    return EngineError(f"{table}: {column} identifies units, and {why}: {instead}")


def declare_type(column: str, kind: str = "text") -> str:
    """Advice: declare the type that a column is read as."""
    return f'declare its type, columns={{"{column}": "{kind}"}} (in discreet.toml: type = "{kind}")'


def declare_object_type(column: str) -> str:
    """Advice: declare what a column of Python objects holds."""
    return (
        f'declare its type, columns={{"{column}": "text"}} for texts or "integer" for integers; rows with any other value there are '
        f'dropped, so convert mixed columns first, frame["{column}"].astype(str)'
    )


def use_normalized_view(expression: str) -> str:
    """Advice: give each unit one spelling, where a collation treats several as equal."""
    return f"pass a view of the table that spells each unit in one way, for example with {expression}"
