"""The messages of PostgreSQL's protocol 3.0 as bytes and back, without any reading or writing of sockets.

A message is a letter, a length of four bytes that counts itself, and a body. The first one of a connection has no letter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, final

from attrs import frozen

VERSION, TLS, GSS, CANCEL = 3 << 16, 80877103, 80877104, 80877102  # the first number of a connection: protocol 3.0, or a request
LONGEST_STARTUP = 10_000  # bytes, as in PostgreSQL
_MOST_VALUES = 1000  # parameters of a statement, and formats


@final
class Malformed(Exception):
    """Bytes that are no message: the connection cannot go on."""


# ── what a client sends ──────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen
class Startup:
    """The first message: a version and names with values, or one of the special requests."""

    code: int
    parameters: Mapping[str, str]
    process: int = 0  # of a cancel request
    secret: bytes = b""


@final
@frozen
class Query:
    """One or more statements, to be answered at once."""

    text: str


@final
@frozen
class Parse:
    """Prepare a statement."""

    name: str
    text: str
    types: tuple[int, ...]


@final
@frozen
class Bind:
    """Give a prepared statement its parameters; the result is a portal."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@final
@frozen
class Describe:
    """Tell the columns of a statement (S) or a portal (P)."""

    kind: str
    name: str


@final
@frozen
class Execute:
    """Send the rows of a portal, at most so many; 0 is all."""

    portal: str
    most: int


@final
@frozen
class Close:
    """Forget a statement (S) or a portal (P)."""

    kind: str
    name: str


@final
@frozen
class Password:
    """A step of the login."""

    body: bytes


@final
@frozen
class Simple:
    """A message of which only the letter matters: Sync, Flush, Terminate, and those of COPY FROM and of function calls."""

    letter: str


Message: TypeAlias = Query | Parse | Bind | Describe | Execute | Close | Password | Simple


@final
class _Body:
    """A message's body, read from the left; Malformed if something is missing or left over."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._body):
            raise Malformed("a message is shorter than it says")
        self._at += count
        return self._body[self._at - count : self._at]

    def int2(self) -> int:
        return int(struct.unpack("!h", self.take(2))[0])

    def int4(self) -> int:
        return int(struct.unpack("!i", self.take(4))[0])

    def oid(self) -> int:
        return int(struct.unpack("!I", self.take(4))[0])

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Malformed("a text of a message has no end")
        found, self._at = self._body[self._at : end], end + 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise Malformed("a text of a message is not UTF-8") from None

    def count(self) -> int:
        found = self.int2()
        if not 0 <= found <= _MOST_VALUES:
            raise Malformed(f"a statement has at most {_MOST_VALUES} parameters")
        return found

    def kind(self) -> str:
        found = self.take(1)
        if found not in (b"S", b"P"):
            raise Malformed("only statements and portals have names")
        return found.decode()

    def rest(self) -> bytes:
        return self.take(len(self._body) - self._at)

    def end(self) -> None:
        if self._at != len(self._body):
            raise Malformed("a message is longer than what it says")


def read_startup(body: bytes) -> Startup:
    """The first message, without its length."""
    read = _Body(body)
    code = read.int4()
    if code in (TLS, GSS):
        read.end()
        return Startup(code, {})
    if code == CANCEL:
        process, secret = read.int4(), read.rest()
        return Startup(code, {}, process, secret)
    found: dict[str, str] = {}
    if code >> 16 == 3:
        while name := read.text():
            found[name] = read.text()
        read.end()
    return Startup(code, found)


def read_message(letter: str, body: bytes) -> Message:
    """A later message, by its letter."""
    read = _Body(body)
    found: Message
    match letter:
        case "Q":
            found = Query(read.text())
        case "P":
            found = Parse(read.text(), read.text(), tuple(read.oid() for _ in range(read.count())))
        case "B":
            found = Bind(read.text(), read.text(), _formats(read), tuple(_value(read) for _ in range(read.count())), _formats(read))
        case "D":
            found = Describe(read.kind(), read.text())
        case "E":
            found = Execute(read.text(), read.int4())
        case "C":
            found = Close(read.kind(), read.text())
        case "p":
            return Password(body)
        case "S" | "H" | "X" | "c":
            found = Simple(letter)
        case "d" | "f" | "F":
            return Simple(letter)  # whatever its body holds
        case _:
            raise Malformed("there is no such message")
    read.end()
    return found


def _formats(read: _Body) -> tuple[int, ...]:
    found = tuple(read.int2() for _ in range(read.count()))
    if set(found) - {0, 1}:
        raise Malformed("a format is 0 for text or 1 for binary")
    return found


def _value(read: _Body) -> bytes | None:
    length = read.int4()
    if length < -1:
        raise Malformed("a parameter has a negative length")
    return None if length == -1 else read.take(length)


# ── what a server sends ──────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen
class ColumnDescription:
    """A column of a result: its name, the number of its type and the type's size."""

    name: str
    oid: int
    size: int


