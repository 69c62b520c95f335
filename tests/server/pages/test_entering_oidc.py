"""Logins through a provider, as browsers see them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from server.clinic import make_server
from server.login_provider import BACK, Fake, running

from discreet.server.app import application
from discreet.server.oidc import FAILED
from discreet.server.provider import Provider
from discreet.server.store import audit


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    with running() as found:
        yield found


@pytest.fixture
def browser(fake: Fake, tmp_path: Path) -> Iterator[TestClient]:
    provider = Provider(fake.issuer, "us", "a client's secret", BACK, create=True, domains=("example.org",))
    served = make_server(tmp_path, provider=provider)
    with TestClient(application(served.server), follow_redirects=False) as found:
        yield found


def test_a_browser_goes_there_and_back(browser: TestClient, fake: Fake) -> None:
    page = browser.get("/login?next=/d/clinic/ask").text
    assert 'href="/login/oidc?next=/d/clinic/ask">Log in with 127.0.0.1</a>' in page
    sent = browser.get("/login/oidc?next=/d/clinic/ask")
    assert sent.headers["location"].startswith(f"{fake.issuer}/login?")
    assert "HttpOnly" in sent.headers["set-cookie"]
    assert "SameSite=lax" in sent.headers["set-cookie"]
    back = browser.get("/login/oidc/back", params={"code": "good", "state": fake.visited(sent.headers["location"])})
    assert (back.status_code, back.headers["location"]) == (303, "/d/clinic/ask")
    home = browser.get("/")
    assert home.status_code == 200
    assert "ann@example.org" in home.text
    assert "/d/clinic" not in home.text  # an account without a grant sees no data set
    events = audit.entries(browser.app.state.server.database)  # type: ignore[attr-defined]
    assert [(one.event, one.account, one.detail) for one in events][-3:] == [
        ("account added", None, "ann@example.org as analyst"),
        ("login provider linked", "ann@example.org", ""),
        ("logged in", "ann@example.org", "through the login provider"),
    ]


@pytest.mark.parametrize("query", [{}, {"error": "access_denied"}, {"code": "good"}, {"code": "good", "state": "é" * 100}], ids=str)
def test_a_browser_that_comes_back_wrongly_reads_one_sentence(browser: TestClient, fake: Fake, query: dict[str, str]) -> None:
    fake.visited(browser.get("/login/oidc").headers["location"])
    back = browser.get("/login/oidc/back", params=query)
    assert back.status_code == 403
    assert FAILED in back.text
    assert browser.get("/").status_code == 303
    assert audit.entries(browser.app.state.server.database)[-1].event == "login refused"  # type: ignore[attr-defined]


def test_a_replayed_return_is_refused(browser: TestClient, fake: Fake) -> None:
    sent = browser.get("/login/oidc")
    address, cookies = "/login/oidc/back?code=good&state=" + fake.visited(sent.headers["location"]), dict(browser.cookies)
    assert browser.get(address).status_code == 303
    browser.cookies.clear()
    browser.cookies.update(cookies)
    assert browser.get(address).status_code == 403


def test_without_a_provider_there_is_nothing_here(client: TestClient) -> None:
    assert "Log in with" not in client.get("/login").text
    assert client.get("/login/oidc").status_code == client.get("/login/oidc/back").status_code == 404
