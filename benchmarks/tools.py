"""What tools pay for going through a server: 1,000 groups with intervals, a stored answer, read into pandas. Starts `discreet serve`.

    python benchmarks/tools.py [--rounds 200]

Printed are the best, the median and the 95th percentile of each way, in milliseconds, and whether the goals are met: ≤ 20 ms into pandas
through the database interface, and a small repeated answer over PostgreSQL's protocol at most 5 ms above HTTP (95th percentile).
Connecting is not included; every round is a request of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]  # the sources beside this folder, installed or not

import pandas  # noqa: E402
import polars  # noqa: E402
import psycopg  # noqa: E402
import sqlalchemy  # noqa: E402
from served import Running, question, table_of  # noqa: E402

from discreet import dbapi  # noqa: E402

SQL = "SELECT FLOOR(cost * 2) AS bin, COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE cost < 499 GROUP BY FLOOR(cost * 2)"
GOAL, ABOVE = 20.0, 5.0  # milliseconds
ROWS = 100_000


def main() -> int:
    """Measure each way in turn; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            wire = free.getsockname()[1]
        server = Running(Path(folder), table_of(ROWS), 1, rows=ROWS, more=("--pg-port", str(wire)))
        try:
            found = measured(server, rounds) | repeated(server, wire, rounds)
        finally:
            server.stop()
    late = {name: statistics.quantiles(times, n=20)[-1] for name, times in found.items()}
    for name, times in found.items():
        print(f"{name:36s} {min(times):9.2f} {statistics.median(times):9.2f} {late[name]:9.2f}")
    met = statistics.median(found[PANDAS]) <= GOAL
    above = late[WIRE] - late[HTTP]
    print(f"\n{PANDAS}: the goal of {GOAL:g} ms is {'met' if met else 'missed'}")
    print(f"{WIRE}: {above:+.1f} ms beside HTTP; the goal of {ABOVE:g} ms is {'met' if above <= ABOVE else 'missed'}")
    return 0 if met and above <= ABOVE else 1


PANDAS, HTTP, WIRE = "DB-API → pandas", "3 groups over HTTP", "3 groups over the wire"


def repeated(server: Running, wire: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each round, for a small answer that was received before."""
    name = server.names[0]
    sql, token = question(0), server.tokens[name]
    body = json.dumps({"request": [["sql", [sql], {"dialect": "postgres"}]], "price": {"epsilon": "1"}})
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    web = http.client.HTTPConnection("127.0.0.1", server.port)

    def over_http() -> None:
        web.request("POST", "/api/v1/datasets/visits/releases", body, head)
        assert b"release" in web.getresponse().read()

    with psycopg.connect(host="127.0.0.1", port=wire, dbname="visits", user=name, password=token, autocommit=True) as connection:
        connection.execute("SET discreet.epsilon = 1")
        connection.execute("SET discreet.mode = 'ask'")
        ways: dict[str, Callable[[], Any]] = {
            HTTP: over_http,
            WIRE: lambda: connection.execute(sql, prepare=False).fetchall(),
            f"{WIRE}, prepared": lambda: connection.execute(sql, prepare=True).fetchall(),
        }
        found: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(rounds + 3):
            for way, act in ways.items():
                begin = time.perf_counter()
                act()
                if number >= 3:  # the first ones pay and prepare
                    found[way].append(1000 * (time.perf_counter() - begin))
    web.close()
    return found


def measured(server: Running, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each round, by way."""
    token = server.tokens[server.names[0]]
    connection = dbapi.connect(f"http://127.0.0.1:{server.port}/visits", token=token, epsilon=1)
    sqlalchemy.dialects.registry.register("discreet.http", "discreet.dbapi.sqlalchemy", "DiscreetDialect")
    engine = sqlalchemy.create_engine(f"discreet+http://:{token}@127.0.0.1:{server.port}/visits?epsilon=1")

    def to_pandas() -> Any:
        cursor = connection.execute(SQL)
        return pandas.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description or ()])

    ways: dict[str, Callable[[], Any]] = {
        "DB-API, fetched": lambda: connection.execute(SQL).fetchall(),
        PANDAS: to_pandas,
        "DB-API → release.to_pandas()": lambda: connection.execute(SQL).release.to_pandas(),  # type: ignore[union-attr]
        "SQLAlchemy → pandas.read_sql": lambda: pandas.read_sql(SQL, engine),
        "SQLAlchemy → polars.read_database": lambda: polars.read_database(SQL, engine),
        "SELECT 1, without a request": lambda: connection.execute("SELECT 1").fetchall(),
    }
    groups = len(to_pandas())  # paid here, stored from now on
    print(f"{f'{groups:,} groups, {rounds} rounds; milliseconds':36s} {'best':>9s} {'median':>9s} {'95 %':>9s}")
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            found[name].append(1000 * (time.perf_counter() - begin))
    engine.dispose()
    return found


if __name__ == "__main__":
    raise SystemExit(main())
