"""The thinnest path: ask, receive, ask again."""

from __future__ import annotations

from pathlib import Path

from fastapi.testclient import TestClient
from server.clinic import Served, asked, make_server

import discreet
from discreet.server.app import application
from discreet.server.server import Server


def test_a_question_is_answered_once_and_then_free(client: TestClient, served: Served) -> None:
    first = client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=served.header("ann"))
    again = client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=served.header("ann"))
    assert first.status_code == again.status_code == 200
    assert first.json()["release"]["answers"] == again.json()["release"]["answers"]
    budget = client.get("/api/v1/datasets/clinic/budget", headers=served.header("ann")).json()
    assert budget["spent"]["epsilon"] == "0.1"
    assert first.headers["content-security-policy"].startswith("default-src 'none'")
    assert discreet.__version__ == client.get("/api/openapi.json").json()["info"]["version"]


def test_a_profile_that_an_account_bought_is_used_after_a_restart(tmp_path: Path) -> None:
    served = make_server(tmp_path)
    profile = {"request": [["profile", ["visits"], {}]], "price": {"epsilon": 1}}
    answers, server = [], served.server
    for _ in range(2):
        with TestClient(application(server)) as client:
            if not answers:
                assert client.post("/api/v1/datasets/clinic/releases", json=profile, headers=served.header("ann")).status_code == 200
            answers.append(client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=served.header("ann")).json())
            assert client.get("/api/v1/datasets/clinic/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "1.1"
            theirs = client.post("/api/v1/datasets/clinic/plans", json=asked(), headers=served.header("bob")).text
            assert "uses the profile" not in theirs  # it is ann's own
        closed(server)
        server = Server(server.settings)
    closed(server)
    assert answers[1]["repeated"]
    assert answers[0]["release"]["answers"] == answers[1]["release"]["answers"]
    assert "uses the profile of visits" in str(answers[1])


def closed(server: Server) -> None:
    server.queue.close()
    server.datasets.close()
    server.database.close()
