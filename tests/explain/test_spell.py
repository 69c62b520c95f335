"""Expressions for readers."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG

from discreet.explain.spell import spelled
from discreet.query.sql.pieces import read_expression
from discreet.query.sql.read import read

SCHEMA = read("SELECT COUNT(*) FROM visits", CATALOG).relation.schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cost + 1", "cost + 1"),
        ("(cost + 1) * 2", "(cost + 1) · 2"),
        ("dept = 'er'", "dept = 'er'"),
        ("day >= '2024-01-31'", "day ≥ '2024-01-31'"),
        ("CASE WHEN urgent THEN cost END", "cost where urgent"),
        ("LOWER(dept)", "LOWER(dept)"),
        ("cost IS NULL", "cost is NULL"),
        ("0.5", "0.5"),
    ],
)
def test_spelled(text: str, said: str) -> None:
    assert spelled(read_expression(text, SCHEMA)) == said
