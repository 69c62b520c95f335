"""Columns that tell units apart: a unit is what the source's own `=` says is one.

Where a column as we see it would make one unit of two, or two of one, its table is refused when it is opened. That is decided by stored
types and collations and never by values, so the refusal says nothing about anybody. Values that a kind cannot hold are missing, and rows
without a unit are left out: that keeps equality too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from discreet.errors import EngineError

Identities: TypeAlias = Mapping[str, Collection[str]]
"""The columns of each table that name units, lead to them, or name the nodes of a graph."""


def unkept(table: str, column: str, why: str, instead: str) -> EngineError:
    """The refusal of a column whose source's equality we cannot keep, with what to do."""
    return EngineError(f"{table}: {column} tells units apart, and {why}: {instead}")


def declare(column: str, kind: str = "text") -> str:
    """How to say what a column is to be read as."""
    return f'declare what it is read as, columns={{"{column}": "{kind}"}} (in a discreet.toml: type = "{kind}")'


def objects_as(column: str) -> str:
    """How to say what a column of Python objects holds."""
    return (
        f'say what its values are, columns={{"{column}": "text"}} for texts, "integer" for whole numbers; rows with any other value '
        f'there are left out, so convert other types first, frame["{column}"].astype(str)'
    )


def one_spelling(expression: str) -> str:
    """How to give each unit one spelling, where a collation holds several equal."""
    return f"pass a view of the table that spells each unit in one way, as in {expression}"
