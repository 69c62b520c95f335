"""Errors as pages; whoever is not logged in is led to the login."""

from __future__ import annotations

from typing import final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from discreet.errors import Error, Invalid
from discreet.server.access import COOKIE, Caller, TooManyRequests, Unauthenticated, server_of
from discreet.server.api.answers import status_of
from discreet.server.outcome import as_outcome
from discreet.server.pages.rendering import PART, render


@final
class NotHere(Invalid):
    """There is no such page, or it is somebody else's: the same answer for both."""


def is_page(request: Request) -> bool:
    """Whether a person asks, and not a program."""
    return not request.url.path.startswith(("/api/", "/mcp", "/health", "/ready"))


def page_problem(request: Request, error: Error) -> Response:
    """An error as a page, or as a part of one."""
    if isinstance(error, Unauthenticated):
        if PART in request.headers:
            return HTMLResponse('<p class="problem">Your login has ended: load the page again.</p>', 401)
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse("/login" if request.method != "GET" or wanted == "/" else f"/login?next={quote(wanted)}", 303)
    told = as_outcome(error)
    status = 404 if isinstance(error, NotHere) else status_of(told["error"])
    found = told_page(request, status, told["message"], told["notes"])
    if isinstance(error, TooManyRequests):
        found.headers["Retry-After"] = str(error.seconds)
    return found


def told_page(request: Request, status: int, message: str, notes: list[str] | None = None) -> HTMLResponse:
    """A page with a message."""
    template = "_problem.html" if PART in request.headers else "problem.html"
    login = None if status == 500 else server_of(request).logins.find(request.cookies.get(COOKIE, ""))
    caller = None if login is None else Caller(login.account, login=login)
    return render(request, template, caller, status, is_missing=status == 404, problem={"message": message, "notes": notes or []})