def _message(letter: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return letter + struct.pack("!i", len(body) + 4) + body


def _text(text: str) -> bytes:
    return text.replace("\0", "").encode("utf-8", "replace") + b"\0"


def authentication(code: int, more: bytes = b"") -> bytes:
    """A step of the login: 0 it succeeded, 10 how to log in, 11 and 12 what SCRAM says."""
    return _message(b"R", struct.pack("!i", code), more)


def version_supported(unknown: Sequence[str]) -> bytes:
    """Only version 3.0 is spoken here, and these options are not known."""
    return _message(b"v", struct.pack("!ii", VERSION, len(unknown)), *map(_text, unknown))


def parameter_status(name: str, value: str) -> bytes:
    """A setting that clients want to know."""
    return _message(b"S", _text(name), _text(value))


def backend_key(process: int, secret: bytes) -> bytes:
    """With what a client can cancel."""
    return _message(b"K", struct.pack("!i", process), secret)


def ready(status: str) -> bytes:
    """The server waits: outside of a transaction (I), in one (T), or in one that failed (E)."""
    return _message(b"Z", status.encode())


def row_description(columns: Sequence[ColumnDescription], formats: Sequence[int]) -> bytes:
    """The columns of the rows that follow."""
    described = (
        _text(column.name) + struct.pack("!ihIhih", 0, 0, column.oid, column.size, -1, form)
        for column, form in zip(columns, formats, strict=True)
    )
    return _message(b"T", struct.pack("!h", len(columns)), *described)


def data_row(values: Iterable[bytes | None]) -> bytes:
    """One row; None is NULL."""
    return _message(b"D", _row(values))


def _row(values: Iterable[bytes | None]) -> bytes:
    """How many values there are, and each after its length; the length of NULL is -1."""
    parts = [struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value for value in values]
    return struct.pack("!h", len(parts)) + b"".join(parts)


def complete(tag: str) -> bytes:
    """A statement is done."""
    return _message(b"C", _text(tag))


def parameter_description(types: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return _message(b"t", struct.pack("!h", len(types)), *(struct.pack("!I", one) for one in types))


def told(letter: bytes, fields: Mapping[str, str]) -> bytes:
    """An error (E) or a notice (N), as fields by their letters."""
    return _message(letter, *(name.encode() + _text(value) for name, value in fields.items()), b"\0")


def copy_begin(columns: int) -> bytes:
    """Rows of so many columns follow as binary COPY data."""
    return _message(b"H", struct.pack("!bh", 1, columns), struct.pack("!h", 1) * columns)


def copy_rows(rows: Iterable[Iterable[bytes | None]]) -> Iterator[bytes]:
    """The rows as binary COPY data. Its signature is in one message with the first row, or with the end, as PostgreSQL sends it."""
    begin = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for row in rows:
        yield _message(b"d", begin + _row(row))
        begin = b""
    yield _message(b"d", begin + struct.pack("!h", -1))


PARSED, BOUND, CLOSED = _message(b"1"), _message(b"2"), _message(b"3")
NO_DATA, EMPTY, SUSPENDED, COPY_END = _message(b"n"), _message(b"I"), _message(b"s"), _message(b"c")
