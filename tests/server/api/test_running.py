"""Runs over HTTP are tested with the runs themselves; here, what is not one."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, asked


@pytest.mark.parametrize("price", [{"nothing": 1}, {"epsilon": "x"}, {}])
def test_prices_that_open_nothing(client: TestClient, served: Served, price: dict[str, object]) -> None:
    body = {"request": [["watch", [], {"threshold": 100}]], "price": price}
    answer = client.post("/api/v1/datasets/clinic/runs", json=body, headers=served.header("ann"))
    assert answer.status_code == 400
    assert client.get("/api/v1/datasets/clinic/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "0"


def test_what_is_released_is_not_opened(client: TestClient, served: Served) -> None:
    answer = client.post("/api/v1/datasets/clinic/runs", json=asked(), headers=served.header("ann"))
    assert "released, not opened" in answer.json()["message"]
