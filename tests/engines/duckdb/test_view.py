"""Reading: kinds from stored types, never from values, and no value on which a query fails."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from engines.visits import AT

from discreet.engines.duckdb.engine import DuckDB
from discreet.errors import EngineError
from discreet.tables.kind import Kind

# ── canonical types ──────────────────────────────────────────────────────────────────────────────────────────────────

TYPES = {
    "TINYINT": ("7", Kind.INTEGER, 7),
    "UINTEGER": ("4294967295", Kind.INTEGER, 4294967295),
    "UBIGINT": ("18446744073709551615", Kind.INTEGER, None),
    "HUGEINT": ("170141183460469231731687303715884105727", Kind.INTEGER, None),
    "UHUGEINT": ("5", Kind.INTEGER, 5),
    "FLOAT": ("0.5", Kind.REAL, 0.5),
    "DECIMAL(10,2)": ("1.25", Kind.REAL, 1.25),
    "VARCHAR": ("'x'", Kind.TEXT, "x"),
    "ENUM('x', 'y')": ("'y'", Kind.TEXT, "y"),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", Kind.TEXT, "00000000-0000-0000-0000-000000000001"),
    "DATE": ("'infinity'", Kind.DATE, None),
    "TIMESTAMP": ("'-infinity'", Kind.TIMESTAMP, None),
    "TIMESTAMP_S": ("'2026-11-15 08:30:00'", Kind.TIMESTAMP, AT),
    "TIMESTAMP_MS": ("'2026-11-15 08:30:00'", Kind.TIMESTAMP, AT),
    "TIMESTAMP_NS": ("'2026-11-15 08:30:00'", Kind.TIMESTAMP, AT),
    "TIMESTAMPTZ": ("'2026-11-15 10:30:00+02'", Kind.TIMESTAMP, AT),
    "BOOLEAN": ("true", Kind.BOOLEAN, True),
}
UNUSED = ["INTEGER[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "BLOB", "TIME", "INTERVAL", "BIT", "DECIMAL(5,1)[]", "VARCHAR[3]"]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("sql_type", TYPES)
def test_stored_types_become_kinds(sql_type: str, zone: str) -> None:
    written, kind, value = TYPES[sql_type]
    with duckdb.connect() as user:
        user.execute(f"CREATE TABLE t (v {sql_type})")
        user.execute(f"INSERT INTO t VALUES ({written})")
        user.execute(f"SET TimeZone = '{zone}'")
        with DuckDB.open({"t": user}) as engine:
            assert engine.schema("t") == {"v": kind}
            assert engine.read_public("SELECT v FROM t")["v"][0] == value


def test_infinite_zoned_timestamps_are_missing() -> None:
    with duckdb.connect() as user:
        user.execute("CREATE TABLE t AS SELECT unnest(['infinity', '-infinity', '20000-01-01 00:00:00+00'])::TIMESTAMPTZ AS v")
        with DuckDB.open({"t": user}) as engine:
            assert list(engine.read_public("SELECT v FROM t")["v"]) == [None, None, None]


def test_unused_types_are_shown_but_not_read() -> None:
    with duckdb.connect() as user:
        user.execute(f"CREATE TABLE t (id INTEGER, {', '.join(f'c{i} {sql_type}' for i, sql_type in enumerate(UNUSED))})")
        with DuckDB.open({"t": user}) as engine:
            assert engine.schema("t") == {"id": Kind.INTEGER} | {f"c{i}": None for i in range(len(UNUSED))}
            assert list(engine.read_public("SELECT * FROM t")) == ["id"]


def test_whole_numbers_declared_real_are_real(folder: Path) -> None:
    with DuckDB.open({"visits": folder / "visits.parquet"}, {"visits": {"id": Kind.REAL, "dept": Kind.INTEGER}}) as engine:
        assert engine.schema("visits")["id"] is Kind.REAL
        assert engine.schema("visits")["dept"] is Kind.TEXT  # a stored type is not bent; the policy complains
        assert engine.read_public("SELECT id FROM visits")["id"].dtype == np.float64


@pytest.mark.parametrize("sql", ["SELECT 1::HUGEINT AS v", "SELECT 1::UBIGINT AS v", "SELECT 1.5::DECIMAL(5,2) AS v", "SELECT [1] AS v"])
def test_results_that_numpy_would_round_are_refused(engine: DuckDB, sql: str) -> None:
    with pytest.raises(EngineError):
        engine.run(sql)


# ── the schema does not depend on values ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rows", ["1,2\n", "x,\n", "", "2026-11-15,true\n", '"a\n', "1\n1,2,3\n"])
def test_csv_columns_are_texts_unless_declared(tmp_path: Path, rows: str) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + rows)
    with DuckDB.open({"t": tmp_path / "t.csv"}, {"t": {"b": Kind.INTEGER}}) as engine:
        assert engine.schema("t") == {"a": Kind.TEXT, "b": Kind.INTEGER}
        engine.run("SELECT * FROM t")


@pytest.mark.parametrize(
    "values", [[1, 2], ["a", 1.5], [None, None], [10**5000, "\ud800"], [object(), {}], [datetime.date(2026, 1, 1), math.nan]]
)
def test_pandas_object_columns_are_texts(values: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"v": pandas.Series(values, dtype=object)})
    with DuckDB.open({"t": table}) as engine:
        assert engine.schema("t") == {"v": Kind.TEXT}
        assert all(value is None or type(value) is str for value in engine.read_public("SELECT v FROM t")["v"])


def test_pandas_dtypes() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {
            "c": pandas.Categorical(["u", "v", None]),
            "n": pandas.Categorical([1, 2, None]),
            "i": pandas.array([1, None, 3], dtype="Int64"),
            "z": pandas.to_datetime(["2026-11-15 10:30"] * 3).tz_localize("Europe/Paris"),
            "x": np.array([1j, 2, 3]),
            "p": pandas.period_range("2026", periods=3, freq="D"),
            "d": pandas.to_timedelta([1, 2, 3]),
            "s": ["a", None, "é"],
        }
    )
    with DuckDB.open({"t": table}, {"t": {"n": Kind.INTEGER}}) as engine:
        kinds = {"c": Kind.TEXT, "n": Kind.INTEGER, "i": Kind.INTEGER, "z": Kind.TIMESTAMP, "s": Kind.TEXT, "x": None, "p": None, "d": None}
        assert engine.schema("t") == kinds
        found = engine.read_public("SELECT * FROM t")
        assert [list(found[name]) for name in "cnis"] == [["u", "v", None], [1, 2, None], [1, None, 3], ["a", None, "é"]]
        assert found["z"][0] == datetime.datetime(2026, 11, 15, 9, 30)


def test_arrow_and_polars_types_that_are_not_read() -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    arrow = pyarrow.table(
        {"id": [1], "h": pyarrow.array(np.array([1], dtype=np.float16)), "d": pyarrow.array([1]).cast(pyarrow.decimal256(60, 2))}
    )
    other = polars.DataFrame({"id": [1], "o": polars.Series([object()], dtype=polars.Object), "l": [[1]]})
    with DuckDB.open({"arrow": arrow, "other": other}) as engine:
        assert engine.schema("arrow") == {"id": Kind.INTEGER, "h": None, "d": None}
        assert engine.schema("other") == {"id": Kind.INTEGER, "l": None, "o": None}


# ── CSV never fails on its values ────────────────────────────────────────────────────────────────────────────────────


def test_unreadable_values_are_missing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("i,r,d,t,b\nx,y,z,w,v\n1,nan,infinity,infinity,t\n99999999999999999999,1e400,99999-01-01,,\n")
    declared = {"i": Kind.INTEGER, "r": Kind.REAL, "d": Kind.DATE, "t": Kind.TIMESTAMP, "b": Kind.BOOLEAN}
    with DuckDB.open({"t": tmp_path / "t.csv"}, {"t": declared}) as engine:
        found = engine.read_public("SELECT * FROM t")
    assert list(found["i"]) == [None, 1, None]
    assert found["r"][0] is None
    assert math.isnan(found["r"][1])
    assert [set(found[name]) for name in "dt"] == [{None}, {None}]
    assert list(found["b"]) == [None, True, None]


def test_a_cast_in_a_query_keeps_its_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("v,w\n1,a\nx,b\n,c\n")
    for kind in (Kind.TEXT, Kind.INTEGER):
        with DuckDB.open({"t": tmp_path / "t.csv"}, {"t": {"v": kind}}) as engine:
            assert list(engine.read_public("SELECT TRY_CAST(v AS BIGINT) AS n FROM t")["n"]) == [1, None, None]


def test_an_empty_text_of_a_frame_is_not_missing() -> None:
    pandas = pytest.importorskip("pandas")
    with DuckDB.open({"t": pandas.DataFrame({"v": pandas.Series(["", None], dtype=object)})}) as engine:
        assert list(engine.read_public("SELECT v FROM t")["v"]) == ["", None]


HOSTILE = [
    b'1,"unclosed\n2,b\n',
    b"1\n2,b\n",
    b"1,2,3,4\n2,b\n",
    b"\xff\xfe,\x80\n2,b\n",
    b"\x00,\x00\n",
    b'"a"b,c\n',
    b"1,2\r3,4\r\n5,6\n",
    b'1,"' + b"x" * 3_000_000 + b'"\n2,b\n',
]


@pytest.mark.parametrize("rows", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("many", [0, 60_000])
def test_no_row_of_a_csv_makes_an_error(tmp_path: Path, rows: bytes, many: int) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b'1,"two\nlines"\n' * many + rows + b"7,z\n" * many)
    with DuckDB.open({"t": tmp_path / "t.csv"}) as engine:
        engine.run("SELECT * FROM t")
        engine.run("SELECT COUNT(*) AS n FROM t")
        engine.run("SELECT b, COUNT(*) AS n FROM t GROUP BY b")


def test_an_offset_in_a_text_is_not_dropped(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("v\n2026-11-15 10:30:00+02\n2026-11-15 08:30:00\n2026-11-15T08:30:00Z\n")
    with DuckDB.open({"t": tmp_path / "t.csv"}, {"t": {"v": Kind.TIMESTAMP}}) as engine:
        assert set(engine.read_public("SELECT v FROM t")["v"]) == {AT}


@pytest.mark.parametrize("setting", ["binary", "nocase"])
def test_texts_are_told_apart_whatever_the_collation(setting: str) -> None:
    """Else one person who writes 'ER' first would rename everybody's group, which is then not among the public ones."""
    with duckdb.connect() as connection:
        connection.execute(f"SET default_collation='{setting}'")
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE, b VARCHAR)")
        connection.execute("INSERT INTO t VALUES ('ER', 'x'), ('er', 'X'), ('er', 'X')")
        with DuckDB.open({"t": (connection, "t")}) as engine:
            for key in ("a", "b", "TRIM(a)", "a || 'z'", "CASE WHEN a = 'er' THEN a ELSE b END"):
                assert len(engine.read_public(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k")["n"]) == 2, key
            assert engine.read_public("SELECT COUNT(*) AS n FROM t WHERE a = 'ER'")["n"].tolist() == [1]
            assert engine.read_public("SELECT COUNT(DISTINCT a) AS n FROM t")["n"].tolist() == [2]
        assert connection.execute("SELECT current_setting('default_collation')").fetchall() == [(setting,)]
