"""Come in and leave: choose a password with a link, log in, log out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import Invalid
from discreet.server.access import COOKIE, EVERYBODY, TooManyRequests, server_of
from discreet.server.pages.forms import BEFORE, BeforeLogin, Posted, own_path, posted, secret_before, set_cookie
from discreet.server.pages.rendering import render

router = APIRouter(include_in_schema=False)
Anyone = Annotated[Posted, Depends(posted(*EVERYBODY))]
WRONG = "This name and password do not belong together. Check both; your owner can send a new link."
GONE = "This link was used, has expired, or is not complete. Ask for a new one."


@router.get("/login")
def login_page(request: Request, next: str | None = None, chosen: bool = False) -> Response:
    """The form to log in."""
    said = "Your password was chosen. Log in with it." if chosen else None
    return _before(request, "login.html", next=own_path(next), said=said, problem=None, name="")


@router.post("/login")
def login(request: Request, fields: BeforeLogin) -> Response:
    """Check name and password; the answer and the work are the same whether or not there is such an account."""
    server, name, following = server_of(request), fields.text("name", 200), own_path(fields.text("next"))
    address = "unknown" if request.client is None else request.client.host
    if wait := max(server.login_limit.take(f"{address}\n{name.casefold()}"), server.address_limit.take(address)):
        raise TooManyRequests(wait)
    account = server.accounts.with_password(name, fields.raw("password"))
    if account is None:
        server.logins.failed(name)
        return _before(request, "login.html", 403, next=following, said=None, problem={"message": WRONG, "notes": []}, name=name)
    if (old := server.logins.find(request.cookies.get(COOKIE, ""))) is not None:
        server.logins.end(old)
    cookie, _ = server.logins.begin(account)
    response = RedirectResponse(following, 303)
    set_cookie(request, response, COOKIE, cookie)
    response.delete_cookie(BEFORE, path="/", httponly=True, samesite="lax", secure=server.settings.is_secure)
    return response


@router.post("/logout")
def logout(request: Request, sent: Anyone) -> Response:
    """End this login."""
    assert sent.caller.login is not None, "browsers come with a login"
    server_of(request).logins.end(sent.caller.login)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax", secure=server_of(request).settings.is_secure)
    return response


@router.get("/welcome/{link}")
def welcome_page(request: Request, link: str) -> Response:
    """The form to choose a password, for whoever holds a link."""
    _slow_down(request)
    holder = server_of(request).accounts.link_holder(link)
    if holder is None:
        return _before(request, "welcome.html", 404, name=None, problem={"message": GONE, "notes": []})
    return _before(request, "welcome.html", name=holder.name, problem=None)


@router.post("/welcome/{link}")
def welcome(request: Request, link: str, fields: BeforeLogin) -> Response:
    """Choose a password; the link is good once."""
    _slow_down(request)
    server = server_of(request)
    holder = server.accounts.link_holder(link)
    if holder is None:
        return _before(request, "welcome.html", 404, name=None, problem={"message": GONE, "notes": []})
    try:
        if fields.raw("password") != fields.raw("again"):
            raise Invalid("the two passwords differ: type the same one twice")
        server.accounts.choose_password(link, fields.raw("password"))
    except Invalid as error:
        return _before(request, "welcome.html", 400, name=holder.name, problem={"message": str(error), "notes": []})
    return RedirectResponse("/login?chosen=true", 303)


def _slow_down(request: Request) -> None:
    """Whoever tries many links waits."""
    if wait := server_of(request).address_limit.take("unknown" if request.client is None else request.client.host):
        raise TooManyRequests(wait)


def _before(request: Request, template: str, status: int = 200, **values: object) -> Response:
    secret = secret_before(request)
    response = render(request, template, None, status, **(values | {"secret": secret}))
    set_cookie(request, response, BEFORE, secret)
    return response
