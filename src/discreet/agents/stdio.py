"""Serve an agent over standard input and output, as desktop programs and editors start it."""

from __future__ import annotations

import asyncio

from discreet.agents.agent import Agent
from discreet.agents.tools import tools_server


def serve(agent: Agent) -> None:
    """Answer until standard input ends."""
    server = tools_server(lambda _: agent)
    try:
        asyncio.run(server.run_stdio_async())
    finally:
        agent.source.close()
