"""Tables by name and place, those that a role may read, and no other."""

from __future__ import annotations

import datetime
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from engines.postgres.asked import Run, answer, quiet

from discreet.engines.engine import FAILED
from discreet.engines.postgres.engine import Postgres, tables_of
from discreet.errors import EngineError
from discreet.private import reveal
from discreet.tables.kind import Kind

# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_tables_by_name_and_by_place(clinic: str) -> None:
    with Postgres.open(
        {"visits": clinic, "odd": (clinic, 'clinic."Odd ""Name"".1"'), "v": (clinic, "seen"), "m": (clinic, "clinic.kept")}
    ) as engine:
        assert engine.schema("visits") == {"id": Kind.INTEGER, "dept": Kind.INTEGER, "cost": Kind.REAL}
        assert engine.schema("odd") == {"a": Kind.INTEGER, "b": Kind.TEXT}
        assert answer(engine, "SELECT COUNT(*) AS n FROM visits") == [(9,)]
        assert answer(engine, "SELECT a, b FROM odd") == [(1, "x")]
        assert answer(engine, "SELECT COUNT(*) AS n FROM v") == [(4,)]
        assert answer(engine, "SELECT COUNT(*) AS n FROM m") == [(2,)]
        assert engine.version.startswith(tuple(f"{n}." for n in range(14, 19)))


def test_all_tables_of_a_database(clinic: str, postgres: str) -> None:
    found = tables_of(clinic)
    assert found is not None
    assert set(found) == {"visits", 'Odd "Name".1', "seen", "kept", "parts", "more"}  # the first visits on the path, and no part
    assert found["visits"] == (clinic, '"clinic"."visits"')
    with Postgres.open(found) as engine:
        assert answer(engine, "SELECT id, at FROM parts") == [(1, datetime.date(2024, 2, 29))]
        assert engine.schema("visits")["cost"] is Kind.REAL
    for other in ("visits.parquet", 5, None, ("postgresql://x", "y"), object()):
        assert tables_of(other) is None


@pytest.mark.parametrize(
    "given", ["visits.parquet", 5, ("postgresql://x", 5), ("postgresql://x", "a.b.c"), ("postgresql://x", "a..b"), ("x", "y")]
)
def test_what_is_no_source(given: Any) -> None:
    with pytest.raises(EngineError, match="t: give the address"):
        Postgres.open({"t": given})


def test_one_database_for_all(clinic: str, postgres: str) -> None:
    with pytest.raises(EngineError, match="one PostgreSQL database") as caught:
        Postgres.open({"visits": clinic, "more": postgres})
    quiet(caught.value, clinic)
    with pytest.raises(EngineError, match="one PostgreSQL database"):
        Postgres.open({})


@pytest.mark.parametrize("name", ["nowhere", "parts_2", "pg_class", "Visits"])
def test_no_such_table(clinic: str, name: str) -> None:
    with pytest.raises(EngineError, match=f"{name}: the database has no table") as caught:
        Postgres.open({"visits": clinic, name: clinic})
    quiet(caught.value, clinic)


def test_columns_of_one_name(run: Run, clinic: str) -> None:
    run('CREATE TABLE clinic.twice ("A" int, "a" int)')
    with pytest.raises(EngineError, match="differ in more than upper and lower case"):
        Postgres.open({"twice": clinic})
    run("CREATE TABLE clinic.unread (a int[], b interval)")
    with pytest.raises(EngineError, match="no column has a supported type"):
        Postgres.open({"unread": clinic})
    run("DROP TABLE clinic.twice, clinic.unread")


# ── what may be read ─────────────────────────────────────────────────────────────────────────────────────────────────


def as_reader(address: str) -> str:
    parts = urlsplit(address)
    return address.replace(parts.netloc, f"reader:tender-s3cret@{parts.hostname}:{parts.port}")


def test_only_what_the_role_may_read(run: Run, clinic: str) -> None:
    run("REVOKE ALL ON ALL TABLES IN SCHEMA clinic FROM reader; GRANT SELECT (id, dept) ON clinic.visits TO reader")
    found = tables_of(as_reader(clinic))
    assert found is not None
    assert set(found) == {"visits"}
    with Postgres.open({"visits": as_reader(clinic)}) as engine:
        assert engine.schema("visits") == {"id": Kind.INTEGER, "dept": Kind.INTEGER, "cost": None}
        assert answer(engine, "SELECT COUNT(*) AS n FROM visits") == [(9,)]
    with pytest.raises(EngineError, match=r"kept: no column .* or the role may read none"):
        Postgres.open({"kept": as_reader(clinic)})
    with pytest.raises(EngineError, match=r"more: .* that this role may read"):
        Postgres.open({"more": as_reader(clinic)})  # not even its schema


def test_nothing_is_written(run: Run, clinic: str) -> None:
    run("CREATE SEQUENCE clinic.numbers")
    run("CREATE FUNCTION clinic.leave() RETURNS int LANGUAGE sql AS 'INSERT INTO clinic.visits VALUES (99, 0, 0) RETURNING id'")
    with Postgres.open({"visits": clinic}) as engine:
        for text in ("SELECT nextval('clinic.numbers') AS v", "SELECT clinic.leave() AS v", "SELECT lo_create(0) AS v"):
            with pytest.raises(EngineError) as caught:
                engine.run(text)
            assert str(caught.value) == FAILED
        assert answer(engine, "SELECT COUNT(*) AS n FROM visits") == [(9,)]
        mode = "SELECT current_setting('transaction_read_only') AS a, current_setting('transaction_isolation') AS b"
        assert answer(engine, mode) == [("on", "repeatable read")]
        assert reveal(engine.run("SELECT COUNT(*) AS n FROM pg_class WHERE relpersistence = 't'"))["n"].tolist() == [0]
    run("DROP FUNCTION clinic.leave; DROP SEQUENCE clinic.numbers")


def test_nobody_stands_in_for_a_function(run: Run, clinic: str) -> None:
    """Somebody may put functions and operators of the same names first on the path."""
    run("CREATE FUNCTION clinic.floor(double precision) RETURNS double precision LANGUAGE sql AS 'SELECT 666.0::double precision'")
    run("CREATE FUNCTION clinic.evil(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    run("CREATE OPERATOR clinic.= (LEFTARG = int, RIGHTARG = int, FUNCTION = clinic.evil)")
    first = clinic.replace("search_path%3Dclinic,other", "search_path%3Dclinic,pg_catalog")
    with psycopg.connect(first) as connection:
        assert connection.execute("SELECT floor(1.5::float8), 1 = 2").fetchone() == (666.0, True)  # it would work
    with Postgres.open({"visits": first}) as engine:
        found = answer(engine, f"SELECT id, {engine.dialect.whole(engine.dialect.floor('cost'))} AS v FROM visits WHERE id = 3")
        assert found == [(3, 1)]
    run("DROP OPERATOR clinic.= (int, int); DROP FUNCTION clinic.evil; DROP FUNCTION clinic.floor(double precision)")
