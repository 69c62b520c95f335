"""Tables: contribution limits are read in one of two forms, and a unit makes a table private."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import MOST_CONTRIBUTED, Contributions, Table
from discreet.tables.unit import EachRow, Link, Person, Unit, each_row

COLUMN = ColumnMetadata.of("Id", Kind.INTEGER)


def test_limits_in_either_form() -> None:
    assert Contributions.of({"rows": 10}) == Contributions(rows=10)
    assert Contributions.of({"groups": 3, "per_group": 5}) == Contributions(groups=3, per_group=5)
    assert Contributions.of({"groups": MOST_CONTRIBUTED}).groups == MOST_CONTRIBUTED
    assert Contributions.of(None) == Contributions()
    limits = Contributions(rows=2)
    assert Contributions.of(limits) is limits
    assert [bool(one) for one in (Contributions(), limits, Contributions(per_group=1))] == [False, True, True]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "must be"),
        (3, "must be"),
        ({"row": 1}, "must be"),
        ({"rows": 1, "groups": 1}, "not by both"),
        ({"rows": 0}, "rows must be a whole number"),
        ({"rows": 1.5}, "rows must be a whole number"),
        ({"rows": MOST_CONTRIBUTED + 1}, "give a lower one"),
    ],
)
def test_limits_that_are_refused(given: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        Contributions.of(given)


@pytest.mark.parametrize(
    ("unit", "private", "column"),
    [(None, False, None), (each_row(), True, None), (Person("Id"), True, "Id"), (Link("Id", "t", "key"), True, "Id")],
)
def test_a_unit_makes_a_table_private(unit: Unit | None, private: bool, column: str | None) -> None:
    table = Table("t", (COLUMN,), unit)
    assert (table.private, table.unit_column) == (private, column)


def test_columns_are_found_by_their_exact_name() -> None:
    table = Table("t", (COLUMN,))
    assert table.column("Id") is COLUMN
    assert table.column("id") is None


def test_units_in_words() -> None:
    assert [str(unit) for unit in (EachRow(), Person("id"), Link("visit", "visits", "id"))] == [
        "each row",
        "each id",
        "the unit of visits through visit",
    ]
