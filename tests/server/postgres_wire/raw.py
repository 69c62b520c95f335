"""A client that sends messages byte by byte, as tests want them and no driver would."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct
from typing import Any

from server.postgres_wire.wire import Wire

from discreet.server.postgres_wire.messages import VERSION


def framed(letter: str, body: bytes = b"") -> bytes:
    return letter.encode("latin-1") + struct.pack("!i", len(body) + 4) + body


def text(*parts: str) -> bytes:
    return b"".join(part.encode() + b"\0" for part in parts)


def query(sql: str) -> bytes:
    return framed("Q", text(sql))


def parse(sql: str, name: str = "", types: tuple[int, ...] = ()) -> bytes:
    return framed("P", text(name, sql) + struct.pack(f"!h{len(types)}I", len(types), *types))


def bind(*values: bytes | None, portal: str = "", name: str = "", formats: tuple[int, ...] = (), results: tuple[int, ...] = ()) -> bytes:
    given = b"".join(struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one for one in values)
    return framed(
        "B",
        text(portal, name)
        + struct.pack(f"!h{len(formats)}h", len(formats), *formats)
        + struct.pack("!h", len(values))
        + given
        + struct.pack(f"!h{len(results)}h", len(results), *results),
    )


def describe(kind: str = "P", name: str = "") -> bytes:
    return framed("D", kind.encode() + text(name))


def execute(portal: str = "", most: int = 0) -> bytes:
    return framed("E", text(portal) + struct.pack("!i", most))


def startup(**given: str) -> bytes:
    body = struct.pack("!i", VERSION) + text(*(part for pair in given.items() for part in pair)) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


SYNC = framed("S")
FLUSH = framed("H")


class Raw:
    """A socket to the server."""

    def __init__(self, wire: Wire, timeout: float = 20) -> None:
        self.socket = socket.create_connection(("127.0.0.1", wire.port), timeout)
        self.wire = wire

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *data: bytes) -> None:
        self.socket.sendall(b"".join(data))

    def exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            if not (some := self.socket.recv(count - len(found))):
                raise EOFError
            found += some
        return found

    def message(self) -> tuple[str, bytes]:
        head = self.exactly(5)
        return chr(head[0]), self.exactly(struct.unpack("!i", head[1:])[0] - 4)

    def until(self, letter: str = "Z") -> list[tuple[str, bytes]]:
        """All messages up to this one."""
        found = [self.message()]
        while found[-1][0] != letter:
            found.append(self.message())
        return found

    def ask(self, *data: bytes) -> list[tuple[str, bytes]]:
        self.send(*data)
        return self.until()

    def error(self) -> dict[str, str]:
        """The next error, as fields."""
        return fields(self.until("E")[-1][1])

    def log_in(self, account: str = "ann", password: str | None = None, **more: str) -> list[tuple[str, bytes]]:
        """Come in by SCRAM; what the server says then."""
        secret = self.wire.served.tokens[account] if password is None else password
        self.send(startup(user=account, **({"database": "clinic"} | more)))
        assert self.message() == ("R", struct.pack("!i", 10) + b"SCRAM-SHA-256\0\0")
        first = "n=,r=clientnonce"
        self.send(framed("p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first) + 3) + b"n,," + first.encode()))
        kind, body = self.message()
        if kind == "E":
            return [(kind, body)]
        challenge = body[4:].decode()
        said = dict(part.split("=", 1) for part in challenge.split(","))
        salted = hashlib.pbkdf2_hmac("sha256", secret.encode(), base64.b64decode(said["s"]), int(said["i"]))
        key = hmac.digest(salted, b"Client Key", "sha256")
        final = f"c=biws,r={said['r']}"
        signature = hmac.digest(hashlib.sha256(key).digest(), f"{first},{challenge},{final}".encode(), "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
        self.send(framed("p", f"{final},p={proof}".encode()))
        found = [self.message()]
        while found[-1][0] not in "ZE":
            found.append(self.message())
        return found


def fields(body: bytes) -> dict[str, str]:
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


def letters(messages: list[tuple[str, bytes]]) -> str:
    return "".join(letter for letter, _ in messages)


def rows(messages: list[tuple[str, bytes]]) -> list[list[bytes | None]]:
    found: list[list[Any]] = []
    for letter, body in messages:
        if letter == "D":
            at, row = 2, list[Any]()
            for _ in range(struct.unpack("!h", body[:2])[0]):
                length = struct.unpack("!i", body[at : at + 4])[0]
                at += 4 + max(length, 0)
                row.append(None if length < 0 else body[at - length : at])
            found.append(row)
    return found
