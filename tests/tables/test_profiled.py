"""A profile fills in what is not declared, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import evolve
from tables.test_profile import TABLE

from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.profile import TableProfile
from discreet.tables.profiled import profiled
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import Person

FOUND = evolve(TABLE, units=30.0)  # nearly all of whom have one of the values that were found


def table(*columns: ColumnMetadata, profile: TableProfile = FOUND, **declared: Any) -> Table:
    found = profiled(Catalog((Table("t", columns, Person("id"), **declared), Table("other", columns))), profile)
    assert found.table("other") == Table("other", columns)
    made = found.table("t")
    assert made is not None
    return made


def test_open_declarations_are_filled_in() -> None:
    found = table(ColumnMetadata.of("age", Kind.INTEGER), ColumnMetadata.of("town", Kind.TEXT), ColumnMetadata.of("new", Kind.TEXT))
    assert [(one.bounds, one.keys) for one in found.columns] == [(None, (5, 7, None)), (None, ("York", "it's")), (None, None)]
    assert found.contributions == Contributions(rows=3)
    assert found.profile is FOUND


def test_values_of_few_units_are_not_taken_for_all() -> None:
    """A cheap profile finds the most frequent values only: later questions discover their groups, as they would without it."""
    town = ColumnMetadata.of("town", Kind.TEXT)
    assert table(town, profile=evolve(TABLE, units=100.0)).columns == (town,)


def test_declarations_stay() -> None:
    age, town = ColumnMetadata.of("age", Kind.INTEGER, bounds=(0, 99)), ColumnMetadata.of("town", Kind.TEXT, keys=["Bath"])
    limits = Contributions(groups=2, per_group=1)
    found = table(age, town, contributions=limits)
    assert (found.columns, found.contributions) == ((age, town), limits)
    assert table(age, one_row=True).contributions == Contributions()


def test_a_column_of_another_type_learns_nothing() -> None:
    as_text = ColumnMetadata.of("age", Kind.TEXT)
    assert table(as_text).columns == (as_text,)


def test_digests_without_a_profile_are_what_they_were() -> None:
    columns = (ColumnMetadata("x", Kind.REAL, (Fraction(0), Fraction(1))),)
    catalog = Catalog((Table("t", columns, Person("id")),))
    assert "profile" not in str(catalog.to_json())
    assert catalog.digest == "5b4a080b5ce9e3432bcbadb767fb5e3b34959515c1e69d8600a9f376a7002e21"  # as before profiles existed
    other = profiled(catalog, TABLE)
    assert other.digest != catalog.digest
    assert profiled(catalog, evolve(TABLE, digest="another")).digest != other.digest
