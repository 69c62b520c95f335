"""Questions through PEP 249, here and behind a server."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

import discreet
from discreet import dbapi

COUNT = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"
FREE = ("SELECT 1", "EXPLAIN " + COUNT, "SHOW discreet.remaining", "SHOW discreet.epsilon", "SET discreet.delta = 0", "BEGIN", "COMMIT")


def test_answers_are_described_and_fetched(clinic: Any) -> None:
    cursor = clinic.connect(epsilon=0.1).cursor()
    assert (cursor.description, cursor.rowcount) == (None, -1)
    assert cursor.execute(COUNT) is cursor
    assert [(name, code) for name, code, *_ in cursor.description] == [
        ("dept", "text"),
        ("n", "real"),
        ("n_low", "real"),
        ("n_high", "real"),
    ]
    assert [cursor.description[0][1] == dbapi.STRING, cursor.description[1][1] == dbapi.NUMBER] == [True, True]
    assert cursor.rowcount == 3
    first, others, more = cursor.fetchone(), cursor.fetchmany(1), cursor.fetchall()
    assert [row[0] for row in (first, *others, *more)] == ["eyes", "heart", "skin"]
    assert all(low <= n <= high for _, n, low, high in (first, *others, *more))
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])
    assert cursor.release.epsilon == discreet.Pure(0.1).epsilon
    assert list(cursor.execute(COUNT)) == [first, *others, *more]  # the same question is the same stored answer
    assert clinic.spent() == 0.1


def test_parameters_are_literals(clinic: Any) -> None:
    connection = clinic.connect(epsilon=0.1)
    asked = connection.execute("SELECT COUNT(*) AS n FROM visits WHERE cost > ? AND dept IN (?, ?)", [-1.5, "eyes", "skin"]).fetchall()
    by_name = "SELECT COUNT(*) AS n FROM visits WHERE cost > :least AND dept IN (:a, :b)"
    assert connection.execute(by_name, {"least": -1.5, "a": "eyes", "b": "skin"}).fetchall() == asked
    assert connection.execute("SELECT COUNT(*) AS n FROM visits WHERE cost > -1.5 AND dept IN ('eyes', 'skin')").fetchall() == asked
    assert clinic.spent() == 0.1
    hostile = connection.execute("SELECT COUNT(*) AS n FROM visits WHERE dept = ?", ["' OR 1=1; --"])
    assert hostile.release.rows[0]["n"] < 500  # nobody is there


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        (f"/* epsilon=0.2 */ {COUNT}", 0.2),
        (f"{COUNT} -- epsilon=0.3\n", 0.3),
        (COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.4)"), 0.4),
        (COUNT, 0.1),
    ],
)
def test_the_price_is_where_it_is_stated(clinic: Any, text: str, epsilon: float) -> None:
    assert float(clinic.connect(epsilon=0.1).execute(text).release.epsilon) == epsilon
    assert clinic.spent() == epsilon


def test_a_price_is_set_for_later_questions(clinic: Any) -> None:
    connection = clinic.connect()
    with pytest.raises(dbapi.ProgrammingError, match="the price is missing"):
        connection.execute(COUNT)
    connection.execute("SET discreet.epsilon = 0.2")
    assert connection.execute("SHOW discreet.epsilon").fetchall() == [("0.2",)]
    assert float(connection.execute(COUNT).release.epsilon) == 0.2
    connection.execute("RESET discreet.epsilon")
    with pytest.raises(dbapi.ProgrammingError, match="the price is missing"):
        connection.execute(COUNT)


def test_what_is_free_costs_nothing(clinic: Any) -> None:
    connection = clinic.connect(epsilon=0.1)
    for text in FREE:
        connection.execute(text)
    assert connection.execute("EXPLAIN " + COUNT).fetchone() == ("Who is protected",)
    assert connection.plan(COUNT).epsilon == discreet.Pure(0.1).epsilon
    assert [table.name for table in connection.tables()] == ["visits"]
    assert clinic.spent() == 0


def test_stored_answers_only(clinic: Any) -> None:
    buyer, viewer = clinic.connect(epsilon=0.1), clinic.connect(epsilon=0.1, cached_only=True)
    with pytest.raises(dbapi.OperationalError, match="stored answers only"):
        viewer.execute(COUNT)
    assert clinic.spent() == 0
    bought = buyer.execute(COUNT).fetchall()
    assert viewer.execute(COUNT).fetchall() == bought
    with pytest.raises(dbapi.OperationalError, match="stored answers only"):
        viewer.execute(f"/* epsilon=0.2 */ {COUNT}")
    assert clinic.spent() == 0.1


def test_intervals_are_an_option(clinic: Any) -> None:
    connection = clinic.connect(epsilon=0.1, intervals=False)
    assert [name for name, *_ in connection.execute(COUNT).description] == ["dept", "n"]
    wide = connection.execute(f"/* confidence=0.99 */ {COUNT}").release
    assert wide.confidence == 0.99


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("SELECT * FROM visits", dbapi.ProgrammingError, "single rows are never shown"),
        ("SELECT COUNT(*) FROM nothing", dbapi.ProgrammingError, "no such table"),
        ("DROP TABLE visits", dbapi.ProgrammingError, "only SELECT"),
        (f"/* epsilon=50 */ {COUNT}", dbapi.OperationalError, "budget"),
        ("SET discreet.epsilom = 1", dbapi.ProgrammingError, "did you mean epsilon"),
        ("SELECT COUNT(*) FROM visits WHERE cost > ?", dbapi.ProgrammingError, "parameter"),
        (f"/* epsilon=much */ {COUNT}", dbapi.ProgrammingError, "cannot be read"),
    ],
)
def test_errors_are_those_of_pep_249(clinic: Any, text: str, error: type[Exception], says: str) -> None:
    connection = clinic.connect(epsilon=0.1)
    with pytest.raises(error, match=says) as found:
        connection.execute(text)
    assert isinstance(found.value.__cause__, discreet.Error)
    assert isinstance(found.value, connection.DatabaseError)
    assert clinic.spent() == 0


def test_what_is_closed_is_closed(clinic: Any) -> None:
    connection = clinic.connect(epsilon=0.1)
    cursor = connection.cursor()
    with pytest.raises(dbapi.InterfaceError, match="execute a question first"):
        cursor.fetchone()
    with pytest.raises(dbapi.NotSupportedError, match="GROUP BY"):
        cursor.executemany(COUNT, [[], []])
    with cursor:
        cursor.setinputsizes([])
        cursor.setoutputsize(1)
    with pytest.raises(dbapi.InterfaceError, match="this cursor is closed"):
        cursor.execute(COUNT)
    connection.close()
    connection.close()
    for call in (connection.cursor, connection.commit, connection.rollback, connection.tables):
        with pytest.raises(dbapi.InterfaceError, match="this connection is closed"):
            call()


def test_dates_are_values_too(clinic: Any) -> None:
    connection = clinic.connect(epsilon=0.1)
    with pytest.raises(dbapi.ProgrammingError, match="cost"):  # read as a date, not as the text of one
        connection.execute("SELECT COUNT(*) FROM visits WHERE cost > ?", [datetime.date(2026, 1, 31)])
