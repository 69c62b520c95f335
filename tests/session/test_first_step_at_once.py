"""The same undeclared question, asked at once by several people with a budget for one, is one purchase."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ledger.racing import side_by_side

import discreet
from discreet.errors import Invalid, NotEnoughData
from discreet.session import run

MEAN = "SELECT AVG(mass) AS m FROM masses"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pd.DataFrame({"id": range(3000), "mass": [4000.0 + i % 500 for i in range(3000)]}).to_parquet(tmp_path / "masses.parquet")
    return tmp_path / "masses.parquet"


def session(file: Path) -> discreet.Session:
    return discreet.connect(file, unit="id", epsilon=1, one_row_per_unit=True)


def together(*asked: Callable[[], Any]) -> list[Any]:
    """What each of some threads gives back; or its error."""
    found: list[Any] = [None] * len(asked)

    def body(place: int) -> None:
        try:
            found[place] = asked[place]()
        except Exception as error:
            found[place] = error

    threads = [threading.Thread(target=body, args=(place,)) for place in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_whoever_asks_during_the_discovery_receives_the_same_answer(file: Path) -> None:
    begun = threading.Event()

    def slowly(what: str) -> None:
        begun.set()
        time.sleep(0.3)

    def later(db: discreet.Session) -> discreet.Release:
        begun.wait(30)
        return db.sql(MEAN).release(epsilon=1)

    with session(file) as mine, session(file) as theirs:
        first, *others = together(lambda: mine.sql(MEAN).release(epsilon=1, progress=slowly), lambda: later(mine), lambda: later(theirs))
        assert [one.rows for one in others] == [first.rows] * 2
        assert mine.spent.epsilon == 1


def test_whoever_asks_between_discovery_and_answer_receives_the_same_answer(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between, resolve = threading.Event(), run.resolve

    def slowly(*given: Any) -> Any:
        if not between.is_set():
            between.set()
            time.sleep(0.5)
        return resolve(*given)

    monkeypatch.setattr(run, "resolve", slowly)

    def later(db: discreet.Session) -> discreet.Release:
        between.wait(30)
        return db.sql(MEAN).release(epsilon=1)

    with session(file) as mine, session(file) as theirs:
        first, second = together(lambda: mine.sql(MEAN).release(epsilon=1), lambda: later(theirs))
        assert second.rows == first.rows
        assert mine.spent.epsilon == 1


def test_processes_that_ask_at_once_buy_once(file: Path) -> None:
    session(file).close()

    def ask(number: int) -> float:
        with session(file) as db:
            return float(db.sql(MEAN).release(epsilon=1).rows[0]["m"])

    assert len(set(side_by_side(ask, 3))) == 1
    with session(file) as db:
        assert db.spent.epsilon == 1
        assert len(db.history()) == 2  # a discovery and an answer


def test_whoever_waited_for_a_discovery_that_found_nothing_is_told_the_same(file: Path) -> None:
    with session(file) as mine, session(file) as theirs:
        told = together(*(lambda db=db: db.sql(MEAN).release(epsilon="0.002") for db in (mine, theirs)))
        assert [type(one) for one in told] == [NotEnoughData] * 2
        assert str(told[0]) == str(told[1])
        assert len(mine.history()) == 1


def test_a_question_that_is_asked_again_by_its_own_progress_does_not_wait_for_itself(file: Path) -> None:
    with session(file) as db:
        query = db.sql(MEAN)
        with pytest.raises(Invalid, match="asked again while it is being answered"):
            query.release(epsilon=1, progress=lambda _: query.release(epsilon=1) and None)
