"""Forms: every one carries a secret, that of the login, or before there is one, a cookie of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, final
from urllib.parse import parse_qs

from attrs import frozen
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from discreet.errors import Invalid
from discreet.server.access import FORM, Caller, Forbidden, by_login, require_form, server_of
from discreet.server.store.accounts import Role
from discreet.server.store.secret import new_secret, same
from discreet.tables.catalog import Catalog

BEFORE = "discreet_before"  # the cookie that the forms of nobody in particular repeat
_MOST_FIELDS = 2000
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "profile": "the ε of the profile"}  # what pages call these fields
_OWN_PATH = re.compile(r"/(?![/\\])[A-Za-z0-9_~!$&'()*+,;=:@%/?.-]*")


@final
@frozen
class Fields:
    """What was typed into a form."""

    values: Mapping[str, list[str]]

    def text(self, name: str, most: int = 10_000) -> str:
        """One field, without spaces around it; empty if it was left out."""
        found = self.values.get(name, [""])[0].strip()
        if len(found) > most:
            raise Invalid(f"{name.replace('_', ' ')} has more than {most:,} characters: shorten it")
        return found

    def raw(self, name: str) -> str:
        """One field as it was typed."""
        return self.values.get(name, [""])[0]

    def all(self, name: str) -> list[str]:
        """All values of a field that may be given several times."""
        return list(self.values.get(name, []))

    def columns_of(self, catalog: Catalog) -> tuple[str, list[str]]:
        """The private table that was chosen, and which of its columns."""
        found = catalog.table(self.text("table", 1000))
        if found is None or not found.private:
            raise Invalid("choose a table from the list")
        wanted = set(self.all("column"))
        columns = [column.name for column in found.columns if column.name in wanted]
        if not columns:
            raise Invalid("choose at least one column")
        return found.name, columns

    def number(self, name: str) -> str:
        """A decimal number as it was typed, with a point for a comma; Invalid if it is none."""
        found = self.text(name, 50).replace(",", ".").replace("−", "-")
        if not re.fullmatch(r"-?[0-9]*\.?[0-9]+([eE][+-]?[0-9]{1,3})?", found, re.ASCII):
            raise Invalid(f"{_SYMBOLS.get(name, name.replace('_', ' '))} must be a number, such as {'1e-6' if name == 'delta' else '0.1'}")
        return found


@final
@frozen
class Posted:
    """A form that came from a page of the caller's login."""

    caller: Caller
    fields: Fields


def posted(*roles: Role) -> Callable[[Request], Coroutine[Any, Any, Posted]]:
    """Forms of accounts with one of these roles; refused without the login's secret."""
    login = by_login(*roles)

    async def access(request: Request) -> Posted:
        caller = await run_in_threadpool(login, request)
        fields = await _fields(request)
        assert caller.login is not None, "browsers come with a login"
        require_form(caller.login, fields.raw(FORM))
        return Posted(caller, fields)

    access.needs = login.needs  # type: ignore[attr-defined]
    return access


async def _fields(request: Request) -> Fields:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise Invalid("this is not a form of ours: load the page again")
    try:
        text = (await request.body()).decode("ascii")
        return Fields(parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Invalid("this is not a form of ours: load the page again") from None


# ── before anybody is logged in ──────────────────────────────────────────────────────────────────────────────────────


async def before_login(request: Request) -> Fields:
    """A form of nobody in particular: its secret must be that of the cookie, which other sites cannot set or read."""
    fields = await _fields(request)
    cookie = request.cookies.get(BEFORE, "")
    if not cookie or not same(cookie, fields.raw(FORM)):
        raise Forbidden("this form has expired: load the page again, and allow cookies")
    return fields


BeforeLogin = Annotated[Fields, Depends(before_login)]


def secret_before(request: Request) -> str:
    """The secret of such a form: that of the cookie, or a new one."""
    return request.cookies.get(BEFORE) or new_secret()


def set_cookie(request: Request, response: Any, name: str, value: str) -> None:
    """A cookie that scripts cannot read, other sites cannot send along, and HTTP does not carry where there is HTTPS."""
    response.set_cookie(name, value, httponly=True, samesite="lax", secure=server_of(request).settings.is_secure, path="/")


def own_path(text: str | None) -> str:
    """A path of this server to go on to; the first page for anything else.

    >>> own_path("/d/clinic?x=1"), own_path("//evil.example"), own_path("https://evil.example"), own_path("/\\\\evil.example")
    ('/d/clinic?x=1', '/', '/', '/')
    """
    return text if text is not None and _OWN_PATH.fullmatch(text) else "/"
