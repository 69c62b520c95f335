"""What one client can use up: time, memory, places, disk. Others are answered all the same."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from server.clinic import Served, make_server
from server.postgres_wire.raw import SYNC, Raw, bind, execute, fields, letters, parse, query
from server.postgres_wire.wire import Wire, wait_until, wired

from discreet.query.sql.written_price import price_in_comments
from discreet.server.postgres_wire import connection as connecting
from discreet.server.postgres_wire import listen
from discreet.server.postgres_wire.catalogue import catalogue
from discreet.server.postgres_wire.catalogue.calls import list_of
from discreet.server.postgres_wire.columns import Result, ResultColumn
from discreet.server.postgres_wire.connection import Connection
from discreet.server.postgres_wire.interpreter import Interpreter, Prepared, _copied
from discreet.server.postgres_wire.messages import Bind, Execute, Parse, Query, Simple, Startup
from discreet.server.postgres_wire.statements import Statement, split
from discreet.server.postgres_wire.types import TEXT, TYPES
from discreet.server.postgres_wire.variables import Variables, run_setting

LONG = 40_000


@pytest.fixture
def fresh(served: Served) -> Iterator[Wire]:
    with wired(served) as found:
        yield found


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "work",
    [
        lambda: run_setting(Variables("ann"), f"SET a{' ' * LONG}x"),
        lambda: _copied(split(f"COPY (SELECT 1) TO STDOUT{' ' * LONG}x")[0]),
        lambda: _copied(split(f"COPY (SELECT 1) TO STDOUT ({'BINARY' * LONG}")[0]),
        lambda: list_of('{"' + '\\"' * LONG),
        lambda: list_of('{"' + '\\"' * LONG + "\\"),
        lambda: price_in_comments([f"epsilon=1{' ' * LONG}x=1"]),
    ],
    ids=["SET", "COPY", "options of COPY", "a list", "a list that ends in the middle", "a price"],
)
def test_no_text_takes_for_ever(work: Callable[[], object]) -> None:
    """A pattern that tries all ways to divide blanks holds the whole process: no other thread runs meanwhile."""
    begin = time.process_time()
    with contextlib.suppress(Exception):
        work()
    assert time.process_time() - begin < 1


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Slow:
    """An output that counts what was added and not sent."""

    def __init__(self) -> None:
        self.kept = self.most = 0

    def put(self, data: bytes) -> None:
        self.kept += len(data)
        self.most = max(self.most, self.kept)

    async def flush(self) -> None:
        self.kept = 0


class Wide:
    """An interpreter whose every statement gives rows of fifty thousand characters in all."""

    status, told = "I", dict[str, str]()
    rows = [["x" * 10_000]] * 5

    async def prepare(self, statement: Statement, types: object = ()) -> Prepared:
        return Prepared(statement, "query", columns=(ResultColumn("x", TYPES[TEXT]),))

    async def run(self, prepared: Prepared, values: object = ()) -> Result:
        return Result("SELECT 5", prepared.columns, self.rows)

    def failed(self) -> None:
        """Nothing."""


def handled(*messages: Any) -> Slow:
    out = Slow()
    connection = Connection(cast(Interpreter, Wide()), out, lambda *_: None)

    async def run() -> None:
        for message in messages:
            await connection.handle(message)

    asyncio.run(run())
    return out


def test_what_a_client_does_not_read_is_not_kept() -> None:
    asked = [Parse("", "SELECT 1", ()), *[Bind("", "", (), (), ()), Execute("", 0)] * 50]
    assert handled(*asked, Simple("S")).most < 200_000
    assert handled(Query("SELECT 1;" * 50)).most < 200_000


def test_rows_that_were_sent_are_forgotten_and_few_answers_are_read_in_parts(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_MOST_OPEN", 2)
    two = "SELECT * FROM (VALUES (1), (2)) AS t"
    with Raw(wire) as client:
        client.log_in()
        client.ask(query("BEGIN"))
        parts = [message for name in "abc" for message in (bind(portal=name, name="s"), execute(name, 1))]
        found = client.ask(parse(two, "s"), *parts, SYNC)
        assert letters(found) == "1" + "2Ds" * 2 + "2DEZ"
        assert fields(found[-2][1])["C"] == "54000"


def test_prepared_statements_are_not_kept_without_end(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_MOST_TEXT", 110)
    with Raw(wire) as client:
        client.log_in()
        found = client.ask(*(parse(f"SELECT 1 -- {'x' * 40}", name) for name in "abc"), SYNC)
        assert letters(found) == "11EZ"
        assert fields(found[2][1])["C"] == "54000"


def test_a_socket_that_nobody_reads_is_closed(fresh: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    writers, made = list[asyncio.StreamWriter](), listen._Socket.__init__

    def kept(self: Any, reader: Any, writer: asyncio.StreamWriter, seconds: float) -> None:
        writers.append(writer)
        made(self, reader, writer, seconds)

    monkeypatch.setattr(listen._Socket, "__init__", kept)
    monkeypatch.setattr(listen, "_READING", 0.3)
    with Raw(fresh) as client:
        client.log_in(options=f"-c a={'x' * 900}")
        client.send(query("SHOW ALL;" * 20_000))
        [transport] = [writer.transport for writer in writers]
        wait_until(lambda: transport.is_closing() and not transport.get_write_buffer_size())


# ── requests, places, disk ───────────────────────────────────────────────────────────────────────────────────────────


def test_settings_and_what_was_prepared_earlier_are_requests_too(tmp_path: Path) -> None:
    served = make_server(tmp_path, requests_a_minute=10)
    with wired(served) as wire, Raw(wire) as client:
        client.log_in()
        assert letters(client.ask(parse("SELECT 1", "s"), SYNC)) == "1Z"
        found = [letters(client.ask(bind(name="s"), execute(), SYNC)) for _ in range(15)]
        assert (found[0], found[-1]) == ("2DCZ", "2EZ")
        assert fields(client.ask(query("SHOW TimeZone"))[-2][1])["C"] == "53400"
    served.server.queue.close()
    served.server.datasets.close()
    served.server.database.close()


def test_one_network_does_not_keep_others_out(fresh: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "_MOST_UNKNOWN", 4)
    with Raw(fresh), Raw(fresh), Raw(fresh) as third:
        assert third.error()["C"] == "53300"
        with socket.create_connection(("127.0.0.1", fresh.port), 20, ("127.0.0.2", 0)) as other:
            third.socket.close()
            third.socket = other
            assert letters(third.log_in()).endswith("Z")


def test_failing_statements_do_not_fill_the_disk(fresh: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(type(fresh.served.server.log), "explain", lambda _self, _what, text: told.append(text))
    with psycopg.connect(fresh.uri(), autocommit=True) as client:
        for _ in range(15):
            with pytest.raises(psycopg.Error):
                client.execute(f"SELECT relname + relkind, '{'x' * 9000}' FROM pg_class")
    assert len(told) == 10
    assert max(map(len, told)) < 5000


def test_an_account_waits_for_its_own_statements() -> None:
    """Others wait for one statement of an account, however many it has sent."""
    ran: list[str] = []

    class Process:
        lock = asyncio.Lock()

        async def ask(self, sql: str) -> dict[str, Any]:
            async with self.lock:
                await asyncio.sleep(0.01)
                ran.append(sql)
                return {"columns": [["x", "INTEGER"]], "rows": []}

    process: Any = Process()
    ann, bob = (catalogue.Catalogue(process, "clinic", name, ("visits",), lambda *_: None) for name in ("ann", "bob"))

    async def run() -> None:
        async def one(of: catalogue.Catalogue, text: str) -> None:
            statement = of.read(text)
            assert statement is not None
            await of.run(statement, Variables("x"), ())

        many = [asyncio.create_task(one(ann, "SELECT 1 AS x")) for _ in range(10)]
        while not ran:
            await asyncio.sleep(0.001)
        await one(bob, "SELECT 2 AS x")
        assert len(ran) <= 4
        await asyncio.gather(*many)

    asyncio.run(run())


def test_connections_of_an_account_share_what_was_read(wire: Wire) -> None:
    server = wire.served.server
    catalogues, accounts = catalogue.Catalogues(server), [server.accounts.get(name) for name in ("ann", "ann", "bob")]
    one, two, other = (catalogues.of("clinic", account) for account in accounts if account is not None)
    assert one is two
    assert one is not other


# ── keys to cancel with ──────────────────────────────────────────────────────────────────────────────────────────────


def test_cancel_keys_are_not_guessed(served: Served) -> None:
    listener, cancelled = listen.PostgresListener(served.server), list[int]()

    class Waiting:
        def cancel(self) -> None:
            cancelled.append(1)

    listener._open[7, b"good"] = cast(Any, Waiting())
    listener._cancel(Startup(0, {}, 7, b"good"), "192.0.2.1")
    for number in range(1000):
        listener._cancel(Startup(0, {}, 7, number.to_bytes(4, "big")), "192.0.2.1")
    listener._cancel(Startup(0, {}, 7, b"good"), "192.0.2.1")
    assert len(cancelled) == 1  # who has tried so often is not heard
    listener._cancel(Startup(0, {}, 7, b"good"), "192.0.2.2")
    assert len(cancelled) == 2


def test_numbers_of_connections_do_not_count_those_of_others(wire: Wire) -> None:
    numbers = []
    for account in ("ann", "bob", "ann"):
        with Raw(wire) as client:
            key = dict(client.log_in(account))["K"]
            numbers.append(struct.unpack("!i", key[:4])[0])
            assert len(key) == 8
    assert max(numbers) - min(numbers) > 1000  # but for one case in a hundred million


def test_a_statement_prepared_before_its_token_was_revoked(fresh: Wire) -> None:
    with Raw(fresh) as client:
        client.log_in()
        client.ask(parse("SELECT relname FROM pg_class", "s"), SYNC)
        for token in fresh.served.server.tokens.of("ann"):
            fresh.served.server.tokens.revoke(token.id, "ann")
        client.send(bind(name="s"), execute(), SYNC)
        assert client.error()["C"] == "28000"


def test_a_failed_transaction_asks_nothing(wire: Wire) -> None:
    with Raw(wire) as client:
        client.log_in()
        client.ask(parse("SELECT 1", "s"), SYNC)
        client.ask(query("BEGIN"))
        client.ask(query("nonsense"))
        found = client.ask(bind(name="s"), execute(), SYNC)
        assert letters(found) == "2EZ"
        assert fields(found[1][1])["C"] == "25P02"
