"""What would make W3 faster: people's rows counted beforehand, rows sorted by person, people counted part by part. Prints a table.

Each form computes the weighted count and sums of 50 departments, at most 10 rows each, without noise, from the same 10⁷ rows; forms agree
where their weights do. `python benchmarks/prepared.py [--data DIR] [--engines duckdb postgres spark] [--rounds N]`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from inputs import DEPARTMENTS, FOLDER, ROWS, Inputs
from people import BOUNDS, BY_ROWS, CLAMPED, EACH, PLAINLY
from places import TABLE, on_postgres, on_spark, postgres, spark
from report import duration, progress
from timing import local, race

import discreet

QUESTION = f"SELECT dept, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM {TABLE} GROUP BY dept"
ONE = 2**20
PARTS = 8
WEIGHT = f"CASE WHEN n <= {EACH} THEN {ONE} ELSE CAST(FLOOR({ONE * EACH} / n) AS BIGINT) END"
SUMS = f"SUM(w) AS n, SUM(w * CAST({CLAMPED} * 1024 AS BIGINT)) AS s"
WEIGHTED = f"SELECT dept, amount, {WEIGHT} AS w FROM {{rows}} AS r"
JOINED = f"SELECT dept, {SUMS} FROM ({WEIGHTED} JOIN {{counts}} AS u ON r.user_id = u.user_id) AS q GROUP BY dept"
COUNTED = f"SELECT dept, {SUMS} FROM ({WEIGHTED}) AS q GROUP BY dept"
COUNTS = "(SELECT user_id, COUNT(*) AS n FROM {rows} GROUP BY user_id)"
WITH_COUNTS = "SELECT user_id, dept, amount, COUNT(*) OVER (PARTITION BY user_id) AS n FROM {rows}"

NOW, BY_HAND = "as now", "counted and joined, by hand"


def _forms(rows: str, part: Callable[[int], str]) -> dict[str, str]:
    """The forms as SQL; `part` is a condition that keeps one of PARTS parts of the people."""
    parts = [f"(SELECT * FROM {rows} WHERE {part(i)})" for i in range(PARTS)]
    return {
        "plain GROUP BY, not private": PLAINLY.replace(" FROM t ", f" FROM {rows} "),
        BY_HAND: JOINED.format(rows=rows, counts=COUNTS.format(rows=rows)),
        f"the same in {PARTS} parts by hash": " UNION ALL ".join(
            JOINED.format(rows=f"{one} ", counts=COUNTS.format(rows=f"{one} AS o")) for one in parts
        ),
        "counts of people stored": JOINED.format(rows=rows, counts="counts"),
        "rows stored with their counts": COUNTED.format(rows="counted"),
    }


@contextmanager
def _duckdb(path: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    with duckdb.connect() as connection, _session({TABLE: str(path)}) as db:
        for setting in ("perfect_ht_threshold=20", "preserve_insertion_order=false"):
            connection.execute(f"SET {setting}")
        rows = f"read_parquet('{path}')"
        ordered = path.with_name(path.stem + "_sorted.parquet")
        if not ordered.exists():
            connection.execute(f"COPY (SELECT * FROM {rows} ORDER BY user_id) TO '{ordered}' (FORMAT parquet)")
        connection.execute(f"CREATE TABLE counts AS {COUNTS.format(rows=rows)[1:-1]}")
        connection.execute(f"CREATE TABLE counted AS {WITH_COUNTS.format(rows=rows)}")
        forms = _forms(rows, lambda i: f"hash(user_id) % {PARTS} = {i}")
        statement = _captured(db)
        calls = {name: _fetching(connection, text) for name, text in forms.items()}
        calls[NOW] = lambda: db._engine.read_public(statement)
        with _session({TABLE: str(ordered)}) as other:
            calls["as now, rows sorted by person"] = lambda: other._engine.read_public(statement)
            yield calls


def _fetching(connection: Any, text: str) -> Callable[[], Any]:
    return lambda: connection.execute(text).fetchall()


@contextmanager
def _postgres(path: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    with postgres() as uri, on_postgres(uri, path) as place, psycopg.connect(uri, autocommit=True) as connection, ExitStack() as later:
        connection.execute(f"CREATE TABLE counts AS {COUNTS.format(rows=TABLE)[1:-1]}")
        connection.execute(f"CREATE TABLE counted AS {WITH_COUNTS.format(rows=TABLE)}")
        connection.execute(f"CREATE TABLE ordered AS SELECT * FROM {TABLE} ORDER BY user_id")
        connection.execute("CREATE INDEX ON ordered (user_id)")
        for name in ("counts", "counted", "ordered"):
            connection.execute(f"VACUUM (FREEZE, ANALYZE) {name}")
        db = later.enter_context(_session({TABLE: place.data}))
        other = later.enter_context(_session({TABLE: (uri, "public.ordered")}))
        statement, on_ordered = _captured(db), _captured(other)
        forms = _forms(TABLE, lambda i: f"hashint8(user_id) & {PARTS - 1} = {i}")
        calls = {name: _fetching(connection, text) for name, text in forms.items()}
        calls[NOW] = lambda: db._engine.read_public(statement)
        calls["as now, rows sorted by person, with an index"] = lambda: other._engine.read_public(on_ordered)
        yield calls


@contextmanager
def _spark(path: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    with spark() as session, ExitStack() as later:
        place = on_spark(session, path)
        folder = path.parent
        for name, text in (("counts", COUNTS.format(rows=TABLE)[1:-1]), ("counted", WITH_COUNTS.format(rows=TABLE))):
            stored = folder / f"{path.stem}_{name}_spark.parquet"
            if not stored.exists():
                session.sql(text).write.parquet(str(stored))
            session.read.parquet(str(stored)).createOrReplaceTempView(name)
        ordered = folder / f"{path.stem}_ordered_spark.parquet"
        if not ordered.exists():
            session.sql(f"SELECT * FROM {TABLE}").repartitionByRange(4, "user_id").sortWithinPartitions("user_id").write.parquet(
                str(ordered)
            )
        db = later.enter_context(_session({TABLE: place.data}))
        other = later.enter_context(_session({TABLE: session.read.parquet(str(ordered))}))
        statement = _captured(db)
        forms = _forms(TABLE, lambda i: f"pmod(hash(user_id), {PARTS}) = {i}")
        calls: dict[str, Callable[[], Any]] = {name: _collecting(session, text) for name, text in forms.items()}
        calls[NOW] = lambda: db._engine.read_public(statement)
        calls["as now, rows sorted by person"] = lambda: other._engine.read_public(statement)
        yield calls


def _collecting(session: Any, text: str) -> Callable[[], Any]:
    return lambda: session.sql(text).collect()


@contextmanager
def _session(data: dict[str, Any]) -> Iterator[discreet.Session]:
    declared: dict[str, Any] = {"unit": "user_id", "bounds": BOUNDS, "keys": {"dept": range(DEPARTMENTS)}, "contributions": BY_ROWS}
    with discreet.connect(data, epsilon=10**9, delta=1e-6, ledger=":memory:", **declared) as db:
        yield db


def _captured(db: discreet.Session) -> str:
    """The statement that the question becomes."""
    seen: list[str] = []
    batches = db._engine.batches

    def noted(sql: str, given: Sequence[Any], rows: int | None) -> Any:
        seen.append(sql)
        return batches(sql, given, rows)

    db._engine.batches = noted  # type: ignore[method-assign]
    db.sql(QUESTION).release(epsilon=1)
    db._engine.batches = batches  # type: ignore[method-assign]
    return max(seen, key=len)


ENGINES = {"duckdb": _duckdb, "postgres": _postgres, "spark": _spark}


def main() -> int:
    """Measure each engine and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for engine in given.engines:
        with ENGINES[engine](Inputs(given.data).visits(ROWS)) as calls:
            results = race([local(name, call) for name, call in calls.items()], given.rounds, 60.0, progress(engine))
        first = next(iter(results.values()))
        print(f"\nW3 by rows on {engine}, {ROWS:,} rows\n")
        for name, result in results.items():
            ratio = first.over(result)
            print(f"{name:<46} {duration(result.best):>9}  {'–' if ratio is None else f'{ratio:.2f}×':>7}  {result.why}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
