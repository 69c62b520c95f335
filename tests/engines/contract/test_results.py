"""What comes back: exact columns of the right types, in batches, and nothing at all of what an engine says when it fails."""

from __future__ import annotations

import datetime
import traceback
from typing import Any

import numpy as np
import pytest
from engines.contract.asked import EngineOf, columns, listed, rows

from discreet.engines.engine import FAILED, SentTable
from discreet.errors import EngineError
from discreet.private import reveal
from discreet.tables.kind import Kind

DAY, AT = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
ALL = {
    "t": {
        "b": (Kind.BOOLEAN, [True, False]),
        "i": (Kind.INTEGER, [2**63 - 1, -(2**63)]),
        "r": (Kind.REAL, [0.1, -1e300]),
        "s": (Kind.TEXT, ["a", "é"]),
        "d": (Kind.DATE, [DAY, DAY]),
        "m": (Kind.TIMESTAMP, [AT, AT]),
    }
}
DTYPES = {"b": np.dtype(bool), "i": np.dtype(np.int64), "r": np.dtype(np.float64)}


def test_the_schema(engine_of: EngineOf) -> None:
    engine = engine_of(ALL)
    assert engine.schema("t") == {name: kind for name, (kind, _) in ALL["t"].items()}
    with pytest.raises(EngineError, match="there is no table"):
        engine.schema("u")
    assert engine.version
    assert engine.name


def test_columns_have_their_types(engine_of: EngineOf) -> None:
    found = columns(engine_of(ALL), "SELECT * FROM t")
    assert {name: values.dtype for name, values in found.items()} == {name: DTYPES.get(name, np.dtype(object)) for name in ALL["t"]}
    assert {name: sorted(values.tolist()) for name, values in found.items()} == {name: sorted(v) for name, (_, v) in ALL["t"].items()}


def test_what_is_missing_is_none(engine_of: EngineOf) -> None:
    found = columns(engine_of({"t": {name: (kind, [None, *values]) for name, (kind, values) in ALL["t"].items()}}), "SELECT * FROM t")
    for name, values in found.items():
        assert values.dtype == object
        assert sorted(values.tolist(), key=lambda v: (v is not None, v)) == [None, *sorted(ALL["t"][name][1])]
        assert not any(isinstance(value, np.generic) for value in values)


def test_small_integers_are_whole_numbers_too(engine_of: EngineOf) -> None:
    engine = engine_of({"t": {"a": ("SMALLINT", ["1", "-32768"]), "b": ("INTEGER", ["5", "2147483647"])}})
    assert engine.schema("t") == {"a": Kind.INTEGER, "b": Kind.INTEGER}
    found = columns(engine, "SELECT a, b, 7 AS c, COUNT(*) AS n FROM t GROUP BY a, b")
    assert {values.dtype for values in found.values()} == {np.dtype(np.int64)}
    assert rows(engine, f"SELECT {engine.dialect.shifted(engine.dialect.total('b', 2**31), 0)} AS v FROM t") == [(2**31 + 4,)]


def test_decimals_are_reals(engine_of: EngineOf) -> None:
    texts = ["0.1", "-12345678.25", "99999999.99", "0", None]
    engine = engine_of(listed("DECIMAL(10, 2)", ["0.10", *texts[1:]]))
    assert engine.schema("t")["x"] is Kind.REAL
    assert [x for _, x in rows(engine, "SELECT i, x FROM t")] == [None if text is None else float(text) for text in texts]


def test_an_empty_table(engine_of: EngineOf) -> None:
    engine = engine_of({"t": {name: (kind, []) for name, (kind, _) in ALL["t"].items()}})
    found = columns(engine, "SELECT * FROM t")
    assert list(found) == list(ALL["t"])
    assert all(len(values) == 0 for values in found.values())
    assert {name: found[name].dtype for name in DTYPES} == DTYPES
    streamed = [reveal(batch) for batch in engine.stream("SELECT i, s, COUNT(*) AS n FROM t GROUP BY i, s")]
    assert [list(batch) for batch in streamed] == [["i", "s", "n"]]
    assert rows(engine, f"SELECT {engine.dialect.shifted(engine.dialect.total('i', 5), 0)} AS v, COUNT(*) AS n FROM t") == [(0, 0)]


@pytest.mark.parametrize("size", [1, 7, 99, 100, 101, 10_000])
def test_batches_hold_the_same_rows(engine_of: EngineOf, size: int) -> None:
    texts = [None if k % 13 == 0 else f"text {k}" for k in range(100)]
    engine = engine_of(listed(Kind.TEXT, texts, (Kind.REAL, [k / 3 for k in range(100)])))
    sql = "SELECT i, x, y, i % 2 = 0 AS even FROM t"
    batches = list(engine.batches(sql, (), size))
    assert sum(len(batch["i"]) for batch in batches) == 100
    assert all(len(batch["i"]) <= size for batch in batches)
    assert len(batches) >= 100 / size
    found = [row for batch in batches for row in zip(*(values.tolist() for values in batch.values()), strict=True)]
    assert sorted(found) == [(k, texts[k], k / 3, k % 2 == 0) for k in range(100)]
    assert sorted(found) == rows(engine, sql)


def test_a_stream_may_be_left_and_the_next_statement_runs(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.INTEGER, list(range(1000))))
    running = engine.batches("SELECT x FROM t", (), 10)
    next(running)
    running.close()  # type: ignore[attr-defined]
    assert rows(engine, "SELECT COUNT(*) AS n FROM t") == [(1000,)]


