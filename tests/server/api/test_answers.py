"""Answers in the format that the client accepts; errors with their status."""

from __future__ import annotations

import io

import polars
import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, asked

from discreet.server.api.answers import ARROW, CSV, PARQUET, status_of

D = "/api/v1/datasets/clinic"


def test_formats(client: TestClient, served: Served) -> None:
    def accepted(kind: str) -> bytes:
        answer = client.post(f"{D}/releases", json=asked(), headers=served.header("ann", Accept=kind))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        return answer.content

    assert b'"answers"' in accepted("application/json")
    csv, arrow = polars.read_csv(accepted(CSV)), polars.read_ipc_stream(io.BytesIO(accepted(ARROW)))
    assert csv["dept"].to_list() == arrow["dept"].to_list() == ["eyes", "heart", "skin"]
    assert csv["n"].to_list() == arrow["n"].to_list()
    parquet = accepted(PARQUET)
    assert polars.read_parquet(parquet).equals(arrow)
    assert "discreet" in polars.read_parquet_metadata(parquet)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("Unauthenticated", 401), ("Forbidden", 403), ("TooManyRequests", 429), ("BudgetExceeded", 402), ("Refused", 422),
        ("WrongType", 422), ("Invalid", 400), ("PolicyError", 400), ("LedgerError", 503), ("EngineError", 503), ("Error", 500),
        ("__import__", 500),
    ],
)  # fmt: skip
def test_the_status_of_an_error(name: str, status: int) -> None:
    assert status_of(name) == status
