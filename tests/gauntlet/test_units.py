"""A unit is what its source says is one: a source in which equal ids become several units, or different ones one, is refused or kept sound.

Each case is one person more: a base of others, and the same with that person, whose rows name him in every way that his source holds
equal; or two people who must stay two. Either the table is refused when it is opened, whoever is in it, or one person moves what a
mechanism is given by no more than it allows for.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import frozen
from gauntlet.replay import excesses, run, standing_clock

import discreet
from discreet.errors import EngineError, PolicyError

COUNT = "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM t"
SORTED = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
HIGHEST = "SELECT SUM(h) AS s FROM (SELECT id, MAX(x) AS h FROM t GROUP BY id) AS u"  # two people as one: −1 becomes 1


@frozen
class Case:
    """How a table is made of ids, the others, one person's ids, and the line with which it opens (None: it opens as it is)."""

    made: Callable[[list[Any]], Any]
    others: list[Any]
    person: list[Any]
    declared: str | None = None
    refused: bool = True  # without the line


class Word(str, enum.Enum):  # noqa: UP042 - a StrEnum would be written as it is
    """A text that is written otherwise than it is."""

    ANN = "ann"


def objects(ids: list[Any]) -> Any:
    column = np.empty(len(ids), object)
    column[:] = ids
    return pd.DataFrame({"id": pd.Series(column, dtype=object), **beside(ids)})


def beside(ids: list[Any]) -> dict[str, list[Any]]:
    """The other columns."""
    return {"g": ["ab"[i % 2] for i in range(len(ids))], "x": [float(i % 2 * 2 - 1) for i in range(len(ids))]}


def typed(dtype: str) -> Callable[[list[Any]], Any]:
    return lambda ids: objects(ids).assign(id=lambda frame: frame["id"].astype(dtype))


def stored(sql_type: str, setting: str = "binary") -> Callable[[list[Any]], Any]:
    def made(ids: list[Any]) -> Any:
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE t (id {sql_type}, g VARCHAR, x DOUBLE)")
        for one, g, x in zip(ids, *beside(ids).values(), strict=True):
            connection.execute("INSERT INTO t VALUES (CAST(? AS VARCHAR), ?, ?)", [one, g, x])
        connection.execute(f"SET default_collation='{setting}'")
        return connection, "t"

    return made


SPELT = [Decimal(f"7.{'0' * places}") for places in range(40)]
MOMENT = np.datetime64("2024-02-29T12:30:00", "ns")
CASES: dict[str, Case] = {
    "decimals of forty spellings": Case(objects, [Decimal(n) for n in range(10, 60)], SPELT, "integer"),
    "17 and 17.0": Case(objects, [*range(20, 70)], [17, 17.0, Fraction(17), Decimal("17.00"), np.int32(17), np.float64(17)], "integer"),
    "true and 1": Case(objects, [*range(20, 70)], [True, 1, np.bool_(True)], "integer"),
    "text and a member": Case(objects, [f"p{n}" for n in range(50)], ["ann", Word.ANN, np.str_("ann")], "text"),
    "one text of many objects": Case(objects, [f"p{n}" for n in range(50)], ["ann"] * 9, "text"),
    "days as objects": Case(objects, [datetime.date(2024, 1, 1 + n % 28) for n in range(50)], [datetime.date(2025, 1, 1)] * 4, "date"),
    "moments as objects": Case(
        objects, [datetime.datetime(2024, 1, 1, n % 24) for n in range(50)], [datetime.datetime(2025, 1, 1), pd.Timestamp("2025-01-01")],
        "timestamp",
    ),
    "names as objects": Case(objects, [f"p{n}" for n in range(50)], [UUID(int=5), UUID(int=5)], "text"),
    "categories of objects": Case(typed("category"), [Decimal(n) for n in range(10, 60)], [Decimal("7.0"), Decimal("7.0")], "integer"),
    "categories of numbers": Case(typed("category"), [*range(20, 70)], [17, 17], "integer"),
    "floats": Case(typed("float64"), [float(n) for n in range(20, 70)], [0.0, -0.0], "integer"),
    "unsigned": Case(typed("uint64"), [*range(20, 70)], [2**64 - 1, 2**64 - 1], "text"),
    "no case": Case(stored("VARCHAR COLLATE NOCASE"), [f"p{n}" for n in range(50)], ["ann", "Ann", "ANN", "aNN"]),
    "no accent": Case(stored("VARCHAR COLLATE NOACCENT"), [f"p{n}" for n in range(50)], ["rene", "rené", "réne"]),
    "no case by the session": Case(stored("VARCHAR", "nocase"), [f"p{n}" for n in range(50)], ["ann", "Ann"]),
    "huge": Case(stored("HUGEINT"), [str(n) for n in range(50)], [str(2**100)] * 3, "text"),
    "decimal": Case(stored("DECIMAL(38, 2)"), [str(n) for n in range(50)], [str(2**60)] * 3, "text"),
    "whole decimal": Case(stored("DECIMAL(20, 0)"), [str(n) for n in range(50)], [str(2**60)] * 3, "integer"),
    "listed": Case(stored("ENUM('a', 'b', 'c', 'd')"), ["a", "b"], ["c", "c"], refused=False),
    "uuid": Case(stored("UUID"), [str(UUID(int=n)) for n in range(50)], [str(UUID(int=99)).upper(), str(UUID(int=99))], refused=False),
    "texts": Case(typed("str"), [f"p{n}" for n in range(50)], ["", "\x00", "é", "e\u0301"][:1] * 3, refused=False),
    "texts of python": Case(typed("string[python]"), [f"p{n}" for n in range(50)], ["\x00"] * 3, refused=False),
    "seconds": Case(typed("datetime64[s]"), [MOMENT + np.timedelta64(n, "s") for n in range(1, 50)], [MOMENT] * 3, refused=False),
}  # fmt: skip


