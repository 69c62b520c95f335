"""Limits of an answer: declared ones are refused before they are paid for; an engine's fail at the end of a slot, and are paid."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, Served, asked, make_server

from discreet.engines.engine import FAILED
from discreet.server.app import application
from discreet.server.clock import Clock

D = "/api/v1/datasets/clinic"


@pytest.fixture
def served(tmp_path: Path) -> Served:
    """At most five values, and statements that take no time."""
    return make_server(tmp_path, Clock(first=1.0), largest_answer=5, longest_statement=0.001)


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(application(served.server)) as found:
        yield found


def spent(client: TestClient, served: Served) -> Any:
    return client.get(f"{D}/budget", headers=served.header("ann")).json()["spent"]["epsilon"]


def test_they_are_part_of_the_description(client: TestClient, served: Served) -> None:
    assert client.get(D, headers=served.header("ann")).json()["limits"] == {"values": 5, "statement_seconds": 0.001}


@pytest.mark.parametrize("verb", ["release", "dry_run"])
def test_declared_groups_beyond_the_limit_are_refused_before_paying(client: TestClient, served: Served, verb: str) -> None:
    two = COUNT.replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(cost) AS s")  # 3 groups, with 3 outputs each
    said = client.post(f"{D}/releases", json=asked(two) | {"verb": verb}, headers=served.header("ann"))
    assert (said.status_code, said.json()["error"]) == (422, "Refused")
    assert "this server answers at most 5 values " in said.json()["message"]
    assert spent(client, served) == "0"
    assert client.get("/api/v1/jobs", headers=served.header("ann")).json()["jobs"] == []
    assert client.post(f"{D}/plans", json=asked(two), headers=served.header("ann")).status_code == 422


def test_what_takes_too_long_is_paid_and_fails_at_the_end_of_its_slot(client: TestClient, served: Served, slow: None) -> None:
    begin = time.monotonic()
    said = client.post(f"{D}/releases", json=asked("SELECT COUNT(*) AS n FROM visits"), headers=served.header("ann"))
    assert (said.status_code, said.json()["error"]) == (503, "EngineError")
    assert said.json()["message"] == FAILED
    assert time.monotonic() - begin >= 1.0
    assert spent(client, served) == "0.1"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements go on until they are cancelled."""
    from discreet.engines.duckdb.engine import DuckDB

    before, many = DuckDB._fetched, "range(100000000)"

    def endless(self: DuckDB, sql: str) -> Any:
        return before(self, f"SELECT CAST(COUNT(*) AS BIGINT) AS n FROM {many} a, {many} b WHERE hash(a.range, b.range) = 1")

    monkeypatch.setattr(DuckDB, "_fetched", endless)
