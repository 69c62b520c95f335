"""Our own Spark session: its settings, its logs, its progress, and long results."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from pyspark.logger import PySparkLogger

from discreet.engines import progress
from discreet.engines.spark import connection
from discreet.engines.spark import engine as module
from discreet.engines.spark.engine import Spark
from discreet.errors import EngineError


def test_progress_is_told_only_if_wanted(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    told: list[float] = []
    with Spark.open({"t": spark.range(0, 3_000_000, 1, 6)}, progress=told.append) as engine:
        engine.run("SELECT CAST(SUM(hash(id) % 7) AS BIGINT) AS n FROM t")
    assert told
    assert all(0 <= part <= 1 for part in told)


class Kept(logging.Handler):
    """What is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def test_what_spark_says_is_not_logged(engine: Spark, spark: Any) -> None:
    kept, logger = Kept(), PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(kept)
    try:
        for sql in ("SELECT SECRET FROM visits", "SELECT raise_error('SECRET') AS v FROM visits", "SECRET"):
            for run in (engine.run, lambda sql: list(engine.stream(sql))):
                with pytest.raises(EngineError):
                    run(sql)  # type: ignore[operator]
        assert kept.said == []
        with pytest.raises(Exception, match="theirs"):  # the user's own errors are logged as ever
            spark.sql("SELECT theirs").collect()
        assert len(kept.said) == 1
    finally:
        logger.removeHandler(kept)


@pytest.mark.parametrize("partitions", [1, 3, 40])
def test_a_long_result_comes_in_batches(spark: Any, partitions: int) -> None:
    with Spark.open({"t": spark.range(0, 200_003, 1, partitions)}) as engine:
        batches = list(engine.batches("SELECT id, CAST(id AS STRING) AS k FROM t WHERE id % 2 = 0 OR id > 100000", (), 10_000))
    assert {len(batch["id"]) for batch in batches[:-1]} == {10_000}
    ids = np.concatenate([batch["id"] for batch in batches])
    assert sorted(ids.tolist()) == [i for i in range(200_003) if i % 2 == 0 or i > 100_000]
    assert all(str(i) == k for batch in batches for i, k in zip(batch["id"].tolist(), batch["k"].tolist(), strict=True))
    assert batches[0]["id"].flags.writeable


def test_a_table_that_is_too_long_to_be_sent_around_is_not(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long it is depends on the data, so it must not show."""
    monkeypatch.setitem(connection.SETTINGS, "spark.sql.maxBroadcastTableSize", "1MB")
    sql = "SELECT /*+ BROADCAST(u) */ COUNT(u.id) AS n FROM t AS r LEFT JOIN (SELECT id FROM t WHERE id > 5) AS u ON r.id = u.id"
    with Spark.open({"t": spark.range(0, 100_000, 1, 3)}) as engine:
        with pytest.raises(Exception, match="Cannot broadcast"):
            list(engine._fetched(module._statement(sql, engine._views), None))
        assert engine.read_public(sql)["n"].tolist() == [99_994]
        assert [batch["n"].tolist() for batch in engine.batches(sql, (), 10)] == [[99_994]]
        assert engine._own.conf.get("spark.sql.maxBroadcastTableSize") == "1MB"  # only that statement went the slow way
