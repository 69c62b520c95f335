"""Column names that SQL can tell apart."""

from __future__ import annotations

from typing import Any

from discreet.errors import EngineError


def check_column_names(table: str, columns: tuple[Any, ...]) -> tuple[str, ...]:
    """Require at least one column, and names that differ without regard to case, as SQL compares them."""
    if not all(isinstance(column, str) and column for column in columns):
        raise EngineError(f"{table}: every column needs a name that is a non-empty text: rename the columns")
    if not columns or len({column.casefold() for column in columns}) != len(columns):
        raise EngineError(
            f"{table}: a table needs a column, and column names must differ in more than upper and lower case: rename the columns"
        )
    return columns
