"""Sockets: impossible lengths, slow clients, too many connections, and the end of the server."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.clinic import Served, write_clinic
from server.postgres_wire.raw import Raw, fields, letters, query, startup
from server.postgres_wire.wire import Wire, wired
from server.processes import Process, free_port, is_closed

from discreet.server.postgres_wire import listen
from discreet.server.postgres_wire.messages import VERSION


@pytest.fixture
def fresh(served: Served) -> Iterator[Wire]:
    with wired(served) as found:
        yield found


@pytest.mark.parametrize("length", [-1, 0, 4, 7, 10_001, 2**31 - 1, -(2**31)])
def test_impossible_lengths_at_first(wire: Wire, length: int) -> None:
    with Raw(wire) as client:
        client.send(struct.pack("!i", length) + bytes(100))
        assert client.error()["C"] == "08P01"


@pytest.mark.parametrize("length", [-1, 3, 10_001, 2**31 - 1])
def test_impossible_lengths_before_the_login(wire: Wire, length: int) -> None:
    with Raw(wire) as client:
        client.send(startup(user="ann", database="clinic"))
        client.message()
        client.send(b"p" + struct.pack("!i", length))
        assert client.error()["C"] == "08P01"


@pytest.mark.parametrize("length", [0, 3, 1_000_001, 2**31 - 1])
def test_impossible_lengths_after_the_login(wire: Wire, length: int) -> None:
    with Raw(wire) as client:
        client.log_in()
        client.send(b"Q" + struct.pack("!i", length))
        assert client.error()["C"] == "08P01"


def test_a_long_statement_is_read(wire: Wire) -> None:
    with Raw(wire) as client:
        client.log_in()
        assert letters(client.ask(query("SELECT 1 -- " + "x" * 90_000))) == "TDCZ"


def test_messages_in_pieces(wire: Wire) -> None:
    with Raw(wire) as client:
        client.log_in()
        for byte in query("SELECT 1"):
            client.send(bytes([byte]))
        assert letters(client.until()) == "TDCZ"


@pytest.mark.parametrize("code", [131072, 262144, 1234])
def test_other_versions(wire: Wire, code: int) -> None:
    with Raw(wire) as client:
        client.send(struct.pack("!ii", 9, code) + b"\0")
        assert client.error()["S"] == "FATAL"


def test_a_newer_minor_version_is_told_what_is_spoken(wire: Wire) -> None:
    with Raw(wire) as client:
        body = struct.pack("!i", VERSION + 2) + b"user\0ann\0_pq_.x\0y\0\0"
        client.send(struct.pack("!i", len(body) + 4) + body)
        assert client.message() == ("v", struct.pack("!ii", VERSION, 1) + b"_pq_.x\0")


def test_slow_clients_are_left(fresh: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "_ENTERING", 0.2)
    for sent in (b"", b"\0", startup(user="ann", database="clinic")):
        with Raw(fresh) as client:
            client.send(sent)
            assert is_closed(client.socket, 10)


def test_a_message_that_does_not_end(served: Served) -> None:
    object.__setattr__(served.server.settings, "body_seconds", 0.2)
    with wired(served) as wire, Raw(wire) as client:
        client.log_in()
        client.send(b"Q" + struct.pack("!i", 100) + b"SELECT")
        assert is_closed(client.socket, 10)


def test_connections_are_limited(fresh: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "_MOST_OF_ONE", 2)
    with Raw(fresh) as one, Raw(fresh) as two, Raw(fresh) as three, Raw(fresh) as four:
        assert letters(one.log_in()).endswith("Z")
        assert letters(two.log_in()).endswith("Z")
        found = three.log_in()
        assert fields(found[-1][1])["C"] == "53300"
        assert letters(four.log_in("bob")).endswith("Z")  # one account does not use up those of others
    monkeypatch.setattr(listen, "_MOST_UNKNOWN", 0)
    with Raw(fresh) as client:
        assert client.error()["C"] == "53300"


def test_the_end_of_the_server_is_told(served: Served) -> None:
    with wired(served) as wire:
        client = Raw(wire)
        client.log_in()
    assert client.error()["C"] == "57P01"
    client.socket.close()


def test_discreet_serve_listens_on_both_ports(tmp_path: Path) -> None:
    port = free_port()
    with Process(tmp_path, write_clinic(tmp_path / "clinic"), "--pg-port", port) as process:
        process.wait_until_it_answers()
        with socket.create_connection(("127.0.0.1", port), 20) as client:
            client.sendall(startup(user="nobody", database="clinic"))
            assert client.recv(1) == b"R"
        process.stop()
        assert str(port) in process.out.read_text()
