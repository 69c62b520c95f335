"""Looking: what each role sees of a data set."""

from __future__ import annotations

from fastapi.testclient import TestClient
from server.clinic import Served, asked

D = "/api/v1/datasets/clinic"


def test_what_an_analyst_sees(client: TestClient, served: Served) -> None:
    ann = served.header("ann")
    client.post(f"{D}/releases", json=asked(), headers=ann)
    assert client.get("/api/v1/me", headers=ann).json()["role"] == "analyst"
    assert client.get("/api/v1/datasets", headers=ann).json() == {"datasets": ["clinic"]}
    assert client.get(D, headers=ann).json()["budget"]["spent"]["epsilon"] == "0.1"
    assert client.get(f"{D}/history", headers=ann).status_code == 200
    assert client.get(f"{D}/profile", headers=ann).status_code == 400  # there is none
    for path in (f"{D}/ledger", f"{D}/accounts", "/api/v1/audit", "/api/v1/metrics", "/api/v1/accounts"):
        assert client.get(path, headers=ann).status_code == 403


def test_what_an_auditor_sees(client: TestClient, served: Served) -> None:
    eve = served.header("eve")
    client.post(f"{D}/releases", json=asked(), headers=served.header("ann"))
    ledger = client.get(f"{D}/ledger", headers=eve).json()
    assert ledger["length"] == len(ledger["entries"])
    assert "release" in {entry["kind"] for entry in ledger["entries"]}
    assert not any("release" in entry["body"] for entry in ledger["entries"])  # no answers
    some = client.get(f"{D}/ledger", params={"start": 1, "most": 2}, headers=eve).json()["entries"]
    assert [entry["sequence"] for entry in some] == [1, 2]
    accounts = client.get(f"{D}/accounts", headers=eve).json()
    assert accounts["analysts"]["ann"]["spent"]["epsilon"] == "0.1"
    assert "budget" not in client.get(D, headers=eve).json()
    assert client.post(f"{D}/releases", json=asked(), headers=eve).status_code == 403
