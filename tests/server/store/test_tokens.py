"""Tokens: shown once, stored as hashes, expiring, revocable, and never wider than what made them."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid
from discreet.server.store import tokens as module
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database
from discreet.server.store.tokens import Tokens


@pytest.fixture
def tokens(database: Database, accounts: Accounts) -> Tokens:
    return Tokens(database, accounts)


def test_a_token_names_its_account(tokens: Tokens) -> None:
    made, text = tokens.add("ann", "notebook", "ask", 7, ["clinic"], "ann")
    found = tokens.holder(text)
    assert found is not None
    account, token = found
    assert account.name == "ann"
    assert token == made
    assert token.live
    assert token.datasets == ("clinic",)
    assert token.expires - token.created == 7 * 86400


def test_what_is_no_token(tokens: Tokens) -> None:
    made, text = tokens.add("ann", "notebook", "ask", 7, None, "ann")
    _, other = tokens.add("ann", "another", "ask", 7, None, "ann")
    wrong = ["", "disc", "disc__", text[:-1], text + "a", text.upper(), text.replace("disc", "disk"), f"disc_{made.id}_", f"{text}_more"]
    wrong += [f"disc_{made.id}_{other.split('_')[2]}", "disc_%_%", "disc_' OR 1=1 --_x", f" {text}"]
    assert all(tokens.holder(one) is None for one in wrong)


def test_expired_and_revoked(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    first, text = tokens.add("ann", "a", "ask", 1, None, "ann")
    _, revoked = tokens.add("ann", "b", "ask", 1, None, "ann")
    tokens.revoke(tokens.of("ann")[0].id, "ann")
    assert tokens.holder(revoked) is None
    assert tokens.holder(text) is not None
    monkeypatch.setattr(module.time, "time", lambda now=first.expires: now)
    assert tokens.holder(text) is None


def test_only_ones_own_tokens_are_revoked(tokens: Tokens, accounts: Accounts) -> None:
    accounts.add("bob", "analyst", "owner")
    made, text = tokens.add("ann", "a", "ask", 1, None, "ann")
    for number in (made.id, "nothing"):
        with pytest.raises(Invalid) as error:
            tokens.revoke(number, "bob", "bob")
        assert str(error.value) == "there is no such token: check its number"
    assert tokens.holder(text) is not None
    tokens.revoke(made.id, "owner")  # an owner ends any
    assert tokens.holder(text) is None


@pytest.mark.parametrize(
    ("label", "scope", "days"),
    [("", "ask", 1), ("x" * 101, "ask", 1), ("a\nb", "ask", 1), ("x", "root", 1), ("x", "ask", 0), ("x", "ask", 367)],
)
def test_tokens_that_are_not_made(tokens: Tokens, label: str, scope: module.Scope, days: int) -> None:
    with pytest.raises(Invalid):
        tokens.add("ann", label, scope, days, None, "ann")
    with pytest.raises(Invalid):
        tokens.add("nobody", "x", "ask", 1, None, "ann")
    assert tokens.of("ann") == []


def test_a_token_makes_no_wider_token(tokens: Tokens) -> None:
    narrow, _ = tokens.add("ann", "a", "all", 1, ["clinic"], "ann")
    same, _ = tokens.add("ann", "b", "all", 300, None, "ann", narrow)
    assert same.datasets == ("clinic",)
    assert same.expires == narrow.expires
    assert tokens.add("ann", "c", "all", 1, [], "ann", narrow)[0].datasets == ()
    with pytest.raises(Invalid, match="some data sets only"):
        tokens.add("ann", "d", "all", 1, ["clinic", "school"], "ann", narrow)
    wide, _ = tokens.add("ann", "e", "all", 1, None, "ann")
    assert tokens.add("ann", "f", "read", 1, ["school"], "ann", wide)[0].datasets == ("school",)
