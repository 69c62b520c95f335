"""A server that stops in mid-spend: every answer that somebody saw has its debit in what is recovered."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from ledger.racing import FORK, answer, answered_without_a_debit
from ledger.shelves import Schemas
from servers import NoServer, Server, postgres_server

from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

TERMS = Terms(10**6, 0, "id")
CLIENTS = 3


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of our own, for we stop it."""
    try:
        running = postgres_server()
        server = running.__enter__()
    except NoServer as reason:
        pytest.skip(str(reason))
    yield server
    running.__exit__(None, None, None)


def keep_asking(where: str, witness: Path, log: Path, number: int, pay_first: bool) -> None:
    """A client that goes on until the server is gone; it says what it saw, and what it was told last."""
    told = log.with_suffix(f".{number}")
    try:
        ledger = open_ledger(where, TERMS, witness)
        for i in range(10**6):
            question = f"{os.getpid()}.{i}"
            if not pay_first:
                answer(log, question)
            paid = ledger.spend(Pure(1), question=question, key=question)
            kept = ledger.store(paid, {"noise": number}).body["release"]
            if pay_first:
                answer(log, question)
            answer(told, f"{question} {kept['noise']}")
    except LedgerError as error:
        answer(log.with_suffix(".errors"), str(error))


def stop_in_the_middle(server: Server, shelf: Schemas, coins: random.Random, pay_first: bool = True) -> None:
    """Let some clients ask, crash the server, and start it again."""
    log = shelf.folder / "log"
    before = _size(log)
    arguments = [(shelf.at("a"), shelf.folder / "w", log, number, pay_first) for number in range(CLIENTS)]
    clients = [FORK.Process(target=keep_asking, args=given, daemon=True) for given in arguments]
    for client in clients:
        client.start()
    began = time.monotonic()
    while _size(log) == before and time.monotonic() - began < 30:
        time.sleep(0.005)
    time.sleep(coins.uniform(0, 0.15))
    server.stop("immediate")
    for client in clients:
        client.join(30)
        assert client.exitcode == 0
    server.start()


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def check_crashes(server: Server, place: Path, times: int) -> None:
    shelf, coins = Schemas(place, server.uri), random.Random(times)
    open_ledger(shelf.at("a"), TERMS, place / "w").close()
    for _ in range(times):
        stop_in_the_middle(server, shelf, coins)
    log = place / "log"
    assert answered_without_a_debit(shelf.at("a"), log, TERMS, place / "w") == set()
    seen = log.read_text().splitlines()
    assert len(seen) >= times  # the clients did come to something
    ledger = open_ledger(shelf.at("a"), TERMS, place / "w")
    for told in place.glob("log.[0-9]"):
        for line in told.read_text().splitlines():
            question, noise = line.split()
            assert ledger.find(question) == {"noise": int(noise)}
    errors = (place / "log.errors").read_text().splitlines()
    assert len(errors) == CLIENTS * times  # nobody died of anything else
    assert all("cannot be reached" in error or "may or may not be durable" in error for error in errors)
    assert not any(secret in error for error in errors for secret in (server.password, "127.0.0.1", str(server.port), "owner_of"))


def test_no_answer_without_a_debit_when_the_server_crashes(server: Server, place: Path) -> None:
    check_crashes(server, place, 4)


@pytest.mark.slow
def test_no_answer_without_a_debit_when_the_server_crashes_often(server: Server, place: Path) -> None:
    check_crashes(server, place, 60)


def test_answering_first_is_caught_by_the_same_crashes(server: Server, place: Path) -> None:
    shelf, coins = Schemas(place, server.uri), random.Random(2)
    open_ledger(shelf.at("a"), TERMS, place / "w").close()
    for _ in range(30):
        stop_in_the_middle(server, shelf, coins, pay_first=False)
        if answered_without_a_debit(shelf.at("a"), place / "log", TERMS, place / "w"):
            return
    pytest.fail("answers before their debits went unnoticed")


