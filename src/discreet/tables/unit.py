"""The protected unit."""

from __future__ import annotations

from typing import TypeAlias, final

from attrs import frozen


@final
@frozen
class EachRow:
    """Each row is one protected unit."""

    def __str__(self) -> str:
        return "each row"


@final
@frozen
class Person:
    """All rows with the same value in a column are one protected unit; rows with NULL there are dropped."""

    column: str

    def __str__(self) -> str:
        return f"each {self.column}"


@final
@frozen
class Link:
    """The unit is in another table: `column` here equals `key` there. The name of this class is part of stored digests.

    Assumes. `key` is unique in that table, so that a row belongs to one unit; the owner declares it.
    """

    column: str
    table: str
    key: str

    def __str__(self) -> str:
        return f"the unit of {self.table} through {self.column}"


Unit: TypeAlias = EachRow | Person | Link


def each_row() -> EachRow:
    """Protect each row: for tables with one row per person, or where rows are what must be protected."""
    return EachRow()
