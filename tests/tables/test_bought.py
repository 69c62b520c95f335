"""Drafts filled in with what was bought: open lines only, and values that are read back."""

from __future__ import annotations

import datetime
import tomllib
from fractions import Fraction

import pytest
from attrs import evolve
from tables.test_profile import TABLE

from discreet.errors import Invalid
from discreet.tables.bought import drafted, filled
from discreet.tables.draft import draft
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind
from discreet.tables.profile import ColumnProfile, ValueCount
from discreet.tables.unit import EachRow, Link, Person

SCHEMAS = {"t": {one.name: one.kind for one in TABLE.columns}, "other": {"age": Kind.INTEGER}}
DAY = datetime.date(2024, 1, 1)


def test_open_lines_of_the_table_are_filled_in() -> None:
    text = filled(draft(SCHEMAS, {}), TABLE)
    table = tomllib.loads(text)["tables"]["t"]
    assert table["contributions"] == {"rows": 3}
    assert table["columns"]["age"] == {"type": "integer", "bounds": [5, 7], "keys": [5, 7]}
    assert table["columns"]["town"] == {"type": "text", "keys": ["York", "it's"]}
    assert table["columns"]["name"] == {"type": "text"}
    assert table["columns"]["cost"] == {"type": "real"}
    assert "bounds" not in tomllib.loads(text)["tables"]["other"]["columns"]["age"]
    assert text.count("bought: paid") == 5
    assert "from their schema and bought profiles; review every line marked CHECK" in text
    assert "# bought: paid; fewer than" in text


def test_keys_are_marked_with_what_they_leave_out() -> None:
    """An owner who does not read them would lose rows without knowing."""
    whole = Histogram(tuple(map(Fraction, range(1, 8))), (90.0, 80.0, 0.0, 70.0, 1.0, 60.0), 0.0, 0.0, 300.0, 1.0, 1.0, True)
    columns = (
        ColumnProfile("grade", Kind.INTEGER, whole),
        ColumnProfile("dept", Kind.TEXT, values=(ValueCount("er", 90.0), ValueCount(None, 40.0)), least=12.0),
        ColumnProfile("ok", Kind.BOOLEAN, values=(ValueCount(False, 9.0), ValueCount(True, 9.0))),
    )
    text = drafted(evolve(TABLE, columns=columns), Person("who"), True, "1", "add/remove")
    lines = {line.split(" =")[1].split("#")[0].strip(): line.split("# ")[1] for line in text.split("\n") if line.startswith("keys =")}
    end = "are left out of questions that group by it (bought: paid)"
    assert lines == {
        "[1, 2, 4, 6]": f"CHECK: rows with other numbers, also those between (3, 5), and rows with NULL (about 300) {end}",
        '["er"]': f"CHECK: rows with other values (which about 12 units or fewer have) and rows with NULL (about 40 units) {end}",
        "[false, true]": f"CHECK: rows with NULL {end}",
    }


def test_what_is_declared_stays() -> None:
    declared = draft(SCHEMAS, {}).replace("# bounds = [0, 100] ", "bounds = [0, 99] ").replace("# contributions = { rows = 10 }", "")
    table = tomllib.loads(filled(declared, TABLE))["tables"]["t"]
    assert table["columns"]["age"]["bounds"] == [0, 99]
    assert "contributions" not in table


def test_odd_names_values_and_numbers_are_read_back() -> None:
    edges = (Fraction("0.07"), Fraction(1, 2**20) + 1, Fraction(3))
    columns = (
        ColumnProfile('it\'s [a] "b"', Kind.REAL, Histogram(edges, (50.0, 40.0), 0.0, 0.0, 0.0, 1.0, 1.0)),
        ColumnProfile("t", Kind.TEXT, values=(ValueCount('=1"\\', 9.0), ValueCount(None, 3.0), ValueCount("\x7f\n", 3.0))),
        ColumnProfile(
            "d", Kind.DATE, Histogram((Fraction(DAY.toordinal()), Fraction(DAY.toordinal() + 9)), (90.0,), 0, 0, 0, 1.0, 1.0, True)
        ),
        ColumnProfile("ok", Kind.BOOLEAN, values=(ValueCount(False, 9.0), ValueCount(True, 9.0))),
    )
    made = drafted(evolve(TABLE, columns=columns), Person("who"), True, 'v"2', "replace-one")
    read = tomllib.loads(made)
    assert (read["version"], read["adjacency"]) == ('v"2', "replace-one")
    table = read["tables"]["t"]
    assert (table["unit"], table["one_row_per_unit"]) == ("who", True)
    found = table["columns"]
    assert [Fraction(str(end)) for end in found['it\'s [a] "b"']["bounds"]] == [edges[0], edges[-1]]
    assert found["t"]["keys"] == ['=1"\\', "\x7f\n"]
    assert found["d"]["bounds"] == ["2024-01-01", "2024-01-09"]
    assert found["ok"]["keys"] == [False, True]


def test_each_row_is_a_unit_and_links_need_both_tables() -> None:
    assert tomllib.loads(drafted(TABLE, EachRow(), False, "1", "add/remove"))["tables"]["t"]["unit"] == "each row"
    with pytest.raises(Invalid, match="init"):
        drafted(TABLE, Link("oid", "orders", "oid"), False, "1", "add/remove")
