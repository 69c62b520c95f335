"""Accounts: roles, links, passwords, and what ends when one is disabled."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid
from discreet.server.store import accounts as module
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database
from discreet.server.store.jobs import Jobs
from discreet.server.store.logins import Logins
from discreet.server.store.tokens import Tokens

GOOD = "correct horse battery"


def test_accounts_are_found_by_name(accounts: Accounts) -> None:
    assert [(one.name, one.role, one.payer) for one in accounts.all()] == [("ann", "analyst", "ann"), ("owner", "owner", "owner")]
    found = accounts.get("ann")
    assert found is not None
    assert not found.has_password
    assert accounts.get("ANN") is None
    assert accounts.get("nobody") is None


def test_every_owner_pays_as_the_owner(accounts: Accounts) -> None:
    assert accounts.add("olga", "owner", "owner").payer == "owner"


@pytest.mark.parametrize("name", ["", " ann", "ann ", "a\nb", "\x1b[31m", "x" * 1000, "ANN", "Owner"])
def test_names_that_are_none_or_taken(accounts: Accounts, name: str) -> None:
    with pytest.raises(Invalid):
        accounts.add(name, "analyst", "owner")


def test_a_role_is_one_of_three(accounts: Accounts) -> None:
    with pytest.raises(Invalid, match="owner, analyst, auditor"):
        accounts.add("bob", "root", "owner")  # type: ignore[arg-type]


def test_a_link_is_for_one_password(accounts: Accounts) -> None:
    link = accounts.link("ann", "owner")
    holder = accounts.link_holder(link)
    assert holder is not None
    assert holder.name == "ann"
    with pytest.raises(Invalid, match="12 to 200"):
        accounts.choose_password(link, "short")
    assert accounts.choose_password(link, GOOD).has_password  # the short one did not use it up
    assert accounts.link_holder(link) is None
    with pytest.raises(Invalid, match="used or has expired"):
        accounts.choose_password(link, GOOD)


def test_a_new_link_ends_the_one_before(accounts: Accounts) -> None:
    first, second = accounts.link("ann", "owner"), accounts.link("ann", "owner")
    assert accounts.link_holder(first) is None
    assert accounts.link_holder(second) is not None


def test_a_link_expires(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LINK_LASTS", -1.0)
    link = accounts.link("ann", "owner")
    assert accounts.link_holder(link) is None
    with pytest.raises(Invalid, match="expired"):
        accounts.choose_password(link, GOOD)


def test_passwords(accounts: Accounts) -> None:
    accounts.choose_password(accounts.link("ann", "owner"), GOOD)
    found = accounts.with_password("ann", GOOD)
    assert found is not None
    assert found.name == "ann"
    for name, password in (("ann", GOOD + " "), ("owner", GOOD), ("nobody", GOOD), ("ann", ""), ("Ann", GOOD)):
        assert accounts.with_password(name, password) is None


def test_a_disabled_account_can_do_nothing_more(accounts: Accounts, database: Database) -> None:
    tokens, logins, jobs = Tokens(database, accounts), Logins(database, accounts), Jobs(database, "this one")
    accounts.choose_password(accounts.link("ann", "owner"), GOOD)
    ann = accounts.get("ann")
    assert ann is not None
    token, (cookie, _), link = tokens.add("ann", "x", "all", 1, None, "ann")[1], logins.begin(ann), accounts.link("ann", "owner")
    job, _ = jobs.add("ann", "clinic", "SELECT", {"a": 1}, None)
    accounts.disable("ann", "owner")
    assert accounts.get("ann") is None
    assert accounts.with_password("ann", GOOD) is None
    assert tokens.holder(token) is None
    assert logins.find(cookie) is None
    assert accounts.link_holder(link) is None
    assert not jobs.begin(job.id, 0)  # a question that waited is not asked any more
    with pytest.raises(Invalid):
        accounts.link("ann", "owner")
    with pytest.raises(Invalid):  # a name never means another person
        accounts.add("ann", "analyst", "owner")


def test_the_last_owner_stays(accounts: Accounts) -> None:
    with pytest.raises(Invalid, match="only owner"):
        accounts.disable("owner", "owner")
    accounts.add("olga", "owner", "owner")
    accounts.disable("owner", "olga")
    with pytest.raises(Invalid, match="only owner"):
        accounts.disable("olga", "olga")


def test_a_new_password_ends_all_logins(accounts: Accounts, database: Database) -> None:
    logins, ann = Logins(database, accounts), accounts.get("ann")
    assert ann is not None
    cookie, _ = logins.begin(ann)
    accounts.choose_password(accounts.link("ann", "owner"), GOOD)
    assert logins.find(cookie) is None
