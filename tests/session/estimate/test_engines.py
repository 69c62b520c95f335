"""A function sees the same blocks, and a statistic the same values, whichever engine holds the table."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars
import psycopg
import pytest

import discreet
from discreet.mechanisms.mechanism import Mechanism
from discreet.private import reveal

DAY = datetime.date(2026, 1, 1)
ROWS = [
    (f"p{i % 40}", i * 37 % 100, i * 0.25 if i % 7 else None, "äbc"[i % 3], i % 2 == 0, DAY + datetime.timedelta(days=i % 9))
    for i in range(160)
]
COLUMNS = ("id", "n", "x", "t", "b", "day")


def seen(db: discreet.Session, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What blocks hold, and what statistics are given."""
    found: list[str] = []

    def spy(columns: dict[str, Any]) -> float:
        found.append(repr([(name, column.dtype, column.tolist()) for name, column in sorted(columns.items())]))
        return 1.0

    db.table("t").estimate(spy, epsilon=1, bounds=(0, 2), blocks=6)
    release = Mechanism.release

    def listened(self: Mechanism[Any], answer: Any, bits: Any = None) -> Any:
        points, counts = (np.asarray(part).tolist() for part in reveal(answer))
        found.append(repr(sorted(zip(points, counts, strict=True))))
        return release(self, answer, bits)

    with monkeypatch.context() as patched:
        patched.setattr(Mechanism, "release", listened)
        per_person = db.table("t").per_unit(most="MAX(n)", word="MIN(t)", mean="AVG(x)")
        per_person.estimate("median", "most", epsilon=1, bounds=(0, 100))
        per_person.estimate("trimmed mean", "mean", method="smooth", epsilon=1, bounds=(0, 40))
        per_person.estimate("mode", "word", epsilon=1, delta=1e-7)
    return found


def here() -> Any:
    return polars.DataFrame(ROWS, schema=list(COLUMNS), orient="row")


def session(tables: Any) -> discreet.Session:
    return discreet.connect(tables, unit="id", epsilon=50, delta=1e-5, ledger=":memory:", bounds={"n": (0, 100), "x": (0, 40)})


def test_postgres_gives_the_same(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA est; CREATE TABLE est.t (id text, n bigint, x float8, t text, b boolean, day date)")
        for row in ROWS:
            connection.execute("INSERT INTO est.t VALUES (%s, %s, %s, %s, %s, %s)", row)
        with session({"t": (postgres, "est.t")}) as there, session({"t": here()}) as ours:
            assert seen(there, monkeypatch) == seen(ours, monkeypatch)
        connection.execute("DROP SCHEMA est CASCADE")


def test_spark_gives_the_same(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = spark.createDataFrame(ROWS, "id string, n bigint, x double, t string, b boolean, day date")
    with session({"t": table}) as there, session({"t": here()}) as ours:
        assert seen(there, monkeypatch) == seen(ours, monkeypatch)
