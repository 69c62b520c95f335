"""Asking over HTTP: plans and prices are free, releases are jobs in slots."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, POLICY, Served, asked, make_server, write_clinic

from discreet.server.app import application

D = "/api/v1/datasets/clinic"


def test_a_plan_tells_its_error_and_its_slot(client: TestClient, served: Served) -> None:
    plan = client.post(f"{D}/plans", json=asked() | {"error": {"confidence": 0.9}}, headers=served.header("ann")).json()
    assert plan["epsilon"] == "0.1"
    assert plan["error"]["n"] > 0
    assert plan["seconds"] in served.server.queue.clock.slots
    assert client.get(f"{D}/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "0"


@pytest.mark.parametrize("error", [{"nothing": 1}, {"$date": "2020-01-01"}, {"$pairs": [[1, 2]]}, {"confidence": "x"}, {"size": [1]}])
def test_arguments_that_a_plan_does_not_take(client: TestClient, served: Served, error: dict[str, Any]) -> None:
    answer = client.post(f"{D}/plans", json=asked() | {"error": error}, headers=served.header("ann"))
    assert answer.status_code in (400, 422)


def test_a_price_for_an_error(client: TestClient, served: Served) -> None:
    body = {"request": [["sql", [COUNT], {}]], "error": {"n": 20}}
    price = float(client.post(f"{D}/prices", json=body, headers=served.header("ann")).json()["epsilon"])
    body = {"request": [["sql", [COUNT], {}]], "error": {"n": 10}}
    assert float(client.post(f"{D}/prices", json=body, headers=served.header("ann")).json()["epsilon"]) > price > 0


def test_a_job_is_fetched_later(client: TestClient, served: Served) -> None:
    header = served.header("ann")
    job = client.post(f"{D}/releases", json=asked(), headers=header | {"Prefer": "respond-async"})
    assert job.status_code == 202
    place = job.headers["location"]
    while client.get(place, headers=header).json()["state"] in ("queued", "running"):
        time.sleep(0.01)
    assert client.get(f"{place}/answer", headers=header).json()["release"]["answers"]
    assert client.delete(place, headers=header).json() == {"cancelled": False}


def test_stored_answers_are_ones_own_and_free(client: TestClient, served: Served) -> None:
    def stored(account: str) -> Any:
        answer = client.post(f"{D}/releases", json=asked() | {"stored": True}, headers=served.header(account))
        assert answer.status_code == 200
        return answer.json()

    assert stored("ann") == {"release": None}
    paid = client.post(f"{D}/releases", json=asked(), headers=served.header("ann")).json()
    assert stored("ann")["release"]["answers"] == paid["release"]["answers"]
    assert stored("bob") == {"release": None}  # as if nobody had asked
    spent = [client.get(f"{D}/budget", headers=served.header(name)).json()["spent"]["epsilon"] for name in ("ann", "bob")]
    assert spent == ["0.1", "0"]


def test_the_title_of_a_job_shows_its_parameters(client: TestClient, served: Served) -> None:
    request = [["sql", ["SELECT COUNT(*) AS n FROM visits WHERE dept = ?"], {"parameters": ["skin"]}]]
    body = {"request": request, "price": {"epsilon": 0.1}}
    assert client.post(f"{D}/releases", json=body, headers=served.header("ann")).status_code == 200
    jobs = client.get("/api/v1/jobs", headers=served.header("ann")).json()["jobs"]
    assert [job["title"] for job in jobs] == ["SELECT COUNT(*) AS n FROM visits WHERE dept = ? -- parameters: 'skin'"]
    wrong = client.post(f"{D}/releases", json=body | {"request": [["sql", [COUNT], {"parameters": [[1]]}]]}, headers=served.header("ann"))
    assert (wrong.status_code, wrong.json()["error"]) == (400, "Invalid")


def test_a_retry_with_the_same_key_pays_once(client: TestClient, served: Served) -> None:
    header = served.header("ann", **{"Idempotency-Key": "k"})
    first, second = (client.post(f"{D}/releases", json=asked(), headers=header) for _ in range(2))
    assert first.headers["discreet-job"] == second.headers["discreet-job"]
    assert first.content == second.content
    assert client.get(f"{D}/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "0.1"


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (asked("SELECT person FROM visits"), 422, "Refused"),
        (asked(epsilon=100), 402, "BudgetExceeded"),
        (asked(epsilon=-1), 400, "Invalid"),
        (asked(nothing=1), 400, "Invalid"),
        ({"request": [["watch", [], {"threshold": 1}]], "price": {"epsilon": 1}}, 400, "Invalid"),
        (asked() | {"verb": "close"}, 422, "Invalid"),
    ],
)
def test_refusals_charge_nothing(client: TestClient, served: Served, body: Any, status: int, error: str) -> None:
    answer = client.post(f"{D}/releases", json=body, headers=served.header("ann"))
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert client.get(f"{D}/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "0"


def test_what_is_shared_is_received_and_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no δ is stated, and the two accounts have different ones."""
    undeclared = POLICY.partition("[tables.visits.columns.dept]")[0]
    monkeypatch.setattr("server.clinic.write_clinic", partial(write_clinic, policy=undeclared))
    served = make_server(tmp_path)
    ledger = next(iter(served.server.datasets)).ledger
    ledger.grant("bob", 3, "1e-8")
    with TestClient(application(served.server)) as client:
        for more in ({}, {"verb": "refine", "refine": [{"epsilon": 0.2}]}):
            made = client.post(f"{D}/releases", json=asked(epsilon=1) | more, headers=served.header("ann")).json()
            client.post(f"/api/v1/jobs/{made['job']}/shares", json={"account": "bob"}, headers=served.header("ann"))
            received = client.get(f"/api/v1/jobs/{made['job']}/answer", headers=served.header("bob")).json()
            assert received["release"]["answers"] == made["release"]["answers"]
    paid = [(entry.kind, entry.body["analyst"]) for entry in ledger.entries() if entry.kind in ("spend", "receive")]
    assert paid == [("spend", "ann"), ("receive", "bob")] * 2
