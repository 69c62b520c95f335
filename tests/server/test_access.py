"""Who may: what is asked of tokens, logins and forms."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served

from discreet.server.access import Caller, Forbidden, TooManyRequests, require_form
from discreet.server.store.accounts import Account
from discreet.server.store.logins import Login
from discreet.server.store.tokens import Token

ANN = Account("ann", "analyst", False, 0.0, True)


def test_tokens_for_some_data_sets() -> None:
    assert Caller(ANN).may_use("clinic")
    assert Caller(ANN, token=Token("a", "ann", "", "ask", None, 0, 0, False)).may_use("clinic")
    narrow = Caller(ANN, token=Token("a", "ann", "", "ask", ("school",), 0, 0, False))
    assert narrow.may_use("school")
    assert not narrow.may_use("clinic")
    assert not narrow.may_use("")


def test_a_form_belongs_to_its_login() -> None:
    login = Login(ANN, "hash", "secret of the form")
    require_form(login, "secret of the form")
    for wrong in (None, "", "secret of another form", b"secret of the form", ["secret of the form"]):
        with pytest.raises(Forbidden):
            require_form(login, wrong)


def test_waiting_is_said_in_whole_seconds() -> None:
    assert TooManyRequests(0.1).seconds == 1
    assert TooManyRequests(7.4).seconds == 7


def test_an_account_that_asks_too_often_waits_and_others_do_not(served: Served, client: TestClient) -> None:
    served.server.request_limit._a_minute = 3
    answers = [client.get("/api/v1/me", headers=served.header("ann")) for _ in range(5)]
    assert [answer.status_code for answer in answers][-1] == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert client.get("/api/v1/me", headers=served.header("bob")).status_code == 200
