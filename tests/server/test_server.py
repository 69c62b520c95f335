"""The thinnest path: ask, receive, ask again."""

from __future__ import annotations

from fastapi.testclient import TestClient
from server.clinic import Served, asked

import discreet


def test_a_question_is_answered_once_and_then_free(client: TestClient, served: Served) -> None:
    first = client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=served.header("ann"))
    again = client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=served.header("ann"))
    assert first.status_code == again.status_code == 200
    assert first.json()["release"]["answers"] == again.json()["release"]["answers"]
    budget = client.get("/api/v1/datasets/clinic/budget", headers=served.header("ann")).json()
    assert budget["spent"]["epsilon"] == "0.1"
    assert first.headers["content-security-policy"].startswith("default-src 'none'")
    assert discreet.__version__ == client.get("/api/openapi.json").json()["info"]["version"]