GIVEN = SentTable(
    "__given",
    (
        ("i", Kind.INTEGER, [1, -(2**63), 2**63 - 1, None]),
        ("s", Kind.TEXT, ["it's", '\\ "{},NULL', None, "NULL"]),
        ("d", Kind.DATE, [DAY, None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
        ("m", Kind.TIMESTAMP, [None, AT, datetime.datetime(1, 1, 1), datetime.datetime.max]),
    ),
)


def test_public_values_go_with_a_statement(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.TEXT, ["a", "it's", "NULL", None]))
    d = engine.dialect
    typed = [f"CAST({name} AS {d.type_name(kind)}) AS {name}" for name, kind, _ in GIVEN.columns]
    found = columns(engine, f"SELECT {', '.join(typed)} FROM __given", [GIVEN])
    key = lambda row: tuple((v is not None, v) for v in row)  # noqa: E731
    got = sorted(zip(*(values.tolist() for values in found.values()), strict=True), key=key)
    assert got == sorted(zip(*(values for _, _, values in GIVEN.columns), strict=True), key=key)
    inside = f"SELECT i, x FROM t WHERE x IN (SELECT CAST(s AS {d.type_name(Kind.TEXT)}) FROM __given)"
    assert rows(engine, inside, [GIVEN]) == [(1, "it's"), (2, "NULL")]
    with pytest.raises(EngineError):
        rows(engine, "SELECT i FROM __given")  # only with that statement


def test_a_long_table_of_public_values(engine_of: EngineOf) -> None:
    count = 200_000
    many = SentTable("__many", (("v", Kind.INTEGER, range(0, 2 * count, 2)), ("s", Kind.TEXT, [f"k{n}" for n in range(count)])))
    engine = engine_of(listed(Kind.INTEGER, [0, 1, 2, 399_998, 399_999, 400_000, None]))
    d = engine.dialect
    assert rows(engine, f"SELECT i, x FROM t WHERE x IN (SELECT {d.whole('v')} FROM __many)", [many]) == [(0, 0), (2, 2), (3, 399_998)]
    joined = f"SELECT t.i, g.s FROM t JOIN __many AS g ON t.x = {d.whole('g.v')}"
    assert rows(engine, joined, [many]) == [(0, "k0"), (2, "k1"), (3, f"k{count - 1}")]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS v; SELECT 2 AS v",
        "DROP TABLE t",
        "CREATE TABLE u AS SELECT 1 AS v",
        "DELETE FROM t",
        "INSERT INTO t SELECT * FROM t",
        "SELECT 1 AS v) AS q; DROP TABLE t; --",
        "",
        "nonsense",
    ],
)
def test_one_select_and_nothing_else(engine_of: EngineOf, sql: str) -> None:
    engine = engine_of(listed(Kind.TEXT, ["SECRET"]))
    with pytest.raises(EngineError) as caught:
        engine.run(sql)
    assert str(caught.value) == FAILED
    assert rows(engine, "SELECT COUNT(*) AS n FROM t") == [(1,)]


def test_what_an_engine_says_is_dropped(engine_of: EngineOf) -> None:
    secret = "TERCES"[::-1]  # these lines are in the trace
    engine = engine_of(listed(Kind.TEXT, ["a"]))
    with pytest.raises(EngineError) as caught:
        engine.run(f"SELECT {engine.dialect.identifier(secret)} AS v FROM t")  # which it would repeat
    assert str(caught.value) == FAILED
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert secret not in "".join(traceback.format_exception(caught.value))


def test_several_tables_and_the_same_one_twice(engine_of: EngineOf) -> None:
    stored = {"a": {"k": (Kind.INTEGER, [1, 2, None])}, "b": {"k": (Kind.INTEGER, [2, 2, 3])}}
    engine = engine_of(stored)
    d = engine.dialect
    a, b = d.identifier("a"), d.identifier("b")
    assert rows(engine, f"SELECT l.k, COUNT(*) AS n FROM {a} AS l JOIN {b} AS r ON l.k = r.k GROUP BY l.k") == [(2, 2)]
    assert rows(engine, f"SELECT COUNT(*) AS n FROM {b} AS l JOIN {b} AS r ON l.k = r.k") == [(5,)]
    for word in (d.once, d.inline):
        twice = f"WITH __r AS {word}(SELECT k FROM {b}) SELECT COUNT(*) AS n FROM __r AS l JOIN __r AS r ON l.k = r.k"
        assert rows(engine, twice) == [(5,)]
    stacked = f"SELECT k, COUNT(*) AS n FROM (SELECT k FROM {a} UNION ALL SELECT k FROM {b}) AS q GROUP BY k"
    assert rows(engine, stacked) == [(1, 1), (2, 3), (3, 1), (None, 1)]


SAME: list[tuple[Kind, list[Any]]] = [
    (Kind.BOOLEAN, [True, False, None]),
    (Kind.INTEGER, [0, 1, -1, None, 2**63 - 1]),
    (Kind.REAL, [0.0, 0.5, -1e300, None]),
    (Kind.TEXT, ["", "a", "A", None, "NULL"]),
    (Kind.DATE, [DAY, datetime.date(2000, 1, 1), datetime.date(1, 1, 1), None]),
    (Kind.TIMESTAMP, [AT, datetime.datetime(2000, 1, 1), datetime.datetime(1, 1, 1), None]),
]


@pytest.mark.parametrize(("kind", "values"), SAME)
def test_what_is_missing_is_the_same_as_what_is_missing(engine_of: EngineOf, kind: Kind, values: list[Any]) -> None:
    engine = engine_of(listed(kind, values))
    joined = f"SELECT l.i, r.i AS j FROM t AS l JOIN t AS r ON {engine.dialect.same('l.x', 'r.x', kind)}"
    assert rows(engine, joined) == [(n, n) for n in range(len(values))]
    assert rows(engine, "SELECT i FROM t WHERE x = NULL") == []  # but not for =, whatever the session says
