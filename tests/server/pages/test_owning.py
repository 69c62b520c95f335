"""Accounts and budgets, by their owner."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient
from server.clinic import Served
from server.pages.people import Person, enter


def test_an_account_is_added_with_a_link_granted_and_disabled(owner: Person, client: TestClient, served: Served) -> None:
    page = owner.send("/owner/accounts", name="zoe", role="analyst").text
    link = re.search(r"/welcome/\w+", page)
    assert link is not None
    assert client.get(link.group()).status_code == 200
    assert "may now spend" in owner.send("/owner/grants", account="zoe", dataset="clinic", epsilon="0,5", delta="1e-8", every="month").text
    zoe = enter(client, served, "zoe")
    home = zoe.get("/").text
    assert "ε = 0.5" in home
    assert "begins anew on" in home
    assert "each month" in owner.get("/owner/accounts").text
    assert "may spend nothing more on clinic" in owner.send("/owner/grants/revoke", account="zoe", dataset="clinic").text
    assert "ε = 0.5" not in zoe.get("/").text
    assert "can no longer log in" in owner.send("/owner/accounts/zoe/disable").text
    assert zoe.get("/", follow_redirects=False).status_code == 303


def test_mistakes_are_told_on_the_page(owner: Person) -> None:
    for path, fields in (
        ("/owner/accounts", {"name": "ann", "role": "analyst"}),
        ("/owner/accounts", {"name": "x", "role": "king"}),
        ("/owner/grants", {"account": "eve", "dataset": "clinic", "epsilon": "1", "delta": "0", "every": ""}),
        ("/owner/grants", {"account": "ann", "dataset": "clinic", "epsilon": "much", "delta": "0", "every": ""}),
        ("/owner/grants", {"account": "ann", "dataset": "clinic", "epsilon": "1", "delta": "0", "every": "hour"}),
        ("/owner/grants", {"account": "ann", "dataset": "none", "epsilon": "1", "delta": "0", "every": ""}),
        ("/owner/accounts/owner/disable", {}),
        ("/owner/accounts/nobody/link", {}),
        ("/owner/grants/revoke", {"account": "nobody", "dataset": "clinic"}),
    ):
        page = owner.send(path, **fields)
        assert page.status_code == 400
        assert 'role="alert"' in page.text


def test_what_was_typed_is_kept_after_a_mistake(owner: Person) -> None:
    page = owner.send("/owner/grants", account="bob", dataset="clinic", epsilon="0.7", delta="much", every="week").text
    assert "δ must be a number, such as 1e-6" in page
    for kept in (
        "<option selected>bob</option>",
        "<option selected>clinic</option>",
        'value="0.7"',
        'value="much"',
        'value="week" selected',
    ):
        assert kept in page
    assert 'value="zoe &amp;"' in owner.send("/owner/accounts", name="zoe &", role="king").text
    assert "ε must be positive" in owner.send("/owner/grants", account="bob", dataset="clinic", epsilon="-1", delta="0", every="").text
