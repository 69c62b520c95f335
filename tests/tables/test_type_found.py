"""Types that were found: what is said about them, kept, filled into drafts, and used by later questions."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from typing import Any

import pytest

from discreet.tables.bought import filled
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.draft import draft
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind
from discreet.tables.policy import read_policy
from discreet.tables.profile import ColumnProfile, TableProfile, ValueCount
from discreet.tables.profiled import profiled
from discreet.tables.table import Table
from discreet.tables.type_found import TypeFound
from discreet.tables.unit import Person

NUMBERS, CODES = TypeFound(Kind.REAL, 0.991, 0.004, False), TypeFound(Kind.REAL, 0.9, 0.004, True)
HISTOGRAM = Histogram((Fraction(0), Fraction(8)), (90.0,), 0.0, 0.0, 5.0, 1.0, 1.0)
PROFILE = TableProfile(
    "trips",
    (
        ColumnProfile("fare", Kind.REAL, HISTOGRAM, type_found=NUMBERS),
        ColumnProfile("zip", Kind.TEXT, values=(ValueCount("007", 9.0),), type_found=CODES),
        ColumnProfile("at", Kind.TIMESTAMP, type_found=TypeFound(Kind.TIMESTAMP, 1.0, 0.1, False)),
        ColumnProfile("town", Kind.TEXT, type_found=TypeFound(Kind.REAL, 0.1, 0.4, False)),
    ),
    100.0, 100.0, 1.0, None, (), "", "paid",
)  # fmt: skip
COLUMNS = tuple(ColumnMetadata(name, Kind.TEXT, nullable=name != "fare") for name in ("id", "fare", "zip", "at", "town"))
TABLE = Table("trips", COLUMNS, Person("id"), untyped=("id", "fare", "zip", "at", "town"))


def test_what_is_said() -> None:
    assert NUMBERS.sentence(Kind.REAL) == "type found: 99.1 % ± 0.4 of its values parse as numbers, and others are missing"
    assert "leading zeros" in CODES.sentence(Kind.TEXT)
    assert NUMBERS.sentence(Kind.TEXT) == "read as text: 99.1 % ± 0.4 of its values parse as numbers"
    assert TypeFound(Kind.DATE, 0.3, 0.9, False).sentence(Kind.TEXT) == "read as text"


def test_it_is_read_back() -> None:
    assert TableProfile.from_json(PROFILE.to_json(), "", "paid") == PROFILE
    assert "type_found" not in str(TableProfile("t", (ColumnProfile("a", Kind.REAL),), 1, 1, 1, None, (), "").to_json())


@pytest.mark.parametrize("wrong", [{"closest": "text"}, {"closest": "x"}, {"share": float("nan")}, {"half": "x"}, {"padded": 1}], ids=str)
def test_what_was_changed_is_not_read(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whoever reads the file says what to do
        TypeFound.from_json(NUMBERS.to_json() | wrong)


def test_open_types_of_a_draft_are_filled_in() -> None:
    text = filled(draft({"trips": dict.fromkeys(["user_id", "fare", "zip", "at", "town"], Kind.TEXT)}, {"trips": "trips.csv"}), PROFILE)
    columns = tomllib.loads(text)["tables"]["trips"]["columns"]
    assert columns == {
        "user_id": {"type": "text"},
        "fare": {"type": "real", "bounds": [0, 8]},
        "zip": {"type": "text", "keys": ["007"]},
        "at": {"type": "timestamp"},
        "town": {"type": "text"},
    }
    assert "# CHECK: bought: paid; type found: 99.1 %" in text
    assert text.count("# keys") == 1  # of a town; numbers and timestamps have no line of texts
    read_policy(text)


def test_only_columns_without_a_declared_type_are_parsed() -> None:
    found = profiled(Catalog((TABLE,)), PROFILE).tables[0]
    assert [column.kind for column in found.columns] == [Kind.TEXT, Kind.REAL, Kind.TEXT, Kind.TIMESTAMP, Kind.TEXT]
    assert [column.parsed_from for column in found.columns] == [None, "fare", None, "at", None]
    assert found.columns[1].nullable  # what does not parse is missing, whatever was declared about texts
    assert found.untyped == ("id", "zip", "town")
    declared = Table("trips", COLUMNS, Person("id"), untyped=("zip",))
    assert {column.kind for column in profiled(Catalog((declared,)), PROFILE).tables[0].columns} == {Kind.TEXT}


def test_policies_keep_their_digests() -> None:
    assert "parsed_from" not in str(Catalog((TABLE,)).to_json())
    assert "parsed_from" in str(profiled(Catalog((TABLE,)), PROFILE).to_json())
