"""One's own tokens: make one, whose text is shown once, and revoke."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import Error, Invalid
from discreet.server.access import EVERYBODY, Caller, by_login, server_of
from discreet.server.outcome import as_outcome
from discreet.server.pages.forms import Posted, posted
from discreet.server.pages.rendering import render
from discreet.server.store.tokens import SCOPES, Scope

router = APIRouter(include_in_schema=False)
Anyone = Annotated[Caller, Depends(by_login(*EVERYBODY))]
Sent = Annotated[Posted, Depends(posted(*EVERYBODY))]


@router.get("/tokens")
def tokens(request: Request, caller: Anyone) -> Response:
    """One's own tokens."""
    return _page(request, caller)


@router.post("/tokens")
def make(request: Request, sent: Sent) -> Response:
    """A new token; its text is on this page and never again."""
    fields, server, name = sent.fields, server_of(request), sent.caller.account.name
    try:
        days, wanted = fields.text("days", 10), fields.all("dataset")
        if not days.isascii() or not days.isdigit():
            raise Invalid("the days that a token lasts must be a whole number")
        known = {data.name for data in server.datasets.of(sent.caller.account)}
        only = None if not wanted else [one for one in wanted if one in known]
        _, text = server.tokens.add(name, fields.text("label", 100), _scope(fields.text("scope")), int(days), only, name)
    except Error as error:
        return _page(request, sent.caller, 400, problem=as_outcome(error))
    return _page(request, sent.caller, made=text)


@router.post("/tokens/{number}/revoke")
def revoke(request: Request, number: str, sent: Sent) -> Response:
    """End one of one's own tokens."""
    name = sent.caller.account.name
    server_of(request).tokens.revoke(number, name, name)
    return RedirectResponse("/tokens", 303)


def _scope(text: str) -> Scope:
    for one in SCOPES:
        if one == text:
            return one
    raise Invalid(f"the scope of a token is one of {', '.join(SCOPES)}")


def _page(request: Request, caller: Caller, status: int = 200, made: str | None = None, problem: Any = None) -> Response:
    server = server_of(request)
    return render(
        request,
        "tokens.html",
        caller,
        status,
        tokens=server.tokens.of(caller.account.name),
        made=made,
        problem=problem,
        address=server.settings.address,
    )
