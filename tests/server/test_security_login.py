"""Logging in with a browser: lock-outs that hurt only who causes them, cookies, and forms before there is a login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, make_server

from discreet.server.access import COOKIE
from discreet.server.app import application
from discreet.server.pages import forms

PASSWORD = "correct horse battery"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = make_server(tmp_path, address="https://dp.example.org")
    found.server.accounts.choose_password(found.server.accounts.link("ann", "owner"), PASSWORD)
    yield found
    found.server.queue.close()
    found.server.datasets.close()
    found.server.database.close()


def browser(served: Served, address: str) -> TestClient:
    return TestClient(application(served.server), "https://dp.example.org", client=(address, 1), follow_redirects=False)


def log_in(client: TestClient, name: str, password: str) -> Any:
    """Load the page, as people do, and send its form."""
    client.get("/login")
    secret = client.cookies[forms.BEFORE]
    return client.post("/login", data={"form": secret, "name": name, "password": password})


def test_an_attacker_slows_down_himself_alone(served: Served) -> None:
    attacker, ann = browser(served, "10.0.0.66"), browser(served, "10.0.0.1")
    tried = [log_in(attacker, "ann", f"guess number {number}").status_code for number in range(15)]
    assert tried[0] == 403
    assert tried[-1] == 429
    assert log_in(attacker, "ann", PASSWORD).status_code == 429  # even if he guesses it now
    assert log_in(ann, "ann", PASSWORD).status_code == 303


def test_a_header_does_not_make_another_address(served: Served) -> None:
    attacker = browser(served, "10.0.0.66")
    tried = []
    for number in range(15):
        attacker.headers["X-Forwarded-For"] = f"10.1.0.{number}"
        tried.append(log_in(attacker, "ann", f"guess number {number}").status_code)
    assert tried[-1] == 429


def test_the_cookie_of_a_login(served: Served) -> None:
    said = log_in(browser(served, "10.0.0.1"), "ann", PASSWORD).headers.get_list("set-cookie")
    [cookie] = [one for one in said if one.startswith(f"{COOKIE}=")]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "secure", "path=/"} <= attributes
    assert "samesite=lax" in attributes or "samesite=strict" in attributes
    assert not any(one.startswith(("domain=", "max-age=", "expires=")) for one in attributes)


def test_a_cookie_from_before_is_not_kept(served: Served) -> None:
    client = browser(served, "10.0.0.1")
    client.cookies.set(COOKIE, "chosen by somebody else")
    log_in(client, "ann", PASSWORD)
    assert served.server.logins.find("chosen by somebody else") is None
    assert served.server.database.rows("SELECT count(*) FROM logins") == [(1,)]


def test_known_and_unknown_names_get_the_same_answer(served: Served) -> None:
    client = browser(served, "10.0.0.1")
    known, unknown = log_in(client, "ann", "wrong wrong wrong"), log_in(client, "zzz", "wrong wrong wrong")
    assert known.status_code == unknown.status_code
    secret = client.cookies[forms.BEFORE]
    assert known.text.replace(secret, "").replace("ann", "zzz") == unknown.text.replace(secret, "").replace("ann", "zzz")


def test_a_login_form_of_another_site(served: Served) -> None:
    client = browser(served, "10.0.0.1")
    for data in ({}, {"form": ""}, {"form": "x"}):
        answer = client.post("/login", data=data | {"name": "ann", "password": PASSWORD})
        assert answer.status_code == 403
        assert COOKIE not in answer.headers.get("set-cookie", "")
