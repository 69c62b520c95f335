"""What owners do: accounts, grants, tokens, the audit log, reloading."""

from __future__ import annotations

from fastapi.testclient import TestClient
from server.clinic import Served


def test_a_new_analyst_from_account_to_budget(client: TestClient, served: Served) -> None:
    owner = served.header("owner")
    made = client.post("/api/v1/accounts", json={"name": "zoe"}, headers=owner).json()
    secret = made["link"].rsplit("/", 1)[1]
    served.server.accounts.choose_password(secret, "correct horse battery")
    granted = client.post("/api/v1/datasets/clinic/grants", json={"account": "zoe", "epsilon": "0.5"}, headers=owner).json()
    assert granted["granted"]["epsilon"] == "0.5"
    assert client.post("/api/v1/datasets/clinic/reload", headers=owner).json() == {"reloaded": "clinic"}
    assert client.delete("/api/v1/accounts/zoe", headers=owner).json() == {"disabled": "zoe"}
    accounts = {one["name"]: one for one in client.get("/api/v1/accounts", headers=owner).json()["accounts"]}
    assert accounts["zoe"]["disabled"]
    found = client.get("/api/v1/audit", params={"newest": 6}, headers=owner).json()
    assert [(one["account"], one["event"]) for one in found["events"]] == [
        ("owner", "account added"),
        ("owner", "password link made"),
        ("zoe", "password chosen"),
        ("owner", "budget granted"),
        ("owner", "policy read again"),
        ("owner", "account disabled"),
    ]
    assert found["verified"] > 10


def test_a_tampered_audit_log_is_said_to_be(client: TestClient, served: Served) -> None:
    with served.server.database.writing() as run:
        run("UPDATE audit SET detail = 'nothing' WHERE sequence = 1")
    answer = client.get("/api/v1/audit", headers=served.header("eve"))
    assert (answer.status_code, answer.json()["error"]) == (503, "LedgerError")


def test_ones_own_tokens(client: TestClient, served: Served) -> None:
    ann = served.header("ann")
    made = client.post("/api/v1/tokens", json={"label": "notebook", "scope": "read"}, headers=ann).json()
    listed = client.get("/api/v1/tokens", headers=ann)
    assert made["id"] in listed.text
    assert made["token"].split("_")[2] not in listed.text
    new = {"Authorization": f"Bearer {made['token']}"}
    assert client.get("/api/v1/me", headers=new).json()["scope"] == "read"
    client.delete(f"/api/v1/tokens/{made['id']}", headers=ann)
    assert client.get("/api/v1/me", headers=new).status_code == 401
