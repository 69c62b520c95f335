"""Policies: every problem is named, with its path, and all at once."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import PolicyError
from discreet.tables.declaration import ColumnDeclaration
from discreet.tables.kind import Kind
from discreet.tables.policy import Policy, read_policy
from discreet.tables.table import Contributions
from discreet.tables.unit import EachRow, Link, Person, each_row

WHOLE = """
version = "3"
adjacency = "replace-one"
[budget]
epsilon = 0.1
delta = 1e-6
[ledger]
path = "visits.ledger"
witness = "/mnt/safe/visits.witness"
[tables.visits]
source = "visits.parquet"
unit = "patient_id"
one_row_per_unit = false
contributions = { groups = 3, per_group = 5 }
[tables.visits.columns.cost]
type = "real"
bounds = [0, 499.99]
nullable = false
[tables.visits.columns.dept]
keys = ["cardio", "ortho"]
[tables.visits.columns.day]
bounds = [2020-01-01, "2029-12-31"]
[tables.notes]
source = "notes.csv"
link = { column = "visit", table = "visits", key = "visit_id" }
[tables.sites]
source = "sites.parquet"
public = true
[tables.sites.columns.id]
unique = true
"""
SCHEMAS: dict[str, dict[str, Kind | None]] = {
    "visits": {
        "patient_id": Kind.INTEGER,
        "visit_id": Kind.INTEGER,
        "cost": Kind.INTEGER,
        "dept": Kind.TEXT,
        "day": Kind.DATE,
        "tags": None,
    },
    "notes": {"visit": Kind.INTEGER, "text": Kind.TEXT},
    "sites": {"id": Kind.INTEGER},
}


def test_a_whole_policy() -> None:
    policy = read_policy(WHOLE)
    assert (policy.epsilon, policy.delta) == (Fraction(1, 10), Fraction(1, 10**6))
    assert (policy.adjacency, policy.version, policy.ledger, policy.witness) == (
        "replace-one",
        "3",
        "visits.ledger",
        "/mnt/safe/visits.witness",
    )
    visits, notes, sites = policy.tables
    assert (visits.source, visits.unit, visits.contributions) == (
        "visits.parquet",
        Person("patient_id"),
        Contributions(groups=3, per_group=5),
    )
    assert (notes.unit, sites.unit) == (Link("visit", "visits", "visit_id"), None)
    assert visits.columns[0] == ColumnDeclaration("cost", Kind.REAL, (0, visits.columns[0].bounds[1]), None, False)  # type: ignore[index]
    assert policy.declared == {"visits": {"cost": Kind.REAL}, "notes": {}, "sites": {}}


def test_the_catalog_joins_what_is_declared_and_stored() -> None:
    catalog = read_policy(WHOLE).catalog(SCHEMAS)
    visits = catalog.table("visits")
    assert visits is not None
    assert [column.name for column in visits.columns] == [
        "patient_id",
        "visit_id",
        "cost",
        "dept",
        "day",
    ]  # what cannot be used is left out
    cost, dept, day = (visits.column(name) for name in ("cost", "dept", "day"))
    assert cost is not None
    assert (cost.kind, cost.bounds, cost.nullable) == (Kind.REAL, (Fraction(0), Fraction(49999, 100)), False)
    assert dept is not None
    assert dept.keys == ("cardio", "ortho")
    assert day is not None
    assert day.bounds == (Fraction(datetime.date(2020, 1, 1).toordinal()), Fraction(datetime.date(2029, 12, 31).toordinal()))
    assert (catalog.adjacency, catalog.version) == ("replace-one", "3")
    assert [table.private for table in catalog.tables] == [True, True, False]
    assert read_policy(WHOLE).catalog(SCHEMAS).digest == catalog.digest


GOOD = '[budget]\nepsilon = 1\n[tables.t]\nunit = "id"\n'
COLUMN = GOOD + "[tables.t.columns.c]\n"
BAD = {
    "": ["budget.epsilon: is missing", "tables: there must be a table in which someone is protected"],
    "= 3": ["not valid TOML"],
    "epsilon = 1e999999999999999999999": ["not valid TOML"],
    "budget = 3\n" + GOOD.split("\n", 2)[2]: ["budget: must be a section"],
    GOOD + "[budgets]\nepsilon = 1": ["budgets: is not a known setting; did you mean budget?"],
    GOOD.replace("epsilon", "epsilom"): ["budget.epsilom: is not a known setting; did you mean epsilon?", "budget.epsilon: is missing"],
    GOOD.replace("= 1", "= 0"): ["budget.epsilon: epsilon must be positive"],
    GOOD.replace("= 1", "= -1"): ["budget.epsilon: epsilon must be positive"],
    GOOD.replace("= 1", "= inf"): ["budget.epsilon: epsilon must be a finite number"],
    GOOD.replace("= 1", "= nan"): ["budget.epsilon: epsilon must be a finite number"],
    GOOD.replace("= 1", "= true"): ["budget.epsilon: epsilon must be a number"],
    GOOD.replace("= 1", "= [1]"): ["budget.epsilon: epsilon must be a finite number"],
    GOOD.replace("= 1", "= 1\ndelta = 1"): ["budget.delta: delta must be at least 0 and below 1"],
    GOOD.replace("= 1", '= 1\ndelta = "x"'): ["budget.delta: delta must be a finite number"],
    "adjacency = 'both'\n" + GOOD: ["adjacency: must be"],
    "version = 1\n" + GOOD: ["version: must be a non-empty text"],
    "version = ''\n" + GOOD: ["version: must be a non-empty text"],
    "ledger = 'x'\n" + GOOD: ["ledger: must be a section"],
    GOOD + "[ledger]\npath = 3": ["ledger.path: must be a non-empty text"],
    GOOD + "[ledger]\nwitnes = 'x'": ["ledger.witnes: is not a known setting; did you mean witness?"],
    "tables = 3\n[budget]\nepsilon = 1": ["tables: must be a section"],
    "[budget]\nepsilon = 1\n[tables]\nt = 3": ["tables.t: must be a section"],
    GOOD.replace('unit = "id"', ""): ["tables: there must be"],
    GOOD.replace('unit = "id"', "source = 'x.csv'"): ["tables.t: say who is protected"],
    GOOD.replace('"id"', "3"): ["tables.t.unit: must be a non-empty text"],
    GOOD.replace('"id"', '"id"\npublic = true'): ["tables.t: say only once who is protected"],
    GOOD.replace('"id"', '"id"\npublic = 1'): ["tables.t.public: must be true or false"],
    GOOD + "sorce = 'x'": ["tables.t.sorce: is not a known setting; did you mean source?"],
    GOOD + "source = 1": ["tables.t.source: must be a non-empty text"],
    GOOD + "one_row_per_unit = 1": ["tables.t.one_row_per_unit: must be true or false"],
    GOOD + "contributions = 3": ["tables.t.contributions: contributions must be"],
    GOOD + "contributions = { rows = 0 }": ["tables.t.contributions: rows must be a whole number"],
    GOOD + "contributions = { rows = 1.5 }": ["tables.t.contributions: rows must be a whole number"],
    GOOD + "contributions = { rows = 3, groups = 2 }": ["tables.t.contributions: contributions are limited"],
    GOOD + "contributions = { rows = 100000 }": ["tables.t.contributions: contributions are at most"],
    GOOD + "columns = 3": ["tables.t.columns: must be a section"],
    GOOD + "columns = { c = 3 }": ["tables.t.columns.c: must be a section"],
    GOOD + "[tables.p]\npublic = true\ncontributions = { rows = 3 }": ["tables.p.contributions: nobody is protected"],
    GOOD + "[tables.T]\nunit = 'id'": ["tables: table names must differ"],
    GOOD + "[tables.p]\nlink = { column = 'a', table = 'tt', key = 'b' }": ["tables.p.link.table: there is no table tt; did you mean t?"],
    GOOD + "[tables.p]\nlink = { column = 'a', tabel = 't', key = 'b' }": [
        "tables.p.link.tabel: is not a known",
        "tables.p.link.table: is missing",
    ],
    GOOD + "[tables.p]\nlink = 't'": ["tables.p.link: must be a section"],
    GOOD + "[tables.s]\npublic = true\n[tables.p]\nlink = { column = 'a', table = 's', key = 'b' }": ["tables.p.link.table: s has no unit"],
    GOOD + "[tables.p]\nlink = { column = 'a', table = 'p', key = 'b' }": ["tables.p.link.table: these links form a cycle"],
    GOOD + "[tables.p]\nlink={column='a',table='q',key='b'}\n[tables.q]\nlink={column='a',table='p',key='b'}": [
        "tables.p.link.table: these",
        "tables.q.link.table: these",
    ],
    COLUMN + "type = 'reel'": ["tables.t.columns.c.type: must be one of"],
    COLUMN + "type = 3": ["tables.t.columns.c.type: must be one of"],
    COLUMN + "bound = [0, 1]": ["tables.t.columns.c.bound: is not a known setting; did you mean bounds?"],
    COLUMN + "bounds = [0]": ["tables.t.columns.c.bounds: must be a pair"],
    COLUMN + "bounds = 3": ["tables.t.columns.c.bounds: must be a list"],
    COLUMN + "type = 'real'\nbounds = [5, 1]": ["tables.t.columns.c.bounds: the lower bound of c must be below the upper"],
    COLUMN + "type = 'real'\nbounds = [0, inf]": ["tables.t.columns.c.bounds: the upper bound of c must be a finite number"],
    COLUMN + "type = 'integer'\nbounds = [0.5, 3]": ["tables.t.columns.c.bounds: the lower bound of c must be an integer"],
    COLUMN + "type = 'text'\nbounds = [0, 3]": ["tables.t.columns.c.bounds: c is of type text"],
    COLUMN + "type = 'real'\nkeys = [1, 2]": ["tables.t.columns.c.keys: c holds real numbers"],
    COLUMN + "type = 'text'\nkeys = [1, 2]": ["tables.t.columns.c.keys: each key of c must be a text"],
    COLUMN + "type = 'text'\nkeys = ['a', 'a']": ["tables.t.columns.c.keys: the keys of c must be different"],
    COLUMN + "type = 'text'\nkeys = []": ["tables.t.columns.c.keys: the keys of c must be different, and there must be at least one"],
    COLUMN + "keys = 'abc'": ["tables.t.columns.c.keys: must be a list"],
    COLUMN + "type = 'date'\nbounds = ['yesterday', 'today']": ["tables.t.columns.c.bounds: the lower bound of c must be written like"],
    COLUMN + "nullable = 'no'": ["tables.t.columns.c.nullable: must be true or false"],
    COLUMN + "unique = 0": ["tables.t.columns.c.unique: must be true or false"],
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_every_problem_is_named_with_its_path(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy(text)
    lines = str(caught.value).splitlines()
    for expected in BAD[text]:
        assert any(expected in line for line in lines), lines
    assert len(lines) <= len(BAD[text]) + 1  # nothing is blamed that is right (leaving out the budget may be noted too)
    assert caught.value.__cause__ is None


def test_the_good_ones_are_good() -> None:
    """So that each bad file above is bad for its own reason."""
    assert read_policy(GOOD).tables[0].unit == Person("id")
    assert read_policy(COLUMN + "type = 'integer'\nbounds = [0, 3]\nkeys = [1, 2]").tables[0].columns[0].kind is Kind.INTEGER
    assert read_policy(GOOD.replace('"id"', '"each row"')).tables[0].unit == EachRow()
    assert read_policy(GOOD.replace('"id"', '"id"\npublic = false')).tables[0].unit == Person("id")


def test_many_problems_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy("adjacency = 1\n" + COLUMN.replace("= 1", "= -1", 1) + "type = 'real'\nbounds = [5, 1]\nkeys = [1]\nnull = 1")
    paths = [line.split(":")[0] for line in str(caught.value).splitlines()]
    column = "tables.t.columns.c"
    assert sorted(paths) == sorted(["adjacency", "budget.epsilon", f"{column}.bounds", f"{column}.keys", f"{column}.null"])


MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("", {"other": {"id": Kind.INTEGER}}, "tables.t: there is no such table in the data"),
    ("", {"t": {"id": Kind.INTEGER}, "u": {"id": Kind.INTEGER}}, "tables.u: this table is not declared"),
    ("", {"t": {"ID": Kind.INTEGER}}, "tables.t.unit: there is no column id in the data; did you mean ID?"),
    ("", {"t": {"x": Kind.INTEGER}}, "there is x; name the column that identifies the protected units"),
    ("", {"t": {"id": Kind.REAL}}, "tables.t.unit: to identify units, id must hold integers"),
    ("", {"t": {"id": None}}, "tables.t.unit: to identify units, id must hold integers"),
    ("nullable = true", {"t": {"id": Kind.INTEGER}}, "tables.t.columns.c: there is no such column in the data"),
    ("nullable = true", {"t": {"id": Kind.INTEGER, "c": None}}, "tables.t.columns.c: its stored type is not supported"),
    ("type = 'text'", {"t": {"id": Kind.INTEGER, "c": Kind.REAL}}, "tables.t.columns.c.type: text is declared, but real is stored"),
    ("type = 'integer'", {"t": {"id": Kind.INTEGER, "c": Kind.REAL}}, "tables.t.columns.c.type: integer is declared, but real is stored"),
    ("bounds = [0, 1]", {"t": {"id": Kind.INTEGER, "c": Kind.TEXT}}, "tables.t.columns.c.bounds: c is of type text"),
    (
        "bounds = [0.5, 1]",
        {"t": {"id": Kind.INTEGER, "c": Kind.INTEGER}},
        "tables.t.columns.c.bounds: the lower bound of c must be an integer",
    ),
    ("keys = ['a']", {"t": {"id": Kind.INTEGER, "c": Kind.INTEGER}}, "tables.t.columns.c.keys: each key of c must be an integer"),
]


@pytest.mark.parametrize(("column", "schemas", "why"), MISFITS)
def test_what_does_not_fit_the_data(column: str, schemas: dict[str, Any], why: str) -> None:
    policy = read_policy(COLUMN + column if column else GOOD)
    with pytest.raises(PolicyError) as caught:
        policy.catalog(schemas)
    assert why in str(caught.value)


def test_both_ends_of_a_link_must_fit() -> None:
    policy = read_policy(WHOLE)
    for changed, why in (
        ({"visit": Kind.TEXT}, "tables.notes.link.key: visit_id must have the same type as visit"),
        ({"text": Kind.TEXT}, "tables.notes.link.column: there is no"),
    ):
        with pytest.raises(PolicyError, match=why):
            policy.catalog(SCHEMAS | {"notes": changed})
    with pytest.raises(PolicyError, match=r"tables\.notes\.link\.key: there is no column visit_id in visits"):
        policy.catalog(SCHEMAS | {"visits": {k: v for k, v in SCHEMAS["visits"].items() if k != "visit_id"}})


def test_arguments_say_the_same_as_a_file() -> None:
    said = Policy.of_arguments(
        ["visits"],
        unit="patient_id",
        epsilon=0.1,
        delta=1e-6,
        bounds={"cost": (0, 499.99)},
        keys={"visits.dept": ["cardio", "ortho"]},
        contributions={"groups": 3, "per_group": 5},
        columns={"cost": "real"},
        adjacency="replace-one",
        version="3",
    )
    assert (said.epsilon, said.delta) == (Fraction(1, 10), Fraction(1, 10**6))
    (visits,) = said.tables
    assert (visits.unit, visits.contributions) == (Person("patient_id"), Contributions(groups=3, per_group=5))
    assert {column.name for column in visits.columns} == {"cost", "dept"}
    assert said.declared == {"visits": {"cost": Kind.REAL}}
    assert Policy.of_arguments(["t"], unit=EachRow(), epsilon=1).tables[0].unit == EachRow()


def test_several_tables_by_arguments() -> None:
    policy = Policy.of_arguments(["visits", "sites"], unit="id", epsilon=1, bounds={"visits.cost": (0, 1)}, public=["sites"])
    assert [table.unit for table in policy.tables] == [Person("id"), None]
    silent = Policy.of_arguments(["visits", "sites"], unit="id", epsilon=1)
    with pytest.raises(PolicyError, match=r'tables\.sites\.unit: there is no column id.*public=\["sites"\]'):  # never public by silence
        silent.catalog({"visits": {"id": Kind.INTEGER}, "sites": {"name": Kind.TEXT}})


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"bounds": {"cost": (0, 1)}}, 'bounds: there are several tables: write cost with its table, for example "visits.cost"'),
        ({"public": ["site"]}, "public: there is no table site; did you mean sites?"),
        ({"unit": None}, "tables.visits: say who is protected"),
        ({"epsilon": 0}, "budget.epsilon"),
        ({"keys": [1]}, "keys: must be a dict"),
        ({"public": ["visits", "sites"]}, "someone is protected"),
        ({"contributions": {"rows": 0}}, "tables.visits.contributions"),
        ({"unit": 7}, "tables.visits.unit"),
        ({"adjacency": "none"}, "adjacency"),
        ({"unit": each_row}, "unit: this is a function: call it, as in unit=each_row()"),
        ({"columns": {"visits.c": "number"}}, "tables.visits.columns.c.type"),
    ],
)
def test_arguments_that_say_nothing_good(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.of_arguments(["visits", "sites"], **({"unit": "id", "epsilon": 1} | arguments))
    assert why in str(caught.value)


def test_one_name_needs_no_list() -> None:
    policy = Policy.of_arguments(["visits", "hosp"], unit="id", epsilon=1, public="hosp")
    assert [table.unit for table in policy.tables] == [Person("id"), None]
    assert [column.name for column in Policy.of_arguments(["t"], unit="id", epsilon=1, not_null="cost").tables[0].columns] == ["cost"]
