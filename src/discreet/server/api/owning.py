"""Own: accounts, grants, tokens, the audit log, reloading."""

from __future__ import annotations

import math
from typing import Annotated, Any

from attrs import asdict
from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse

from discreet.server.access import EVERYBODY, OWNING, READING, Caller, by_token, server_of
from discreet.server.api.asking import dataset_of
from discreet.server.api.bodies import AccountBody, GrantBody, TokenBody
from discreet.server.granting import grant_budget, reload_policy, revoke_budget
from discreet.server.metrics import Gauge
from discreet.server.store import audit
from discreet.server.store.tokens import Token
from discreet.session.about import amount

router = APIRouter(prefix="/api/v1")
Owner = Annotated[Caller, Depends(by_token(*OWNING, scope="all"))]  # of one data set
ServerOwner = Annotated[Caller, Depends(by_token(*OWNING, scope="all", whole=True))]
Auditor = Annotated[Caller, Depends(by_token(*READING, whole=True))]
Anyone = Annotated[Caller, Depends(by_token(*EVERYBODY, scope="all"))]


@router.get("/accounts")
def accounts(request: Request, caller: Auditor) -> dict[str, Any]:
    """Every account."""
    return {"accounts": [asdict(account) for account in server_of(request).accounts.all()]}


@router.post("/accounts")
def add_account(request: Request, body: AccountBody, caller: ServerOwner) -> dict[str, str]:
    """Create an account; the link lets its holder choose a password, once."""
    server = server_of(request)
    account = server.accounts.add(body.name, body.role, caller.account.name)
    return {"account": account.name, "link": f"{server.settings.address}/welcome/{server.accounts.link(account.name, caller.account.name)}"}


@router.post("/accounts/{name}/links")
def link(request: Request, name: str, caller: ServerOwner) -> dict[str, str]:
    """A new link with which the holder of an account chooses a password."""
    server = server_of(request)
    return {"link": f"{server.settings.address}/welcome/{server.accounts.link(name, caller.account.name)}"}


@router.delete("/accounts/{name}")
def disable(request: Request, name: str, caller: ServerOwner) -> dict[str, str]:
    """End all that an account can do."""
    server_of(request).accounts.disable(name, caller.account.name)
    return {"disabled": name}


@router.post("/datasets/{name}/grants")
def grant(request: Request, name: str, body: GrantBody, caller: Owner) -> dict[str, Any]:
    """Give an analyst a part of a data set's budget, in all or for each week or month; it replaces what was granted before."""
    data = dataset_of(request, caller, name)
    before = data.ledger.analysts().get(body.account)
    granted = grant_budget(server_of(request), data, body.account, body.epsilon, body.delta, body.every, caller.account)
    replaced = None if before is None else amount(before.granted)
    return {"account": body.account, "granted": amount(granted.granted), "spent": amount(granted.spent), "replaced": replaced}


@router.delete("/datasets/{name}/grants/{account}")
def take_back(request: Request, name: str, account: str, caller: Owner) -> dict[str, str]:
    """Take back what an analyst may still spend; what was spent stays spent."""
    revoke_budget(server_of(request), dataset_of(request, caller, name), account, caller.account)
    return {"taken_back": account}


@router.post("/datasets/{name}/reload")
def reload(request: Request, name: str, caller: Owner) -> dict[str, str]:
    """Read a policy again, after it was edited; logins and tokens stay."""
    server = server_of(request)
    dataset_of(request, caller, name)
    reload_policy(server, name, caller.account)
    return {"reloaded": name}


@router.get("/audit")
def audit_log(request: Request, caller: Auditor, newest: int = 1000) -> dict[str, Any]:
    """The newest events, oldest first; the whole log is verified."""
    database = server_of(request).database
    count = audit.verify(database)
    return {"events": [asdict(one) for one in audit.entries(database, min(max(newest, 1), 10_000))], "verified": count}


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, caller: Auditor) -> str:
    """Counters for Prometheus; for owners and auditors."""
    server = server_of(request)
    gauges: list[Gauge] = [Gauge("queue_waiting", float(server.queue.waiting))]
    for data in server.datasets:
        spent = data.ledger.spent.epsilon
        gauges.append(Gauge("epsilon_spent", math.inf if spent is None else float(spent), data.name))
        gauges.append(Gauge("epsilon_budget", float(data.ledger.terms.epsilon), data.name))
    return server.metrics.text(gauges)


# ── one's own tokens ─────────────────────────────────────────────────────────────────────────────────────────────────


def token_of(token: Token) -> dict[str, Any]:
    """A token without its secret."""
    return asdict(token) | {"live": token.live}


@router.get("/tokens")
def tokens(request: Request, caller: Anyone) -> dict[str, Any]:
    """One's own tokens."""
    return {"tokens": [token_of(one) for one in server_of(request).tokens.of(caller.account.name)]}


@router.post("/tokens")
def add_token(request: Request, body: TokenBody, caller: Anyone) -> dict[str, Any]:
    """A new token for one's own account, no wider and no longer lived than this one; its text is shown now and never again."""
    mine = caller.account.name
    made, text = server_of(request).tokens.add(mine, body.label, body.scope, body.days, body.datasets, mine, caller.token)
    return token_of(made) | {"token": text}


@router.delete("/tokens/{number}")
def revoke(request: Request, number: str, caller: Anyone) -> dict[str, str]:
    """End one of one's own tokens."""
    server_of(request).tokens.revoke(number, caller.account.name, caller.account.name)
    return {"revoked": number}
