"""What a request asks is done on the session of its account: what it has is found, and what it refines is never bought again."""

from __future__ import annotations

from typing import Any

import pytest
from server.clinic import Served, asked

from discreet.errors import Invalid
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.perform import called, held, perform
from discreet.session.release import Release
from discreet.session.session import Session


@pytest.fixture
def session(served: Served) -> Session:
    data: DataSet = next(iter(served.server.datasets))
    ann = served.server.accounts.get("ann")
    assert ann is not None
    return data.session(ann)


def read(**more: Any) -> Asked:
    return Asked.read(asked() | more)


def test_only_what_was_received_is_held(session: Session) -> None:
    assert held(session, read()) is None
    found = perform(session, read())
    assert isinstance(found, Release)
    again = held(session, read())
    assert again is not None
    assert again.to_text() == found.to_text()
    assert held(session, read(), lambda _: True) is None
    assert held(session, read(price={"epsilon": 0.2})) is None


def test_a_refinement_needs_the_answer_before_it(session: Session) -> None:
    refined = read(verb="refine", refine=[{"epsilon": 0.2}])
    with pytest.raises(Invalid, match="no answer to refine"):
        perform(session, refined)
    perform(session, read())
    assert held(session, refined) is None
    found = perform(session, refined)
    again = held(session, refined)
    assert again is not None
    assert again.to_text() == found.to_text()
    with pytest.raises(Invalid, match="a refinement has a price"):
        perform(session, read(verb="refine"))


def test_what_cannot_be_done_is_said(session: Session) -> None:
    with pytest.raises(Invalid, match="opened, not released"):
        perform(session, Asked.read({"request": [["interactive", [["dept"]], {"accuracy": 10}]], "price": {"epsilon": 1}}))
    with pytest.raises(Invalid, match=r"only questions have bias\(\)"):
        perform(session, Asked.read({"request": [["profile", ["visits"], {}]], "verb": "bias", "price": {"epsilon": 1}}))
    with pytest.raises(Invalid, match=r"does not take these: size"):
        called(session.sql(asked()["request"][0][1][0]).plan, {"size": 3})
