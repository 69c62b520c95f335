"""Own: accounts with their links, and budgets with their renewals."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from discreet.errors import Error, Invalid
from discreet.server.access import OWNING, Caller, by_login, server_of
from discreet.server.granting import grant_budget, revoke_budget
from discreet.server.outcome import as_outcome
from discreet.server.pages.drawing import gauge
from discreet.server.pages.forms import Fields, Posted, posted
from discreet.server.pages.looking import dataset_of
from discreet.server.pages.rendering import drawing, render
from discreet.server.store.accounts import ROLES, Role

router = APIRouter(include_in_schema=False)
Owner = Annotated[Caller, Depends(by_login(*OWNING))]
Sent = Annotated[Posted, Depends(posted(*OWNING))]
_EVERY = {"": None, "week": "week", "month": "month"}


@router.get("/owner/accounts")
def accounts(request: Request, caller: Owner) -> Response:
    """Every account, and what each may spend."""
    return _page(request, caller)


@router.post("/owner/accounts")
def add(request: Request, sent: Sent) -> Response:
    """Create an account; the link on this page lets its holder choose a password, once."""
    server, by = server_of(request), sent.caller.account.name
    try:
        account = server.accounts.add(sent.fields.text("name", 100), _role(sent.fields.text("role")), by)
        return _page(request, sent.caller, link=(account.name, _link(request, account.name, by)))
    except Error as error:
        return _page(request, sent.caller, 400, problem=as_outcome(error), typed=sent.fields)


@router.post("/owner/accounts/{name}/link")
def link(request: Request, name: str, sent: Sent) -> Response:
    """A new link with which the holder of an account chooses a password."""
    try:
        return _page(request, sent.caller, link=(name, _link(request, name, sent.caller.account.name)))
    except Error as error:
        return _page(request, sent.caller, 400, problem=as_outcome(error))


@router.post("/owner/accounts/{name}/disable")
def disable(request: Request, name: str, sent: Sent) -> Response:
    """End all that an account can do."""
    try:
        server_of(request).accounts.disable(name, sent.caller.account.name)
        return _page(request, sent.caller, said=f"{name} can no longer log in or use tokens; what was spent stays recorded.")
    except Error as error:
        return _page(request, sent.caller, 400, problem=as_outcome(error))


@router.post("/owner/grants")
def grant(request: Request, sent: Sent) -> Response:
    """Give an analyst a part of a data set's budget, in all or for each week or month."""
    fields = sent.fields
    try:
        data, every = dataset_of(request, sent.caller.account, fields.text("dataset", 100)), fields.text("every")
        if every not in _EVERY:
            raise Invalid("a budget renews each week, each month, or never")
        name, epsilon, delta = fields.text("account", 100), fields.number("epsilon"), fields.number("delta")
        grant_budget(server_of(request), data, name, epsilon, delta, _EVERY[every], sent.caller.account)
        return _page(request, sent.caller, said=f"{name} may now spend ε = {epsilon} on {data.name}.")
    except Error as error:
        return _page(request, sent.caller, 400, problem=as_outcome(error), typed=fields)


@router.post("/owner/grants/revoke")
def take_back(request: Request, sent: Sent) -> Response:
    """Take back what an analyst may still spend on a data set."""
    try:
        data, name = dataset_of(request, sent.caller.account, sent.fields.text("dataset", 100)), sent.fields.text("account", 100)
        revoke_budget(server_of(request), data, name, sent.caller.account)
        return _page(request, sent.caller, said=f"{name} may spend nothing more on {data.name}; what was spent stays spent.")
    except Error as error:
        return _page(request, sent.caller, 400, problem=as_outcome(error))


def _role(text: str) -> Role:
    for one in ROLES:
        if one == text:
            return one
    raise Invalid(f"an account is one of {', '.join(ROLES)}")


def _link(request: Request, name: str, by: str) -> str:
    server = server_of(request)
    return f"{server.settings.address}/welcome/{server.accounts.link(name, by)}"


def _page(
    request: Request,
    caller: Caller,
    status: int = 200,
    link: tuple[str, str] | None = None,
    said: str | None = None,
    problem: Any = None,
    typed: Fields | None = None,
) -> Response:
    """The page; after a mistake, with what was `typed`."""
    server, kept = server_of(request), Fields({}) if typed is None else typed
    grants = [
        {
            "account": name,
            "dataset": data.name,
            "granted": one.granted,
            "spent": one.spent,
            "left": one.own.remaining.epsilon,
            "renews": None if one.period is None else (one.period.every, str(one.period.next.start)),
            "drawn": drawing(gauge(one.spent.epsilon, one.granted.epsilon)),
        }
        for data in server.datasets
        for name, one in data.ledger.analysts().items()
    ]
    return render(
        request,
        "accounts.html",
        caller,
        status,
        accounts=server.accounts.all(),
        grants=grants,
        link=link,
        said=said,
        problem=problem,
        roles=ROLES,
        typed={name: kept.raw(name) for name in ("name", "role", "account", "dataset", "epsilon", "delta", "every")},
    )
