"""Types that nobody declared are asked for, all at once."""

from __future__ import annotations

import pytest

from discreet.errors import PolicyError
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind
from discreet.tables.policy import Policy
from discreet.tables.table import Table
from discreet.tables.unit import EachRow
from discreet.tables.untyped import ask_for_types, missing_types


def test_all_columns_are_named_and_the_line_can_be_copied() -> None:
    said = ask_for_types("trips", ("fare", 'the "day"'))
    assert 'fare and the "day" of trips have no declared types' in said
    assert 'columns={"fare": "text", "the \\"day\\"": "text"}' in said
    assert all(kind.value in said for kind in Kind)
    assert ask_for_types("trips", ("fare",)).startswith("fare of trips has no declared type and is read as text")
    many = ask_for_types("wide", [f"c{place}" for place in range(50)])
    assert "and 10 more columns" in many
    assert "c40" not in many


def test_tables_with_types_are_not_mentioned_and_their_order_is_fixed() -> None:
    typed, b, a = Table("typed", ()), Table("b", (), untyped=("y",)), Table("a", (), untyped=("x",))
    assert missing_types([typed]) == ""
    said = missing_types({b, typed, a})
    assert said.index("x of a") < said.index("y of b")
    assert "typed" not in said


def test_a_profile_is_named_where_one_can_be_bought() -> None:
    private, public = Table("a", (), EachRow(), untyped=("x",)), Table("b", (), untyped=("y",))
    assert 'db.profile("a", epsilon=…)' in missing_types([private, public])
    assert "profile" not in missing_types([public])


def test_bounds_of_a_column_without_a_type_ask_for_the_types_of_all() -> None:
    policy = Policy.of_arguments(["trips"], unit="id", epsilon=1, bounds={"fare": (0, 10), "km": (0, 5)})
    schema = {"trips": dict.fromkeys(("id", "fare", "km"), Kind.TEXT)}
    with pytest.raises(PolicyError) as caught:
        policy.catalog(schema, {"trips": ("id", "fare", "km")})
    assert "bounds of fare need its type: id, fare and km of trips have no declared types" in str(caught.value)
    declared = Policy.of_arguments(["trips"], unit="id", epsilon=1, bounds={"fare": (0, 10)}, columns={"fare": "real"})
    assert declared.catalog({"trips": {"id": Kind.TEXT, "fare": Kind.REAL}}, {"trips": ("id",)}).tables[0].untyped == ("id",)


def test_a_column_without_a_type_and_a_declared_text_are_the_same_policy() -> None:
    plain, untyped = Table("a", ()), Table("a", (), untyped=("x",))
    assert Catalog((plain,)).digest == Catalog((untyped,)).digest
