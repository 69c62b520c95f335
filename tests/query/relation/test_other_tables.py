"""Relations over changed tables: every table is replaced, wherever it is read, and nothing else changes."""

from __future__ import annotations

import pytest
from attrs import evolve
from query.sql.clinic import CATALOG

from discreet.query.relation.node import Join, Match, PerUnit, Scan, Select, Stack, Where
from discreet.query.relation.other_tables import with_tables
from discreet.query.sql.read import read
from discreet.tables.table import Table

TEXTS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE cost > 3",
    "SELECT COUNT(*) FROM (SELECT cost + 1 AS c FROM visits)",
    "SELECT COUNT(*) FROM (SELECT person_id, SUM(cost) AS c FROM visits GROUP BY person_id)",
    "SELECT COUNT(*) FROM (SELECT cost FROM visits UNION ALL SELECT cost FROM visits)",
    "SELECT COUNT(*) FROM visits JOIN persons ON visits.person_id = persons.id",
]


def unbounded(table: Table) -> Table:
    return evolve(table, columns=tuple(evolve(column, bounds=None) for column in table.columns))


@pytest.mark.parametrize("text", TEXTS)
def test_every_table_is_replaced(text: str) -> None:
    relation = read(text, CATALOG).relation
    changed = with_tables(relation, unbounded)
    assert with_tables(relation, lambda table: table) == relation
    assert changed != relation
    assert with_tables(changed, unbounded) == changed
    assert type(changed) in (Scan, Where, Select, PerUnit, Stack, Join, Match)
