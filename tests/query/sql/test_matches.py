"""IN and EXISTS over public tables, and the joins that refusals of private ones recommend."""

from __future__ import annotations

import re

import pytest
from query.sql.clinic import CATALOG, shown

from discreet.errors import Refused
from discreet.query.sql.read import read

PRIVATE = [
    ("p.id IN (SELECT person_id FROM rx WHERE drug = 'x')", "(persons ⋈ rx[equal(drug, 'x')]/(person_id; ; ) on unit) ASK count=count()"),
    (
        "p.id NOT IN (SELECT person_id FROM rx)",
        "(persons ⟕ rx/(person_id; ; n=count()) on unit)[is_null(n)] ASK count=count()",
    ),
    (
        "EXISTS (SELECT 1 FROM rx WHERE rx.person_id = p.id AND dose > 2)",
        "(persons ⋈ rx[greater(dose, 2)]/(person_id; ; ) on unit) ASK count=count()",
    ),
]


@pytest.mark.parametrize(("condition", "meaning"), PRIVATE)
def test_a_private_table_is_refused_with_a_join_that_works(condition: str, meaning: str) -> None:
    with pytest.raises(Refused) as caught:
        read(f"SELECT COUNT(*) FROM persons p WHERE {condition}", CATALOG)
    instead = re.fullmatch(r".*write … (.*)", str(caught.value))
    assert instead is not None
    assert shown(read(f"SELECT COUNT(*) FROM persons p {instead.group(1)}", CATALOG)) == meaning


def test_rows_are_not_multiplied() -> None:
    """A search keeps one row for each, so that a table whose unit is the row may use it."""
    question = read("SELECT COUNT(*) FROM events WHERE level IN (SELECT beds FROM sites)", CATALOG)
    assert question.relation.one_row
    with pytest.raises(Refused, match="one row may become several"):
        read("SELECT COUNT(*) FROM events JOIN sites ON level = beds", CATALOG)


def test_inside_a_subquery_and_twice() -> None:
    text = (
        "SELECT AVG(n) AS m FROM (SELECT person_id, COUNT(*) AS n FROM visits WHERE site_id IN (SELECT id FROM sites) "
        "AND NOT (site_id IN (SELECT beds FROM sites)) GROUP BY person_id)"
    )
    assert "[in sites{id} on site_id=id][not in sites{beds} on site_id=beds]" in shown(read(text, CATALOG))


def test_a_search_by_the_unit_is_a_search_of_public_names() -> None:
    assert "on person_id=id" in shown(read("SELECT COUNT(*) FROM visits WHERE person_id IN (SELECT id FROM sites)", CATALOG))
