"""Declarations of one table: sections are read once, and stored schemas decide the rest."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.tables.declaration import ColumnDeclaration, TableDeclaration
from discreet.tables.kind import Kind
from discreet.tables.problems import Problems
from discreet.tables.unit import EachRow, Link, Person


def read(section: Any) -> tuple[TableDeclaration, list[str]]:
    problems = Problems()
    return TableDeclaration.read(section, "t", problems), problems.found


def fitted(section: Any, schema: dict[str, Kind | None], elsewhere: tuple[str, ...] = ()) -> list[str]:
    declared, _ = read(section)
    problems = Problems()
    declared.table(schema, problems, elsewhere)
    return problems.found


@pytest.mark.parametrize(
    ("section", "unit"),
    [
        ({"unit": "id"}, Person("id")),
        ({"unit": "each row"}, EachRow()),
        ({"unit": EachRow()}, EachRow()),
        ({"link": {"column": "a", "table": "b", "key": "c"}}, Link("a", "b", "c")),
        ({"public": True}, None),
        ({"unit": "id", "public": False}, Person("id")),
    ],
)
def test_the_unit_of_a_section(section: Any, unit: Any) -> None:
    declared, problems = read(section)
    assert (declared.unit, problems) == (unit, [])


def test_bounds_wait_for_the_kind() -> None:
    declared = ColumnDeclaration("x", bounds=(0, 0.5))
    problems = Problems()
    assert declared.column(Kind.REAL, "p", problems).bounds == (0, Fraction(1, 2))
    assert problems.found == []
    assert declared.column(Kind.INTEGER, "p", problems).bounds is None
    assert problems.found == ["p.bounds: the upper bound of x must be an integer"]


def test_integers_may_be_declared_real_and_nothing_else() -> None:
    column = {"unit": "id", "columns": {"x": {"type": "real"}}}
    assert fitted(column, {"id": Kind.INTEGER, "x": Kind.INTEGER}) == []
    assert fitted(column, {"id": Kind.INTEGER, "x": Kind.TEXT}) == [
        "tables.t.columns.x.type: real is declared, but text is stored: declare the stored type"
    ]


def test_a_missing_unit_column_is_never_silently_public() -> None:
    (alone,) = fitted({"unit": "id"}, {"name": Kind.TEXT})
    (beside,) = fitted({"unit": "id"}, {"name": Kind.TEXT}, ("id",))
    assert alone.endswith("name the column that identifies the protected units")
    assert beside.endswith('declare public = true (or public=["t"]); otherwise link it to a unit')


@pytest.mark.parametrize("kind", [Kind.BOOLEAN, Kind.REAL, None])
def test_kinds_that_identify_nobody(kind: Kind | None) -> None:
    (problem,) = fitted({"unit": "id"}, {"id": kind})
    assert problem.startswith("tables.t.unit: to identify units, id must hold integers, texts, dates or timestamps: ")
    assert problem.endswith("name another column") is (kind is not Kind.REAL)


@pytest.mark.parametrize(
    ("section", "size", "problem"),
    [
        ({"unit": "each row", "size": 9}, 9, None),
        ({"unit": "id", "one_row_per_unit": True, "size": 9}, 9, None),
        ({"unit": "id", "size": 9}, 9, "tables.t.size: is the number of protected units"),
        ({"unit": "each row", "size": 0}, None, "tables.t.size: size must be a whole number"),
    ],
)
def test_a_public_size_needs_one_row_per_unit(section: Any, size: int | None, problem: str | None) -> None:
    declared, problems = read(section)
    assert declared.size == size
    assert len(problems) == (problem is not None)
    assert all(found.startswith(str(problem)) for found in problems)


def test_unique_is_for_public_tables() -> None:
    column = {"columns": {"x": {"unique": True}}}
    assert fitted({"public": True} | column, {"x": Kind.INTEGER}) == []
    (problem,) = fitted({"unit": "each row"} | column, {"x": Kind.INTEGER})
    assert problem.startswith("tables.t.columns.x: unique is for public tables")
