"""Drafts: valid, from names and types alone, and ready to be read once the owner has looked."""

from __future__ import annotations

import tomllib

import pytest

from discreet.errors import PolicyError
from discreet.tables.draft import candidates, draft
from discreet.tables.kind import Kind
from discreet.tables.policy import read_policy
from discreet.tables.unit import EachRow, Person

ODD = {
    "patient id": Kind.INTEGER,
    'a "quoted" name': Kind.REAL,
    "with.dot": Kind.TEXT,
    "ünï": Kind.DATE,
    "line\nbreak\x7f": Kind.BOOLEAN,
    "tags": None,
    "": Kind.TEXT,
}


def test_a_draft_is_a_policy_to_check() -> None:
    schemas = {"visits": {"visit_id": Kind.INTEGER, "patient_id": Kind.INTEGER, "cost": Kind.REAL, "tags": None}, "grid": {"x": Kind.REAL}}
    text = draft(schemas, {"visits": "data/visits.parquet", "grid": "grid.csv"})
    with pytest.raises(PolicyError, match=r"^tables\.grid: say who is protected[^\n]*$"):  # and nothing else
        read_policy(text)
    policy = read_policy(text.replace("# CHECK: public = true if", "public = true # if"))
    assert [table.unit for table in policy.tables] == [Person("patient_id"), None]
    assert [table.source for table in policy.tables] == ["data/visits.parquet", "grid.csv"]
    assert policy.declared == {
        "visits": {"visit_id": Kind.INTEGER, "patient_id": Kind.INTEGER, "cost": Kind.REAL},
        "grid": {"x": Kind.REAL},
    }
    assert '"patient_id", "visit_id"' in text
    assert text.count("CHECK") >= 6
    assert policy.catalog(schemas).table("visits") is not None


def test_commented_lines_are_good_once_uncommented() -> None:
    schemas = {"t": {"user_id": Kind.INTEGER, "x": Kind.REAL, "d": Kind.DATE, "s": Kind.TEXT, "b": Kind.BOOLEAN, "m": Kind.TIMESTAMP}}
    lines = [
        line.removeprefix("# ") if line.startswith(("# bounds", "# keys", "# contributions", "# [", "# path", "# witness")) else line
        for line in draft(schemas, {}).splitlines()
    ]
    policy = read_policy("\n".join(lines))
    assert policy.witness is not None
    assert policy.tables[0].contributions.rows == 10
    assert sum(column.bounds is not None for column in policy.tables[0].columns) == 2
    assert sum(column.keys is not None for column in policy.tables[0].columns) == 2


def test_odd_names_are_quoted() -> None:
    text = draft({"odd\ttable": ODD}, {"odd\ttable": 'C:\\data\\"x".csv'})
    found = tomllib.loads(text)["tables"]["odd\ttable"]
    assert set(found["columns"]) == {name for name, kind in ODD.items() if kind}
    assert found["source"] == 'C:\\data\\"x".csv'
    assert read_policy(text).tables[0].unit == Person("patient id")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["id", "age"], ["id"]),
        (["order_id", "customer"], ["customer", "order_id"]),
        (["userId", "paid"], ["userId"]),
        (["width", "valid", "solid"], []),
        (["ORDER_ID"], ["ORDER_ID"]),
    ],
)
def test_candidates_by_name(names: list[str], found: list[str]) -> None:
    assert candidates(dict.fromkeys(names, Kind.TEXT)) == found
    assert candidates(dict.fromkeys(names, Kind.REAL)) == []


def test_one_table_without_candidates_protects_each_row() -> None:
    assert read_policy(draft({"grid": {"x": Kind.REAL}}, {})).tables[0].unit == EachRow()


def test_several_tables_protect_the_same_people() -> None:
    schemas = {
        "staff": {"employee_id": Kind.INTEGER},
        "visits": {"visit_id": Kind.INTEGER, "patient_id": Kind.INTEGER},
        "tests": {"test_id": Kind.INTEGER, "patient_id": Kind.INTEGER},
    }
    text = draft(schemas, {})
    assert text.count('unit = "patient_id"') == 2
    assert 'unit = "employee_id"' not in text
    assert text.count("# CHECK: public = true if these rows describe nobody") == 1


def test_nothing_is_suggested_for_the_unit() -> None:
    section = draft({"t": {"user_id": Kind.INTEGER, "n": Kind.INTEGER}}, {}).split("columns.user_id]")[1].split("[tables")[0]
    assert "bounds" not in section
    assert "keys" not in section


@pytest.mark.parametrize(("source", "asks"), [("a.csv", 2), ("b/A.TSV.gz", 2), ("a.parquet", 0)])
def test_types_of_a_text_file_must_be_said(source: str, asks: int) -> None:
    text = draft({"t": {"user_id": Kind.TEXT, "n": Kind.TEXT}}, {"t": source})
    assert text.count("CHECK: this file has no types") == asks
    read_policy(text)
