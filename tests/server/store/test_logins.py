"""Logins: random cookies that end, forms that belong to them, and an audit of all attempts."""

from __future__ import annotations

import pytest

from discreet.server.store import audit
from discreet.server.store import logins as module
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.database import Database
from discreet.server.store.logins import Logins


@pytest.fixture
def logins(database: Database, accounts: Accounts) -> Logins:
    return Logins(database, accounts)


@pytest.fixture
def ann(accounts: Accounts) -> Account:
    found = accounts.get("ann")
    assert found is not None
    return found


def test_a_cookie_names_its_account(logins: Logins, ann: Account) -> None:
    cookie, form = logins.begin(ann)
    found = logins.find(cookie)
    assert found is not None
    assert found.account == ann
    assert found.form == form
    other, other_form = logins.begin(ann)
    assert cookie != other
    assert form != other_form
    assert len({cookie, form, found.cookie}) == 3
    for wrong in ("", form, found.cookie, cookie[:-1], cookie + "x", "' OR 1=1 --"):
        assert logins.find(wrong) is None


def test_logging_out_ends_one_login(logins: Logins, ann: Account) -> None:
    (first, _), (second, _) = logins.begin(ann), logins.begin(ann)
    found = logins.find(first)
    assert found is not None
    logins.end(found)
    assert logins.find(first) is None
    assert logins.find(second) is not None


def test_a_login_ends_unused_and_in_any_case(logins: Logins, ann: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    now = module.time.time()
    clock = {"now": now}
    monkeypatch.setattr(module.time, "time", lambda: clock["now"])
    cookie, _ = logins.begin(ann)
    for hours in range(1, 12):  # used every hour, it lasts
        clock["now"] = now + hours * 3600
        assert logins.find(cookie) is not None
    clock["now"] = now + 12 * 3600 + 1
    assert logins.find(cookie) is None
    clock["now"] = now
    idle, _ = logins.begin(ann)
    clock["now"] = now + 2 * 3600 + 1
    assert logins.find(idle) is None


def test_attempts_are_audited_without_what_was_typed(logins: Logins, ann: Account, database: Database) -> None:
    cookie, form = logins.begin(ann)
    logins.failed("ann")
    logins.failed("my password, typed as a name")
    found = audit.entries(database)[-3:]
    assert [(one.account, one.event) for one in found] == [("ann", "logged in"), ("ann", "login refused"), (None, "login refused")]
    said = repr(found)
    assert not any(secret in said for secret in (cookie, form, "typed as a name"))
