"""Hierarchies of keys: found in a public table where every set has its keys from the top down."""

from __future__ import annotations

from typing import Any

import pytest
from query.sql.clinic import CATALOG

from discreet.plan.arrangement import Arrangement
from discreet.plan.hierarchy import arrange
from discreet.query.sql.read import read

ROWS = (("north", 1), ("north", 2), ("south", 3))
VALUES: dict[str, tuple[Any, ...]] = {"region": ("north", "south"), "id": (1, 2, 3), "beds": (10, 20)}


def arranged(group: str, rows: tuple[Any, ...] = ROWS) -> Arrangement:
    question = read(f"SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.site_id = sites.id GROUP BY {group}", CATALOG)
    names = [name for name, _ in question.keys]
    values = [("er", "icu", "lab") if name == "dept" else VALUES[name] for name in names]

    def lookup(table: str, *columns: str) -> tuple[Any, ...]:
        assert table == "sites"
        return tuple(tuple(row[("region", "id").index(column)] for column in columns) for row in rows)

    return arrange(question, values, lookup)


@pytest.mark.parametrize("group", ["ROLLUP (region, sites.id)", "ROLLUP (sites.id), ROLLUP (region)", "CUBE (region, sites.id)"])
def test_a_tree(group: str) -> None:
    found = arranged(group)
    assert found.layout.parents == ((0, 0), (0, 0, 1))
    assert found.nodes[2] == ROWS
    both = found.groups(found.finest)
    assert {frozenset(one) for one in both} == {frozenset(one) for one in ROWS}


def test_beside_other_keys() -> None:
    found = arranged("ROLLUP (region, sites.id), CUBE (dept)")
    assert found.layout.sizes == (3,)
    assert len(found.groups((0, 1, 2))) == 9
    assert list(found.groups((0, 2)))[:4] == [("north", "er"), ("north", "icu"), ("north", "lab"), ("south", "er")]


def test_values_that_belong_to_several_are_no_tree() -> None:
    """An id in two regions: CUBE asks for its total over both."""
    repeated = (("north", 1), ("south", 1), ("south", 3))
    assert arranged("CUBE (region, sites.id)", repeated).layout.parents == ()
    assert arranged("ROLLUP (region, sites.id)", repeated).layout.parents == ((0, 0), (0, 1, 1))


def test_a_public_table_that_is_joined_twice_is_no_hierarchy() -> None:
    """Columns of two different rows of it do not determine each other."""
    text = (
        "SELECT COUNT(*) AS n FROM visits JOIN sites AS a ON visits.site_id = a.id JOIN sites AS b ON visits.site_id = b.id "
        "GROUP BY CUBE (a.region, b.id)"
    )
    found = arrange(read(text, CATALOG), [("north", "south"), (1, 2, 3)], lambda table, *columns: ROWS)
    assert found.layout.parents == ()
