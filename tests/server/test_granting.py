"""Grants: recorded in the ledger and in the audit log, by name."""

from __future__ import annotations

from typing import Any

import pytest
from server.clinic import Served

from discreet.errors import Invalid
from discreet.server.granting import grant_budget
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
