"""One connection after its login: the states of the simple and the extended protocol, without any reading or writing of sockets."""

from __future__ import annotations

import struct
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
    NO_PORTAL,
    NOT_PREPARED,
    NOT_SUPPORTED,
    PROTOCOL,
    SYNTAX,
    Failure,
    OutcomeFailure,
    fields_of,
)
from discreet.server.postgres_wire.sqlstates import UNEXPECTED as UNEXPECTED_STATE
from discreet.server.postgres_wire.statements import split
from discreet.server.postgres_wire.types import read_value, written

_MOST = 1000  # prepared statements and portals of one connection
_CHUNK = 64 * 1024  # bytes after which a slow client is waited for
_COPY_BEGIN, _COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), struct.pack("!h", -1)


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
        self.state = "00000"  # of the last statement, for the log

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
                    await self._step(message.letter)
                case _:
                    raise Failure(PROTOCOL, "this message is not expected now", fatal=True)
        except (Failure, OutcomeFailure, Error) as error:
            await self._tell(error, text, isinstance(message, Query))
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

    async def _step(self, letter: str) -> None:
        match letter:
            case "S":
                self._skipping = False
                if self._interpreter.status == "I":
                    self._portals.clear()
                self._ready()
                await self._out.flush()
            case "H":
                await self._out.flush()
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
        for statement in split(text):
            prepared = await self._interpreter.prepare(statement)
            if prepared.types:
                raise Failure("42P02", "a parameter has no value here", "give values through your driver, or write them into the question")
            result = await self._interpreter.run(prepared)
            self._notify(result)
            if not result.tag:
                self._out.put(messages.EMPTY)
                continue
            if result.columns is not None:
                formats = (0,) * len(result.columns)
                if prepared.is_copy:
                    await self._copy(result)
                else:
                    self._out.put(messages.row_description(_described(result.columns), formats))
                    await self._rows(result.columns, result.rows, formats)
            self._out.put(messages.complete(result.tag))
        self._ready()
        await self._out.flush()

    # ── extended ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _parse(self, message: Parse) -> None:
        if message.name and message.name in self._statements:
            raise Failure("42P05", "there is a prepared statement of this name", "close it first")
        if len(self._statements) >= _MOST:
            raise Failure("54000", f"a connection has at most {_MOST} prepared statements", "close some")
        first, *more = split(message.text)
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
            raise Failure("42P03", "there is a portal of this name", "close it first")
        if len(self._portals) >= _MOST:
            raise Failure("54000", f"a connection has at most {_MOST} portals", "close some")
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
        none = prepared.columns is None or prepared.is_copy
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
        if result.columns is not None and portal.prepared.is_copy:
            await self._copy(result)
        elif result.columns is not None:
            end = len(result.rows) if message.most <= 0 else portal.sent + message.most
            await self._rows(result.columns, result.rows[portal.sent : end], portal.formats)
            portal.sent = min(end, len(result.rows))
            if portal.sent < len(result.rows):
                self._out.put(messages.SUSPENDED)
                return
        self._out.put(messages.complete(result.tag))

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
            data = messages.data_row(written(value, column.type, form) for value, column, form in zip(row, columns, formats, strict=True))
            self._out.put(data)
            size += len(data)
            if size > _CHUNK:
                await self._out.flush()
                size = 0

    async def _copy(self, result: Result) -> None:
        columns = result.columns or ()
        self._out.put(messages.copy_out(len(columns), 1))
        begin = _COPY_BEGIN  # in one message with what follows, as PostgreSQL sends it
        for row in result.rows:
            fields = (written(value, column.type, 1) for value, column in zip(row, columns, strict=True))
            parts = (struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one for one in fields)
            self._out.put(messages.copy_data(begin + struct.pack("!h", len(columns)) + b"".join(parts)))
            begin = b""
        self._out.put(messages.copy_data(begin + _COPY_END))
        self._out.put(messages.COPIED)
        await self._out.flush()


def _described(columns: Sequence[ResultColumn]) -> list[ColumnDescription]:
    return [ColumnDescription(column.name, column.type.oid, column.type.size) for column in columns]


def _spread(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """A format for each value: none given means text, one is for all."""
    if len(formats) not in (0, 1, count):
        raise Failure(PROTOCOL, "there are more formats than values")
    return tuple(formats) if len(formats) == count else (formats[0] if formats else 0,) * count
