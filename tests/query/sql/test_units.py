"""Which columns identify the unit, and which equalities imply the same unit."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG

from discreet.query.relation.node import Relation
from discreet.query.sql.read import read
from discreet.query.sql.units import names_unit, same_unit, source_column


def rows(sql: str) -> Relation:
    return read(sql, CATALOG).relation


VISITS, RX = rows("SELECT COUNT(*) FROM visits"), rows("SELECT COUNT(*) FROM rx")


@pytest.mark.parametrize(
    ("sql", "column", "names"),
    [
        ("SELECT COUNT(*) FROM visits", "person_id", True),
        ("SELECT COUNT(*) FROM visits", "dept", False),
        ("SELECT COUNT(*) FROM (SELECT person_id AS who FROM visits)", "who", True),
        ("SELECT COUNT(*) FROM (SELECT person_id FROM visits GROUP BY person_id)", "person_id", True),
        ("SELECT COUNT(*) FROM (SELECT person_id FROM visits UNION ALL SELECT person_id FROM rx)", "person_id", True),
    ],
)
def test_names_unit(sql: str, column: str, names: bool) -> None:
    assert names_unit(rows(sql), column) is names


def test_same_unit_and_source() -> None:
    assert same_unit(VISITS, "person_id", RX, "person_id")
    assert not same_unit(VISITS, "site_id", RX, "person_id")
    found = source_column(rows("SELECT COUNT(*) FROM (SELECT dept AS d FROM visits WHERE cost > 1)"), "d")
    assert found is not None
    assert (found[0].name, found[1]) == ("visits", "dept")
