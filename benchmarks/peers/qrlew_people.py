"""Qrlew's rewritten SQL, run by DuckDB; its noise is the engine's RANDOM(). A case is "known|found view|table GROUPS ROWS FILE"."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

begin = time.perf_counter()
import pyqrlew as qrl  # noqa: E402
from pyqrlew.io import SQLite  # noqa: E402

import_seconds = time.perf_counter() - begin
import logging  # noqa: E402

import duckdb  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from serve import serve  # noqa: E402

logging.disable(logging.CRITICAL)
DEPARTMENTS = 50
COLUMNS = "user_id, dept, least(greatest(amount, 0), 100) AS amount"


@cache
def rewritten(known: bool, groups: int, rows: int) -> str:
    """Rewrite against a small table of the same schema and ranges; only the text is used."""
    with tempfile.TemporaryDirectory() as folder:
        database = SQLite(str(Path(folder) / "schema.db"), True)
        database.engine().echo = False
        numbers = np.arange(1000)
        database.load_pandas("t", pd.DataFrame({"user_id": numbers, "dept": numbers % DEPARTMENTS, "amount": np.linspace(0, 100, 1000)}))
        dataset = database.dataset()
        which = f" WHERE dept IN ({', '.join(map(str, range(DEPARTMENTS)))})" if known else ""
        asked = f"SELECT dept, COUNT(amount) AS n, SUM(amount) AS s, AVG(amount) AS m FROM t{which} GROUP BY dept"
        private = dataset.relation(asked).rewrite_with_differential_privacy(
            dataset=dataset,
            privacy_unit=[("t", [], "user_id")],
            epsilon_delta={"epsilon": 1.0, "delta": 1e-6},
            max_privacy_unit_groups=groups,
            max_multiplicity=float(rows),
        )
        return str(private.relation().to_query(qrl.Dialect.PostgreSql))


@cache
def opened(form: str, path: str) -> duckdb.DuckDBPyConnection:
    """The rows as a view of the file, or as a table in memory, which suits a query that reads them several times."""
    connection = duckdb.connect()
    connection.execute(f"CREATE {form} t AS SELECT {COLUMNS} FROM read_parquet('{path}')")
    return connection


def case(name: str) -> Callable[[], list[list[float]]]:
    """Read a case; rewriting is not in the time."""
    which, form, groups, rows, path = name.split(" ", 4)
    sql, connection = rewritten(which == "known", int(groups), int(rows)), opened(form, path)
    return lambda: [[float(value) for value in row] for row in connection.execute(sql).fetchall()]


serve("pyqrlew", import_seconds, case)
