"""One row at the end of its type's range: nothing fails, nothing shows, and nothing moves by more than is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gauntlet.extremes import EXTREMES, LEAST, UNREAD
from gauntlet.replay import Trace, differences, excesses, run, standing_clock

import discreet
from discreet.session.session import Session

N = 60
NUMBERS = "SELECT COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m, MEDIAN(x) AS q, MAX(x) AS h FROM t"
ALL = "SELECT COUNT(*) AS n, COUNT(x) AS c, COUNTIF(x IS NULL) AS u, COUNT(DISTINCT x) AS d FROM t"
CHOSEN = ("SELECT MODE(x) AS m FROM t", "SELECT g, MODE(x) AS m FROM t GROUP BY g", "SELECT x, COUNT(*) AS n FROM t GROUP BY x")
COARSE = {("seconds", "file"), ("milliseconds", "file"), ("zoned seconds", "file"), ("zoned milliseconds", "file")}
READ = [
    pytest.param(kind, stored, marks=[pytest.mark.slow] if stored == "frame" and (kind, "file") not in COARSE else [])
    for kind in EXTREMES
    for stored in ("file", "frame")
    if (kind, stored) not in COARSE
]
LATER = {
    "day": "SELECT YEAR(x) AS y, COUNT(*) AS n FROM t WHERE x > '1900-01-01' GROUP BY y",
    "moment": "SELECT CAST(x AS DATE) AS d, MODE(HOUR(x)) AS h FROM t WHERE x > TIMESTAMP '1900-01-01 00:00:00' GROUP BY d",
    "text": "SELECT UPPER(TRIM(x)) AS y, MODE(LENGTH(x)) AS n FROM t WHERE x LIKE 'e%' GROUP BY y",
}


def questions(kind: str) -> list[str]:
    of = EXTREMES[kind]
    later = "day" if kind == "day" else "moment" if of.raw == pa.int64() else "text" if "text" in kind else ""
    exact = ALL.replace(", COUNT(DISTINCT x) AS d", "") if not of.chosen else ALL
    return [exact, *([NUMBERS] if of.numeric else []), *(CHOSEN if of.chosen else ()), *([LATER[later]] if later else [])]


def opened(place: Any, kind: str, values: list[Any], one_row: bool = True) -> Session:
    rows = {
        "id": pa.array(range(len(values)), pa.int64()),
        "g": pa.array(["ab"[i % 2] for i in range(len(values))]),
        "x": EXTREMES[kind].column(values),
    }
    data: Any = pa.table(rows)
    if isinstance(place, Path):
        data = place / f"{kind}.parquet"
        pq.write_table(pa.table(rows), data)
    with standing_clock():
        return discreet.connect(
            {"t": data}, unit="id", epsilon=100_000, delta=0.05, ledger=":memory:", keys={"g": ["a", "b"]}, contributions={"rows": 1},
            one_row_per_unit=one_row,
        )  # fmt: skip


def asked(db: Session, text: str, script: Trace | None = None) -> Trace:
    delta = "0" if text in (ALL, NUMBERS) and "DISTINCT" not in text else "0.001"
    return run(db, lambda session: session.sql(text).release(epsilon=20, delta=delta), None if script is None else script.calls, seed=3)


@pytest.mark.parametrize(("kind", "stored"), READ)
def test_one_value_at_the_end_of_its_type(kind: str, stored: str, tmp_path: Path) -> None:
    of, place, wrong = EXTREMES[kind], tmp_path if stored == "file" else None, list[str]()
    base = opened(place, kind, [of.usual] * N)
    recorded = {text: asked(base, text) for text in questions(kind)}
    assert all(trace.error is None for trace in recorded.values()), {text: trace.error for text, trace in recorded.items()}
    for value in of.hard:
        db = opened(place, kind, [*[of.usual] * N, value])
        for text, first in recorded.items():
            second = asked(db, text, first)
            wrong += [f"{value!r:.20}: {what} in {text}" for what in differences(first, second) + excesses(first, second)]
        assert db.ask("SELECT COUNT(*) AS n FROM t", epsilon=10).rows[0]["n"] > 0  # the session is alive
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("kind", sorted(kind for kind, _ in COARSE))
def test_milliseconds_of_a_file_are_not_read(kind: str, tmp_path: Path) -> None:
    """DuckDB makes microseconds of them while it reads, and fails where they do not fit: no guard of ours comes before that."""
    db = opened(tmp_path, kind, [*[0] * N, 2**53])
    assert abs(db.ask("SELECT COUNT(*) AS n FROM t", epsilon=20).rows[0]["n"] - N - 1) < 5
    with pytest.raises(discreet.Error):
        db.sql("SELECT COUNT(x) AS n FROM t").plan(epsilon=1)


@pytest.mark.parametrize("kind", [kind for kind, of in EXTREMES.items() if of.chosen and (kind, "file") not in COARSE])
def test_the_mode_is_told_whatever_one_row_holds(kind: str, tmp_path: Path) -> None:
    """By a stability test, of a file: one row at the end of the range made it fail after paying, and everything after it."""
    of = EXTREMES[kind]
    usual = opened(tmp_path, kind, [of.usual] * N).estimate("t", "mode", "x", epsilon=5, delta="0.001")
    for value in of.hard:
        db = opened(tmp_path, kind, [*[of.usual] * N, value])
        assert db.estimate("t", "mode", "x", epsilon=5, delta="0.001").value == usual.value, repr(value)  # type: ignore[union-attr]
        assert db.ask("SELECT COUNT(*) AS n FROM t", epsilon=10).rows[0]["n"] > 0


@pytest.mark.parametrize("kind", ["day", "microseconds", "zoned"])
def test_labels_stay_within_the_years_1_to_9999(kind: str, tmp_path: Path) -> None:
    """What lies outside is missing, and a missing value is no candidate: a label is always one that Python can hold."""
    for value in EXTREMES[kind].hard:
        found = opened(tmp_path, kind, [value] * 3000).ask("SELECT x, COUNT(*) AS n FROM t GROUP BY x", epsilon=50, delta="0.01").rows
        assert [type(row["x"]).__name__ for row in found] in (["date"], ["datetime"], ["NoneType"]), repr(value)
        first, last = (-719_162, 2_932_896) if kind == "day" else (None, None)
        if first is not None and value is not None:
            assert (found[0]["x"] is None) == (not first <= value <= last)


@pytest.mark.parametrize("stored", ["file", "frame"])
@pytest.mark.parametrize("kind", UNREAD)
def test_types_that_are_not_read_do_no_harm(kind: str, stored: str, tmp_path: Path) -> None:
    sql_type, values = UNREAD[kind]
    table: Any = pa.table({"id": pa.array(range(len(values) * 50)), "x": pa.array(values * 50, sql_type)})
    if stored == "file":
        pq.write_table(table, tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    db = discreet.connect({"t": table}, unit="id", epsilon=100, ledger=":memory:", one_row_per_unit=True)
    assert abs(db.ask("SELECT COUNT(*) AS n FROM t", epsilon=20).rows[0]["n"] - 50 * len(values)) < 5
    with pytest.raises(discreet.Error):
        db.sql("SELECT COUNT(x) AS n FROM t").plan(epsilon=1)


def test_the_raw_missing_moment_of_numpy(tmp_path: Path) -> None:
    """The row that was found: −2^63 µs, which numpy takes for a missing moment, among three thousand others of a file."""
    db = opened(tmp_path, "microseconds", [*[1_709_208_000 * 10**6] * 3000, LEAST])
    for text in CHOSEN:
        assert db.ask(text, epsilon=10, delta="0.001").rows


SPARK_LATER = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("day", "zoned", "double", "bytes as text", "wide decimal")]


@pytest.mark.parametrize("kind", ["microseconds", "int64", "text", *SPARK_LATER])
def test_spark_at_the_ends(kind: str, spark: Any, tmp_path: Path) -> None:
    """All ends in one file, row by row on another engine: it answers, and is alive afterwards."""
    of = EXTREMES[kind]
    rows = {
        "id": pa.array(range(N + len(of.hard)), pa.int64()),
        "g": pa.array(["ab"[i % 2] for i in range(N + len(of.hard))]),
        "x": of.column([*[of.usual] * N, *of.hard]),
    }
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    more: dict[str, Any] = {"unit": "id", "epsilon": 1000, "delta": 0.05, "ledger": ":memory:", "one_row_per_unit": True}
    with discreet.connect({"t": tmp_path / "t.parquet"}, engine=spark, keys={"g": ["a", "b"]}, **more) as db:
        for text in [*questions(kind), "SELECT COUNT(*) AS n FROM t"]:
            assert db.ask(text, epsilon=20, delta="0.001").rows
        if of.chosen:
            assert db.estimate("t", "mode", "x", epsilon=5, delta="0.001")
