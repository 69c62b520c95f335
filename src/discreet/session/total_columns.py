"""Columns that tell a key's totals from its group NULL, where a file or data frame has NULL for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.query.question import grouping_column
from discreet.run.output_column import OutputColumn


def total_column(column: OutputColumn, key: str, outputs: Sequence[Any]) -> str:
    """The name of the column beside a key's; "" where no group is NULL, or GROUPING(key) is among what the question asked for.

    `outputs` are names and expressions as plain values.
    """
    nulls = {summed for value, summed in zip(column.values, column.summed or (), strict=False) if value is None}
    if len(nulls) < 2 or any(_mentions(expr, grouping_column(key)) for _, expr in outputs):
        return ""
    name, taken = f"{column.name}_total", {name for name, _ in outputs}
    while name in taken:
        name += "_"
    return name


def _mentions(expr: Any, column: str) -> bool:
    """Whether an expression has a column."""
    if isinstance(expr, dict):
        return (expr.get("is") == "Column" and expr.get("name") == column) or any(_mentions(part, column) for part in expr.values())
    return isinstance(expr, list) and any(_mentions(part, column) for part in expr)
