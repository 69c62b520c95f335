"""How often a statement reads private tables and shuffles rows."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG

from discreet.query.sql.read import read
from discreet.run.statement import scans, shuffled


@pytest.mark.parametrize(
    ("sql", "read_often", "shuffles"),
    [
        ("SELECT COUNT(*) FROM visits", 1, 0),
        ("SELECT COUNT(*) FROM visits WHERE cost > 1", 1, 0),
        ("SELECT COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id", 1, 0),
        ("SELECT COUNT(*) FROM visits v JOIN rx r ON v.person_id = r.person_id", 2, 1),
        ("SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)", 1, 1),
        ("SELECT COUNT(*) FROM (SELECT cost FROM visits UNION ALL SELECT cost FROM visits)", 2, 0),
    ],
)
def test_scans_and_shuffles(sql: str, read_often: int, shuffles: int) -> None:
    relation = read(sql, CATALOG).relation
    assert (scans(relation), shuffled(relation)) == (read_often, shuffles)
