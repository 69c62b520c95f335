"""What each client is tried with: every function uses one feature of it after another, and returns those that it has."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from server.clinic import COUNT
from server.postgres_wire.wire import Wire

FEATURES = ("connect", "list tables", "describe", "query", "parameters", "cancel", "errors", "price", "intervals")
ROWS = "SELECT * FROM visits"
BELOW = "SELECT COUNT(*) AS n FROM visits WHERE dept = {} AND cost > {}"
HELD = "SELECT COUNT(*) AS n FROM visits WHERE cost > 499"  # is not answered while the tests run
OPTIONS = "?options=-c%20discreet.mode%3Dask%20-c%20discreet.epsilon%3D0.01"
TABLES = "SELECT table_name FROM information_schema.tables"
Clients = Callable[[Wire, Callable[[], None]], list[str]]


def raises(call: Callable[[], object], *words: str) -> bool:
    """Whether something fails with a message that has these words."""
    try:
        call()
    except Exception as error:
        return all(word in str(error) for word in words)
    return False


def cancelled(ask: Callable[[], object], cancel: Callable[[], object], running: Callable[[], None]) -> bool:
    """Whether a question that is being answered is no longer waited for."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(raises(ask, "goes on")))
    thread.start()
    running()
    cancel()
    thread.join(20)
    return found == [True]


