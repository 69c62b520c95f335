"""A walk over everything that an outside library does for us; run by `make test-lowest` with the lowest declared versions.

It needs no pytest: whatever does not work raises.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

import discreet

SHOWN = (
    "attrs",
    "cryptography",
    "duckdb",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pyspark",
    "python-flint",
    "rich",
    "sqlglot",
    "typer",
)


def frames() -> dict[str, object]:
    """The same table in every form that is accepted in this process."""
    columns = {"id": list(range(900)), "cost": [i % 50 for i in range(900)], "dept": [("er", "ward", "lab")[i % 3] for i in range(900)]}
    pyarrow.parquet.write_table(pyarrow.table(columns), "visits.parquet")
    pandas.DataFrame(columns).to_csv("visits.csv", index=False)
    owner = duckdb.connect()
    owner.execute("CREATE TABLE visits AS FROM 'visits.parquet'")
    return {
        "parquet": "visits.parquet",
        "csv": "visits.csv",
        "pandas": pandas.DataFrame(columns),
        "polars": polars.DataFrame(columns),
        "arrow": pyarrow.table(columns),
        "duckdb": (owner, "visits"),
    }


def ask(db: discreet.Session) -> None:
    """Questions, a synthetic table, an estimate, a feed of frames and a plot."""
    text = (
        "SELECT dept, COUNT(*) AS n, AVG(cost) AS m, APPROX_QUANTILE(cost, 0.5) AS q FROM visits GROUP BY dept HAVING n > 1 ORDER BY n DESC"
    )
    asked = db.sql(text.replace("APPROX_QUANTILE(cost, 0.5)", "MEDIAN(cost)"))
    assert asked.plan(epsilon=5).error(size=100)
    assert str(asked.plan(epsilon=5).explain())
    release = asked.release(epsilon=20)
    assert sorted(row["dept"] for row in release.rows) == ["er", "lab", "ward"]
    for row in release.rows:
        assert abs(row["n"] - 300) < 60
    assert len(release.to_pandas()) == len(release.to_polars()) == release.to_arrow().num_rows == 3
    release.plot("plot.png")
    repr(release)
    release._repr_html_()
    table = db.synthesize("visits", epsilon=20, columns=["cost", "dept"])
    assert len(table.to_pandas()) == len(table.to_polars()) == table.to_arrow().num_rows
    table.to_parquet("made.parquet")
    table.plot("made.png")
    for frame in ("numpy", "pandas", "polars"):
        db.estimate("visits", lambda block: float(block["cost"].mean()), epsilon=1, bounds=(0, 50), columns=["cost"], frame=frame)


def commands() -> None:
    """The command line."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    said = ("--unit", "id", "--budget", "20", "--delta", "1e-6", "--bounds", "cost=0:50", "--ledger", "cli.ledger")
    for words in (
        ["--help"],
        ["ask", "--help"],
        ["init", "visits.parquet"],
        ["ask", "visits.parquet", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", *said],
        ["budget", "cli.ledger"],
        ["verify", "cli.ledger"],
    ):
        done = subprocess.run([sys.executable, "-m", "discreet", *words], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stdout, done.stderr)


def main() -> None:
    """Walk."""
    print(", ".join(f"{name} {version(name)}" for name in SHOWN))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, data in frames().items():
            types = {"cost": "integer", "id": "integer"} if name == "csv" else None
            print(name)
            with discreet.connect(
                {"visits": data}, unit="id", epsilon=100, delta=1e-4, bounds={"cost": (0, 50)}, keys={"dept": ["er", "ward", "lab"]},
                columns=types, one_row_per_unit=True, ledger=str(Path(folder) / f"{name}.ledger"), witness=str(Path(folder) / f"{name}.w"),
            ) as db:  # fmt: skip
                ask(db)
        print("commands")
        commands()
        rooms = ("engines.postgres.engine", "ledger.postgres", "engines.spark.engine", "dbapi.sqlalchemy")
        for room in rooms:  # no server and no Java is assumed
            import_module(f"discreet.{room}")
        os.chdir("/")
    print("the lowest versions work")


if __name__ == "__main__":
    main()
