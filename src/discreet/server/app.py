"""The web application: routes, headers, limits and errors; and one door through which every error passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib import metadata

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from discreet.errors import Error
from discreet.server.access import Unauthenticated, require_login, server_of, token_holder
from discreet.server.api import asking, checking, owning, reading, running
from discreet.server.api.agents import agent_routes
from discreet.server.api.answers import problem
from discreet.server.api.nesting import require_plain
from discreet.server.outcome import UNEXPECTED
from discreet.server.pages.problems import is_page, page_problem, told_page
from discreet.server.pages.routes import ROUTERS
from discreet.server.server import Server

_FORM = 10_000  # bytes of the forms that are for everybody: to log in, and to choose a password
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(server: Server, beside: AbstractAsyncContextManager[None] | None = None) -> FastAPI:
    """The application of a server; `beside` is what else listens while it runs."""

    agents = agent_routes()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with nullcontext() if agents is None else agents.open():
            await server.start()
            async with beside or nullcontext():
                yield
            await server.stop()

    app = FastAPI(
        title="discreet",
        version=metadata.version("discreet"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.server = server
    for part in (reading, asking, checking, running, owning):
        app.include_router(part.router, dependencies=[Depends(require_plain)])
    if agents is not None:
        app.include_router(agents.router, dependencies=[Depends(require_plain)])
    for pages in ROUTERS:
        app.include_router(pages)
    app.get("/health", response_class=PlainTextResponse)(health)
    app.get("/ready", response_class=PlainTextResponse)(ready)
    app.middleware("http")(_guarded)
    app.add_exception_handler(Error, _problem)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, lambda request, _: _unexpected(request))
    return app


def health() -> str:
    """The process answers."""
    return "ok"


def ready(request: Request) -> PlainTextResponse:
    """It accepts questions."""
    return PlainTextResponse("ready") if server_of(request).ready else PlainTextResponse("starting or stopping", 503)


async def _guarded(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse bodies that are too large or too slow, add headers, count and log; what nobody foresaw ends here."""
    server, begin = server_of(request), time.monotonic()
    response: Response | None = await _refused(request, server)
    if response is None:
        try:
            response = await call_next(request)
        except Exception as error:  # its text may contain data
            server.log.crashed(_route(request), error)
            response = _unexpected(request)
    for name, text in _HEADERS.items():
        response.headers.setdefault(name, text)
    if server.settings.is_secure:
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    route, account = _route(request), getattr(request.state, "account", None)
    server.metrics.request(request.method, route, response.status_code)
    server.log.request(request.method, route, response.status_code, account, (time.monotonic() - begin) * 1000)
    return response


def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Error)
    return page_problem(request, error) if is_page(request) else problem(error)


async def _refused(request: Request, server: Server) -> Response | None:
    """Read the body, or say why not: a client that sends it byte by byte must not keep anything waiting."""
    length = request.headers.get("content-length", "0")
    if "transfer-encoding" in request.headers or not (length.isascii() and length.isdigit()):
        return _invalid("the length of the body is not given: send Content-Length", 411)
    is_open = request.method == "POST" and request.url.path.startswith(("/login", "/welcome/"))
    if len(length) > 18 or int(length) > (min(_FORM, server.settings.largest_body) if is_open else server.settings.largest_body):
        return _invalid("the body is too large", 413)
    if int(length) and not is_open:
        try:
            (require_login if is_page(request) else token_holder)(request)  # before anything is read that nobody in particular has sent
        except Unauthenticated as error:
            return _problem(request, error)
    try:
        async with asyncio.timeout(server.settings.body_seconds):
            await request.body()
    except TimeoutError:
        return _invalid("the body did not arrive in time", 408)
    except ClientDisconnect:
        return _invalid("the body did not arrive", 400)
    return None


def _route(request: Request) -> str:
    return str(getattr(request.scope.get("route"), "path", "(none)"))


def _invalid(message: str, status: int) -> JSONResponse:
    return JSONResponse({"error": "Invalid", "message": message}, status)


def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if is_page(request):
        return told_page(request, 422, "This address is not complete, or was changed.")
    where = "; ".join(f"{'.'.join(map(str, one['loc']))[:200]}: {one['msg']}" for one in error.errors()[:5])
    return _invalid(f"this request is not well formed: {where}", 422)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if is_page(request):
        return told_page(request, error.status_code, "There is nothing here." if error.status_code == 404 else "This is not possible here.")
    said = {404: "there is nothing here", 405: "not allowed here"}.get(error.status_code, "this request cannot be read")
    response = _invalid(said, error.status_code)
    response.headers.update(error.headers or {})
    return response


def _unexpected(request: Request) -> Response:
    if is_page(request):
        return told_page(request, 500, "Something unexpected failed on the server; its owner can look up the reason.")
    return JSONResponse({"error": "Error", "message": UNEXPECTED}, 500)