def opened(case: Case, ids: list[Any], **more: Any) -> discreet.Session:
    with standing_clock():
        return discreet.connect(
            {"t": case.made(ids)}, unit="id", epsilon=1000, delta=0.05, ledger=":memory:", keys={"g": ["a", "b"]},
            contributions={"rows": 1}, bounds={"x": (-1, 1)}, **more,
        )  # fmt: skip


def moved(case: Case, before: list[Any], after: list[Any], **more: Any) -> list[str]:
    """By how much one person moves what mechanisms are given, where that is more than allowed."""
    found = []
    for text in (COUNT, SORTED, HIGHEST):
        first, second = (
            run(opened(case, ids, **more), lambda db, text=text: db.sql(text).release(epsilon=20), seed=3) for ids in (before, after)
        )
        assert first.error is None, first.error
        found += excesses(first, second)
    return found


@pytest.mark.parametrize("name", CASES)
def test_one_person_is_one_unit(name: str) -> None:
    case = CASES[name]
    more = {} if case.declared is None else {"columns": {"id": case.declared}}
    if case.refused:
        said = []
        for ids in (case.others, [*case.others, *case.person], case.others[:1]):
            with pytest.raises((EngineError, PolicyError), match=r"identif(y|ies) units") as refusal:
                opened(case, ids)
            said.append(str(refusal.value))
        assert len(set(said)) == 1  # whoever is in it
        assert case.declared is None or f'{{"id": "{case.declared}"}}' in said[0] or '{"id": "text"}' in said[0]
    if not case.refused or case.declared:
        assert moved(case, case.others, [*case.others, *case.person], **more) == []


def test_two_people_stay_two() -> None:
    """Ids that the source tells apart: each is a unit of its own, or missing, but no two are one."""
    pairs: dict[str, tuple[Case, Any, Any, dict[str, Any]]] = {
        "17 and its text": (CASES["17 and 17.0"], 17, "17", {"columns": {"id": "integer"}}),
        "a text and its number": (CASES["one text of many objects"], "17", 17, {"columns": {"id": "text"}}),
        "half a character": (CASES["one text of many objects"], "\ud800", "?", {"columns": {"id": "text"}}),
        "two halves": (CASES["one text of many objects"], "\ud800", "\ud801", {"columns": {"id": "text"}}),
        "fractions": (CASES["17 and 17.0"], 17, 17.4, {"columns": {"id": "integer"}}),
        "with and without a zone": (
            CASES["moments as objects"], datetime.datetime(2025, 1, 1), datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC),
            {"columns": {"id": "timestamp"}},
        ),
        "nanoseconds of an object": (
            CASES["moments as objects"], pd.Timestamp("2025-01-01"), pd.Timestamp("2025-01-01 00:00:00.000000001"),
            {"columns": {"id": "timestamp"}},
        ),
        "accents": (CASES["texts"], "é", "e\u0301", {}),
        "nothing and NUL": (CASES["texts"], "", "\x00", {}),
        "ends of texts": (CASES["texts of python"], "a", "a\x00", {}),
        "spaces": (CASES["texts"], "a", "a ", {}),
    }  # fmt: skip
    for name, (case, one, two, more) in pairs.items():
        others = [*case.others, one]
        assert moved(case, others, [*others, two], **more) == [], name


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds_are_not_cut(zone: str | None, tmp_path: Any) -> None:
    """Two people a nanosecond apart were one: in pandas, Polars, Arrow and files."""
    moments = [1_709_208_000 * 10**9 + n for n in range(50)]
    table = pa.table({"id": pa.array(moments, pa.timestamp("ns", zone)), "g": pa.array(["a", "b"] * 25)})
    pq.write_table(table, tmp_path / "t.parquet")
    pq.write_table(table, tmp_path / "old.parquet", use_deprecated_int96_timestamps=True)
    frame = table.to_pandas()
    assert "ns" in str(frame["id"].dtype)
    said_exactly = [table, frame, pl.from_arrow(table), tmp_path / "t.parquet"]
    for place, data in enumerate([*said_exactly, tmp_path / "old.parquet"]):
        with pytest.raises(EngineError, match="would be truncated"):
            discreet.connect({"t": data}, unit="id", epsilon=1, ledger=":memory:")
        if place < len(said_exactly):
            db = discreet.connect(
                {"t": data}, unit="id", epsilon=1000, ledger=":memory:", columns={"id": "text"}, contributions={"rows": 1}
            )
            assert abs(db.ask("SELECT COUNT(DISTINCT id) AS n FROM t", epsilon=100).rows[0]["n"] - 50) < 1


