"""Questions over the wire go the way of all others: prices, modes, budgets, slots, cancelling."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from server.clinic import COUNT, Served, make_server
from server.postgres_wire.wire import Wire, wait_until, wired

from discreet.server.asked import Asked
from discreet.server.asking import Asking
from discreet.server.postgres_wire.asking import HOW_TO_ASK, NO_PRICE, NOT_RECEIVED

MEAN = "SELECT AVG(cost) AS m FROM visits"


@pytest.fixture
def fresh(served: Served) -> Iterator[Wire]:
    with wired(served) as found:
        yield found


def connected(wire: Wire, account: str = "ann", **settings: str) -> psycopg.Connection[tuple[object, ...]]:
    found = psycopg.connect(wire.uri(account), autocommit=True)
    for name, value in settings.items():
        found.execute(f"SET discreet.{name} = '{value}'")
    return found


def refused(connection: psycopg.Connection[tuple[object, ...]], sql: str) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as error:
        connection.execute(sql)
    return error.value


def test_nothing_is_asked_unless_somebody_says_so(fresh: Wire) -> None:
    with connected(fresh, epsilon="0.1") as connection:
        error = refused(connection, COUNT)
        assert (error.sqlstate, error.diag.message_primary, error.diag.message_hint) == ("55000", NOT_RECEIVED, HOW_TO_ASK)
        assert fresh.spent == 0
        connection.execute("SET discreet.mode = 'ask'")
        first = connection.execute(COUNT).fetchall()
        assert fresh.spent == pytest.approx(0.1)
    with connected(fresh, epsilon="0.1") as another:  # repeated: free, and in the mode that asks nothing
        assert another.execute(COUNT).fetchall() == first
        assert another.execute("SELECT dept, COUNT(*) AS n FROM public.visits GROUP BY 1 /* epsilon=0.1 */").fetchall() == first
        refused(another, f"{COUNT} /* epsilon=0.2 */")
    assert fresh.spent == pytest.approx(0.1)
    with connected(fresh, "bob", epsilon="0.1") as bob:  # what others received is not his
        assert refused(bob, COUNT).diag.message_primary == NOT_RECEIVED


@pytest.mark.parametrize(
    ("settings", "sql", "spent"),
    [
        ({"epsilon": "0.01"}, MEAN, 0.01),
        ({"epsilon": "0.015", "delta": "1e-9"}, MEAN, 0.015),
        ({}, f"/* epsilon=0.02 */ {MEAN}", 0.02),
        ({"epsilon": "0.5"}, f"{MEAN} -- epsilon=0.03", 0.03),
        ({"epsilon": "0.5"}, f"{MEAN} /* EPSILON=.035 */", 0.035),
        ({"epsilon": "0.5"}, f"{MEAN}; -- epsilon=0.036", 0.036),
        ({}, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.04) AVG(cost) AS m FROM visits", 0.04),
        ({"epsilon": "0.5"}, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.05) AVG(cost) AS m FROM visits", 0.05),
    ],
)
def test_prices(wire: Wire, settings: dict[str, str], sql: str, spent: float) -> None:
    before = wire.spent
    with connected(wire, mode="ask", **settings) as connection:
        connection.execute(sql)
    assert wire.spent - before == pytest.approx(spent)


def test_without_a_price(wire: Wire) -> None:
    with connected(wire, mode="ask") as connection:
        assert refused(connection, MEAN).diag.message_primary == NO_PRICE
        assert refused(connection, f"{MEAN} /* epsilon=0 */").sqlstate == "22023"


@pytest.mark.parametrize("price", ["0.1.2", "1e9999", "much", "0.1 or so", "0.1 */ /* epsilon=0.2"])
def test_a_price_that_cannot_be_read_is_not_replaced_by_another(wire: Wire, price: str) -> None:
    before = wire.spent
    with connected(wire, mode="ask", epsilon="0.5") as connection:
        assert refused(connection, f"{MEAN} /* epsilon={price} */").sqlstate == "22023"
        assert "keep one" in str(
            refused(connection, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.05) AVG(cost) AS m FROM visits -- epsilon=1")
        )
    assert wire.spent == before


def test_a_default_price_for_each_account(tmp_path: Path) -> None:
    served = make_server(tmp_path, pg_prices={"ann": "0.01", "*": "0.02"})
    try:
        with wired(served) as wire:
            for account, price in (("ann", "0.01"), ("bob", "0.02")):
                with connected(wire, account, mode="ask") as connection:
                    assert connection.execute("SHOW discreet.epsilon").fetchone() == (price,)
            with connected(wire, mode="ask") as connection:
                connection.execute(MEAN)
            assert wire.spent == pytest.approx(0.01)
    finally:
        closed(served)


def test_interval_columns(wire: Wire) -> None:
    with connected(wire, mode="ask", epsilon="0.02") as connection:
        with_ends = connection.execute(COUNT)
        assert [column.name for column in with_ends.description or ()] == ["dept", "n", "n_low", "n_high"]
        first = with_ends.fetchall()
        assert all(low <= value <= high for _, value, low, high in first)
        connection.execute("SET discreet.intervals = off")
        assert connection.execute(COUNT).fetchall() == [row[:2] for row in first]  # the same answer
        connection.execute("SET discreet.intervals = on")
        error = refused(connection, "SELECT COUNT(*) AS n, AVG(cost) AS n_low FROM visits")
        assert "discreet.intervals" in (error.diag.message_hint or "")


def test_the_same_answer_as_over_http(wire: Wire) -> None:
    server = wire.served.server
    account, data = server.accounts.get("ann"), next(iter(server.datasets))
    assert account is not None
    with connected(wire, mode="ask", epsilon="0.03") as connection:
        rows = connection.execute(COUNT).fetchall()
    body = {"request": [["sql", [COUNT], {}]], "verb": "release", "price": {"epsilon": 0.03}, "refine": [], "of": None}
    known = server.asking.known(data, account, Asked.read(body))
    assert known is not None
    assert str(rows[0][1]) in known["release"]


def test_parameters_are_part_of_the_question(wire: Wire) -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE dept = %s AND cost > %s"
    with connected(wire, mode="ask", epsilon="0.01") as connection:
        first = connection.execute(text, ("eyes", 10)).fetchall()
        before = wire.spent
        assert connection.execute(text, ("eyes", 10)).fetchall() == first
        assert connection.execute("SELECT COUNT(*) AS n FROM visits WHERE dept = 'eyes' AND cost > 10").fetchall() == first
        assert wire.spent == before
        connection.execute(text, ("' OR '1'='1", 10))  # a text like any other
        assert wire.spent == pytest.approx(before + 0.01)


def test_budgets_end(fresh: Wire) -> None:
    with connected(fresh, mode="ask", epsilon="2.9") as connection:
        connection.execute(COUNT)
        assert refused(connection, MEAN).sqlstate == "53400"
    assert fresh.spent == pytest.approx(2.9)


def test_explain_is_free(wire: Wire) -> None:
    before = wire.spent
    with connected(wire, epsilon="0.1") as connection:
        plan = "\n".join(str(row[0]) for row in connection.execute(f"EXPLAIN {MEAN}").fetchall())
        assert "Who is protected" in plan
        assert "Expected error" in plan
        assert connection.execute("EXPLAIN (FORMAT TEXT) SELECT * FROM pg_class").fetchone() is not None
        assert refused(connection, f"EXPLAIN ANALYZE {MEAN}").sqlstate == "0A000"
        assert refused(connection, "EXPLAIN SELECT * FROM visits").diag.statement_position == "16"
    assert wire.spent == before


def test_requests_are_limited(tmp_path: Path) -> None:
    served = make_server(tmp_path, requests_a_minute=5)
    try:
        with wired(served) as wire, connected(wire) as connection:
            errors = [refused_or_none(connection, "SELECT 1") for _ in range(8)]
            assert "53400" in errors
    finally:
        closed(served)


def refused_or_none(connection: psycopg.Connection[tuple[object, ...]], sql: str) -> str | None:
    try:
        connection.execute(sql)
    except psycopg.Error as error:
        return error.sqlstate
    return None


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Wire, threading.Event]]:
    """A server with one seat, whose answers wait until the event is set."""
    let_go, answer = threading.Event(), Asking._outcome

    def waiting(self: Asking, *given: object) -> object:
        assert let_go.wait(60)
        return answer(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Asking, "_outcome", waiting)
    served = make_server(tmp_path, seats=1)
    with wired(served) as found:
        yield found, let_go
        let_go.set()
        wait_until(lambda: not served.server.jobs.open())
    closed(served)


def test_cancelling(held: tuple[Wire, threading.Event]) -> None:
    wire, _ = held
    outcomes: list[psycopg.Error] = []
    server = wire.served.server

    def begun(connection: psycopg.Connection[tuple[object, ...]], sql: str, states: list[str]) -> threading.Thread:
        thread = threading.Thread(target=lambda: outcomes.append(refused(connection, sql)))
        thread.start()
        wait_until(lambda: sorted(job.state for job in server.jobs.of("ann")) == states)
        return thread

    with connected(wire, mode="ask", epsilon="0.1") as first, connected(wire, mode="ask", epsilon="0.1") as second:
        running = begun(first, COUNT, ["running"])
        queued = begun(second, MEAN, ["queued", "running"])
        second.cancel_safe()
        queued.join(20)
        first.cancel_safe()
        running.join(20)
        assert first.execute("SELECT 1").fetchone() == (1,)  # the connection goes on
    assert [error.sqlstate for error in outcomes] == ["57014", "57014"]
    assert "nothing was charged" in str(outcomes[0])
    assert "goes on" in str(outcomes[1])
    assert sorted(job.state for job in server.jobs.of("ann")) == ["cancelled", "running"]


def test_a_timeout_is_a_cancel(held: tuple[Wire, threading.Event]) -> None:
    with connected(held[0], mode="ask", epsilon="0.1") as connection:
        connection.execute("SET statement_timeout = 200")
        assert refused(connection, COUNT).sqlstate == "57014"


def test_what_is_being_answered_is_not_known_yet(held: tuple[Wire, threading.Event]) -> None:
    wire, let_go = held
    with connected(wire, mode="ask", epsilon="0.1") as asking, connected(wire, epsilon="0.1") as looking:
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.append(asking.execute(COUNT).fetchall()))
        thread.start()
        wait_until(lambda: [job.state for job in wire.served.server.jobs.of("ann")] == ["running"])
        assert refused(looking, COUNT).diag.message_primary == NOT_RECEIVED
        let_go.set()
        thread.join(20)
        assert [looking.execute(COUNT).fetchall()] == found


def closed(served: Served) -> None:
    served.server.queue.close()
    served.server.datasets.close()
    served.server.database.close()
