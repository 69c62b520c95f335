"""The catalogue of a data set, as PostgreSQL's clients read it: statements run on an empty database in a process of its own.

It is made of the declared tables (`tables/catalog.py`); `process.py` is the program that runs in the process.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, final

from discreet.server.limits import Limit
from discreet.server.postgres_wire.catalogue.rewrite import CatalogueStatement, read_catalogue
from discreet.server.postgres_wire.catalogue.rows import setup
from discreet.server.postgres_wire.columns import ResultColumn
from discreet.server.postgres_wire.sqlstates import CANCELLED, NOT_SUPPORTED, SYSTEM, Failure
from discreet.server.postgres_wire.types import BOOL, DATE, FLOAT8, INT2, INT4, INT8, NUMERIC, OID, TEXT, TEXTS, TIMESTAMP, TYPES
from discreet.server.postgres_wire.variables import VERSION, Variables
from discreet.server.server import Server
from discreet.server.store.accounts import Account
from discreet.tables.catalog import Catalog

_SECONDS = 5.0  # for one statement
_START = 60.0  # seconds to start the process
_RECENT, _SHORT = 64, 5000  # statements that are remembered, and their characters
_LONGEST = 8 * 1024 * 1024  # bytes of one answer
_EXPLAINED = 10  # statements of one account a minute whose failure the owner's file explains, and their characters
_EXPLANATION = 2000
_OIDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "UTINYINT"), INT2),
    **dict.fromkeys(("INTEGER", "USMALLINT"), INT4),
    **dict.fromkeys(("HUGEINT", "UBIGINT", "UHUGEINT"), NUMERIC),
    **dict.fromkeys(("FLOAT", "DOUBLE"), FLOAT8),
    "BOOLEAN": BOOL,
    "BIGINT": INT8,
    "UINTEGER": OID,
    "DATE": DATE,
    "VARCHAR": TEXT,
}


@final
class _Process:
    """The process of one data set; it is started when it is first needed, and again after it was ended."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given, self._lock = given, asyncio.Lock()
        self._running: asyncio.subprocess.Process | None = None

    async def ask(self, sql: str) -> dict[str, Any]:
        """The columns and rows of a statement, or its error. One that takes too long ends the process."""
        async with self._lock:
            try:
                if self._running is None or self._running.returncode is not None:
                    await self._start()
                async with asyncio.timeout(_SECONDS):
                    return await self._line({"sql": sql})
            except TimeoutError:
                await self._end()
                raise Failure(CANCELLED, "this catalogue statement takes too long") from None
            except (OSError, ValueError, EOFError):
                await self._end()
                raise Failure(SYSTEM, "the catalogue cannot be read now", "try again") from None
            except asyncio.CancelledError:
                await self._end()  # it may be in the middle of an answer
                raise

    async def _start(self) -> None:
        place = Path(__file__).with_name("process.py")
        self._running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", os.fspath(place)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            cwd="/",
            limit=_LONGEST,
        )
        async with asyncio.timeout(_START):
            await self._line(self._given)

    async def _line(self, said: dict[str, Any]) -> dict[str, Any]:
        assert self._running is not None, "it was started"
        given, taken = self._running.stdin, self._running.stdout
        assert given is not None, "it was started with a pipe"
        assert taken is not None, "it was started with a pipe"
        given.write(json.dumps(said).encode() + b"\n")
        await given.drain()
        line = await taken.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        found: dict[str, Any] = json.loads(line)
        return found

    async def _end(self) -> None:
        if self._running is not None and self._running.returncode is None:
            with suppress(ProcessLookupError):
                self._running.kill()
            await self._running.wait()
        self._running = None

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            await self._end()


