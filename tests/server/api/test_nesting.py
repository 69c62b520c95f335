"""Bodies without end, and texts that cannot be written down."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, asked

D = "/api/v1/datasets/clinic"


def nested(depth: int) -> Any:
    found: Any = 1
    for number in range(depth):
        found = [found] if number % 2 else {"a": found}
    return found


@pytest.mark.parametrize("depth", [10, 19, 21, 100, 300, 800])
@pytest.mark.parametrize("verb", ["plans", "releases", "prices"])
def test_nesting(client: TestClient, served: Served, depth: int, verb: str) -> None:
    body = {"request": [["sql", [nested(depth)], {}]]} | ({"error": {"n": 1}} if verb == "prices" else {"price": {"epsilon": 1}})
    answer = client.post(f"{D}/{verb}", json=body, headers=served.header("ann"))
    assert answer.status_code in (400, 422)
    assert depth < 60 or "nested too deeply" in answer.json()["message"]


def test_half_of_a_surrogate_pair(client: TestClient, served: Served) -> None:
    header = served.header("ann", **{"Content-Type": "application/json"})
    for text in (
        b'{"request": [["sql", ["\\ud800"], {}]], "price": {}}',
        b'{"\\ud800": 1}',
        b'{"request": [["table", [], {"\\udfff": 1}]]}',
    ):
        assert client.post(f"{D}/plans", content=text, headers=header).status_code in (400, 422)
    whole = asked("SELECT COUNT(*) AS \"\U0001f600\" FROM visits WHERE dept = '\U0001f600'")
    assert client.post(f"{D}/plans", json=whole, headers=served.header("ann")).status_code == 200
