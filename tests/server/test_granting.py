"""Grants: recorded in the ledger and in the audit log, by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from server.clinic import Served

from discreet.errors import BudgetExceeded, Invalid
from discreet.server.granting import grant_budget, revoke_budget
from discreet.server.store import audit


def test_a_grant_is_in_the_ledger_and_in_the_audit_log(served: Served) -> None:
    server = served.server
    data, owner = next(iter(server.datasets)), server.accounts.get("owner")
    assert owner is not None
    server.accounts.add("new", "analyst", "owner")
    found = grant_budget(server, data, "new", "0.5", 0, "month", owner)
    assert str(found.granted.epsilon) in ("1/2", "0.5")
    event = audit.entries(server.database)[-1]
    assert (event.account, event.event) == ("owner", "budget granted")
    assert event.detail == "new on clinic: epsilon 0.5, delta 0 each month"
    assert data.ledger.entries()[-1].kind == "grant"


@pytest.mark.parametrize(
    "wrong", [{"name": "eve"}, {"name": "owner"}, {"name": "nobody"}, {"epsilon": -1}, {"epsilon": "x"}, {"every": "day"}]
)
def test_grants_that_are_none_change_nothing(served: Served, wrong: dict[str, Any]) -> None:
    server = served.server
    data, owner = next(iter(server.datasets)), server.accounts.get("owner")
    assert owner is not None
    before = data.ledger.length, audit.verify(server.database)
    given: dict[str, Any] = {"name": "ann", "epsilon": 1, "every": None} | wrong
    with pytest.raises(Invalid):
        grant_budget(server, data, given["name"], given["epsilon"], 0, given["every"], owner)
    assert (data.ledger.length, audit.verify(server.database)) == before


def test_a_grant_that_was_taken_back_admits_nothing(served: Served) -> None:
    server = served.server
    data, owner = next(iter(server.datasets)), server.accounts.get("owner")
    assert owner is not None
    account = server.accounts.add("new", "analyst", "owner")
    grant_budget(server, data, "new", "0.5", 0, None, owner)
    grant_budget(server, data, "new", "0.25", 0, None, owner)
    assert audit.entries(server.database)[-1].detail.endswith("epsilon 0.25, delta 0, instead of epsilon 0.5, delta 0")
    data.session(account).sql("SELECT COUNT(*) AS n FROM visits").release(epsilon=0.1)
    revoke_budget(server, data, "new", owner)
    assert (audit.entries(server.database)[-1].event, audit.entries(server.database)[-1].detail) == ("budget taken back", "new on clinic")
    assert not data.admits(account)
    with pytest.raises(BudgetExceeded):
        data.session(account).sql("SELECT COUNT(*) AS k FROM visits").release(epsilon=0.01)
    with pytest.raises(Invalid):
        revoke_budget(server, data, "new", owner)
    assert grant_budget(server, data, "new", "0.25", 0, None, owner).remaining.epsilon == Fraction(15, 100)
