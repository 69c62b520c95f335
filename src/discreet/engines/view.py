"""A table as queries see it: every column has one of our kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.tables.kind import Kind


@final
@frozen
class View:
    """The columns to select, in SQL, and the kind of every stored column; None is a type that is not supported."""

    columns: tuple[str, ...]
    kinds: dict[str, Kind | None]

    @classmethod
    def of(cls, seen: Iterable[tuple[str, Kind | None, str]], dialect: Dialect) -> View:
        """Select every column of a supported kind under its own name; a column is given by its name, kind and SQL."""
        read = tuple(seen)
        columns = tuple(f"{value} AS {dialect.identifier(name)}" for name, kind, value in read if kind is not None)
        return cls(columns, {name: kind for name, kind, _ in read})
