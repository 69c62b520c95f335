"""Statements that are no questions."""

from __future__ import annotations

import pytest

from discreet.dbapi.statement import Statement


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SET discreet.epsilon = 0.1", Statement("set", "epsilon", "0.1")),
        ("set session discreet.Intervals to 'off';", Statement("set", "intervals", "off")),
        ("SET discreet.epsilon TO DEFAULT", Statement("set", "epsilon")),
        ("RESET discreet.delta", Statement("set", "delta")),
        ("SHOW discreet.remaining;", Statement("show", "remaining")),
        ("explain\nSELECT 2", Statement("explain", "SELECT 2")),
        (" select 1 ;", Statement("probe")),
        ("-- why\n/* epsilon=0.1 */ EXPLAIN SELECT 2", Statement("explain", "-- why\n/* epsilon=0.1 */ SELECT 2")),
        ("/* tool */ SET discreet.epsilon = 0.1", Statement("set", "epsilon", "0.1")),
        ("-- SET discreet.epsilon = 1\nSELECT 2", Statement("ask", "-- SET discreet.epsilon = 1\nSELECT 2")),
        ("/* open", Statement("ask", "/* open")),
        ("START TRANSACTION", Statement("nothing")),
        ("ROLLBACK;", Statement("nothing")),
        ("SELECT 1 FROM visits", Statement("ask", "SELECT 1 FROM visits")),
        ("SET other.thing = 1", Statement("ask", "SET other.thing = 1")),
        ("SET discreet.epsilon = 1; SELECT 2", Statement("ask", "SET discreet.epsilon = 1; SELECT 2")),
    ],
)
def test_read(text: str, found: Statement) -> None:
    assert Statement.read(text) == found
