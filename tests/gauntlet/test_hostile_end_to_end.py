"""Hostile text on a whole session: nothing of it reaches the engine or the ledger, and nothing but a refusal comes back."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from query.sql.accepted import ACCEPTED
from query.sql.clinic import CATALOG
from query.sql.hostile import HOSTILE, HOSTILE_IN
from query.sql.test_read_hostile import MEANT_ELSEWHERE

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Columns, Engine, SentTable
from discreet.errors import Invalid, Refused
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.query.sql.tokens import DIALECTS
from discreet.session.session import Session
from discreet.tables.kind import Kind

PIECES = [
    "1; DROP TABLE visits",
    "cost) FROM visits --",
    "read_text('/etc/passwd') = ''",
    "(SELECT 1) = 1",
    "person_id = 5",
    "random() < 1",
    "cost > 1 UNION SELECT 1",
    "cost > (SELECT MAX(cost) FROM visits)",
    "getenv('HOME') = ''",
    "EXISTS (SELECT 1)",
    "1 / cost > 1",
    "cost > 1 /*",
    "cost > $1",
    "COUNT(*) > 1",
    "cost",
    "",
    "\x00",
    "cost > 1; SELECT 1",
    "error('x')",
    "nextval('s') > 1",
]
MANGLED = 1500


class Trap(Engine):
    """An engine that keeps whatever reaches it."""

    name, version, dialect = "trap", "1", DUCKDB

    def __init__(self) -> None:
        self.caught: list[str] = []

    def schema(self, table: str) -> dict[str, Kind | None]:
        raise AssertionError(table)

    def batches(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        self.caught.append(sql)
        raise AssertionError("a statement reached the engine")

    def problem(self) -> str | None:
        return None

    def close(self) -> None:
        pass


def on(engine: Engine) -> Session:
    """A session of this engine over the clinic's tables."""
    return Session(engine, CATALOG, open_ledger(":memory:", Terms("1000000", "0.5", CATALOG.protected, CATALOG.adjacency)))


@pytest.fixture
def trap() -> Trap:
    return Trap()


def refused(session: Session, text: str, **how: Any) -> str:
    """The refusal of the whole road: reading, planning, and everything else short of the engine."""
    with pytest.raises(Refused) as caught:
        session.sql(text, **how).release(epsilon=1, delta="0.001")
    return str(caught.value)


def untouched(session: Session, trap: Trap) -> bool:
    return trap.caught == [] and session.history() == [] and session.spent.epsilon == 0


def test_all_of_them(trap: Trap) -> None:
    session = on(trap)
    for text in HOSTILE:
        message = refused(session, text)
        assert 20 < len(message) < 700
    assert untouched(session, trap)
    print(f"\n{len(HOSTILE)} hostile texts, 0 statements")


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect != "duckdb"])
def test_some_of_them_in_other_dialects(dialect: str, trap: Trap) -> None:
    session = on(trap)
    for text in HOSTILE[::3]:  # tests/query/sql reads all of them in every dialect
        if text not in MEANT_ELSEWHERE.get(dialect, ()):
            refused(session, text, dialect=dialect)
    for other, text in HOSTILE_IN:
        if other == dialect:
            refused(session, text, dialect=dialect)
    assert untouched(session, trap)


def test_other_ways_to_ask(trap: Trap) -> None:
    """Planning, pricing and rehearsing are as closed as releasing."""
    session = on(trap)
    for text in HOSTILE[::7]:
        for way in ("plan", "dry_run"):
            with pytest.raises(Refused):
                getattr(session.sql(text), way)(epsilon=1)
        with pytest.raises(Refused):
            session.ask(text, epsilon=1)
    assert untouched(session, trap)


def test_hostile_text_as_an_expression(trap: Trap) -> None:
    """What the fluent form takes as text goes through the same reader."""
    session = on(trap)
    for piece in PIECES:
        with pytest.raises((Refused, Invalid)):
            session.table("visits").where(piece).count().release(epsilon=1)
        with pytest.raises((Refused, Invalid)):
            session.table("visits").group_by(piece).count().release(epsilon=1)
        with pytest.raises((Refused, Invalid)):
            session.table("visits").sum(f"{piece} + 'x'").release(epsilon=1)
    assert untouched(session, trap)


@pytest.fixture(scope="module")
def made_up() -> Iterator[DuckDB]:
    with DuckDB.mock(CATALOG.tables) as engine:
        yield engine


def mangled(coin: random.Random, words: list[list[str]]) -> str:
    text = list(coin.choice(words))
    for _ in range(coin.randint(1, 3)):
        other, at = coin.choice(words), coin.randrange(len(text) + 1)
        match coin.randrange(3):
            case 0:
                del text[at : at + coin.randint(1, 3)]
            case 1:
                text.insert(at, coin.choice(other))
            case _:
                start = coin.randrange(len(other))
                text[at : at + 2] = other[start : start + 4]
    return "".join(text)


def test_mangled_text_on_a_real_engine(made_up: DuckDB) -> None:
    """What is read after all can be planned, paid for and run: never an error of the engine, never one of Python."""
    coin, ran, tried = random.Random(11), 0, 0
    words = [re.findall(r"\w+|\W", text) for text, _ in ACCEPTED if len(text) < 300]
    session = on(made_up)
    for _ in range(MANGLED):
        text, tried = mangled(coin, words), tried + 1
        try:
            session.sql(text).release(epsilon=8, delta="0.001")
            ran += 1
        except (Refused, Invalid):
            pass
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\n{text}")
    print(f"\n{tried} mangled texts, {ran} ran")
    assert ran > tried / 20


def test_no_word_of_the_text_reaches_the_engine(made_up: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments, aliases, names of CTEs and of outputs stay behind: the statements are ours."""
    statements: list[str] = []
    fetch = made_up.batches
    monkeypatch.setattr(made_up, "batches", lambda sql, *rest: (statements.append(sql), fetch(sql, *rest))[1])
    session = on(made_up)
    texts = [
        "/* zebra */ SELECT COUNT(*) AS zebra FROM visits -- zebra",
        "WITH zebra AS (SELECT * FROM visits) SELECT dept AS zebra_key, AVG(zebra.cost) AS zebra_mean FROM zebra GROUP BY zebra_key",
        'SELECT z.dept, SUM(z.cost) AS "zebra\'s" FROM visits AS z GROUP BY z.dept HAVING SUM(z.cost) > 3 ORDER BY "zebra\'s"',
        "SELECT COUNT(*) AS n, 'zebra' AS what FROM visits",
        "SELECT dept, CASE WHEN COUNT(*) > 5 THEN 'zebra' ELSE 'horse' END AS kind FROM visits GROUP BY dept",
    ]
    ran = 0
    for text in texts:
        try:
            session.sql(text).release(epsilon=8, delta="0.001")
            ran += 1
        except Refused:
            pass
    assert ran >= 4
    assert statements
    assert not [sql for sql in statements if "zebra" in sql]
