"""What each statement does, on a connection of psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from server.clinic import COUNT
from server.postgres_wire.wire import Wire

from discreet.exact import short


@pytest.fixture
def connection(wire: Wire) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(wire.uri(), autocommit=True) as found:
        found.execute("SET discreet.epsilon = 0.01")
        yield found


def state(connection: psycopg.Connection[Any], sql: str, *values: object) -> str | None:
    try:
        connection.execute(sql, values or None)
    except psycopg.Error as error:
        return error.sqlstate
    return None


@pytest.mark.parametrize(
    "sql",
    [
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "START TRANSACTION",
        "SET x = 1",
        "RESET ALL",
        "DISCARD ALL",
        "DEALLOCATE ALL",
        "UNLISTEN *",
        "CLOSE ALL",
        "",
    ],
)
def test_statements_without_rows(connection: psycopg.Connection[Any], sql: str) -> None:
    assert connection.execute(sql).description is None


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("DROP TABLE visits", "0A000"),
        ("SELECT * FROM visits", "0A000"),
        ("SELECT * FROM nothing", "0A000"),
        ("SELECT nothing(1)", "0A000"),
        ("SELECT COUNT(*) FROM visits WHERE dept = 5", "42804"),
        ("EXPLAIN SET x = 1", "42601"),
        ("EXPLAIN ANALYZE SELECT 1", "0A000"),
        ("SHOW nothing", "42704"),
        ("SET discreet.mode = 'free'", "22023"),
        ("SELECT COUNT(*) FROM visits /* epsilon=0 */", "22023"),
        ("PREPARE a AS SELECT 1", "0A000"),
        ("LISTEN x", "0A000"),
    ],
)
def test_what_is_refused_and_how(connection: psycopg.Connection[Any], sql: str, expected: str) -> None:
    assert state(connection, sql) == expected
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_columns_that_changed_since_a_statement_was_prepared(connection: psycopg.Connection[Any]) -> None:
    connection.execute("SET discreet.mode = 'ask'")
    connection.execute(COUNT, prepare=True)
    connection.execute("SET discreet.intervals = off")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="prepare it again"):
        connection.execute(COUNT, prepare=True)


def test_types_of_parameters(connection: psycopg.Connection[Any]) -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE dept = %s AND cost > %s"
    assert state(connection, text, "eyes", 1) == "55000"  # well formed, and not asked yet
    assert state(connection, text, "eyes", "much") == "22P02"
    assert state(connection, text, "eyes", 1.5) == "55000"
    assert state(connection, text, 5, 1) == "42804"


def test_explain_is_the_plan(connection: psycopg.Connection[Any]) -> None:
    rows = connection.execute("EXPLAIN SELECT AVG(cost) AS m FROM visits").fetchall()
    assert rows[0] == ("Who is protected",)


def test_explain_with_parameters(connection: psycopg.Connection[Any]) -> None:
    rows = connection.execute("EXPLAIN SELECT COUNT(*) AS n FROM visits WHERE dept = %s AND cost > %s", ["eyes", 10]).fetchall()
    assert rows[0] == ("Who is protected",)
    assert any("eyes" in line for (line,) in rows)


@pytest.mark.parametrize("prepare", [False, True])
def test_the_budget_is_shown(wire: Wire, connection: psycopg.Connection[Any], prepare: bool) -> None:
    found = connection.execute("SHOW discreet.spent", prepare=prepare)
    assert [column.name for column in found.description or ()] == ["discreet.spent"]
    before = Fraction(str(found.fetchone()[0]).partition(",")[0].removeprefix("epsilon="))  # type: ignore[index]
    assert float(before) == pytest.approx(wire.spent)
    connection.execute("SET discreet.mode = 'ask'")
    connection.execute(f"SELECT COUNT(*) AS n FROM visits WHERE cost > {int(prepare)} /* epsilon=0.0125 */")
    assert (
        connection.execute("SHOW discreet.spent", prepare=prepare)
        .fetchone()[0]
        .startswith(f"epsilon={short(before + Fraction(1, 80))}, delta=")
    )  # type: ignore[index]
    assert connection.execute("show  DISCREET.REMAINING").fetchone()[0].startswith("epsilon=")  # type: ignore[index]
    assert state(connection, "SET discreet.remaining = 5") == "42704"


def test_a_local_price_ends_with_its_transaction(connection: psycopg.Connection[Any]) -> None:
    with connection.transaction():
        connection.execute("SET LOCAL discreet.epsilon = 0.9")
        assert connection.execute("SHOW discreet.epsilon").fetchone() == ("0.9",)
    assert connection.execute("SHOW discreet.epsilon").fetchone() == ("0.01",)


@pytest.mark.parametrize("name", ["'discreet.epsilon'", "'DISCREET.MODE'", "%s"])
def test_set_config_does_not_seem_to_set_a_price(connection: psycopg.Connection[Any], name: str) -> None:
    values = ["discreet.epsilon"] if "%" in name else []
    assert state(connection, f"SELECT set_config({name}, '1', false)", *values) == "0A000"
    assert connection.execute("SELECT set_config('jit', 'off', false)").fetchone() == ("off",)


def test_what_is_said_below_an_answer_is_a_notice(connection: psycopg.Connection[Any]) -> None:
    said: list[str] = []
    connection.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
    connection.execute("SET discreet.mode = 'ask'")
    asked = "SELECT AVG(cost) AS m FROM visits WHERE cost > 17"
    connection.execute(asked)
    assert any(
        "it excludes bias from clipping cost to 0 … 500 and from limiting each unit's weight to that of 4 rows" in one for one in said
    )
    assert said[-1].startswith("cost ε = 0.01")
    said.clear()
    connection.execute(asked, prepare=True)
    assert said[-1].startswith("answered before, so free now")
    said.clear()
    connection.execute("SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) < 0")
    assert said[0] == "(no rows)"
    said.clear()
    connection.execute("SET client_min_messages = warning")
    connection.execute(asked)
    assert said == []