def test_a_ledger_goes_on_after_the_server_came_back(server: Server, place: Path) -> None:
    ledger = open_ledger(Schemas(place, server.uri).at("a"), TERMS)
    ledger.spend(Pure(1), question="before")
    server.stop("fast")
    with pytest.raises(LedgerError, match=r"cannot be reached.*Nothing was spent"):
        ledger.spend(Pure(1), question="meanwhile")
    with pytest.raises(LedgerError, match="cannot be reached"):
        ledger.find("before")
    server.start()
    ledger.spend(Pure(1), question="after")
    assert ledger.verify().spends == 2


def test_a_database_put_back_to_an_older_backup_is_seen_with_a_witness_only(server: Server, place: Path) -> None:
    shelf = Schemas(place, server.uri)
    for name, witness in (("a", place / "w"), ("b", None)):
        open_ledger(shelf.at(name), TERMS, witness).spend(Pure(1), question="q")
    server.stop("fast")
    data, backup = server.folder / "data", server.folder / "backup"
    shutil.copytree(data, backup, copy_function=shutil.copy2)
    server.start()
    for name, witness in (("a", place / "w"), ("b", None)):
        open_ledger(shelf.at(name), TERMS, witness).spend(Pure(1), question="r")
    server.stop("fast")
    for path in backup.rglob("*"):
        if path.is_file():
            (data / path.relative_to(backup)).write_bytes(path.read_bytes())  # in place, so that it stays its owner's
    shutil.rmtree(backup)
    server.start()
    with pytest.raises(LedgerError, match="older copy"):
        open_ledger(shelf.at("a"), TERMS, place / "w")
    assert open_ledger(shelf.at("b"), TERMS).spent.epsilon == 1  # what nobody witnessed is forgotten


def test_a_writer_that_fell_asleep_does_not_keep_the_others_out(server: Server, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.ledger.postgres_schema.IDLE", 0.5)
    shelf = Schemas(place, server.uri)
    ledger = open_ledger(shelf.at("a"), TERMS)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with ledger._storage.writing():
                os.write(writer, b"!")
                time.sleep(60)  # is stopped here, and never wakes
        finally:
            os._exit(0)
    os.close(writer)
    assert os.read(reader, 1) == b"!"
    os.close(reader)
    os.kill(child, signal.SIGSTOP)
    began = time.monotonic()
    try:
        ledger.spend(Pure(1), question="q")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert time.monotonic() - began < 20  # the others' patience is 30
    assert ledger.verify().spends == 1


def test_a_standby_is_refused(server: Server, place: Path) -> None:
    shelf = Schemas(place, server.uri)
    open_ledger(shelf.at("a"), TERMS).close()
    server.stop("fast")
    signal_file = server.folder / "data" / "standby.signal"
    signal_file.touch()
    server.start()
    try:
        with pytest.raises(LedgerError, match="standby, which is read-only: give the address of the primary"):
            open_ledger(shelf.at("a"), TERMS)
    finally:
        server.stop("fast")
        signal_file.unlink()
        server.start()
    assert open_ledger(shelf.at("a"), TERMS).spend(Pure(1), question="q").sequence == 1


def test_a_commit_that_its_standby_did_not_confirm_counts_as_spent(server: Server, place: Path) -> None:
    """PostgreSQL says COMMIT, with a warning, when it gave up waiting; nobody may answer on the strength of that."""
    shelf = Schemas(place, server.uri)
    open_ledger(shelf.at("a"), TERMS).close()
    ledger = Ledger(shelf.storage("a", patience=0.2), TERMS)
    with psycopg.connect(server.uri, autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        admin.execute("SELECT pg_reload_conf()")
        time.sleep(0.3)
        try:
            with pytest.raises(LedgerError, match="counts as spent"):
                ledger.spend(Pure(1), question="q", key="k")
        finally:
            admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
            admin.execute("SELECT pg_reload_conf()")
            time.sleep(0.3)
    assert ledger.spent.epsilon == 1
    assert ledger.claim(Pure(1), question="q", key="k")[1] is False  # paid already
    assert ledger.spent.epsilon == 1
