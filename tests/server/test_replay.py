"""Replaying requests: only what builds a request is called, and prices stand apart."""

from __future__ import annotations

from typing import Any

import pytest
from server.clinic import COUNT, Served

from discreet.errors import Error, Invalid
from discreet.server.replay import request_of
from discreet.session.remote.wire import Chain
from discreet.session.session import Session


@pytest.fixture
def session(served: Served) -> Session:
    account = served.server.accounts.get("ann")
    assert account is not None
    return next(iter(served.server.datasets)).session(account)


def replayed(session: Session, *steps: Any) -> Any:
    return request_of(session, Chain.from_json(list(steps)))


def test_chains_are_what_was_called(session: Session) -> None:
    fluent = replayed(session, ["table", ["visits"], {}], ["where", ["cost > 10"], {}], ["group_by", ["dept"], {}], ["count", [], {}])
    here = session.table("visits").where("cost > 10").group_by("dept").count()
    assert fluent.plan(epsilon=0.1).priced.question == here.plan(epsilon=0.1).priced.question
    text = replayed(session, ["sql", [COUNT], {}])
    assert text.plan(epsilon=0.1).priced.question == session.sql(COUNT).plan(epsilon=0.1).priced.question


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [["close", [], {}]],
        [["__class__", [], {}]],
        [["_pipeline", [], {}]],
        [["for_account", ["owner"], {}]],
        [["tell_owner", [None], {}]],
        [["ledger", [], {}]],
        [["table", ["visits"], {}], ["release", [], {"epsilon": 100}]],
        [["table", ["visits"], {}], ["__init__", [], {}]],
        [["sql", [COUNT, 0.5], {}]],
        [["sql", [COUNT], {"epsilon": 0.5}]],
        [["synthesize", ["visits"], {"epsilon": 0.5}]],
        [["synthesize", ["visits"], {"progress": 1}]],
        [["sql", [COUNT], {"nothing": 1}]],
        [["sql", [7], {}]],
        [["sql", [[COUNT]], {}]],
        [["sql", [{"$chain": [["close", [], {}]]}], {}]],
        [["table", ["visits"], {}], ["join", [{"$chain": [["ledger", [], {}]]}], {}]],
        [["table", ["nothing"], {}]],
        [["table", ["../../etc/passwd"], {}]],
    ],
)
def test_nothing_else_is_called(session: Session, steps: list[Any]) -> None:
    with pytest.raises(Error):
        replayed(session, *steps)


def test_messages_of_python_are_not_repeated(session: Session) -> None:
    with pytest.raises(Invalid) as error:
        replayed(session, ["sql", [COUNT], {"self": 1}])
    assert "sql() does not take these arguments" in str(error.value)
    assert "Session" not in str(error.value)
