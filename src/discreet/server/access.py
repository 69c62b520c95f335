"""Who is calling, and whether they may: every route states the roles and the scope that it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar, final

from attrs import frozen
from fastapi import Request

from discreet.errors import Error
from discreet.server.server import Server
from discreet.server.store.accounts import Account, Role
from discreet.server.store.logins import Login
from discreet.server.store.secret import same
from discreet.server.store.tokens import Scope, Token

COOKIE = "discreet_login"
FORM = "form"  # the field of every form that carries the login's secret
EVERYBODY: tuple[Role, ...] = ("owner", "analyst", "auditor")
ASKING: tuple[Role, ...] = ("owner", "analyst")
READING: tuple[Role, ...] = ("owner", "auditor")
OWNING: tuple[Role, ...] = ("owner",)
_RANK: dict[Scope, int] = {"read": 0, "ask": 1, "all": 2}


@final
class Unauthenticated(Error):
    """Nobody is logged in, or the token is not good."""


@final
class Forbidden(Error):
    """Whoever this is may not do that."""


@final
class TooManyRequests(Error):
    """Somebody asks too often."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many requests: wait {max(1, round(seconds))} seconds")
        self.seconds = max(1, round(seconds))


@final
@frozen
class Caller:
    """An account, and the token or the login by which it came."""

    account: Account
    token: Token | None = None
    login: Login | None = None

    def may_use(self, dataset: str) -> bool:
        """Whether the token is for this data set."""
        return self.token is None or self.token.datasets is None or dataset in self.token.datasets


Access: TypeAlias = Callable[[Request], Caller]
AsyncAccess: TypeAlias = Callable[[Request], Awaitable[Caller]]
AnyAccess = TypeVar("AnyAccess", Access, AsyncAccess)


def server_of(request: Request) -> Server:
    """The server behind a request."""
    found: Server = request.app.state.server
    return found


def token_holder(request: Request) -> tuple[Account, Token]:
    """The account and the token of a request; Unauthenticated if it has no good one. It is looked up once for each request."""
    known: tuple[Account, Token] | None = getattr(request.state, "holder", None)
    if known is not None:
        return known
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    found = server_of(request).tokens.holder(secret.strip()) if kind.lower() == "bearer" else None
    if found is None:
        raise Unauthenticated("the token is missing, mistyped, expired or revoked: make a new one in the server's console, under Tokens")
    request.state.holder = found
    return found


def by_token(*roles: Role, scope: Scope = "read", whole: bool = False) -> AsyncAccess:
    """Programs: a bearer token of an account with one of these roles, and at least this scope; `whole` if not for some data sets only."""

    async def access(request: Request) -> Caller:  # not in a thread of its own, in which it would wait for its turn
        account, token = token_holder(request)
        enough = _RANK[token.scope] >= _RANK[scope] and not (whole and token.datasets is not None)
        return _admitted(request, Caller(account, token=token), roles, enough)

    return _marked(access, "token", roles, scope)


def require_login(request: Request) -> Login:
    """The login of a browser; Unauthenticated if it has none."""
    login = server_of(request).logins.find(request.cookies.get(COOKIE, ""))
    if login is None:
        raise Unauthenticated("please log in")
    return login


def by_login(*roles: Role) -> Access:
    """Browsers: a cookie; and on every request that changes something, the secret of the login's forms."""

    def access(request: Request) -> Caller:
        login = require_login(request)
        return _admitted(request, Caller(login.account, login=login), roles, True)

    return _marked(access, "login", roles, "all")


def require_form(login: Login, given: object) -> None:
    """Raise Forbidden unless a form came from a page of this login."""
    if not isinstance(given, str) or not same(given, login.form):
        raise Forbidden("this form is not from a page of your login: load the page again")


def _admitted(request: Request, caller: Caller, roles: tuple[Role, ...], in_scope: bool) -> Caller:
    request.state.account = caller.account.name
    if wait := server_of(request).request_limit.take(caller.account.name):
        raise TooManyRequests(wait)
    if caller.account.role not in roles or not in_scope:
        raise Forbidden("your account or token may not do this: ask the owner of the data")
    return caller


def _marked(access: AnyAccess, by: str, roles: tuple[Role, ...], scope: Scope) -> AnyAccess:
    """State what is needed on the function itself, so that a test can read it off every route."""
    access.needs = (by, roles, scope)  # type: ignore[attr-defined]
    return access


def needs_of(route: Any) -> tuple[str, tuple[Role, ...], Scope] | None:
    """What a route needs; None if it is open to everybody."""
    for dependency in route.dependant.dependencies:
        if (needs := getattr(dependency.call, "needs", None)) is not None:
            found: tuple[str, tuple[Role, ...], Scope] = needs
            return found
    return None
