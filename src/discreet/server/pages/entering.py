"""Come in and leave: choose a password with a link, log in, log out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import Invalid
from discreet.server.access import COOKIE, EVERYBODY, TooManyRequests, server_of
from discreet.server.limits import network_of
from discreet.server.pages.forms import BEFORE, BeforeLogin, Posted, own_path, posted, secret_before, set_cookie
from discreet.server.pages.problems import NotHere
from discreet.server.pages.rendering import render
from discreet.server.store.accounts import Account

if TYPE_CHECKING:
    from discreet.server.oidc import Oidc

router = APIRouter(include_in_schema=False)
Anyone = Annotated[Posted, Depends(posted(*EVERYBODY))]
WRONG = "This name and password do not belong together. Check both; your owner can send a new link."
AWAY = "discreet_away"  # the cookie of a browser that was sent to the login provider
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
    network = _network(request)
    if wait := max(server.login_limit.take(f"{network}\n{name.casefold()}"), server.address_limit.take(network)):
        raise TooManyRequests(wait)
    account = server.accounts.with_password(name, fields.raw("password"))
    if account is None:
        server.logins.failed(name)
        return _before(request, "login.html", 403, next=following, said=None, problem={"message": WRONG, "notes": []}, name=name)
    return _entered(request, account, following)


@router.get("/login/oidc")
def to_provider(request: Request, next: str | None = None) -> Response:
    """Send a browser to the login provider."""
    oidc = _provider(request)
    try:
        url, browser = oidc.begin(own_path(next))
    except Invalid as error:
        return _not_through(request, error)
    response = RedirectResponse(url, 303)
    set_cookie(request, response, AWAY, browser)
    return response


@router.get("/login/oidc/back")
def from_provider(request: Request, code: str = "", state: str = "", iss: str | None = None) -> Response:
    """Somebody comes back from the login provider; the answer is the same whatever is not as it should be."""
    oidc = _provider(request)
    try:
        account, following = oidc.end(code, state, request.cookies.get(AWAY, ""), iss)
    except Invalid as error:
        return _not_through(request, error)
    response = _entered(request, account, following, "through the login provider")
    response.delete_cookie(AWAY, path="/", httponly=True, samesite="lax", secure=server_of(request).settings.is_secure)
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


def _entered(request: Request, account: Account, following: str, how: str = "") -> Response:
    """Begin a login, which ends the one that this browser had."""
    server = server_of(request)
    if (old := server.logins.find(request.cookies.get(COOKIE, ""))) is not None:
        server.logins.end(old)
    cookie, _ = server.logins.begin(account, how)
    response = RedirectResponse(following, 303)
    set_cookie(request, response, COOKIE, cookie)
    response.delete_cookie(BEFORE, path="/", httponly=True, samesite="lax", secure=server.settings.is_secure)
    return response


def _provider(request: Request) -> Oidc:
    _slow_down(request)
    if (found := server_of(request).oidc) is None:
        raise NotHere("There is nothing here.")
    return found


def _not_through(request: Request, error: Invalid) -> Response:
    server_of(request).logins.failed(None, "through the login provider")
    return _before(request, "login.html", 403, next="/", said=None, problem={"message": str(error), "notes": []}, name="")


def _slow_down(request: Request) -> None:
    """Whoever tries many links waits."""
    if wait := server_of(request).address_limit.take(_network(request)):
        raise TooManyRequests(wait)


def _network(request: Request) -> str:
    return "unknown" if request.client is None else network_of(request.client.host)


def _before(request: Request, template: str, status: int = 200, **values: object) -> Response:
    secret = secret_before(request)
    provider = server_of(request).settings.provider
    response = render(request, template, None, status, **(values | {"secret": secret, "provider": provider}))
    set_cookie(request, response, BEFORE, secret)
    return response
