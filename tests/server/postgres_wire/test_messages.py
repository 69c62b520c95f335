"""The bytes of messages: what is well formed is read, anything else is Malformed and nothing worse."""

from __future__ import annotations

import random
import struct

import pytest
from server.postgres_wire import raw

from discreet.server.postgres_wire import messages
from discreet.server.postgres_wire.messages import CANCEL, TLS, VERSION, Bind, Close, Describe, Execute, Malformed, Parse, Query, Simple


def read(data: bytes) -> messages.Message:
    assert struct.unpack("!i", data[1:5])[0] == len(data) - 1
    return messages.read_message(data[:1].decode("latin-1"), data[5:])


def test_what_a_client_sends() -> None:
    assert read(raw.query("SELECT 1")) == Query("SELECT 1")
    assert read(raw.parse("SELECT $1", "a", (25, 0))) == Parse("a", "SELECT $1", (25, 0))
    assert read(raw.bind(b"x", None, portal="p", name="a", formats=(1,), results=(0, 1))) == Bind("p", "a", (1,), (b"x", None), (0, 1))
    assert read(raw.describe("S", "a")) == Describe("S", "a")
    assert read(raw.execute("p", 5)) == Execute("p", 5)
    assert read(raw.framed("C", b"Pp\0")) == Close("P", "p")
    assert read(raw.SYNC) == Simple("S")


def test_the_first_message() -> None:
    found = messages.read_startup(raw.startup(user="ann", database="clinic")[4:])
    assert (found.code, found.parameters) == (VERSION, {"user": "ann", "database": "clinic"})
    assert messages.read_startup(struct.pack("!i", TLS)).code == TLS
    cancel = messages.read_startup(struct.pack("!ii", CANCEL, 7) + b"abcd")
    assert (cancel.process, cancel.secret) == (7, b"abcd")


@pytest.mark.parametrize(
    ("letter", "body"),
    [
        ("Q", b"SELECT 1"),
        ("Q", b"SELECT 1\0more"),
        ("Q", b"\xff\0"),
        ("P", b"a\0b\0"),
        ("P", b"a\0b\0\0\x05"),
        ("P", b"a\0b\0\xff\xff"),
        ("B", b"\0\0\0\x01\0\x02\0\0\0\0"),
        ("B", b"\0\0\0\0\0\x01\xff\xff\xff\xf0\0\0"),
        ("B", b"\0\0\0\0\0\x01\0\0\x10\0"),
        ("D", b"X\0"),
        ("E", b"\0\0"),
        ("S", b"more"),
        ("?", b""),
        ("\0", b""),
    ],
)
def test_what_is_no_message(letter: str, body: bytes) -> None:
    with pytest.raises(Malformed):
        messages.read_message(letter, body)


def test_any_bytes_are_read_or_malformed() -> None:
    chance = random.Random(0)
    for _ in range(3000):
        letter, body = chr(chance.randrange(256)), chance.randbytes(chance.randrange(60))
        try:
            messages.read_message(letter, body)
            messages.read_startup(body)
        except Malformed:
            pass


def test_what_a_server_sends() -> None:
    assert messages.ready("I") == b"Z\0\0\0\x05I"
    assert messages.data_row([b"a", None]) == b"D\0\0\0\x0f\0\x02\0\0\0\x01a\xff\xff\xff\xff"
    assert messages.complete("SELECT 1") == b"C\0\0\0\x0dSELECT 1\0"
    said = messages.told(b"E", {"S": "ERROR", "M": "a\0b"})
    assert raw.fields(said[5:]) == {"S": "ERROR", "M": "ab"}  # a text cannot end a field early
    described = messages.row_description([messages.ColumnDescription("n", 20, 8)], [1])
    assert described[5:] == b"\0\x01n\0" + struct.pack("!ihIhih", 0, 0, 20, 8, -1, 1)


def test_rows_of_a_copy() -> None:
    signature, end = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
    [only] = messages.copy_rows([])
    assert only[5:] == signature + end
    first, second, last = messages.copy_rows([[b"a", None], [None, b""]])
    assert first[5:] == signature + b"\0\x02\0\0\0\x01a\xff\xff\xff\xff"
    assert second[5:] == b"\0\x02\xff\xff\xff\xff\0\0\0\0"
    assert last[5:] == end
    assert messages.copy_begin(2) == b"H\0\0\0\x0b\x01\0\x02\0\x01\0\x01"
