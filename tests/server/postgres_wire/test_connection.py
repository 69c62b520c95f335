"""The states of a connection, message by message: the simple and the extended protocol, errors until Sync, portals."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from server.clinic import COUNT
from server.postgres_wire import raw
from server.postgres_wire.raw import FLUSH, SYNC, Raw, bind, describe, execute, fields, framed, letters, parse, query, rows
from server.postgres_wire.wire import Wire

TABLES = "SELECT table_name FROM information_schema.tables"


@pytest.fixture
def client(wire: Wire) -> Iterator[Raw]:
    with Raw(wire) as found:
        found.log_in()
        yield found


def test_a_simple_query(client: Raw) -> None:
    found = client.ask(query(TABLES))
    assert letters(found) == "TDCZ"
    assert rows(found) == [[b"visits"]]
    assert found[-2:] == [("C", b"SELECT 1\0"), ("Z", b"I")]


def test_several_statements_and_an_error_among_them(client: Raw) -> None:
    assert letters(client.ask(query(f"{TABLES}; SET x = 1; {TABLES}"))) == "TDCCTDCZ"
    assert letters(client.ask(query(f"{TABLES}; DROP TABLE visits; {TABLES}"))) == "TDCEZ"  # the rest is not carried out
    assert letters(client.ask(query(""))) == "IZ"


def test_the_extended_protocol(client: Raw) -> None:
    found = client.ask(parse(f"{TABLES} WHERE table_name = $1"), describe("S"), bind(b"visits"), describe(), execute(), SYNC)
    assert letters(found) == "1tT2TDCZ"
    assert found[1][1] == struct.pack("!hI", 1, 25)


def test_named_statements_live_until_they_are_closed(client: Raw) -> None:
    assert letters(client.ask(parse(TABLES, "a"), SYNC)) == "1Z"
    assert letters(client.ask(bind(name="a"), execute(), SYNC)) == "2DCZ"
    assert letters(client.ask(bind(name="a"), execute(), SYNC)) == "2DCZ"
    assert fields(client.ask(parse(TABLES, "a"), SYNC)[0][1])["C"] == "42P05"
    assert letters(client.ask(framed("C", b"Sa\0"), SYNC)) == "3Z"
    assert fields(client.ask(bind(name="a"), SYNC)[0][1])["C"] == "26000"


def test_after_an_error_everything_is_skipped_until_sync(client: Raw) -> None:
    found = client.ask(bind(name="nothing"), describe(), execute(), parse(TABLES), query(TABLES), FLUSH, SYNC)
    assert letters(found) == "EZ"
    assert letters(client.ask(query(TABLES))) == "TDCZ"


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        ([describe("S", "x")], "26000"),
        ([describe("P", "x")], "34000"),
        ([execute("x")], "34000"),
        ([parse(TABLES), bind(b"1")], "08P01"),
        ([parse(f"{TABLES} WHERE table_name = $1"), bind(b"1", formats=(1, 1, 1))], "08P01"),
        ([parse(f"{TABLES}; {TABLES}")], "42601"),
        ([parse("SELECT COUNT(*) FROM visits WHERE cost > $1", types=(701,)), bind(b"x")], "22023"),
        ([framed("F", b"")], "0A000"),
    ],
)
def test_errors_of_the_extended_protocol(client: Raw, sent: list[bytes], state: str) -> None:
    found = client.ask(*sent, SYNC)
    assert [fields(body)["C"] for letter, body in found if letter == "E"] == [state]
    assert letters(client.ask(query(TABLES))) == "TDCZ"


def test_a_portal_is_read_in_parts(client: Raw) -> None:
    columns = "SELECT column_name FROM information_schema.columns ORDER BY 1"
    found = client.ask(query("BEGIN"), parse(columns), bind(), execute(most=2), execute(most=2), execute(most=2), SYNC)
    assert letters(found) == "CZ"
    found = client.until()
    assert letters(found) == "12DDsDCCZ"
    assert [row[0] for row in rows(found)] == [b"cost", b"dept", b"person"]
    client.ask(query("COMMIT"))


def test_portals_end_with_the_transaction(client: Raw) -> None:
    client.ask(parse(TABLES), bind(portal="p"), SYNC)
    assert fields(client.ask(execute("p"), SYNC)[0][1])["C"] == "34000"
    client.ask(query("BEGIN"))
    client.ask(parse(TABLES), bind(portal="p"), SYNC)
    assert letters(client.ask(execute("p"), SYNC)) == "DCZ"


def test_results_in_binary(client: Raw) -> None:
    found = client.ask(parse("SELECT 7, 'x', true"), bind(results=(1, 0, 1)), describe(), execute(), SYNC)
    assert rows(found) == [[struct.pack("!i", 7), b"x", b"\1"]]
    assert letters(client.ask(parse("SELECT 7, 8"), bind(results=(1, 0, 1)), SYNC)) == "1EZ"


def test_transactions_are_what_clients_expect(client: Raw) -> None:
    def status(sql: str) -> str:
        return client.ask(query(sql))[-1][1].decode()

    assert [status(sql) for sql in ("BEGIN", "SELECT 1", "nonsense", "SELECT 1", "ROLLBACK")] == ["T", "T", "E", "E", "I"]
    assert fields(client.ask(query("BEGIN; nonsense"))[1][1])["C"] == "0A000"
    assert fields(client.ask(query("SELECT 1"))[0][1])["C"] == "25P02"
    found = client.ask(query("COMMIT"))
    assert found[0] == ("C", b"ROLLBACK\0")
    assert [status(sql) for sql in ("START TRANSACTION", "SAVEPOINT a", "x", "ROLLBACK TO SAVEPOINT a", "RELEASE a", "COMMIT")] == list(
        "TTETTI"
    )


def test_settings_that_change_are_told(client: Raw) -> None:
    found = client.ask(query("SET application_name = 'tests'"))
    assert letters(found) == "CSZ"
    assert found[1][1] == b"application_name\0tests\0"


def test_describing_touches_neither_data_nor_budget(client: Raw) -> None:
    spent = client.wire.spent
    client.ask(query("SET discreet.mode = 'ask'; SET discreet.epsilon = 0.1"))
    found = client.ask(parse(COUNT), describe("S"), bind(), describe("P"), SYNC)
    assert letters(found) == "1tT2TZ"
    assert client.wire.spent == spent


def test_too_many_statements(client: Raw) -> None:
    client.send(*(parse("SELECT 1", f"s{number}") for number in range(3)), *(bind(portal=f"p{n}", name="s0") for n in range(1000)), SYNC)
    assert letters(client.until()).endswith("2Z")
    client.send(query("BEGIN"), *(bind(portal=f"p{n}", name="s0") for n in range(1001)), SYNC)
    client.until()
    found = client.until()
    assert fields(next(body for letter, body in found if letter == "E"))["C"] == "54000"


def test_copy_in_binary(client: Raw) -> None:
    found = client.ask(query(f"COPY ({TABLES}) TO STDOUT (FORMAT binary)"))
    assert letters(found) == "HdddcCZ".replace("ddd", "dd")
    data = b"".join(body for letter, body in found if letter == "d")
    assert data == b"PGCOPY\n\xff\r\n\0" + bytes(8) + struct.pack("!hi", 1, 6) + b"visits" + struct.pack("!h", -1)
    assert fields(client.ask(query("COPY visits TO STDOUT"))[0][1])["C"] == "0A000"
    assert fields(client.ask(query("COPY (SELECT 1) TO '/tmp/x' (FORMAT binary)"))[0][1])["C"] == "0A000"
    assert fields(client.ask(query("COPY visits FROM STDIN"))[0][1])["C"] == "0A000"


def test_an_unknown_message_ends_the_connection(client: Raw) -> None:
    client.send(framed("?", b""))
    assert client.error()["C"] == "08P01"
    with pytest.raises(EOFError):
        client.message()


def test_goodbye(client: Raw) -> None:
    client.send(framed("X"))
    with pytest.raises(EOFError):
        client.message()


def test_an_unexpected_error_tells_nothing(client: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a row of ann's")

    monkeypatch.setattr("discreet.server.postgres_wire.interpreter.run_setting", broken)
    found = client.ask(query("SET x = 1"))
    assert fields(found[0][1])["M"] == "something unexpected failed on the server; its owner can look up the reason"
    assert b"ann" not in raw.framed("E", found[0][1])
