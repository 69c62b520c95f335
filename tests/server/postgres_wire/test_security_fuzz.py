"""The wire protocol fuzzed: bad lengths, split packets, wrong states. Whatever comes, the server answers in messages or hangs up."""

from __future__ import annotations

import asyncio
import random
import struct
from typing import Any

import pytest
from server.clinic import COUNT, Served
from server.postgres_wire.raw import FLUSH, SYNC, bind, describe, execute, framed, parse, query, startup

from discreet.server.access import Caller
from discreet.server.postgres_wire import listen
from discreet.server.postgres_wire.login import Admitted
from discreet.server.postgres_wire.messages import CANCEL, GSS, TLS

FIRST = [
    startup(user="ann", database="clinic"),
    startup(user="ann", database="clinic", options="-c discreet.epsilon=0.1"),
    startup(user="", database=""),
    struct.pack("!ii", 8, TLS),
    struct.pack("!ii", 8, GSS),
    struct.pack("!iiii", 16, CANCEL, 1, 2),
]
LATER = [
    query("SELECT 1"), query(COUNT), query("SET discreet.epsilon = 0.1"), query("BEGIN"), query("ROLLBACK"), query(""), query("nonsense"),
    query("SELECT * FROM visits LIMIT 0"), query("EXPLAIN " + COUNT), query("SHOW ALL"), query("COPY (SELECT 1) TO STDOUT (FORMAT binary)"),
    parse("SELECT 1"), parse("SELECT $1::int4", "s"), parse(COUNT), parse("SELECT COUNT(*) FROM visits WHERE cost > $1", types=(701,)),
    bind(), bind(b"1", name="s"), bind(b"\0\0\0\1", name="s", formats=(1,), results=(1,)), bind(portal="p"), describe("S"),
    describe("S", "s"), describe("P"), execute(), execute(most=1), execute("p", -5), framed("C", b"Ss\0"), framed("C", b"P\0"), SYNC, SYNC,
    SYNC, FLUSH, framed("p", b"SCRAM-SHA-256\0\0\0\0\x0cn,,n=,r=abcd"), framed("p", b"c=biws,r=x,p=AAAA"), framed("d", b"data"),
    framed("c"),
    framed("f", b"x\0"), framed("F", b"\0"), framed("X"), parse("SET x = 1") + describe("S") + bind() + execute() + SYNC,
    parse("SELECT $1::int4", "s") + describe("S", "s") + bind(b"1", name="s") + describe() + execute() + SYNC,
]  # fmt: skip


class Writer:
    """What the server writes to."""

    def __init__(self) -> None:
        self.sent = bytearray()

    def get_extra_info(self, _: str) -> tuple[str, int]:
        return ("127.0.0.1", 1)

    def write(self, data: bytes) -> None:
        self.sent += data

    async def drain(self) -> None:
        await asyncio.sleep(0)

    async def start_tls(self, *_: Any, **__: Any) -> None:
        raise OSError

    def close(self) -> None: ...


def mutated(data: bytes, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice((0, 0, 0, 0, 1, 3))):
        match chance.randrange(6):
            case 0 if found:
                found[chance.randrange(len(found))] = chance.randrange(256)
            case 1 if len(found) > 5:
                found[1:5] = struct.pack("!i", chance.choice((-1, 0, 3, 4, 5, len(found), 9999, 2_000_000, 2**31 - 1)))
            case 2:
                del found[chance.randrange(len(found) + 1) :]
            case 3:
                found += chance.randbytes(chance.randrange(20))
            case 4 if found:
                at = chance.randrange(len(found))
                del found[at : at + chance.randrange(4)]
            case 5:
                found = bytearray(framed(chr(chance.randrange(256)), bytes(found[5:])))
    return bytes(found)


def well_formed(sent: bytes) -> str:
    """The letters of what the server said; ValueError if it is not made of messages."""
    found = ""
    while sent:
        if sent[:1] == b"N" and (len(sent) == 1 or sent[1:2] in b"NSRE"):  # no encryption
            sent = sent[1:]
            continue
        length = struct.unpack("!i", sent[1:5])[0]
        if length < 4 or len(sent) < length + 1:
            raise ValueError
        found += chr(sent[0])
        sent = sent[length + 1 :]
    return found


async def fuzz(served: Served, cases: int, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    server, seen, crashes = served.server, set[str](), list[object]()
    monkeypatch.setattr(server.log, "crashed", lambda route, error: crashes.append(error))
    token = server.tokens.of("ann")[0]
    account = server.accounts.get("ann")
    assert account is not None
    admitted, real = Admitted(Caller(account, token), "clinic"), listen.log_in

    async def let_in(*_: object) -> Admitted:
        return admitted

    listener, chance = listen.PostgresListener(server), random.Random(1)
    for case in range(cases):
        inside = case % 4 != 0
        monkeypatch.setattr(listen, "log_in", let_in if inside else real)
        messages = [FIRST[0]] if inside else [mutated(chance.choice(FIRST), chance)]
        messages += [mutated(chance.choice(LATER), chance) for _ in range(chance.randrange(12))]
        data, reader, writer = b"".join(messages), listen._Reader(), Writer()
        serving = asyncio.ensure_future(listener._accept(reader, writer))  # type: ignore[arg-type]
        while data and not serving.done():
            size = chance.choice((1, 7, 4096))
            reader.feed_data(data[:size])
            data = data[size:]
            await asyncio.sleep(0)
        reader.feed_eof()
        async with asyncio.timeout(20):
            await serving
        seen |= set(well_formed(bytes(writer.sent)))
        assert crashes == [], f"case {case}"
    await listener.close()
    assert not listener._open
    assert not listener._tasks
    assert not +listener._of
    return seen


def run(served: Served, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    object.__setattr__(served.server.settings, "body_seconds", 5.0)
    monkeypatch.setattr(served.server.request_limit, "take", lambda _: 0.0)
    monkeypatch.setattr(served.server.login_limit, "wait", lambda _: 0.0)
    monkeypatch.setattr(served.server.address_limit, "wait", lambda _: 0.0)
    ledger = next(iter(served.server.datasets)).ledger
    length = ledger.length
    seen = asyncio.run(fuzz(served, cases, monkeypatch))
    assert set("RSKZTDCE123tnI") <= seen, "the cases come as far as they should"
    assert ledger.length == length


def test_some_thousand_cases(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    run(served, 4000, monkeypatch)


@pytest.mark.slow
def test_many_cases(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    run(served, 100_000, monkeypatch)
