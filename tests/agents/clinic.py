"""An agent's account on the small clinic, on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import Client
from server.clinic import write_clinic

from discreet.agents.agent import Agent
from discreet.agents.limits import Limits
from discreet.agents.sessions import LocalSource
from discreet.agents.tools import tools_server
from discreet.session.project import open_project


def granted(folder: Path, epsilon: float = 2) -> Path:
    """A policy under which `agent` has a budget."""
    policy = write_clinic(folder)
    with open_project(policy) as owner:
        owner.ledger.grant("agent", epsilon, "1e-7")
    return policy


def agent_of(policy: Path, limits: Limits | None = None) -> Agent:
    return Agent(LocalSource.open(policy, "agent", lambda _session, _call, took: took), limits or Limits())


def with_client(agent: Agent, work: Callable[[Any], Awaitable[None]], **options: Any) -> None:
    """Let a client in this process work; `work` gets a function that calls tools."""

    async def run() -> None:
        async with Client(tools_server(lambda _: agent), **options) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                return (await client.call_tool(tool, arguments)).structured_content

            await work(call)

    try:
        asyncio.run(run())
    finally:
        agent.source.close()