def test_both_ends_of_a_link_tell_units_apart() -> None:
    """A link by a column that holds different texts equal would give one row to several people, or to none."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE orders (oid VARCHAR COLLATE NOCASE, pid BIGINT)")
    connection.execute("CREATE TABLE items (oid VARCHAR, price DOUBLE)")
    from discreet.engines.duckdb.engine import DuckDB
    from discreet.tables.policy import read_policy

    policy = read_policy(
        '[budget]\nepsilon = 1\n[tables.orders]\nunit = "pid"\n[tables.items]\nlink = { column = "oid", table = "orders", key = "oid" }'
    )
    assert policy.identities == {"orders": {"pid", "oid"}, "items": {"oid"}}
    sources = {name: (connection, name) for name in ("orders", "items")}
    with pytest.raises(EngineError, match="orders: oid identifies units"):
        DuckDB.open(sources, policy.declared, identities=policy.identities)
    connection.execute('CREATE VIEW one AS SELECT lower(oid) COLLATE "binary" AS oid, pid FROM orders')
    with DuckDB.open({"orders": (connection, "one"), "items": (connection, "items")}, identities=policy.identities) as engine:
        assert set(engine.schema("orders")) == {"oid", "pid"}


def test_the_line_that_the_refusal_names_works() -> None:
    """A frame of texts in an object column, as pandas before 3 makes it."""
    frame = objects([f"p{n % 40}" for n in range(120)])
    with pytest.raises(EngineError, match=r'columns=\{"id": "text"\}'):
        discreet.connect(frame, unit="id", epsilon=1, ledger=":memory:")
    db = discreet.connect(frame, unit="id", epsilon=100, ledger=":memory:", columns={"id": "text"}, contributions={"rows": 3})
    assert abs(db.ask("SELECT COUNT(DISTINCT id) AS n FROM data", epsilon=50).rows[0]["n"] - 40) < 2
    each = discreet.connect(frame, unit=discreet.each_row(), epsilon=100, ledger=":memory:")
    assert abs(each.ask("SELECT COUNT(*) AS n FROM data", epsilon=50).rows[0]["n"] - 120) < 2


def test_units_of_different_kinds_are_not_put_together() -> None:
    """17 of one table and "17" of another: an engine would cast one of them, and so decide who is the same."""
    tables = {"a": pa.table({"id": [17, 18], "v": [1.0, 2.0]}), "b": pa.table({"id": ["17", "017"], "v": [1.0, 2.0]})}
    text = "SELECT COUNT(*) AS n FROM (SELECT v FROM a UNION ALL SELECT v FROM b) AS u"
    db = discreet.connect(tables, unit="id", epsilon=1, ledger=":memory:")
    for refused in (text, "SELECT COUNT(*) AS n FROM a JOIN b ON a.id = b.id"):
        with pytest.raises(discreet.Refused, match="declare"):
            db.sql(refused).plan(epsilon=1)
    both = discreet.connect(tables, unit="id", epsilon=100, ledger=":memory:", columns={"a.id": "text"}, contributions={"rows": 2})
    assert abs(both.ask(text, epsilon=50).rows[0]["n"] - 4) < 2
