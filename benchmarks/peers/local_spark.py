"""A Spark of our own on two cores, the same for all who are measured on it, and how much a query moved between its tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # where such servers are started; at the end, for others have its names too
from spark_server import prepare, settings

MEMORY = "6g"


def opened() -> Any:
    """A session: that of the tests, with more memory."""
    folder = prepare()
    from pyspark.sql import SparkSession  # after its environment is set

    builder: Any = SparkSession.builder.master("local[2]").appName("benchmark")
    for name, value in (
        settings(folder) | {"spark.driver.memory": MEMORY, "spark.ui.retainedStages": "1000", "spark.ui.retainedJobs": "1000"}
    ).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def named(spark: Any, group: str) -> None:
    """Run what follows in this thread under a name."""
    spark.sparkContext.setJobGroup(group, group)


def moved(spark: Any, group: str) -> int:
    """The bytes that all jobs of this name wrote for other tasks to read."""
    context = spark.sparkContext
    inside, tracker = context._jsc.sc(), context.statusTracker()
    inside.listenerBus().waitUntilEmpty()
    jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(group)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    return sum(int(inside.statusStore().lastStageAttempt(stage).shuffleWriteBytes()) for stage in stages)
