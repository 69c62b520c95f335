"""What an independent reviewer broke, each in its smallest form."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gauntlet.replay import differences, excesses, run, standing_clock

import discreet
from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import Refused
from discreet.session.session import Session
from discreet.tables.policy import read_policy

N = 200


def people(bob: bool) -> pa.Table:
    names = [f"p{i}" for i in range(N)] + (["bob"] if bob else [])
    return pa.table({"pid": list(range(len(names))), "name": names, "k": [1] * len(names), "x": [0.5] * len(names)})


def sites() -> pa.Table:
    return pa.table({"id": list(range(100)), "tag": [1] * 100})


def opened(policy: str, **tables: pa.Table) -> Session:
    """A session over tables in memory, under a policy file."""
    read = read_policy(policy)
    return Session.open(DuckDB.open(tables), read, tables, ":memory:", None)


def connect(bob: bool, unit: str = 'unit = "pid"\none_row_per_unit = true', columns: str = "x.bounds = [0, 1]") -> Session:
    policy = f"""
budget = {{ epsilon = 1000000 }}
[tables.t]
source = "t"
{unit}
[tables.t.columns]
{columns}
[tables.sites]
source = "sites"
public = true
columns.id.unique = true
"""
    return opened(policy, t=people(bob), sites=sites())


def replayed(sql: str, **more: Any) -> tuple[list[str], list[str], Any]:
    with standing_clock():
        sessions = connect(True, **more), connect(False, **more)
    a = run(sessions[0], lambda db: db.ask(sql, epsilon=1))
    b = run(sessions[1], lambda db: db.ask(sql, epsilon=1), a.calls)
    return differences(a, b), excesses(a, b), a


HUGE = "1e99*1e99*1e99*1e99", "POWER(POWER(POWER(9000000000000000000,10),10),5)"


def test_a_payment_is_for_one_draw() -> None:
    """An error after the noise was drawn must not let the question be drawn again for nothing."""
    db = connect(True)
    sql = f"SELECT CASE WHEN COUNT(*) > {N} THEN {HUGE[0]} ELSE {HUGE[1]} END AS c, COUNT(*) AS n FROM t"
    first = db.ask(sql, epsilon=0.1)
    assert first.rows[0]["c"] is None  # what no reader can use is NULL, not an error
    assert [db.ask(sql, epsilon=0.1).rows for _ in range(20)] == [first.rows] * 20
    assert db.spent.epsilon * 10 == 1


def test_a_run_that_fails_pays_again(monkeypatch: pytest.MonkeyPatch) -> None:
    db = connect(True)

    def fail(*_: Any) -> Any:
        raise RuntimeError

    for paid in range(1, 4):
        with monkeypatch.context() as patch:
            patch.setattr("discreet.session.run.outcome", fail)
            with pytest.raises(RuntimeError):
                db.ask("SELECT COUNT(*) AS n FROM t", epsilon=0.1)
        assert db.spent.epsilon * 10 == paid


@pytest.mark.parametrize("each", [True, False])
def test_names_that_differ_in_case_alone(each: bool) -> None:
    """We believe that "A" is unique; an engine that takes "a" and "A" for one would join on the other and multiply a person's row."""
    sql = """SELECT COUNT(*) AS n FROM (SELECT k FROM t WHERE name = 'bob') b
             JOIN (SELECT tag AS "a", id AS "A" FROM sites) q ON b.k = q."A" """
    found, too_far, trace = replayed(sql, **({"unit": 'unit = "each row"'} if each else {}))
    assert (found, too_far, trace.error) == ([], [], None)
    answer = connect(True).ask('SELECT AVG("B") AS m FROM (SELECT x + 0 AS "b", x + 1 AS "B" FROM t)', epsilon=1000).rows[0]["m"]
    assert abs(answer - 1.5) < 0.1


def test_a_column_of_the_other_kind_is_not_read() -> None:
    sql = """SELECT SUM("B" + 1) AS s FROM (SELECT CASE WHEN name = 'bob' THEN 'x' ELSE '1' END AS "b", k AS "B" FROM t)"""
    found, too_far, trace = replayed(sql, columns="k.bounds = [0, 5]")
    assert (found, too_far, trace.error) == ([], [], None)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CEIL((CASE WHEN name='bob' THEN 0.1 ELSE 0.0 END + CASE WHEN name='bob' THEN 0.2 ELSE 0.0 END)*10)"
        " * 3074457345618258602) AS s FROM t",
        "SELECT SUM(CASE WHEN name='bob' THEN FLOOR(3e36*0.1 - 3e35) ELSE 0 END) AS s FROM t",
        "SELECT SUM(CASE WHEN name='bob' THEN ROUND(3e36*0.1 - 3e35) ELSE 0 END) AS s FROM t",
        "SELECT SUM(CASE WHEN name='bob' THEN CAST(3e36*0.1 - 3e35 AS INTEGER) ELSE 0 END) AS s FROM t",
    ],
)
def test_rounding_errors_do_not_carry_whole_numbers_beyond_their_range(sql: str) -> None:
    """The ranges of what cancels are wide, as they are in truth: so it is refused, or it is right."""
    found, too_far, trace = replayed(sql)
    assert (found, too_far) == ([], [])
    assert trace.error is None or "a number without bounds" in trace.error


