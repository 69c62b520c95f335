"""The process in which catalogue statements run: an empty database in memory that knows names and types, and nothing else.

It is started with no arguments, no environment and no data paths, and imports nothing of ours. It reads lines of JSON: first what to
create, then statements; and answers each with one line. The parent ends it when a statement takes too long.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import duckdb

MEMORY = 3 * 1024**3  # bytes of address space; of which the database may use a part
LOCKED = (
    "SET memory_limit = '200MB'",
    "SET threads = 1",
    "SET temp_directory = ''",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
MOST_ROWS, LONGEST = 20_000, 8_000_000  # rows and characters of an answer


def prepared(setup: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """The database, with its tables and functions, locked."""
    found = duckdb.connect(":memory:")
    for statement in setup["statements"]:
        found.execute(statement)
    for table, rows in setup["rows"].items():
        if rows:
            found.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in rows[0])})", rows)
    for statement in LOCKED:
        found.execute(statement)
    return found


def answer(database: duckdb.DuckDBPyConnection, asked: dict[str, str]) -> dict[str, Any]:
    """The names, types and rows of a statement's result."""
    try:
        cursor = database.execute(asked["sql"])
        rows = cursor.fetchmany(MOST_ROWS + 1)
        if len(rows) > MOST_ROWS:
            return {"error": "too many rows"}
        return {"columns": [[one[0], str(one[1])] for one in cursor.description or []], "rows": rows}
    except duckdb.Error as error:
        return {"error": str(error)}


def main() -> None:
    """Answer line by line until the parent goes away."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    database = prepared(json.loads(sys.stdin.readline()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    print("{}", flush=True)
    for line in sys.stdin:
        said = json.dumps(answer(database, json.loads(line)), default=str)
        print(said if len(said) <= LONGEST else json.dumps({"error": "too long"}), flush=True)


if __name__ == "__main__":
    main()
