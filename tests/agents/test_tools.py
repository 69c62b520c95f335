"""The tools as a client of the SDK sees them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agents.clinic import agent_of, granted, with_client
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult
from server.clinic import COUNT

from discreet.agents.agent import UNASKED, Agent
from discreet.agents.limits import Limits
from discreet.agents.shown import NOTE
from discreet.agents.source import Request
from discreet.agents.tools import INSTRUCTIONS, UNEXPECTED, tools_server
from discreet.errors import Refused


def test_the_tools_and_their_fixed_texts(tmp_path: Path) -> None:
    async def run() -> None:
        async with Client(tools_server(lambda _: agent_of(granted(tmp_path)))) as client:
            found = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(found) == {"describe", "forecast", "ask", "remaining", "synthesize", "history"}
            assert set(found["ask"].input_schema["properties"]) == {"sql", "epsilon", "delta", "confirm", "first_row"}
            assert client.instructions == INSTRUCTIONS
            assert NOTE in INSTRUCTIONS
            assert not {"dept", "eyes", "visits"} & set(json.dumps([tool.model_dump() for tool in found.values()]).split())

    asyncio.run(run())


def test_a_session(tmp_path: Path) -> None:
    async def work(call: Any) -> None:
        assert (await call("describe"))["data"]["tables"][0]["name"] == "visits"
        planned = await call("forecast", sql=COUNT, epsilon=0.05)
        assert planned["price"] == {"epsilon": "0.05", "delta": "0"}
        assert planned["within_limits"]
        least = await call("forecast", sql=COUNT, error={"n": 100})
        assert float(least["data"]["expected_error"]["n"]) <= 100
        first, second = await call("ask", sql=COUNT, epsilon=0.05), await call("ask", sql=COUNT, epsilon="0.05")
        assert (first["charged"], second["charged"]) == (True, False)
        assert first["data"]["rows"] == second["data"]["rows"]
        key, cell = first["data"]["rows"][0]
        assert key == "eyes"
        assert cell["low"] < cell["value"] < cell["high"]
        later = await call("ask", sql=COUNT, epsilon=0.05, first_row=2)
        assert later["data"]["rows"] == first["data"]["rows"][2:]
        assert (await call("remaining"))["budget"]["spent"]["epsilon"] == "0.05"
        assert [one["asked"] for one in (await call("history"))["data"]["purchases"]] == [COUNT]
        made = await call("synthesize", table="visits", epsilon=0.1, rows=3)
        assert len(made["data"]["rows"]) == 3

    with_client(agent_of(granted(tmp_path)), work)


def test_a_dear_question_is_confirmed_by_a_token(tmp_path: Path) -> None:
    async def work(call: Any) -> None:
        first = await call("ask", sql=COUNT, epsilon=0.2)
        assert first["status"] == "unconfirmed"
        assert (await call("remaining"))["budget"]["spent"]["epsilon"] == "0"
        assert (await call("ask", sql=COUNT, epsilon=0.25, confirm=first["confirm"]))["error"] == "Invalid"
        assert (await call("ask", sql=COUNT, epsilon=0.2, confirm=first["confirm"]))["charged"]
        assert not (await call("ask", sql=COUNT, epsilon=0.2))["charged"]  # a repeated question needs no confirmation
        made = await call("synthesize", table="visits", epsilon=0.2)
        assert made["status"] == "unconfirmed"

    with_client(agent_of(granted(tmp_path)), work)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("action", "agree", "answered"), [("accept", True, True), ("accept", False, False), ("decline", None, False)])
def test_a_person_is_asked_where_the_client_can(tmp_path: Path, mode: str, action: Any, agree: Any, answered: bool) -> None:
    seen: list[str] = []

    async def asked(_: Any, params: ElicitRequestParams) -> ElicitResult:
        seen.append(params.message)
        return ElicitResult(action=action, content=None if agree is None else {"agree": agree})

    async def work(call: Any) -> None:
        assert (await call("ask", sql=COUNT, epsilon=0.05))["charged"]  # cheap enough
        found = await call("ask", sql=COUNT, epsilon=0.2)
        assert (found["status"] == "answered") is answered
        assert answered or "declined" in found["message"]

    with_client(agent_of(granted(tmp_path)), work, elicitation_callback=asked, mode=mode)
    assert len(seen) == 1
    assert "ε = 0.2" in seen[0]


def test_no_token_replaces_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the client can ask a person, an agent gets no token to confirm by itself, also if the person could not be asked."""
    agent, failing = agent_of(granted(tmp_path)), [True]
    confirm, token = Agent.to_confirm, asyncio.run(agent.ask(Request("sql", COUNT), {"epsilon": 0.2}))["confirm"]

    async def busy(self: Agent, *given: Any) -> Any:
        if failing.pop() if failing else False:
            raise Refused("busy")
        return await confirm(self, *given)

    async def declined(_: Any, __: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="decline")

    async def work(call: Any) -> None:
        assert UNASKED in (await call("ask", sql=COUNT, epsilon=0.2))["message"]
        assert "declined" in (await call("ask", sql=COUNT, epsilon=0.2, confirm=token))["message"]
        assert (await call("remaining"))["budget"]["spent"]["epsilon"] == "0"

    monkeypatch.setattr(Agent, "to_confirm", busy)
    with_client(agent, work, elicitation_callback=declined)


def test_limits(tmp_path: Path) -> None:
    async def work(call: Any) -> None:
        assert (await call("ask", sql=COUNT, epsilon=0.4))["error"] == "BudgetExceeded"
        assert (await call("ask", sql=COUNT, epsilon=0.3))["charged"]
        found = await call("ask", sql=COUNT, epsilon=0.25)
        assert "session" in found["message"]
        assert not (await call("forecast", sql=COUNT, epsilon=0.25))["within_limits"]
        assert not (await call("ask", sql=COUNT, epsilon=0.3))["charged"]  # free, whatever the limits

    with_client(agent_of(granted(tmp_path), Limits("0.3", "0.5", 1)), work)


def test_what_nobody_foresaw_tells_nothing(tmp_path: Path) -> None:
    failed: list[str] = []

    def find(_: Any) -> Any:
        raise ValueError("a private row")

    async def run() -> None:
        async with Client(tools_server(find, lambda _request, error: failed.append(str(error)))) as client:
            for tool, arguments in (("describe", {}), ("ask", {"sql": COUNT, "epsilon": 1})):
                found = await client.call_tool(tool, arguments)
                assert found.is_error
                assert found.structured_content == {"status": "error", "error": "Error", "message": UNEXPECTED}
                assert "private row" not in repr(found)

    asyncio.run(run())
    assert failed == ["a private row"] * 2
