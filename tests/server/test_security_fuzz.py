"""Every endpoint is fuzzed from its OpenAPI description: no answer is a failure of the server, and none tells more than it should."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, settings
from server.clinic import Served, make_server

from discreet.noise import bits
from discreet.server.app import application
from discreet.server.logs import Log

QUICK = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
LONG = settings(QUICK, max_examples=150, derandomize=False)
schema = schemathesis.openapi.from_dict(application(None).openapi())  # type: ignore[arg-type]
KNOWN = {"Invalid", "Refused", "BudgetExceeded", "Unauthenticated", "Forbidden", "TooManyRequests", "PolicyError", "WrongType"}


@pytest.fixture(scope="module")
def fuzzed() -> Any:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        served = make_server(Path(folder), log=Log(None, Path(folder) / "failures"), requests_a_minute=10**9, wait=0.2)
        app: FastAPI = application(served.server)
        with TestClient(app, raise_server_exceptions=False) as client:
            yield served, client


def try_once(case: Any, accounts: tuple[str, ...], served: Served, client: TestClient) -> None:
    """Send a case as each of these accounts."""
    for account in accounts:
        headers = {name: text for name, text in (case.headers or {}).items() if _sendable(name, text)}
        sent = case.as_transport_kwargs()
        url = sent["url"] if sent["url"].startswith("/") else "/" + sent["url"].split("/", 3)[-1]
        body = {name: sent[name] for name in ("json", "data") if sent.get(name) is not None}
        content = {"content": json.dumps(body["json"]).encode()} if "json" in body else {"content": body["data"]} if "data" in body else {}
        kind = {"Content-Type": "application/json"} if content else {}
        if isinstance(content.get("content"), dict | list):
            content = {"content": json.dumps(content["content"]).encode()}
        answer = client.request(
            case.method, url, params=sent.get("params"), headers={**headers, **kind, **served.header(account)}, **content
        )
        assert answer.status_code < 500, f"{case.method} {url}: {(served.folder / 'failures').read_text()[-3000:]}"
        if answer.status_code >= 400:
            assert answer.json()["error"] in KNOWN


def _sendable(name: str, text: Any) -> bool:
    return isinstance(text, str) and text.isascii() and text.isprintable() and name.lower() not in ("authorization", "content-length")


def fresh_secrets() -> Any:
    """Numbers of jobs and tokens from the system: all operations are one test to pytest, whose coins would repeat."""
    return mock.patch.object(bits, "os", os)


@schema.parametrize()
@QUICK
def test_no_request_breaks_the_server(case: Any, fuzzed: tuple[Served, TestClient]) -> None:
    with fresh_secrets():
        try_once(case, ("owner", "ann"), *fuzzed)


@pytest.mark.slow
@schema.parametrize()
@LONG
def test_no_request_breaks_the_server_however_many(case: Any, fuzzed: tuple[Served, TestClient]) -> None:
    with fresh_secrets():
        try_once(case, ("owner", "ann", "eve"), *fuzzed)
