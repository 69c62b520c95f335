"""The application: one door for every error, headers on every answer, and failures that tell nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, make_server

from discreet.server.app import application
from discreet.server.logs import Log


def test_health_and_readiness(served: Served) -> None:
    client = TestClient(application(served.server))  # not started
    assert (client.get("/health").text, client.get("/ready").status_code) == ("ok", 503)
    with client:
        assert client.get("/ready").text == "ready"
    assert not served.server.ready


def test_what_nobody_foresaw_tells_nothing_and_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, failures = io.StringIO(), tmp_path / "failures"
    served = make_server(tmp_path, log=Log(out, failures))

    def fail(*_: object) -> Any:
        raise RuntimeError("the patient Maria")

    monkeypatch.setattr(served.server.datasets, "of", fail)
    with TestClient(application(served.server)) as client:  # which would raise what leaves the application
        answer = client.get("/api/v1/datasets", headers=served.header("ann"))
    assert answer.status_code == 500
    assert answer.json()["error"] == "Error"
    assert "Maria" not in answer.text + out.getvalue()
    assert answer.headers["content-security-policy"]
    assert "the patient Maria" in failures.read_text()
    events = [json.loads(line)["event"] for line in out.getvalue().splitlines()]
    assert events == ["request failed", "request", "stopped"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/v1/no", 404), ("BREW", "/health", 405), ("PUT", "/api/v1/me", 405), ("GET", "/api/v1/datasets/clinic/releases", 405)],
)
def test_places_that_are_none(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["error"]) == (status, "Invalid")


def test_a_request_that_is_not_well_formed_names_the_field(client: TestClient, served: Served) -> None:
    answer = client.post("/api/v1/tokens", json={"label": "x", "days": "many", "nothing": 1}, headers=served.header("ann"))
    assert answer.status_code == 422
    assert "body.days" in answer.json()["message"]
    assert "body.nothing" in answer.json()["message"]
    assert "many" not in answer.json()["message"]  # what was typed is not repeated


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b'{"label": ' + b"9" * 5000 + b"}", b"\xff\xfe", b'{"label": "\\ud800"}'])
def test_bodies_that_are_no_json(client: TestClient, served: Served, body: bytes) -> None:
    answer = client.post("/api/v1/tokens", content=body, headers=served.header("ann", **{"Content-Type": "application/json"}))
    assert answer.status_code in (400, 422)
    assert answer.json()["error"] == "Invalid"
