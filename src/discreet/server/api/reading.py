"""Look: accounts, data sets, budgets, histories and ledgers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from discreet.errors import Invalid
from discreet.server.access import ASKING, EVERYBODY, READING, Caller, by_token, server_of
from discreet.server.api.asking import dataset_of
from discreet.server.describe import budget, describe
from discreet.session.about import amount
from discreet.session.remote.wire import plain

router = APIRouter(prefix="/api/v1")
Anyone = Annotated[Caller, Depends(by_token(*EVERYBODY))]
Asker = Annotated[Caller, Depends(by_token(*ASKING))]
Auditor = Annotated[Caller, Depends(by_token(*READING))]


@router.get("/me")
def me(caller: Anyone) -> dict[str, Any]:
    """Who is calling."""
    token = caller.token
    assert token is not None, "programs come with a token"
    return {"account": caller.account.name, "role": caller.account.role, "scope": token.scope, "expires": token.expires}


@router.get("/datasets")
def datasets(request: Request, caller: Anyone) -> dict[str, list[str]]:
    """The data sets that this account may use."""
    return {"datasets": [data.name for data in server_of(request).datasets.of(caller.account) if caller.may_use(data.name)]}


@router.get("/datasets/{name}")
def dataset(request: Request, name: str, caller: Anyone) -> dict[str, Any]:
    """What is declared and profiled, examples, and one's own budget."""
    return describe(dataset_of(request, caller, name), caller.account)


@router.get("/datasets/{name}/budget")
def own_budget(request: Request, name: str, caller: Asker) -> dict[str, Any]:
    """What this account was granted, has spent, and may still spend."""
    return budget(dataset_of(request, caller, name), caller.account)


@router.get("/datasets/{name}/history")
def history(request: Request, name: str, caller: Asker) -> dict[str, Any]:
    """What this account paid for and received; an owner sees all payments. Nothing tells an analyst what others asked."""
    return {"history": plain(dataset_of(request, caller, name).history(caller.account))}


@router.get("/datasets/{name}/profile")
def profile(request: Request, name: str, caller: Anyone, table: str | None = None) -> dict[str, Any]:
    """The profile of a table, as the owner published it."""
    data = dataset_of(request, caller, name)
    tables = [one for one in data.catalog.tables if one.profile is not None and table in (None, one.name)]
    if not tables:
        raise Invalid("there is no profile: the owner can buy one with `discreet profile`")
    return {"profiles": {one.name: one.profile.to_json() for one in tables if one.profile is not None}}


@router.get("/datasets/{name}/ledger")
def ledger(request: Request, name: str, caller: Auditor, start: int = 0, most: int = 1000) -> dict[str, Any]:
    """The entries of the ledger, without the answers; for owners and auditors."""
    data = dataset_of(request, caller, name)
    entries = data.ledger.entries()[max(start, 0) : max(start, 0) + min(max(most, 0), 10_000)]
    shown = [
        {
            "sequence": one.sequence,
            "kind": one.kind,
            "at": one.at,
            "hash": one.hash,
            "body": {k: v for k, v in one.body.items() if k != "release"},
        }
        for one in entries
    ]
    return {"entries": shown, "length": data.ledger.length}


@router.get("/datasets/{name}/accounts")
def allowances(request: Request, name: str, caller: Auditor) -> dict[str, Any]:
    """What each analyst was granted and has spent, and the whole budget; for owners and auditors."""
    data = dataset_of(request, caller, name)
    whole = data.ledger.allowance()
    found = {who: {"granted": amount(one.granted), "spent": amount(one.spent)} for who, one in data.ledger.analysts().items()}
    return {
        "whole": {"granted": amount(whole.granted), "spent": amount(whole.spent), "remaining": amount(whole.remaining)},
        "analysts": found,
    }
