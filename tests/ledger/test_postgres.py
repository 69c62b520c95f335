"""The database: who may write it, what it must promise, what is never told of it, and what happens when it is lost."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from ledger.shelves import Schemas
from ledger.tampering import TERMS, spend_some
from servers import OWNER

from discreet.errors import Error, Invalid, LedgerError
from discreet.ledger import postgres as module
from discreet.ledger import postgres_server
from discreet.ledger.address import split_address
from discreet.ledger.ledger import open_ledger
from discreet.ledger.postgres import PostgresStorage
from discreet.loss.leaves import Pure


def storage_of(ledger: Any) -> PostgresStorage:
    assert isinstance(ledger._storage, PostgresStorage)
    return ledger._storage


# ── nothing is told of where it lies ─────────────────────────────────────────────────────────────────────────────────


def everything_said(error: BaseException, caplog: pytest.LogCaptureFixture) -> str:
    chained = [error.__cause__, error.__context__]
    assert chained == [None, None]
    return "".join(traceback.format_exception_only(error)) + repr(error) + caplog.text


def spend(where: str) -> None:
    open_ledger(where, TERMS).spend(Pure(1), question="q")


def addresses(uri: str) -> Iterator[str]:
    parts = urlsplit(uri)
    user, password, port = parts.username, parts.password, parts.port
    yield f"postgresql://{user}:wrong{password}@127.0.0.1:{port}/postgres"
    yield f"postgresql://wrong{user}:{password}@127.0.0.1:{port}/postgres"
    yield f"postgresql://{user}:{password}@127.0.0.1:{port}/wrong"
    yield f"postgresql://{user}:{password}@127.0.0.1:1/postgres"
    yield f"postgresql://{user}:{password}@wrong.invalid:{port}/postgres"
    yield f"postgresql://{user}:{password}@127.0.0.1:{port}/postgres?wrong=option"
    yield f"postgresql://{user}:{password}@127.0.0.1:{port}0000/postgres"
    yield f"postgresql://{user}:{password}@[127.0.0.1:{port}/postgres"
    yield f"postgresql://{user}:{password}@127.0.0.1:{port}/postgres?ledger=Wrong-Name"


@pytest.mark.parametrize("number", range(9))
def test_no_error_and_no_log_line_names_the_database(postgres: str, number: int, caplog: pytest.LogCaptureFixture) -> None:
    address, parts = list(addresses(postgres))[number], urlsplit(postgres)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Error) as raised:
        spend(address)
    said = everything_said(raised.value, caplog)
    for secret in (parts.password, OWNER, str(parts.port), "127.0.0.1", "wrong.invalid", "wrong"):
        assert str(secret) not in said
    assert isinstance(raised.value, Invalid if "Wrong" in address else LedgerError)


def test_no_error_of_a_running_ledger_names_the_database_either(schemas: Schemas, caplog: pytest.LogCaptureFixture) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    caplog.set_level(logging.DEBUG)
    with schemas.hand("a") as hand:
        hand.execute(f"DROP SCHEMA {schemas.schema('a')} CASCADE")
    work: list[Callable[[], object]] = [lambda: ledger.spend(Pure(1), question="q"), ledger.verify, lambda: ledger.find("q")]
    for one in work:
        with pytest.raises(LedgerError) as raised:
            one()
        said = everything_said(raised.value, caplog)
        assert not any(secret in said for secret in (OWNER, "127.0.0.1", schemas.schema("a"), "relation"))


def test_nothing_that_is_printed_names_the_database(schemas: Schemas) -> None:
    ledger = open_ledger(schemas.at("a"), TERMS)
    ledger.store(ledger.spend(Pure(1), question="q"), {"n": 1})
    shown = (
        repr(ledger) + repr(ledger._storage) + repr(ledger.entries()) + repr(ledger.verify()) + "".join(e.text for e in ledger.entries())
    )
    assert not any(secret in shown for secret in (str(urlsplit(schemas.uri).password), OWNER, "127.0.0.1"))


def test_the_driver_is_loaded_for_a_database_only() -> None:
    script = "import sys, discreet, discreet.ledger.ledger; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_without_the_driver_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Invalid, match=r"discreet\[postgres\]"):
        open_ledger("postgresql://host/database", TERMS)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ledgers_of_one_database_are_strangers(schemas: Schemas) -> None:
    spend_some(schemas.at("a"))
    assert open_ledger(schemas.at("b"), TERMS).spent.epsilon == 0
    assert open_ledger(schemas.at("a"), TERMS).spent.epsilon == 4


# ── what the server must promise ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("setting", [("fsync", "off"), ("full_page_writes", "off"), ("data_sync_retry", "on")])
def test_a_server_that_may_lose_a_commit_is_refused(schemas: Schemas, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str]) -> None:
    monkeypatch.setitem(postgres_server.DURABLE, *setting)  # as if this server's setting were the bad one
    with pytest.raises(LedgerError, match=f"has {setting[0]} = .*a debit could be lost"):
        open_ledger(schemas.at("a"), TERMS)


def test_an_untested_version_is_refused(schemas: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_server, "TESTED", range(3, 5))
    with pytest.raises(LedgerError, match="must be PostgreSQL 3 to 4"):
        open_ledger(schemas.at("a"), TERMS)


@pytest.mark.parametrize(("given", "used"), [("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")])
def test_commits_are_durable_whatever_a_role_s_settings_are(schemas: Schemas, given: str, used: str) -> None:
    options = f"-csynchronous_commit={given} -cdefault_transaction_read_only=on -cdefault_transaction_isolation=serializable"
    ledger = open_ledger(f"{schemas.at('a')}&options={options.replace(' ', '%20').replace('=', '%3D')}", TERMS)
    storage = storage_of(ledger)
    with storage.writing():
        asked = "SELECT " + ", ".join(
            f"current_setting('{name}')" for name in ("synchronous_commit", "transaction_isolation", "search_path")
        )
        assert storage._rows(asked) == [(used, "read committed", "pg_catalog, pg_temp")]
    assert ledger.spend(Pure(1), question="q").sequence == 1


# ── who may do what ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def as_role(schemas: Schemas) -> Iterator[Callable[..., str]]:
    """Make a role with some rights and give the address under which it connects."""
    made: list[str] = []

    def make(name: str, *rights: str) -> str:
        with psycopg.connect(schemas.uri, autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {schemas.prefix}_{name} LOGIN PASSWORD 'secret'")  # type: ignore[arg-type]
            made.append(f"{schemas.prefix}_{name}")
            for right in rights:
                admin.execute(f"GRANT {right} TO {made[-1]}")  # type: ignore[arg-type]
        parts = urlsplit(schemas.at("a"))
        return parts._replace(netloc=f"{made[-1]}:secret@127.0.0.1:{parts.port}").geturl()

    yield make
    with psycopg.connect(schemas.uri, autocommit=True) as admin:
        for name in made:
            admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")  # type: ignore[arg-type]


def test_a_role_that_does_not_own_the_tables_spends_and_cannot_tamper(schemas: Schemas, as_role: Callable[..., str]) -> None:
    spend_some(schemas.at("a"), count=1)
    schema = schemas.schema("a")
    rights = (f"USAGE ON SCHEMA {schema}", f"SELECT, INSERT ON {schema}.entries", f"SELECT, INSERT, UPDATE ON {schema}.state")
    address = as_role("spender", *rights, f"SELECT, UPDATE ON {schema}.about", f"SELECT, INSERT, UPDATE, DELETE ON {schema}.leases")
    ledger = open_ledger(address, TERMS)
    ledger.store(ledger.spend(Pure(1), question="q"), {"n": 1})
    assert ledger.verify().spends == 2
    with psycopg.connect(split_address(address)[0], autocommit=True) as connection:
        for statement in (
            f"DELETE FROM {schema}.entries",
            f"TRUNCATE {schema}.entries",
            f"UPDATE {schema}.entries SET at = at",
            f"ALTER TABLE {schema}.entries DISABLE TRIGGER USER",
            f"UPDATE {schema}.state SET filter = ''",
            f"UPDATE {schema}.about SET version = 3",
            f"DROP SCHEMA {schema} CASCADE",
            "SET session_replication_role = replica",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(statement)  # type: ignore[call-overload]


def test_a_role_that_only_reads_verifies_and_does_not_spend(schemas: Schemas, as_role: Callable[..., str]) -> None:
    spend_some(schemas.at("a"), count=1)
    schema = schemas.schema("a")
    ledger = open_ledger(as_role("reader", f"USAGE ON SCHEMA {schema}", f"SELECT ON ALL TABLES IN SCHEMA {schema}"), TERMS)
    assert ledger.verify().spends == 1
    with pytest.raises(LedgerError, match="cannot be used by this role"):
        ledger.spend(Pure(1), question="q")


def test_a_role_without_rights_is_told_so(schemas: Schemas, as_role: Callable[..., str]) -> None:
    address = as_role("stranger")
    with pytest.raises(LedgerError, match="cannot be used by this role"):
        open_ledger(address, TERMS)  # may not make a schema
    spend_some(schemas.at("a"), count=1)
    with pytest.raises(LedgerError, match="cannot be used by this role"):
        open_ledger(address, TERMS)


def test_a_schema_made_for_the_ledger_is_used(schemas: Schemas, as_role: Callable[..., str]) -> None:
    address = as_role("owner")
    with psycopg.connect(schemas.uri, autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {schemas.schema('a')} AUTHORIZATION {schemas.prefix}_owner")  # type: ignore[arg-type]
    assert open_ledger(address, TERMS).spend(Pure(1), question="q").sequence == 1


def test_other_tables_are_left_alone(schemas: Schemas) -> None:
    with psycopg.connect(schemas.uri, autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {schemas.schema('a')}; CREATE TABLE {schemas.schema('a')}.patients (a integer)")  # type: ignore[arg-type]
    for terms in (TERMS, None):
        with pytest.raises(LedgerError, match="not a ledger of discreet; they were not changed"):
            open_ledger(schemas.at("a"), terms)


def test_many_entries_are_read_in_pieces(schemas: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 20)
    ledger = open_ledger(schemas.at("a"), type(TERMS)(10**6, 0, "id"))
    for i in range(43):
        ledger.spend(Pure(1), question=f"{i}")
    again = open_ledger(schemas.at("a"))
    assert [entry.sequence for entry in again.entries()] == list(range(44))
    assert again.spent.epsilon == 43


def test_rows_are_touched_inside_a_block_only(schemas: Schemas) -> None:
    with pytest.raises(LedgerError, match="Open it again"):
        schemas.storage("a").state()