def test_text_does_not_grow_without_limit() -> None:
    with pytest.raises(Refused, match="at most"):
        connect(True).sql(f"SELECT COUNT(*) AS n FROM t WHERE {'||'.join(['name'] * 64)} = 'a'")
    inner = "SELECT pid, name AS s FROM t"
    for _ in range(5):
        inner = f"SELECT pid, MAX({'||'.join(['s'] * 16)}) AS s FROM ({inner}) GROUP BY pid"
    answer = connect(True).ask(f"SELECT AVG(LENGTH(s)) AS m FROM ({inner})", epsilon=10**5).receipt.discovered
    assert float(next(iter(answer["bounds"].values()))["high"]) <= 40_000


def test_a_unique_column_is_read_as_it_is() -> None:
    """Clamping ids to bounds would make them equal, and comparing them with reals would round them together."""
    public = pa.table({"id": list(range(N)), "tag": [1] * N})
    events = pa.table({"k": pa.array([9] * 10, pa.int64())})
    policy = """
budget = { epsilon = 1000 }
[tables.e]
source = "e"
unit = "each row"
[tables.p]
source = "p"
public = true
columns.id = { unique = true, bounds = [0, 9] }
"""
    db = opened(policy, e=events, p=public)
    answer = db.ask("SELECT COUNT(*) AS n FROM e JOIN p ON e.k = p.id", epsilon=100).rows[0]["n"]
    assert answer == 10
    with pytest.raises(Refused, match="one row may become several"):
        db.sql("SELECT COUNT(*) AS n FROM (SELECT k + 0.5 AS r FROM e) q JOIN p ON q.r = p.id")


def test_a_table_named_like_ours() -> None:
    for name in ("u", "p", "r", "q", "g", "t", "l", "k"):
        db = discreet.connect({name: people(True)}, unit="pid", epsilon=100, ledger=":memory:", contributions={"groups": 2, "per_group": 1})
        assert len(db.ask(f"SELECT k > 0 AS b, COUNT(*) AS n, MEDIAN(x) AS m FROM {name} GROUP BY k > 0", epsilon=50).rows) == 2


def test_nothing_to_group_by_and_too_small_a_price() -> None:
    with pytest.raises(Refused):
        connect(True).sql("SELECT y, COUNT(*) AS n FROM (SELECT NULL AS y FROM t) GROUP BY y")
    with pytest.raises(discreet.Invalid, match="epsilon"):
        connect(True).sql("SELECT COUNT(*) AS n FROM t").plan(epsilon="1e-9")


def test_other_groups_beside_whole_keys() -> None:
    db = connect(True, columns="k.keys = [1, 5]")
    assert db.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING k > 2 ORDER BY k", other=True).release(epsilon=1).rows[0]["k"] == 5


# ── by a second reviewer ─────────────────────────────────────────────────────────────────────────────────────────────


