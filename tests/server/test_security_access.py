"""Access: every route of the route table is tried by everybody who may not use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, make_server
from server.routes import BODIES, OPEN, Door, doors

from discreet.server.access import COOKIE
from discreet.server.app import application

SCOPES = ("read", "ask", "all")
GUARDED = doors(application(None))  # type: ignore[arg-type]
BY_TOKEN = [door for door in GUARDED if door.by == "token"]
BY_LOGIN = [door for door in GUARDED if door.by == "login"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    return make_server(tmp_path_factory.mktemp("served"), requests_a_minute=10**6)


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(application(served.server), raise_server_exceptions=False, follow_redirects=False) as found:
        yield found


@pytest.fixture(scope="module")
def bad(served: Served) -> dict[str, str]:
    """Tokens that were good once, or never."""
    server = served.server
    server.accounts.add("gone", "owner", "owner")
    made = {name: server.tokens.add("owner", name, "all", 1, None, "owner") for name in ("expired", "revoked")}
    disabled = server.tokens.add("gone", "x", "all", 1, None, "owner")[1]
    server.accounts.disable("gone", "owner")
    server.tokens.revoke(made["revoked"][0].id, "owner")
    with server.database.writing() as run:
        run("UPDATE tokens SET expires = 1 WHERE id = ?", made["expired"][0].id)
    good = served.tokens["owner"]
    return {
        "empty": "",
        "no token": "something",
        "wrong secret": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "wrong id": good.replace(good.split("_")[1], "0" * 10),
        "expired": made["expired"][1],
        "revoked": made["revoked"][1],
        "disabled account": disabled,
    }


def test_every_route_is_guarded_or_on_the_list_of_open_ones() -> None:
    assert {(door.method, door.path) for door in GUARDED if door.by is None} <= OPEN
    assert not {(door.method, door.path) for door in GUARDED if door.by is not None} & OPEN
    assert len(BY_TOKEN) >= 25


def test_every_route_that_changes_something_has_a_body_or_needs_none() -> None:
    known = {(door.method, door.path) for door in GUARDED}
    assert set(BODIES) <= known


def asked(client: TestClient, door: Door, headers: dict[str, str], **more: Any) -> Any:
    return client.request(door.method, door.url, json=door.body, headers=headers, **more)


@pytest.mark.parametrize("door", BY_TOKEN, ids=str)
def test_without_a_good_token(client: TestClient, served: Served, bad: dict[str, str], door: Door) -> None:
    good = served.tokens["owner"]
    wrong: list[dict[str, str]] = [{}, {"Authorization": good}, {"Authorization": f"Basic {good}"}, {"X-Api-Key": good}]
    wrong += [{"Authorization": f"Bearer {token}"} for token in bad.values()] + [{"Cookie": f"{COOKIE}={good}"}]
    answers = [asked(client, door, headers) for headers in wrong]
    answers.append(client.request(door.method, f"{door.url}?token={good}&access_token={good}", json=door.body))
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1  # why it is not good is not told
    assert all(answer.headers["www-authenticate"] == "Bearer" for answer in answers)


@pytest.mark.parametrize("door", BY_TOKEN, ids=str)
def test_with_a_login_instead_of_a_token(client: TestClient, served: Served, door: Door) -> None:
    """A browser sends cookies by itself, so they must not open what programs use."""
    account = served.server.accounts.get("owner")
    assert account is not None
    cookie, _ = served.server.logins.begin(account)
    assert asked(client, door, {"Cookie": f"{COOKIE}={cookie}"}).status_code == 401


@pytest.mark.parametrize("door", BY_TOKEN, ids=str)
def test_with_another_role_or_a_lower_scope(client: TestClient, served: Served, door: Door) -> None:
    server = served.server
    holders = {"owner": "owner", "analyst": "ann", "auditor": "eve"}
    for role, name in holders.items():
        for scope in SCOPES:
            enough = role in door.roles and SCOPES.index(scope) >= SCOPES.index(door.scope)
            if enough and door.method != "GET":
                continue  # tried elsewhere: it would change something
            _, token = server.tokens.add(name, "x", scope, 1, None, "owner")  # type: ignore[arg-type]
            answer = asked(client, door, {"Authorization": f"Bearer {token}"})
            assert (answer.status_code == 403) is not enough, f"{role}, {scope}: {answer.text}"
            assert answer.status_code < 500


@pytest.mark.parametrize("door", [door for door in BY_TOKEN if "/datasets/{name}" in door.path], ids=str)
def test_with_a_token_for_another_data_set(client: TestClient, served: Served, door: Door) -> None:
    for name in ("owner", "ann", "eve"):
        account = served.server.accounts.get(name)
        assert account is not None
        if account.role not in door.roles:
            continue
        _, token = served.server.tokens.add(name, "x", "all", 1, ["school"], "owner")
        header = {"Authorization": f"Bearer {token}"}
        answer = asked(client, door, header)
        none = client.request(door.method, door.url.replace("clinic", "nowhere"), json=door.body, headers=header)
        assert answer.status_code == none.status_code == 400
        assert answer.content == none.content  # whether there is such a data set is not told


@pytest.mark.parametrize("door", [door for door in BY_TOKEN if door.roles == ("owner",) or "audit" in door.path], ids=str)
def test_a_token_for_some_data_sets_does_not_own_the_server(client: TestClient, served: Served, door: Door) -> None:
    if "/datasets/{name}" in door.path:
        return
    _, token = served.server.tokens.add("owner", "x", "all", 1, ["clinic"], "owner")
    assert asked(client, door, {"Authorization": f"Bearer {token}"}).status_code == 403


def test_a_token_makes_no_wider_and_no_longer_lived_token(client: TestClient, served: Served) -> None:
    made, token = served.server.tokens.add("owner", "x", "all", 1, ["clinic"], "owner")
    header = {"Authorization": f"Bearer {token}"}
    new = client.post("/api/v1/tokens", json={"label": "y", "scope": "all", "days": 366}, headers=header).json()
    assert new["datasets"] == ["clinic"]
    assert new["expires"] == made.expires
    wide = client.post("/api/v1/tokens", json={"label": "y", "datasets": ["clinic", "school"]}, headers=header)
    assert wide.status_code == 400


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def told_to_log_in(answer: Any) -> bool:
    return answer.status_code in (401, 403) or (answer.status_code in (302, 303, 307) and "/login" in answer.headers["location"])


@pytest.mark.parametrize("door", BY_LOGIN, ids=str)
def test_pages_without_a_good_cookie(client: TestClient, served: Served, door: Door) -> None:
    account = served.server.accounts.get("owner")
    assert account is not None
    cookie, form = served.server.logins.begin(account)
    found = served.server.logins.find(cookie)
    assert found is not None
    served.server.logins.end(found)
    token = served.tokens["owner"]
    wrong: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {token}"}]
    wrong += [{"Cookie": f"{COOKIE}={text}"} for text in ("", "x", cookie, form, token, found.cookie)]
    for headers in wrong:
        assert told_to_log_in(
            client.request(door.method, door.url, headers=headers, data={"form": form} if door.method == "POST" else None)
        )


@pytest.mark.parametrize("door", BY_LOGIN, ids=str)
def test_pages_of_another_role(client: TestClient, served: Served, door: Door) -> None:
    for role, name in {"owner": "owner", "analyst": "ann", "auditor": "eve"}.items():
        account = served.server.accounts.get(name)
        assert account is not None
        if role in door.roles:
            continue
        cookie, form = served.server.logins.begin(account)
        data = {"form": form} if door.method == "POST" else None
        assert client.request(door.method, door.url, headers={"Cookie": f"{COOKIE}={cookie}"}, data=data).status_code == 403


@pytest.mark.parametrize("door", [door for door in BY_LOGIN if door.method != "GET"], ids=str)
def test_forms_that_are_not_from_a_page_of_the_login(client: TestClient, served: Served, door: Door) -> None:
    account = served.server.accounts.get("owner" if "owner" in door.roles else "ann" if "analyst" in door.roles else "eve")
    assert account is not None
    cookie, _ = served.server.logins.begin(account)
    _, other = served.server.logins.begin(account)
    for data in ({}, {"form": ""}, {"form": "x"}, {"form": cookie}, {"form": other}):
        answer = client.request(door.method, door.url, headers={"Cookie": f"{COOKIE}={cookie}"}, data=data)
        assert answer.status_code == 403 or (not data and answer.status_code == 400), data  # an empty body is no form at all
