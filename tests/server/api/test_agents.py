"""`/mcp` over HTTP, with the SDK's client and by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from server.clinic import COUNT, Served, listening, make_server

HEAD = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session(tmp_path: Path, mode: str) -> None:
    served = make_server(tmp_path)

    async def run(url: str) -> None:
        async with (
            httpx2.AsyncClient(headers=served.header("ann")) as http,
            Client(streamable_http_client(f"{url}/mcp/clinic", http_client=http), mode=mode) as client,
        ):
            found = [(await client.call_tool("ask", {"sql": COUNT, "epsilon": 0.05})).structured_content for _ in range(2)]
            assert [one["charged"] for one in found if one] == [True, False]
            left = (await client.call_tool("remaining", {})).structured_content
            assert left is not None
            assert left["budget"]["spent"]["epsilon"] == "0.05"

    with listening(served.server) as url:
        asyncio.run(run(url))


def test_who_may(client: TestClient, served: Served) -> None:
    read = served.server.tokens.add("ann", "looks", "read", 1, None, "owner")[1]
    for header in (served.header("owner"), served.header("eve"), {"Authorization": f"Bearer {read}"}):
        assert client.post("/mcp", json=called("describe"), headers=HEAD | header).status_code == 403
    assert client.post("/mcp", json=called("describe"), headers=HEAD).status_code == 401
    assert client.get("/mcp", headers=HEAD | served.header("ann")).status_code == 405


def test_a_token_for_another_data_set(client: TestClient, served: Served) -> None:
    other = served.server.tokens.add("ann", "elsewhere", "ask", 1, ["payroll"], "owner")[1]
    for path in ("/mcp", "/mcp/clinic", "/mcp/payroll"):
        said = client.post(path, json=called("describe"), headers=HEAD | {"Authorization": f"Bearer {other}"})
        assert "no such data set" in said.json()["result"]["structuredContent"]["message"]


def test_requests_are_limited_and_logged_by_route(client: TestClient, served: Served) -> None:
    served.server.request_limit.take("ann")
    said = client.post("/mcp/clinic", json=called("remaining"), headers=HEAD | served.header("ann"))
    assert said.status_code == 200
    assert said.headers["cache-control"] == "no-store"
    assert "/mcp/{name}" in repr(served.server.metrics.__dict__)
