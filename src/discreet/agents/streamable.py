"""The protocol over HTTP. Every request stands for itself: it brings its token, and no session that another could take over is kept."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from discreet.agents.tools import Failed, Find, tools_server


@final
class Streamable:
    """The tools, answering requests of a web application."""

    def __init__(self, find: Find, failed: Failed) -> None:
        server = tools_server(find, failed)
        # this makes a whole application, of which only the manager is used: our own routes admit who may ask, by a token in a header, so a
        # page that reaches us under another host name (DNS rebinding) has nothing to send
        any_host = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=any_host)
        self._manager = server.session_manager

    def open(self) -> AbstractAsyncContextManager[None]:
        """Answer while the block lasts."""
        return self._manager.run()

    async def answer(self, request: Request) -> Response:
        """The response to a request whose body may have been read already."""
        return _Answer(self._manager, await request.body())


@final
class _Answer(Response):
    """A response that is written while the request is handled."""

    def __init__(self, manager: StreamableHTTPSessionManager, body: bytes) -> None:
        super().__init__()
        self._manager, self._read = manager, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the protocol read the body again, and answer."""
        unread: list[Message] = [{"type": "http.request", "body": self._read, "more_body": False}]

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        await self._manager.handle_request(scope, again, send)
