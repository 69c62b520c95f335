"""Sources: one thing at a time on a local policy, answers at the ends of slots, and the same through a server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from agents.clinic import granted
from server.clinic import COUNT, Served, listening, make_server

from discreet.agents.agent import Agent
from discreet.agents.sessions import LocalSource, RemoteSource
from discreet.agents.source import Request, Running
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.session.project import open_project
from discreet.session.released import Released

ASKED, PRICE = Request("sql", COUNT), {"epsilon": "0.1"}


def test_an_agent_is_not_the_owner(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="account of its own"):
        LocalSource.open(granted(tmp_path), "owner", lambda _session, _call, took: took)


def test_an_answer_leaves_at_the_end_of_its_slot_and_a_repeat_at_once(tmp_path: Path) -> None:
    async def run() -> list[float]:
        source = LocalSource.open(granted(tmp_path), "agent", lambda _session, _call, took: took + 0.5)
        took = []
        for _ in range(2):
            begin = time.monotonic()
            assert isinstance(await source.release(ASKED, PRICE), Released)
            took.append(time.monotonic() - begin)
        source.close()
        return took

    first, second = asyncio.run(run())
    assert first >= 0.5
    assert second < 0.5


def test_a_long_answer_is_asked_for_again_and_hides_its_charge(tmp_path: Path) -> None:
    """While it is answered nothing else is told, also to who cancels."""

    async def run() -> None:
        policy = granted(tmp_path)
        session = open_project(policy, None, "agent", per_account=True)
        source = LocalSource(session, "agent", lambda _session, _call, took: took + 1.5, wait=0.2)
        assert isinstance(await source.release(ASKED, PRICE), Running)
        with pytest.raises(Refused, match="still being answered"):
            await source.budget()
        assert not (await source.plan(ASKED, PRICE)).known
        found: Any = Running()
        while isinstance(found, Running):
            found = await source.release(ASKED, PRICE)
        assert (await source.budget())["spent"]["epsilon"] == "0.1"
        assert (await source.plan(ASKED, PRICE)).known
        source.close()

    asyncio.run(run())


def test_what_is_being_answered_is_not_confirmed_again(tmp_path: Path) -> None:
    async def run() -> None:
        session = open_project(granted(tmp_path), None, "agent", per_account=True)
        agent = Agent(LocalSource(session, "agent", lambda _session, _call, took: took + 1, wait=0.2))
        asked = await agent.ask(ASKED, {"epsilon": "0.2"})
        assert asked["status"] == "unconfirmed"
        assert (await agent.ask(ASKED, {"epsilon": "0.2"}, confirm=asked["confirm"]))["status"] == "running"
        assert await agent.to_confirm(ASKED, {"epsilon": "0.2"}) is None
        while (found := await agent.ask(ASKED, {"epsilon": "0.2"}))["status"] == "running":
            pass
        assert found["status"] == "answered"
        assert (await agent.ask(ASKED, {"epsilon": "0.3"}))["status"] == "unconfirmed"
        agent.source.close()

    asyncio.run(run())


def test_an_answer_without_rows_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        agent = Agent(LocalSource.open(granted(tmp_path), "agent", lambda _session, _call, took: took))
        found = await agent.ask(Request("sql", f"{COUNT} HAVING COUNT(*) < 0"), {"epsilon": "0.1"})
        assert (found["data"]["rows"], found["data"]["notes"][0]) == ([], "(no rows)")
        agent.source.close()

    asyncio.run(run())


def test_the_budget_of_the_account_is_the_limit(tmp_path: Path) -> None:
    async def run() -> None:
        source = LocalSource.open(granted(tmp_path, 0.15), "agent", lambda _session, _call, took: took)
        await source.release(ASKED, PRICE)
        with pytest.raises(BudgetExceeded):
            await source.release(ASKED, {"epsilon": "0.06"})
        assert len(await source.history()) == 1
        source.close()

    asyncio.run(run())


def test_a_server_in_the_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: Served = make_server(tmp_path)
    monkeypatch.setenv("DISCREET_TOKEN", served.tokens["ann"])

    async def run(url: str) -> None:
        source = RemoteSource.open(f"{url}/clinic")
        assert (await source.about())["name"] == "clinic"
        assert not (await source.plan(ASKED, PRICE)).known
        assert await source.price(ASKED, {"n": 100}) > 0
        first = await source.release(ASKED, PRICE)
        assert isinstance(first, Released)
        assert (await source.plan(ASKED, PRICE)).known
        assert (await source.budget())["spent"]["epsilon"] == "0.1"
        assert len(await source.history()) == 1
        source.close()

    with listening(served.server) as url:
        asyncio.run(run(url))
