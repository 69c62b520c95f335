"""The session: where it leads, under which settings, what happens when it is cut or the process forks, and what it never says."""

from __future__ import annotations

import datetime
import gc
import os
import traceback
from urllib.parse import urlsplit

import psycopg
import pytest
from engines.postgres.asked import Run, answer

from discreet.engines.engine import FAILED, REOPEN
from discreet.engines.postgres import server
from discreet.engines.postgres.engine import Postgres, tables_of
from discreet.errors import EngineError

DAY = datetime.date(2024, 2, 29)


def test_addresses_that_lead_nowhere(clinic: str) -> None:
    parts = urlsplit(clinic)
    place = f"{parts.hostname}:{parts.port}"
    wrong = [
        clinic.replace(str(parts.password), "tender-s3cret-wrong"),
        clinic.replace(str(parts.username), "reader-nobody"),
        clinic.replace(place, "127.0.0.1:1"),
        clinic.replace(place, "reader-host.invalid"),
        clinic.replace("/postgres?", "/reader-base?"),
        f"postgresql://reader:tender@{place}/postgres?nonsense=tender",
        f"postgresql://reader:tender@{place}/postgres?connect_timeout=tender",
        f"postgresql://reader:tender%ZZ@{place}/postgres",
        f"postgresql://reader:ten\x00der@{place}/postgres",
        "postgresql://[tender",
    ]
    for address in wrong:
        for opened in (lambda address=address: Postgres.open({"visits": address}), lambda address=address: tables_of(address)):
            with pytest.raises(EngineError) as caught:
                opened()
            assert str(caught.value) == server.UNREACHED
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
            said = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
            for secret in (str(parts.password), "s3cret-wrong", f"{parts.port}", "ZZ@", "FATAL", "failed:"):
                assert secret not in said


def test_the_address_is_shown_nowhere(clinic: str) -> None:
    parts = urlsplit(clinic)
    with Postgres.open({"visits": clinic}) as engine:
        shown = repr(engine) + str(engine) + repr(vars(engine)) + repr(vars(engine).values()) + repr(engine._server) + repr(engine.dialect)
        for secret in (str(parts.password), str(parts.username), str(parts.hostname), str(parts.port)):
            assert secret not in shown


def test_versions_that_were_not_tried(clinic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_TESTED", (97, 98))
    with pytest.raises(
        EngineError, match=r"^engine version outside the tested range: PostgreSQL \d+\.\d+; use a server of version 97 to 98$"
    ):
        Postgres.open({"visits": clinic})


def test_databases_in_other_encodings(owner: psycopg.Connection, postgres: str) -> None:
    owner.execute("DROP DATABASE IF EXISTS latin")
    owner.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(EngineError, match="UTF8"):
        Postgres.open({"t": postgres.replace("/postgres", "/latin")})
    owner.execute("DROP DATABASE latin WITH (FORCE)")


@pytest.fixture
def named(clinic: str) -> str:
    """The address, with a name by which its sessions are found."""
    return f"{clinic}&application_name=discreet%20here"


def sessions(owner: psycopg.Connection) -> list[int]:
    found = owner.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet here'").fetchall()
    return [pid for (pid,) in found]


def test_a_line_that_is_cut(owner: psycopg.Connection, named: str) -> None:
    with Postgres.open({"visits": named}) as engine:
        for _ in range(2):
            for pid in sessions(owner):
                owner.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
            assert answer(engine, "SELECT COUNT(*) AS n FROM visits") == [(9,)]  # opened again
        many = "SELECT a.id FROM generate_series(1, 3000000) AS a(id)"
        running = engine.stream(many)
        next(running)
        for pid in sessions(owner):
            owner.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises(EngineError) as caught:
            list(running)
        assert str(caught.value) == FAILED
        assert caught.value.__context__ is None
        assert answer(engine, "SELECT COUNT(*) AS n FROM visits") == [(9,)]


def test_nothing_stays_behind(owner: psycopg.Connection, named: str) -> None:
    before = set(sessions(owner))
    engine = Postgres.open({"visits": named})
    running = engine.stream("SELECT a.id FROM generate_series(1, 1000000) AS a(id)")
    next(running)
    running.close()  # type: ignore[attr-defined]
    [session] = set(sessions(owner)) - before
    [state] = owner.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [session]).fetchall()
    assert state == ("idle",)
    engine.close()
    engine.close()
    owner.execute("SELECT pg_sleep(0.2)")
    assert set(sessions(owner)) <= before


def test_a_forked_child_leaves_it_alone(clinic: str) -> None:
    engine = Postgres.open({"visits": clinic})
    session = answer(engine, "SELECT pg_backend_pid() AS v")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            engine.run("SELECT COUNT(*) AS n FROM visits")
        except EngineError as error:
            code = 0 if str(error) == REOPEN else 2
        engine.close()
        del engine
        gc.collect()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert answer(engine, "SELECT pg_backend_pid() AS v") == session
    engine.close()


def test_settings_are_ours(run: Run, clinic: str) -> None:
    odd = {"TimeZone": "Asia/Kathmandu", "DateStyle": "German", "extra_float_digits": "-5", "standard_conforming_strings": "off"}
    for name, value in odd.items():
        run(f"ALTER ROLE CURRENT_USER SET {name} = '{value}'")
    with Postgres.open({"visits": clinic}) as engine:
        assert answer(engine, "SELECT " + engine.dialect.text("a\\b") + " AS v") == [("a\\b",)]
        assert answer(engine, f"SELECT {engine.dialect.shown(engine.dialect.literal(DAY))} AS v") == [("2024-02-29",)]
        assert answer(engine, "SELECT CAST(CAST(0.1 AS DOUBLE PRECISION) AS TEXT) AS v, current_setting('TimeZone') AS z") == [
            ("0.1", "UTC")
        ]
    for name in odd:
        run(f"ALTER ROLE CURRENT_USER RESET {name}")