def parquet(folder: Path, rows: dict[str, list[Any]]) -> Path:
    pq.write_table(pa.table(rows), folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("beyond", [250.0, -250.0, float("inf"), float("-inf"), 5.0])
def test_how_nan_is_read_does_not_depend_on_others(tmp_path: Path, kind: pa.DataType, beyond: float) -> None:
    """A Parquet file's minima and maxima leave NaN out, and the engine believes them."""
    texts = ["COUNT(*) FILTER (WHERE x > 200)", "COUNT(*) FILTER (WHERE x < 200)", "COUNT(x)", "SUM(x)"]
    seen = []
    for bob in (False, True):
        values = [i % 100 + 0.5 for i in range(1000)] + [float("nan")] * 1000 + ([beyond] if bob else [])
        rows = pa.table({"pid": list(range(len(values))), "x": pa.array(values, kind)})
        pq.write_table(rows, tmp_path / f"{bob}.parquet")
        db = discreet.connect(
            {"t": tmp_path / f"{bob}.parquet"}, unit="pid", epsilon=10**6, one_row_per_unit=True, bounds={"x": (0, 100)}, ledger=":memory:"
        )
        seen.append(run(db, lambda db: db.ask(f"SELECT {', '.join(texts)} FROM t", epsilon=1)))
    assert seen[0].error is None
    assert excesses(*seen) == []


@pytest.mark.parametrize("aggregate", ["SUM", "AVG", "MEDIAN", "VARIANCE"])
def test_nan_in_a_file_without_bounds(tmp_path: Path, aggregate: str) -> None:
    values = [1.0] * 300 + [float("nan")]
    path = parquet(tmp_path, {"pid": list(range(301)), "x": values})
    db = discreet.connect(path, unit="pid", epsilon=10**6, one_row_per_unit=True)
    assert len(db.ask(f"SELECT {aggregate}(x) AS a FROM t", epsilon=10).rows) == 1


DATES = [
    "SUM(YEAR(CASE WHEN name='bob' THEN CAST(at AS DATE) ELSE DATE '0001-01-01' END) * 9000000000000000000)",
    "SUM(YEAR(CASE WHEN name='bob' THEN DATE_TRUNC('month', at) ELSE DATE '0001-01-01' END) * 9000000000000000000)",
    "SUM(CASE WHEN name='bob' THEN 98e49*1e45*0.1 - 98e49*1e44 ELSE 0.0 END*1e45*1e45*1e45*1e45*1e45*1e45)",
    "SUM(x + CASE WHEN name='bob' THEN 98e49*1e45*0.1 - 98e49*1e44 ELSE 0.0 END*1e45*1e45*1e45*1e45*1e45*1e45)",
]


@pytest.mark.parametrize("aggregate", DATES)
def test_other_branches_and_cancelled_numbers(aggregate: str) -> None:
    """What is believed of one branch is not believed of the other; and what cancels to 0 on paper may be anything in floats."""
    seen = []
    for bob in (False, True):
        rows = people(bob)
        rows = rows.append_column("at", pa.array([datetime.datetime(2024, 1, 1)] * len(rows), pa.timestamp("us")))
        db = discreet.connect({"t": rows}, unit="pid", epsilon=10**6, one_row_per_unit=True, ledger=":memory:")
        try:
            seen.append(run(db, lambda db: db.ask(f"SELECT {aggregate} AS s FROM t", epsilon=1)).error)
        except Refused as error:
            seen.append(str(error))
    assert seen[0] == seen[1]


def test_sums_within_a_unit_are_clamped_before_they_are_cast() -> None:
    inner = "SELECT pid, {}(CASE WHEN name='bob' THEN 3e36*0.1 - 3e35 ELSE 0.0 END) AS s FROM t GROUP BY pid"
    for word in ("SUM", "AVG"):
        found, too_far, trace = replayed(f"SELECT SUM(s) AS s FROM ({inner.format(word)}) AS q")
        assert (found, too_far) == ([], [])
        assert trace.error is None or trace.error.startswith("NotEnoughData")  # by what was released, the same for all


def test_unique_is_for_public_tables() -> None:
    with pytest.raises(discreet.PolicyError, match="unique is for public tables"):
        connect(True, columns="x = { unique = true, bounds = [0, 50] }")


def test_relations_are_counted_however_they_are_asked_for() -> None:
    asked = connect(True).table("t").where("name = 'bob'")
    asked = asked.stack(asked)
    for _ in range(6):
        asked = asked.join(asked, on="pid")
    with pytest.raises(Refused, match="relations"):
        asked.count().plan(epsilon=1)


def test_numbers_too_large_to_square() -> None:
    with pytest.raises(Refused, match="too large or too small"):
        connect(True).sql("SELECT VARIANCE(x*1e45*1e45*1e45*1e45) AS v FROM t").plan(epsilon=1)


def test_a_prefix_is_a_literal() -> None:
    with pytest.raises(Refused, match="literal"):
        connect(True, columns='name.keys = ["a"]').sql("SELECT COUNT(*) AS n FROM t WHERE STARTS_WITH(name, name)")


# ── by a third ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("first", "second"), [(pa.int8(), pa.int64()), (pa.int64(), pa.float64()), (pa.float32(), pa.float64())])
def test_files_of_one_table_have_one_schema(tmp_path: Path, first: pa.DataType, second: pa.DataType) -> None:
    for name, kind in (("a", first), ("b", second)):
        pq.write_table(pa.table({"pid": [1, 2], "c": pa.array([1, 2], kind)}), tmp_path / f"{name}.parquet")
    with pytest.raises(discreet.Error, match="store c in different types"):
        discreet.connect({"t": tmp_path / "*.parquet"}, unit="pid", epsilon=1, ledger=":memory:")
    pq.write_table(pa.table({"pid": [1, 2], "c": pa.array([1, 2], first)}), tmp_path / "b.parquet")
    assert discreet.connect({"t": tmp_path / "*.parquet"}, unit="pid", epsilon=1, ledger=":memory:")


def test_a_text_that_is_no_text() -> None:
    frame = pd.DataFrame({"pid": range(100), "c": pd.Series(["a"] * 99 + ["\ud800"], dtype=object).astype("string[python]")})
    db = discreet.connect({"t": frame}, unit="pid", epsilon=100, ledger=":memory:", one_row_per_unit=True)
    assert len(db.ask("SELECT COUNT(c) AS n FROM t", epsilon=10).rows) == 1


def test_what_cannot_be_squared_is_refused_before_paying() -> None:
    db = connect(True, unit='unit = "pid"')
    with pytest.raises(Refused, match="too large or too small"):
        db.sql("SELECT VARIANCE(LEAST(GREATEST(x,0),1)*1e45*1e45*1e45) AS v FROM t").plan(epsilon=1)


def test_whole_numbers_beyond_64_bits() -> None:
    release = connect(True).ask("SELECT COUNT(*)*9000000000000000000 AS p, 1e99*1e99*1e99*SUM(x)/COUNT(*) AS q FROM t", epsilon=10)
    assert release.to_arrow().num_rows == 1
