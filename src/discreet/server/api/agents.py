"""`/mcp`: AI agents ask through the Model Context Protocol, with the token of an analyst's account."""

from __future__ import annotations

import importlib.util
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, final

from attrs import frozen
from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from discreet.agents.agent import Agent
from discreet.server.access import Caller, by_token, server_of
from discreet.server.agents import Agents

# an owner's account has no budget of its own, so that nothing would limit an agent that used it
AgentCaller = Annotated[Caller, Depends(by_token("analyst", scope="ask"))]


@final
@frozen(eq=False)
class AgentRoutes:
    """The routes of agents, and the protocol that must be open while they are served."""

    router: APIRouter
    protocol: Any

    def open(self) -> AbstractAsyncContextManager[None]:
        """Serve agents while the block lasts."""
        opened: AbstractAsyncContextManager[None] = self.protocol.open()
        return opened


def agent_routes() -> AgentRoutes | None:
    """The routes of agents; None if the extra `mcp` is not installed."""
    if importlib.util.find_spec("mcp") is None:
        return None
    from discreet.agents.streamable import Streamable

    agents = Agents()

    def find(request: Any) -> Agent:
        caller: Caller = request.state.caller
        assert caller.token is not None, "programs come with a token"
        return agents.of(server_of(request), caller.account, request.path_params.get("name"), caller.token.datasets)

    def failed(request: Any, error: Exception) -> None:
        server_of(request).log.crashed("/mcp", error)

    protocol = Streamable(find, failed)
    router = APIRouter()

    async def answer(request: Request, caller: AgentCaller) -> Response:
        """Answer one message of the protocol."""
        request.state.caller = caller
        return await protocol.answer(request)

    for path in ("/mcp", "/mcp/{name}"):
        router.add_api_route(path, answer, methods=["POST"], include_in_schema=False)
    return AgentRoutes(router, protocol)
