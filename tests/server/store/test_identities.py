"""Identities: logins under way are for once and for a while, and an account stays with the first identity."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid
from discreet.server.store import identities as module
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database
from discreet.server.store.identities import Identities


@pytest.fixture
def identities(database: Database, accounts: Accounts) -> Identities:
    return Identities(database, accounts)


def test_a_login_under_way_ends_once_and_in_time(identities: Identities) -> None:
    identities.begin("a browser", "/d/clinic", 60)
    assert identities.end("another browser") is None
    assert identities.end("a browser") == "/d/clinic"
    assert identities.end("a browser") is None
    identities.begin("a slow one", "/", -1)
    assert identities.end("a slow one") is None


def test_the_oldest_make_room(identities: Identities, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    for number in range(4):
        identities.begin(f"browser {number}", "/", 60 + number)
    assert [identities.end(f"browser {number}") for number in range(4)] == [None, None, "/", "/"]


def test_whose_an_account_is(identities: Identities, accounts: Accounts) -> None:
    assert identities.account_of("one", "zoe", create=False, owners=False) is None
    found = identities.account_of("one", "ann", create=False, owners=False)
    assert found == identities.account_of("one", "another name", create=False, owners=False) == accounts.get("ann")
    with pytest.raises(Invalid, match="another identity"):
        identities.account_of("two", "ann", create=True, owners=False)
    made = identities.account_of("two", "zoe", create=True, owners=False)
    assert made is not None
    assert made.role == "analyst"
    assert identities.account_of("three", "owner", create=True, owners=False) is None
    assert identities.account_of("three", "owner", create=True, owners=True) == accounts.get("owner")
