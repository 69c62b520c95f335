"""One connection after its login: the states of the simple and the extended protocol, without any reading or writing of sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, final

from attrs import define

from discreet.errors import Error
from discreet.server.outcome import UNEXPECTED
from discreet.server.postgres_wire import messages
from discreet.server.postgres_wire.columns import Result, ResultColumn
from discreet.server.postgres_wire.interpreter import Interpreter, Prepared
from discreet.server.postgres_wire.messages import Bind, Close, ColumnDescription, Describe, Execute, Message, Parse, Query, Simple
from discreet.server.postgres_wire.sqlstates import (
    ALREADY_PREPARED,
    LIMIT_EXCEEDED,
    NO_PORTAL,
    NOT_PREPARED,
    NOT_SUPPORTED,
    PORTAL_EXISTS,
    PROTOCOL,
    SYNTAX,
    UNDEFINED_PARAMETER,
    Failure,
    OutcomeFailure,
    fields_of,
)
from discreet.server.postgres_wire.sqlstates import UNEXPECTED as UNEXPECTED_STATE
from discreet.server.postgres_wire.statements import Statement, split
from discreet.server.postgres_wire.types import read_value, written

_MOST_TEXT = 2_000_000  # characters of all prepared statements of one connection
_MOST = 1000  # prepared statements and portals of one connection
_MOST_OPEN = 10  # portals whose rows were not all sent
_SHORT = 10_000  # characters of a text that is cut at once
_CHUNK = 64 * 1024  # bytes after which a slow client is waited for


class Output(Protocol):
    """Where answers go."""

    def put(self, data: bytes) -> None:
        """Add bytes."""

    async def flush(self) -> None:
        """Send them, and wait until the client has read enough."""


@final
@define
class _Portal:
    """A statement with its parameters; and, once it was executed, its rows and how many were sent."""

    prepared: Prepared
    values: tuple[Any, ...]
    formats: tuple[int, ...]
    result: Result | None = None
    sent: int = 0


@final
class Connection:
    """Answer the messages of one client, one after another."""

    def __init__(self, interpreter: Interpreter, output: Output, crashed: Callable[[str, BaseException], None]) -> None:
        self._interpreter, self._out, self._crashed = interpreter, output, crashed
        self._statements: dict[str, Prepared] = {}
        self._portals: dict[str, _Portal] = {}
        self._skipping = False  # after an error, until the client is in step again
        self.open = True
        self.state = "00000"  # the SQLSTATE of the last message, for the log

    async def handle(self, message: Message) -> None:
        """Answer one message. Errors are told to the client; only what it cannot recover from ends the connection."""
        if self._skipping and not (isinstance(message, Simple) and message.letter in "SX"):
            return
        text = ""
        self.state = "00000"
        try:
            match message:
                case Query(text):
                    await self._simple(text)
                case Parse():
                    text = message.text
                    await self._parse(message)
                case Bind():
                    self._bind(message)
                case Describe():
                    self._describe(message)
                case Execute():
                    text = self._portal(message.portal).prepared.statement.text
                    await self._execute(message)
                case Close():
                    (self._statements if message.kind == "S" else self._portals).pop(message.name, None)
                    self._out.put(messages.CLOSED)
                case Simple():
                    self._step(message.letter)
                case _:
                    raise Failure(PROTOCOL, "this message is not expected now", fatal=True)
            await self._out.flush()  # also what a client does not wait for, such as many Executes before one Sync
        except (Failure, OutcomeFailure, Error) as error:
            await self._tell(error, text, isinstance(message, Query))
        except (TimeoutError, ConnectionError):  # they do not read, or went away
            raise
        except Exception as error:  # a bug of ours: its text may contain data
            self._crashed("postgres", error)
            await self._tell(Failure(UNEXPECTED_STATE, UNEXPECTED), "", isinstance(message, Query))

    async def _tell(self, error: Failure | OutcomeFailure | Error, text: str, simple: bool) -> None:
        found = fields_of(error, text)
        self.state = found["C"]
        self._out.put(messages.told(b"E", found))
        self._interpreter.failed()
        if isinstance(error, Failure) and error.fatal:
            self.open = False
        elif simple:
            self._ready()
        else:
            self._skipping = True
        await self._out.flush()

    def _step(self, letter: str) -> None:
        match letter:
            case "S":
                self._skipping = False
                if self._interpreter.status == "I":
                    self._portals.clear()
                self._ready()
            case "X":
                self.open = False
            case "F":
                raise Failure(NOT_SUPPORTED, "functions are not called directly", "write SELECT …")

    def _ready(self) -> None:
        self._status()
        self._out.put(messages.ready(self._interpreter.status))

    def _status(self) -> None:
        for name, value in self._interpreter.told.items():
            self._out.put(messages.parameter_status(name, value))
        self._interpreter.told = {}

    def _notify(self, result: Result) -> None:
        for note in result.notes:
            self._out.put(messages.told(b"N", {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": note}))

    # ── simple ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _simple(self, text: str) -> None:
        for statement in await _cut(text):
            await self._out.flush()
            prepared = await self._interpreter.prepare(statement)
            if prepared.types:
                hint = "give values through your driver, or write them into the question"
                raise Failure(UNDEFINED_PARAMETER, "a parameter has no value here", hint)
            result = await self._interpreter.run(prepared)
            self._notify(result)
            if not result.tag:
                self._out.put(messages.EMPTY)
                continue
            if result.columns is not None:
                formats = (0,) * len(result.columns)
                if prepared.copied:
                    await self._copy(result)
                else:
                    self._out.put(messages.row_description(_described(result.columns), formats))
                    await self._rows(result.columns, result.rows, formats)
            self._out.put(messages.complete(result.tag))
        self._ready()

    # ── extended ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _parse(self, message: Parse) -> None:
        if message.name and message.name in self._statements:
            raise Failure(ALREADY_PREPARED, "there is a prepared statement of this name", "close it first")
        if len(self._statements) >= _MOST:
            raise Failure(LIMIT_EXCEEDED, f"a connection has at most {_MOST} prepared statements", "close some")
        if sum(len(one.statement.text) for one in self._statements.values()) + len(message.text) > _MOST_TEXT:
            raise Failure(LIMIT_EXCEEDED, "the prepared statements of this connection are too long together", "close some")
        first, *more = await _cut(message.text)
        if more:
            raise Failure(SYNTAX, "a prepared statement is exactly one", "send statements one by one")
        self._statements.pop("", None)
        self._statements[message.name] = await self._interpreter.prepare(first, message.types)
        self._out.put(messages.PARSED)

    def _bind(self, message: Bind) -> None:
        prepared = self._statement(message.statement)
        if len(message.values) != len(prepared.types):
            raise Failure(PROTOCOL, f"{len(prepared.types)} parameters are needed, and {len(message.values)} were given")
        if message.portal and message.portal in self._portals:
            raise Failure(PORTAL_EXISTS, "there is a portal of this name", "close it first")
        if len(self._portals) >= _MOST:
            raise Failure(LIMIT_EXCEEDED, f"a connection has at most {_MOST} portals", "close some")
        formats = _spread(message.formats, len(message.values))
        values = tuple(map(read_value, message.values, prepared.types, formats))
        self._portals[message.portal] = _Portal(prepared, values, _spread(message.results, len(prepared.columns or ())))
        self._out.put(messages.BOUND)

    def _describe(self, message: Describe) -> None:
        if message.kind == "S":
            prepared = self._statement(message.name)
            formats: Sequence[int] = (0,) * len(prepared.columns or ())
            self._out.put(messages.parameter_description(prepared.types))
        else:
            portal = self._portal(message.name)
            prepared, formats = portal.prepared, portal.formats
        none = prepared.columns is None or prepared.copied
        self._out.put(messages.NO_DATA if none else messages.row_description(_described(prepared.columns or ()), formats))

    async def _execute(self, message: Execute) -> None:
        portal = self._portal(message.portal)
        if portal.result is None:
            portal.result = await self._interpreter.run(portal.prepared, portal.values)
            self._status()
            self._notify(portal.result)
        result = portal.result
        if not result.tag:
            self._out.put(messages.EMPTY)
            return
        if result.columns is not None and portal.prepared.copied:
            await self._copy(result)
        elif result.columns is not None:
            end = len(result.rows) if message.most <= 0 else portal.sent + message.most
            await self._rows(result.columns, result.rows[portal.sent : end], portal.formats)
            portal.sent = min(end, len(result.rows))
            if portal.sent < len(result.rows):
                self._require_few_open()
                self._out.put(messages.SUSPENDED)
                return
        portal.result = Result(result.tag, result.columns)  # what was sent is forgotten
        self._out.put(messages.complete(result.tag))

    def _require_few_open(self) -> None:
        if sum(one.result is not None and one.sent < len(one.result.rows) for one in self._portals.values()) > _MOST_OPEN:
            raise Failure(LIMIT_EXCEEDED, f"a connection reads at most {_MOST_OPEN} answers in parts", "read one to its end, or close it")

    def _statement(self, name: str) -> Prepared:
        if name not in self._statements:
            raise Failure(NOT_PREPARED, "there is no prepared statement of this name", "prepare it first")
        return self._statements[name]

    def _portal(self, name: str) -> _Portal:
        if name not in self._portals:
            raise Failure(NO_PORTAL, "there is no portal of this name", "bind a prepared statement first")
        return self._portals[name]

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _rows(self, columns: Sequence[ResultColumn], rows: Iterable[Sequence[Any]], formats: Sequence[int]) -> None:
        size = 0
        for row in rows:
            data = messages.data_row(_encoded(row, columns, formats))
            self._out.put(data)
            size += len(data)
            if size > _CHUNK:
                await self._out.flush()
                size = 0

    async def _copy(self, result: Result) -> None:
        columns = result.columns or ()
        self._out.put(messages.copy_begin(len(columns)))
        for data in messages.copy_rows(_encoded(row, columns, (1,) * len(columns)) for row in result.rows):
            self._out.put(data)
        self._out.put(messages.COPY_END)
        await self._out.flush()


async def _cut(text: str) -> list[Statement]:
    """The statements of a text; others are answered while a long one is cut."""
    return split(text) if len(text) <= _SHORT else await asyncio.to_thread(split, text)


def _described(columns: Sequence[ResultColumn]) -> list[ColumnDescription]:
    return [ColumnDescription(column.name, column.type.oid, column.type.size) for column in columns]


def _encoded(row: Sequence[Any], columns: Sequence[ResultColumn], formats: Sequence[int]) -> list[bytes | None]:
    return [written(value, column.type, form) for value, column, form in zip(row, columns, formats, strict=True)]


def _spread(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """A format for each value: none given means text, one is for all."""
    if len(formats) not in (0, 1, count):
        raise Failure(PROTOCOL, "give no format, one for all values, or one for each")
    return tuple(formats) if len(formats) == count else (formats[0] if formats else 0,) * count
