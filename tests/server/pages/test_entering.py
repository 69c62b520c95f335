"""Links, logins and log-outs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, make_server
from server.pages.people import PASSWORD, Person, choose_password, secret_of

from discreet.server.access import COOKIE
from discreet.server.app import application
from discreet.server.store import audit


def login(client: TestClient, name: str, password: str, **more: str) -> Any:
    sent = {"form": secret_of(client.get("/login").text), "name": name, "password": password, **more}
    return client.post("/login", data=sent, follow_redirects=False)


def test_a_link_is_good_once_and_leads_to_a_login(client: TestClient, served: Served) -> None:
    address = f"/welcome/{served.server.accounts.link('ann', 'owner')}"
    page = client.get(address)
    assert page.status_code == 200
    assert "ann" in page.text
    fields = {"form": secret_of(page.text), "password": PASSWORD, "again": PASSWORD}
    assert "differ" in client.post(address, data=fields | {"again": "another one"}).text
    assert "12 to 200" in client.post(address, data=fields | {"password": "short", "again": "short"}).text
    done = client.post(address, data=fields, follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/login?chosen=true")
    assert client.get(address).status_code == 404
    assert client.post(address, data=fields).status_code == 404
    assert login(client, "ann", PASSWORD).status_code == 303


def test_the_cookie_is_new_and_kept_from_scripts_and_other_sites(client: TestClient, served: Served) -> None:
    choose_password(served, "ann")
    client.cookies.set(COOKIE, "planted")
    cookies = login(client, "ann", PASSWORD).headers.get_list("set-cookie")
    mine = next(one for one in cookies if one.startswith(COOKIE))
    assert "planted" not in mine
    assert "HttpOnly" in mine
    assert "SameSite=lax" in mine
    assert "Secure" not in mine  # this server's address is http


def test_a_wrong_name_and_a_wrong_password_get_the_same_answer(client: TestClient, served: Served) -> None:
    choose_password(served, "ann")
    wrong, nobody = login(client, "ann", "not the password"), login(client, "nobody", "not the password")
    assert wrong.status_code == nobody.status_code == 403
    assert wrong.text.replace("ann", "") == nobody.text.replace("nobody", "")
    refused = [one for one in audit.entries(served.server.database) if one.event == "login refused"]
    assert [one.account for one in refused] == ["ann", None]


def test_who_tries_many_passwords_waits_and_others_do_not(tmp_path: Path) -> None:
    served = make_server(tmp_path, logins_a_minute=2)
    choose_password(served, "ann")
    with TestClient(application(served.server)) as client:
        assert [login(client, "bob", "guess").status_code for _ in range(2)] == [403, 403]
        slow = login(client, "bob", "guess")
        assert slow.status_code == 429
        assert int(slow.headers["retry-after"]) >= 1
        assert login(client, "ann", PASSWORD).status_code == 303


def test_a_login_form_of_another_site_is_refused(client: TestClient, served: Served) -> None:
    choose_password(served, "ann")
    fields = {"name": "ann", "password": PASSWORD}
    assert client.post("/login", data=fields).status_code == 403
    assert client.post("/login", data=fields | {"form": "guessed"}).status_code == 403
    client.get("/login")
    assert client.post("/login", data=fields | {"form": ""}).status_code == 403
    assert client.post("/login", json=fields).status_code == 400


@pytest.mark.parametrize(
    ("wanted", "goes"),
    [
        ("/d/clinic?x=1", "/d/clinic?x=1"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\r\nb", "/"),
    ],
)
def test_a_login_leads_to_own_pages_only(client: TestClient, served: Served, wanted: str, goes: str) -> None:
    choose_password(served, "ann")
    assert login(client, "ann", PASSWORD, next=wanted).headers["location"] == goes


def test_whoever_is_not_logged_in_is_led_to_the_login_and_back(client: TestClient) -> None:
    response = client.get("/d/clinic/ask?example=1", follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, "/login?next=/d/clinic/ask%3Fexample%3D1")
    assert client.post("/tokens", follow_redirects=False).headers["location"] == "/login"
    assert client.get("/d/clinic", headers={"Discreet-Part": "1"}).status_code == 401


def test_logging_out_ends_the_login(ann: Person) -> None:
    cookie = ann.browser.cookies[COOKIE]
    ann.send("/logout")
    ann.browser.cookies.set(COOKIE, cookie)
    assert ann.get("/", follow_redirects=False).status_code == 303


def test_a_link_that_was_used_leads_to_the_login(client: TestClient) -> None:
    assert '<a href="/login">Log in</a>' in client.get("/welcome/none").text
