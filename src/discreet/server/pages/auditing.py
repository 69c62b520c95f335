"""Watch over it: the ledger with who spent what, the audit log, and the policy line by line; for owners and auditors."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import Error, LedgerError
from discreet.ledger.purchases import purchases
from discreet.server.access import OWNING, READING, Caller, by_login, server_of
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.granting import reload_policy
from discreet.server.outcome import as_outcome
from discreet.server.pages.asking import submit
from discreet.server.pages.drawing import gauge
from discreet.server.pages.forms import Posted, posted
from discreet.server.pages.looking import dataset_of
from discreet.server.pages.planned import planned
from discreet.server.pages.policy_lines import policy_lines
from discreet.server.pages.rendering import PART, drawing, render
from discreet.server.store import audit

router = APIRouter(include_in_schema=False)
Reader = Annotated[Caller, Depends(by_login(*READING))]
Sent = Annotated[Posted, Depends(posted(*OWNING))]
_NEWEST = 200  # entries on a page


@router.get("/owner/ledger/{name}")
def ledger(request: Request, name: str, caller: Reader) -> Response:
    """Who spent what, newest first, and what is left."""
    data = dataset_of(request, caller.account, name)
    whole = data.ledger.allowance()
    values: dict[str, Any] = {
        "data": {"name": name},
        "tab": "ledger",
        "whole": whole,
        "drawn": drawing(gauge(whole.spent.epsilon, whole.granted.epsilon)),
        "analysts": [(who, one, drawing(gauge(one.spent.epsilon, one.granted.epsilon))) for who, one in data.ledger.analysts().items()],
    }
    if PART in request.headers:
        return render(request, "_gauges.html", caller, **values)
    bought = purchases(data.ledger)
    return render(
        request, "ledger.html", caller, bought=bought[: -_NEWEST - 1 : -1], length=data.ledger.length, count=len(bought), **values
    )


@router.get("/owner/audit")
def audit_log(request: Request, caller: Reader) -> Response:
    """The newest events, and whether the whole log is unchanged."""
    database, problem, count = server_of(request).database, None, 0
    try:
        count = audit.verify(database)
    except LedgerError as error:
        problem = as_outcome(error)
    return render(request, "audit.html", caller, events=audit.entries(database, _NEWEST)[::-1], count=count, problem=problem)


# ── the policy, and the profile that fills it in ─────────────────────────────────────────────────────────────────────


@router.get("/owner/policy/{name}")
def policy(request: Request, name: str, caller: Reader, epsilon: str = "0.5", again: bool = False) -> Response:
    """The policy line by line, with what each line means."""
    said = {"message": "The policy was read again, and is in force.", "notes": [], "good": True} if again else None
    return _policy(request, caller, dataset_of(request, caller.account, name), epsilon, None, said)


@router.post("/owner/policy/{name}/profile")
async def profile(request: Request, name: str, sent: Sent) -> Response:
    """Plan or buy a profile: what is public about a table, once, for all later questions."""
    data = await run_in_threadpool(dataset_of, request, sent.caller.account, name)
    table, typed = sent.fields.text("table", 200), sent.fields.text("epsilon", 50)
    try:
        said = profile_request(table, sent.fields.number("epsilon"))
        if sent.fields.text("do") == "plan":
            return await run_in_threadpool(_policy, request, sent.caller, data, typed, said)
        job = await submit(server_of(request), data, sent.caller.account, said)
    except Error as error:
        return await run_in_threadpool(_policy, request, sent.caller, data, typed, None, as_outcome(error))
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.post("/owner/policy/{name}/reload")
def reload(request: Request, name: str, sent: Sent) -> Response:
    """Read the policy again, after its file was edited; the old one goes on if the new one has problems."""
    data = dataset_of(request, sent.caller.account, name)
    try:
        reload_policy(server_of(request), name, sent.caller.account)
    except Error as error:
        return _policy(request, sent.caller, data, "0.5", None, as_outcome(error))
    return RedirectResponse(f"/owner/policy/{name}?again=true", 303)


def profile_request(table: str, epsilon: str) -> dict[str, Any]:
    """A profile as programs order it."""
    return {"request": [["profile", [table], {}]], "verb": "release", "price": {"epsilon": epsilon}, "refine": None}


def _policy(
    request: Request, caller: Caller, data: DataSet, epsilon: str, asked: dict[str, Any] | None = None, problem: Any = None
) -> Response:
    server, plan = server_of(request), None
    try:
        if asked is not None:
            plan = planned(server, data, caller.account, Asked.read(asked))
    except Error as error:
        problem = as_outcome(error)
    values = {
        "data": {"name": data.name},
        "tab": "policy",
        "lines": policy_lines(data.path.read_text(encoding="utf-8")),
        "tables": [(table.name, table.profile is not None) for table in data.catalog.tables if table.private],
        "epsilon": epsilon,
        "plan": plan,
        "problem": problem,
    }
    return render(request, "policy.html", caller, 200 if problem is None or "good" in problem else 400, **values)
