"""Two servers on one PostgreSQL: neither touches what the other does, and one takes up what the other leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient
from server.clinic import QUICK, Served, asked, make_server

from discreet.server import server as module
from discreet.server.app import application
from discreet.server.in_progress import ELSEWHERE
from discreet.server.server import Server
from discreet.server.settings import Settings
from discreet.server.store import instances


@pytest.fixture
def pair(tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, Server]]:
    """Two servers of one clinic, with one database."""
    monkeypatch.setattr(instances, "LEASE", 3.0)
    monkeypatch.setattr(module, "RENEWED", 0.2)
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("DROP SCHEMA IF EXISTS discreet_server CASCADE")
    first = make_server(tmp_path, database=postgres)
    second = Server(Settings(first.server.settings.policies, postgres, clock=QUICK, rows=2000.0))
    yield first, second
    for one in (first.server, second):
        one.queue.close()
        one.datasets.close()
        one.database.close()


def test_one_takes_up_what_the_other_leaves_and_nothing_before(pair: tuple[Served, Server]) -> None:
    served, second = pair
    first, data = served.server, next(iter(served.server.datasets))
    ann = first.accounts.get("ann")
    assert ann is not None
    running, _ = first.asking.add(data, ann, asked(), None)
    assert first.jobs.begin(running.id, data.ledger.length)
    first.instance.renew()
    begin = time.monotonic()
    with TestClient(application(second)) as client:
        address = f"/api/v1/jobs/{running.id}"
        states = []
        while (state := client.get(address, headers=served.header("ann")).json()["state"]) != "done":
            states.append((time.monotonic() - begin, state))
            assert states[-1][0] < 60, "nobody took it up"
            time.sleep(0.05)
        assert all(state == "running" for at, state in states if at < 2.5)
        assert client.get(f"{address}/answer", headers=served.header("ann")).status_code == 200
    assert [entry.body["question"] for entry in data.ledger.entries() if entry.kind == "spend"] != []
    assert data.ledger.pending() == []


def test_what_one_answers_is_not_seen_at_the_other_before_it_leaves(pair: tuple[Served, Server]) -> None:
    served, second = pair
    data = next(iter(served.server.datasets))
    ann, bob, header = served.server.accounts.get("ann"), served.server.accounts.get("bob"), served.header("ann")
    assert ann is not None
    assert bob is not None
    with TestClient(application(second)) as client:

        def look() -> None:
            served.server.instance.renew()
            for path in ("budget", "history"):
                said = client.get(f"/api/v1/datasets/clinic/{path}", headers=header)
                assert (said.status_code, said.json()["message"]) == (422, ELSEWHERE)
            said = client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=header)
            assert (said.status_code, said.json()["message"]) == (422, ELSEWHERE)
            assert client.get("/api/v1/datasets/clinic/budget", headers=served.header("bob")).status_code == 200
            assert data.allowance(ann).spent.epsilon == 0

        async def answering() -> None:
            async with data.in_progress(ann, ["a question"]):
                await asyncio.to_thread(look)

        asyncio.run(answering())
        assert client.get("/api/v1/datasets/clinic/budget", headers=header).status_code == 200
        assert client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=header).status_code == 200