def psql(wire: Wire, running: Callable[[], None]) -> list[str]:
    def run(*commands: str) -> tuple[str, str]:
        words = [word for command in commands for word in ("-c", command)]
        done = subprocess.run(["psql", wire.uri(more=OPTIONS), *words], capture_output=True, text=True, timeout=60)
        return done.stdout, done.stderr

    found = ["connect"] if "visits" in run("SELECT 'visits'")[0] else []
    found += ["list tables"] if "public | visits | table" in run(r"\dt")[0] else []
    found += ["describe"] if "double precision" in run(r"\d visits")[0] else []
    out, _ = run(COUNT)
    found += ["query"] if "(3 rows)" in out else []
    found += ["intervals"] if "n_low" in out else []
    piped = subprocess.run(  # \bind came with version 16, variables are pasted by psql
        ["psql", wire.uri(more=OPTIONS), "-v", "d=eyes"],
        input=BELOW.format(":'d'", 10),
        capture_output=True,
        text=True,
        timeout=60,
    )
    found += ["parameters"] if "(1 row)" in piped.stdout else []
    error = run(ROWS)[1]
    found += ["errors"] if "single rows are never shown" in error and "HINT:" in error and "^" in error else []
    found += ["price"] if "0.02" in run("SET discreet.epsilon = 0.02", "SHOW discreet.epsilon")[0] else []
    waiting = subprocess.Popen(["psql", wire.uri(more=OPTIONS), "-c", HELD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running()
    waiting.send_signal(signal.SIGINT)
    found += ["cancel"] if "goes on" in waiting.communicate(timeout=20)[1] else []
    return found


def dbapi(connection: Any, mark: str, cancel: Callable[[], object] | None, running: Callable[[], None]) -> list[str]:
    """What drivers of DB-API 2.0 share."""
    connection.autocommit = True
    cursor = connection.cursor()

    def rows(sql: str, *values: object) -> list[tuple[object, ...]]:
        cursor.execute(sql, values) if values else cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]

    found = ["connect"] if rows("SELECT 1") == [(1,)] else []
    found += ["list tables"] if rows(TABLES) == [("visits",)] else []
    cursor.execute("SELECT * FROM visits LIMIT 0")
    found += ["describe"] if [column[0] for column in cursor.description] == ["person", "cost", "dept"] else []
    cursor.execute("SET discreet.mode = 'ask'")
    cursor.execute("SET discreet.epsilon = 0.01")
    found += ["price"] if rows("SHOW discreet.epsilon") == [("0.01",)] else []
    found += ["query"] if len(rows(COUNT)) == 3 else []
    found += ["intervals"] if [column[0] for column in cursor.description] == ["dept", "n", "n_low", "n_high"] else []
    found += ["parameters"] if len(rows(BELOW.format(mark, mark), "eyes", 10)) == 1 else []
    found += ["errors"] if raises(lambda: rows(ROWS), "single rows are never shown", "ask for a statistic") else []
    found += ["cancel"] if cancel is not None and cancelled(lambda: rows(HELD), cancel, running) else []
    connection.close()
    return found


def psycopg_3(wire: Wire, running: Callable[[], None]) -> list[str]:
    import psycopg

    connection = psycopg.connect(wire.uri())
    return dbapi(connection, "%s", connection.cancel_safe, running)


_CANCEL_IN_A_PROCESS = """
import sys, threading, psycopg2
connection = psycopg2.connect(sys.argv[1])
def ask():
    try:
        connection.cursor().execute(sys.argv[2])
    except psycopg2.Error as error:
        print(error)
thread = threading.Thread(target=ask)
thread.start()
sys.stdin.readline()
connection.cancel()
thread.join()
"""


def psycopg_2(wire: Wire, running: Callable[[], None]) -> list[str]:
    import psycopg2

    found = dbapi(psycopg2.connect(wire.uri()), "%s", None, running)
    waiting = subprocess.Popen(  # cancel() keeps Python's lock, and our server needs it: it is in this process
        [sys.executable, "-c", _CANCEL_IN_A_PROCESS, wire.uri(more=OPTIONS), HELD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    running()
    return found + (["cancel"] if "goes on" in waiting.communicate("now\n", timeout=20)[0] else [])


def pg8000(wire: Wire, running: Callable[[], None]) -> list[str]:
    import pg8000.dbapi

    token = wire.served.tokens["ann"]
    return dbapi(pg8000.dbapi.connect("ann", password=token, host="127.0.0.1", port=wire.port, database="clinic"), "%s", None, running)


def adbc(wire: Wire, running: Callable[[], None]) -> list[str]:
    import adbc_driver_postgresql.dbapi

    with adbc_driver_postgresql.dbapi.connect(wire.uri(more=OPTIONS), autocommit=True) as connection, connection.cursor() as cursor:
        found = ["connect"]
        found += ["describe"] if connection.adbc_get_table_schema("visits").names == ["person", "cost", "dept"] else []
        found += ["list tables"] if "visits" in str(connection.adbc_get_objects(depth="tables").read_all().to_pylist()) else []
        cursor.execute(COUNT)
        table = cursor.fetch_arrow_table()
        found += ["query", "price"] if table.num_rows == 3 else []
        found += ["intervals"] if table.column_names == ["dept", "n", "n_low", "n_high"] else []
        cursor.execute(BELOW.format("$1", "10"), ("eyes",))
        found += ["parameters"] if len(cursor.fetchall()) == 1 else []
        found += ["errors"] if raises(lambda: cursor.execute(ROWS), "single rows are never shown", "ask for a statistic") else []
        held = connection.cursor()
        found += ["cancel"] if cancelled(lambda: held.execute(HELD) or held.fetchall(), held.adbc_cancel, running) else []  # type: ignore[func-returns-value]
        held.close()
    return found


def asyncpg(wire: Wire, running: Callable[[], None]) -> list[str]:
    import asyncpg

    async def use() -> list[str]:
        connection = await asyncpg.connect(wire.uri(), server_settings={"discreet.mode": "ask"})
        found = ["connect"] if await connection.fetchval("SELECT 1") == 1 else []
        found += ["list tables"] if [row[0] for row in await connection.fetch(TABLES)] == ["visits"] else []
        prepared = await connection.prepare("SELECT * FROM visits LIMIT 0")
        found += ["describe"] if [(one.name, one.type.name) for one in prepared.get_attributes()][1] == ("cost", "float8") else []
        await connection.execute("SET discreet.epsilon = 0.01")
        found += ["price"] if await connection.fetchval("SHOW discreet.epsilon") == "0.01" else []
        rows = await connection.fetch(COUNT)
        found += ["query"] if len(rows) == 3 else []
        found += ["intervals"] if list(rows[0].keys()) == ["dept", "n", "n_low", "n_high"] else []
        found += ["parameters"] if len(await connection.fetch(BELOW.format("$1", "$2"), "eyes", 10.0)) == 1 else []
        try:
            await connection.fetch(ROWS)
        except asyncpg.FeatureNotSupportedError as error:
            found += ["errors"] if "ask for a statistic" in str(error) else []
        waiting = asyncio.ensure_future(connection.fetch(HELD))
        await asyncio.to_thread(running)
        waiting.cancel()
        await asyncio.wait([waiting])
        found += ["cancel"] if await connection.fetchval("SELECT 2") == 2 else []
        await connection.close()
        async with asyncpg.create_pool(wire.uri(), min_size=1, max_size=1, server_settings={"discreet.mode": "ask"}) as pool:
            for _ in range(2):  # a connection is reset before it is lent again, to the settings with which it began
                assert await pool.fetchval("SHOW discreet.mode") == "ask"
        return found

    return asyncio.run(use())


def sqlalchemy(wire: Wire, running: Callable[[], None]) -> list[str]:
    import sqlalchemy as sa

    engine = sa.create_engine(wire.uri(scheme="postgresql+psycopg", more=OPTIONS))
    found = ["connect", "price"]
    found += ["list tables"] if sa.inspect(engine).get_table_names() == ["visits"] else []
    metadata = sa.MetaData()
    metadata.reflect(engine)
    visits = metadata.tables["visits"]
    found += ["describe"] if [str(column.type) for column in visits.c] == ["BIGINT", "DOUBLE PRECISION", "TEXT"] else []
    with engine.connect() as connection:
        result = connection.execute(sa.select(visits.c.dept, sa.func.count().label("n")).group_by(visits.c.dept))
        found += ["intervals"] if list(result.keys()) == ["dept", "n", "n_low", "n_high"] else []
        found += ["query"] if len(result.all()) == 3 else []
        below = sa.select(sa.func.count().label("n")).select_from(visits).where(visits.c.dept == "eyes", visits.c.cost > 10)
        found += ["parameters"] if len(connection.execute(below).all()) == 1 else []
        found += ["errors"] if raises(lambda: connection.execute(sa.select(visits)), "single rows are never shown") else []
        connection.rollback()
        driver: Any = connection.connection.driver_connection
        found += ["cancel"] if cancelled(lambda: connection.execute(sa.text(HELD)), driver.cancel_safe, running) else []
    engine.dispose()
    return found


def _frames(wire: Wire, read: Callable[[str], Any], failed: Callable[[], object]) -> list[str]:
    frame = read(COUNT)
    found = ["connect", "query", "price"] if len(frame) == 3 else []
    found += ["intervals"] if list(frame.columns) == ["dept", "n", "n_low", "n_high"] else []
    found += ["list tables"] if "visits" in str(read(TABLES)) else []
    found += ["describe"] if list(read("SELECT * FROM visits LIMIT 0").columns) == ["person", "cost", "dept"] else []
    return found + (["errors"] if raises(failed, "single rows are never shown") else [])


def pandas(wire: Wire, _: Callable[[], None]) -> list[str]:
    import pandas
    import sqlalchemy as sa

    engine = sa.create_engine(wire.uri(scheme="postgresql+psycopg", more=OPTIONS))
    found = _frames(wire, lambda sql: pandas.read_sql(sql, engine), lambda: pandas.read_sql(ROWS, engine))
    one = pandas.read_sql(sa.text(BELOW.format(":dept", ":cost")), engine, params={"dept": "eyes", "cost": 10})
    engine.dispose()
    return found + (["parameters"] if len(one) == 1 else [])


def polars(wire: Wire, _: Callable[[], None]) -> list[str]:
    import polars

    def read(sql: str) -> Any:
        return polars.read_database_uri(sql, wire.uri(more=OPTIONS), engine="adbc")

    return _frames(wire, read, lambda: read(ROWS))


_JUPYSQL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
uri, count, rows, tables = sys.argv[1:]
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sql")
shell.run_line_magic("sql", uri)
frame = shell.run_line_magic("sql", count).DataFrame()
listed, columns = str(shell.run_line_magic("sqlcmd", "tables")), str(shell.run_line_magic("sqlcmd", "columns --table visits"))
try:
    shell.run_line_magic("sql", rows)
except BaseException as failed:
    error = str(failed)
print(json.dumps([list(frame.columns), len(frame), listed, columns, error]))
"""
_MARIMO = """
import json, sys
import marimo, sqlalchemy
uri, count, rows, tables = sys.argv[1:]
engine = sqlalchemy.create_engine(uri)
frame, listed = (marimo.sql(sql, engine=engine, output=False) for sql in (count, tables))
columns = marimo.sql("SELECT * FROM visits LIMIT 0", engine=engine, output=False).columns
try:
    marimo.sql(rows, engine=engine, output=False)
except BaseException as failed:
    error = str(failed)
print(json.dumps([list(frame.columns), len(frame), str(listed), str(columns), error]))
"""


def _notebook(script: str, wire: Wire) -> list[str]:
    """In a process of its own: notebooks keep much in global variables."""
    uri = wire.uri(scheme="postgresql+psycopg", more=OPTIONS)
    command = [sys.executable, "-W", "ignore", "-c", script, uri, COUNT, ROWS, TABLES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    line = next(line for line in done.stdout.splitlines() if line.startswith("[["))
    names, count, listed, columns, error = json.loads(line)
    found = ["connect", "query", "price"] if count == 3 else []
    found += ["intervals"] if names == ["dept", "n", "n_low", "n_high"] else []
    found += ["list tables"] if "visits" in listed else []
    found += ["describe"] if "cost" in columns else []
    return found + (["errors"] if "single rows are never shown" in error else [])


def jupysql(wire: Wire, _: Callable[[], None]) -> list[str]:
    return _notebook(_JUPYSQL, wire)


def marimo(wire: Wire, _: Callable[[], None]) -> list[str]:
    return _notebook(_MARIMO, wire)


CLIENTS: dict[str, Clients] = {
    "psql 15": psql,
    "psycopg 3": psycopg_3,
    "psycopg2": psycopg_2,
    "asyncpg": asyncpg,
    "pg8000": pg8000,
    "ADBC": adbc,
    "SQLAlchemy 2": sqlalchemy,
    "pandas": pandas,
    "polars": polars,
    "JupySQL": jupysql,
    "marimo": marimo,
}
