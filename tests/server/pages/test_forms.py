"""No form without its secret; few routes without a login."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, Served
from server.pages.people import Person

from discreet.errors import Invalid
from discreet.server.access import needs_of
from discreet.server.pages.forms import Fields
from discreet.server.pages.routes import OPEN, ROUTERS


def routes() -> list[tuple[str, Any]]:
    return [(method, route) for router in ROUTERS for route in router.routes for method in route.methods]


def test_few_routes_are_open_and_they_are_listed() -> None:
    assert {(method, route.path) for method, route in routes() if needs_of(route) is None} == OPEN


def test_every_route_of_an_owner_is_closed_to_analysts(ann: Person) -> None:
    for method, route in routes():
        if route.path.startswith("/owner"):
            needs = needs_of(route)
            assert needs is not None
            assert "analyst" not in needs[1]
            path = route.path.replace("{name}", "clinic")
            assert (ann.get(path) if method == "GET" else ann.send(path)).status_code == 403


def test_every_form_is_refused_without_the_secret_of_its_login(ann: Person, owner: Person, served: Served) -> None:
    spent = served.server.datasets.get("clinic", served.server.accounts.get("owner")).ledger.length
    for method, route in routes():
        if method != "POST" or (method, route.path) in OPEN:
            continue
        path = route.path.replace("{name}", "clinic").replace("{number}", "x")
        for fields in ({}, {"form": ""}, {"form": "guessed"}, {"form": ann.secret}):
            response = owner.browser.post(path, data={"sql": COUNT, "epsilon": "0.1", **fields}, follow_redirects=False)
            assert response.status_code == 403, path
    assert served.server.datasets.get("clinic", served.server.accounts.get("owner")).ledger.length == spent


def test_a_body_that_is_no_form_is_refused(ann: Person) -> None:
    for headers in ({"content-type": "multipart/form-data; boundary=x"}, {"content-type": "application/json"}, {}):
        assert ann.browser.post("/tokens", content=b"form=1&label=a", headers=headers).status_code == 400
    many = "&".join(f"a{i}=1" for i in range(3000))
    assert ann.browser.post("/tokens", content=many, headers={"content-type": "application/x-www-form-urlencoded"}).status_code == 400


def test_numbers_are_read_as_people_write_them() -> None:
    for typed, read in (("0,1", "0.1"), (" 1e-6 ", "1e-6"), (".5", ".5"), ("−3", "-3")):
        assert Fields({"x": [typed]}).number("x") == read
    for typed in ("", "nan", "inf", "1_0", "１", "0x1", "1;2", "1e9999"):
        with pytest.raises(Invalid, match="number"):
            Fields({"x": [typed]}).number("x")
    with pytest.raises(Invalid, match="shorten"):
        Fields({"x": ["a" * 11]}).text("x", 10)


def test_pages_have_the_headers_and_an_unknown_page_is_one_too(client: TestClient) -> None:
    for path in ("/login", "/nothing/here", "/welcome/x"):
        response = client.get(path)
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["cache-control"] == "no-store"
        assert response.text.startswith("<!doctype html>")
    assert client.get("/nothing/here").status_code == 404
    assert client.get("/api/nothing").json()["error"] == "Invalid"