@final
class Catalogue:
    """The catalogue of one data set, as one account sees it."""

    def __init__(self, process: _Process, dataset: str, account: str, tables: tuple[str, ...], explain: Callable[[str, str], None]) -> None:
        """`explain` gets the statements that failed, and why."""
        self._process, self._dataset, self._account, self._tables, self._explain = process, dataset, account, tables, explain
        # tools send the same statements again and again; what others sent must not make anything faster
        self._read = lru_cache(_RECENT)(read_catalogue)
        self._turn = asyncio.Lock()  # one statement of an account at a time: it must not fill the line in which others wait

    def read(self, text: str) -> CatalogueStatement | None:
        """The statement, if it is about the catalogue."""
        return self._read(text, self._tables) if len(text) <= _SHORT else read_catalogue(text, self._tables)

    async def describe(self, statement: CatalogueStatement, variables: Variables) -> tuple[ResultColumn, ...]:
        """The columns of a statement."""
        columns, _ = await self._asked(statement, variables, None)
        return columns

    async def run(self, statement: CatalogueStatement, variables: Variables, values: Sequence[Any]) -> list[list[Any]]:
        """The rows of a statement."""
        columns, rows = await self._asked(statement, variables, values)
        return [[_value(value, column) for value, column in zip(row, columns, strict=True)] for row in rows]

    async def _asked(
        self, statement: CatalogueStatement, variables: Variables, values: Sequence[Any] | None
    ) -> tuple[tuple[ResultColumn, ...], list[list[Any]]]:
        settings = {f"setting {name.lower()}": value for name, value in variables.all.items()}
        session = {
            "account": self._account,
            "dataset": self._dataset,
            "schema": "public",
            "version": f"PostgreSQL {VERSION} (discreet: answers are differentially private)",
            "process": "1",
        }
        sql = await asyncio.to_thread(statement.sql, values, {**settings, **session})
        async with self._turn:
            found = await self._process.ask(sql)
        if "error" not in found:
            return tuple(ResultColumn(name, TYPES[_oid(kind)]) for name, kind in found["columns"]), found["rows"]
        if statement.certainly_empty:
            return tuple(ResultColumn(name, TYPES[TEXT]) for name in statement.names), []
        self._explain("catalogue statement", f"{sql[:_EXPLANATION]}\n{found['error'][:_EXPLANATION]}")
        raise Failure(NOT_SUPPORTED, "this catalogue statement is not supported", "information_schema.columns lists all columns")


@final
class Catalogues:
    """The catalogues of all data sets of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, tuple[Catalog, _Process]] = {}
        self._seen: dict[tuple[str, str], Catalogue] = {}  # by data set and account
        self._explained = Limit(_EXPLAINED)
        self._old: list[_Process] = []

    def of(self, dataset: str, account: Account) -> Catalogue:
        """The catalogue of a data set, as it is declared now; all connections of an account have the same."""
        catalog = self._server.datasets.get(dataset, account).catalog
        known = self._known.get(dataset)
        if known is None or known[0] is not catalog:
            if known is not None:
                self._old.append(known[1])  # connections that are open go on with it
            known = self._known[dataset] = catalog, _Process(setup(dataset, catalog.tables))
            self._seen = {key: one for key, one in self._seen.items() if key[0] != dataset}
        key, names = (dataset, account.name), tuple(table.name for table in catalog.tables)
        if key not in self._seen:
            self._seen[key] = Catalogue(known[1], dataset, account.name, names, partial(self._explain, account.name))
        return self._seen[key]

    def _explain(self, account: str, what: str, text: str) -> None:
        """Write into the owner's file, seldom: nobody fills the disk with statements that fail."""
        if not self._explained.take(account):
            self._server.log.explain(what, text)

    async def close(self) -> None:
        """End all processes."""
        for process in (*self._old, *(process for _, process in self._known.values())):
            await process.close()


def _oid(kind: str) -> int:
    if kind.endswith("[]"):
        return TEXTS
    if kind.startswith("DECIMAL"):
        return NUMERIC
    return TIMESTAMP if kind.startswith("TIMESTAMP") else _OIDS.get(kind, TEXT)


def _value(value: Any, column: ResultColumn) -> Any:
    """A value as it came through JSON."""
    if value is None:
        return None
    if column.type.oid == TIMESTAMP:
        return datetime.datetime.fromisoformat(str(value)).replace(tzinfo=None)
    if column.type.oid == DATE:
        return datetime.date.fromisoformat(str(value))
    return value
