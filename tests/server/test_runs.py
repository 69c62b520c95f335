"""Open runs: whose they are, how many, and how long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served

from discreet.errors import Invalid
from discreet.server import runs as module
from discreet.server.runs import OpenRun
from discreet.session.remote.wire import Chain

WATCH = {"request": [["watch", [], {"threshold": 100}]], "price": {"epsilon": 0.2}}


def opened(served: Served, name: str) -> OpenRun:
    server = served.server
    who, data = server.accounts.get(name), next(iter(server.datasets))
    assert who is not None
    chain = Chain.from_json(WATCH["request"])
    return asyncio.run(server.runs.open(data, who, chain, {"epsilon": "0.01"}, 0))


def test_a_run_is_its_accounts(served: Served) -> None:
    run = opened(served, "ann")
    ann, bob = served.server.accounts.get("ann"), served.server.accounts.get("bob")
    assert ann is not None
    assert bob is not None
    assert served.server.runs.get(run.id, ann) is run
    said = set()
    for number, who in ((run.id, bob), ("nothing", bob), ("nothing", ann)):
        with pytest.raises(Invalid) as error:
            served.server.runs.get(number, who)
        said.add(str(error.value))
    assert said == {module.GONE}
    served.server.runs.close(run)
    with pytest.raises(Invalid):
        served.server.runs.get(run.id, ann)


def test_old_ones_make_room_and_idle_ones_end(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    ann = served.server.accounts.get("ann")
    assert ann is not None
    first, second, third = (opened(served, "ann") for _ in range(3))
    with pytest.raises(Invalid):
        served.server.runs.get(first.id, ann)
    assert served.server.runs.get(second.id, ann) is second
    monkeypatch.setattr(module, "_IDLE", -1.0)
    with pytest.raises(Invalid):
        served.server.runs.get(third.id, ann)


def test_over_http(client: TestClient, served: Served) -> None:
    header = served.header("ann")
    run = client.post("/api/v1/datasets/clinic/runs", json=WATCH, headers=header).json()
    assert run["kind"] == "watch"
    place = f"/api/v1/runs/{run['run']}"

    def step(**body: Any) -> Any:
        return client.post(place, json=body, headers=header)

    assert step(step="state").status_code == 200
    answer = step(step="ask", arguments={"question": "SELECT COUNT(*) AS n FROM visits"})
    assert answer.status_code == 200, answer.text
    for wrong in ({"question": 7}, {"nothing": 1}, {"$date": "2020-01-01"}, {"question": {"$chain": [["close", [], {}]]}}):
        assert step(step="ask", arguments=wrong).status_code in (400, 422)
    assert step(step="close").status_code == 422
    assert client.delete(place, headers=header).json() == {"closed": run["run"]}
    assert step(step="state").status_code == 400
