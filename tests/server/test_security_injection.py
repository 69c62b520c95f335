"""What people type stays text: in SQL, in HTML, in headers, in paths, in logs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, Served, asked
from server.routes import Door, doors

from discreet.server.app import application

D = "/api/v1/datasets/clinic"
SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    "' OR '1'='1",
    "'; DROP TABLE accounts; --",
    '" OR ""="',
    "1; ATTACH '/etc/passwd' AS x",
    "%' UNION SELECT password FROM accounts --",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "\u202e",
    SCRIPT,
]
WITH_NAMES = [door for door in doors(application(None)) if "{" in door.path and door.by == "token"]  # type: ignore[arg-type]


def answers(client: TestClient, served: Served) -> tuple[Any, ...]:
    """What the database holds of accounts and tokens."""
    return tuple(map(tuple, served.server.database.rows("SELECT name, role, disabled, password FROM accounts ORDER BY name")))


@pytest.mark.parametrize("door", WITH_NAMES, ids=str)
def test_every_name_in_a_path(client: TestClient, served: Served, door: Door) -> None:
    before = answers(client, served)
    for text in HOSTILE:
        path = re.sub(r"\{[^}]*\}", lambda _, text=text: text.replace("/", "%2f"), door.path)
        answer = client.request(door.method, path, json=door.body, headers=served.header("owner"))
        assert answer.status_code in (400, 403, 404, 405, 422), f"{path}: {answer.text}"
        assert SCRIPT not in answer.text or answer.headers["content-type"] == "application/json"
    assert answers(client, served) == before


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_of_a_body(client: TestClient, served: Served, text: str) -> None:
    before, owner, ann = answers(client, served), served.header("owner"), served.header("ann")
    tried = [
        client.post(f"{D}/plans", json=asked(text), headers=ann),
        client.post(f"{D}/plans", json=asked(epsilon=text), headers=ann),
        client.post(f"{D}/plans", json={"request": [["table", [text], {}], ["count", [], {}]], "price": {"epsilon": 1}}, headers=ann),
        client.post(f"{D}/plans", json={"request": [[text, [], {}]], "price": {"epsilon": 1}}, headers=ann),
        client.post(f"{D}/plans", json={"request": [["sql", [COUNT], {text: 1}]], "price": {"epsilon": 1}}, headers=ann),
        client.post(f"{D}/plans", json={"request": asked()["request"], "price": {text: 1}}, headers=ann),
        client.post(f"{D}/prices", json={"request": asked()["request"], "error": {text: 1}}, headers=ann),
        client.post(f"{D}/grants", json={"account": text, "epsilon": 1}, headers=owner),
        client.post(f"{D}/grants", json={"account": "ann", "epsilon": text}, headers=owner),
        client.get("/api/v1/audit", params={"newest": text}, headers=owner),
        client.get(f"{D}/ledger", params={"start": text}, headers=owner),
        client.get(f"{D}/profile", params={"table": text}, headers=ann),
        client.get("/api/v1/me", headers={"Authorization": f"Bearer {text.encode('ascii', 'ignore').decode()}"}),
    ]
    assert {answer.status_code for answer in tried} <= {400, 401, 422}
    assert answers(client, served) == before


@pytest.mark.parametrize("text", HOSTILE)
def test_names_of_accounts_and_tokens_are_stored_as_typed(client: TestClient, served: Served, text: str) -> None:
    made = client.post("/api/v1/accounts", json={"name": text}, headers=served.header("owner"))
    labelled = client.post("/api/v1/tokens", json={"label": text}, headers=served.header("owner"))
    if text.isprintable():
        assert made.json()["account"] == text
        assert labelled.json()["label"] == text
        assert served.server.accounts.get(text) is not None
    else:
        assert made.status_code == labelled.status_code == 400
    assert len(served.server.accounts.all()) >= 4


def test_names_of_columns_are_escaped_in_html(client: TestClient, served: Served) -> None:
    body = asked(f'SELECT dept AS "{SCRIPT}", COUNT(*) AS "<img src=x onerror=alert(1)>" FROM visits GROUP BY dept')
    plan = client.post(f"{D}/plans", json=body, headers=served.header("ann"))
    assert plan.status_code == 200
    assert "<script" not in plan.json()["html"]
    assert "<img" not in plan.json()["html"]
    release = client.post(f"{D}/releases", json=body, headers=served.header("ann"))
    assert release.status_code == 200
    assert release.headers["content-type"] == "application/json"
    assert release.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/health", "/api/v1/me", "/nothing", f"{D}/plans", "/api/openapi.json"])
def test_headers_of_every_answer(client: TestClient, path: str) -> None:
    found = client.get(path).headers
    assert "default-src 'none'" in found["content-security-policy"]
    assert "unsafe-inline" not in found["content-security-policy"]
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in found
    assert "server" not in found


def test_other_origins_are_not_let_in(client: TestClient, served: Served) -> None:
    asked_first = client.options(f"{D}/releases", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
    assert asked_first.status_code == 405
    answer = client.get("/api/v1/me", headers=served.header("ann", Origin="https://evil.example"))
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_form_of_another_site_is_no_request(client: TestClient, served: Served) -> None:
    """A browser sends forms and plain texts across sites without asking; none of them is read as JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = client.post(
            f"{D}/releases", content=b'{"request": [], "price": {}}', headers=served.header("ann", **{"Content-Type": kind})
        )
        assert answer.status_code == 422


def test_links_do_not_follow_the_host_header(client: TestClient, served: Served) -> None:
    made = client.post("/api/v1/accounts", json={"name": "zoe"}, headers=served.header("owner", Host="evil.example"))
    assert made.json()["link"].startswith(served.server.settings.address)


def test_a_header_cannot_split_an_answer(client: TestClient, served: Served) -> None:
    header = served.header("ann", **{"Idempotency-Key": "a\\r\\nSet-Cookie: x=1", "Prefer": "respond-async"})
    answer = client.post(f"{D}/releases", json=asked(), headers=header)
    assert "set-cookie" not in answer.headers
    assert re.fullmatch(r"/api/v1/jobs/[0-9a-z]{20}", answer.headers["location"])
