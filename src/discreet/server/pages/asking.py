"""Ask: write SQL, see the error to expect while ε moves, and pay."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import Error, Invalid
from discreet.exact import short
from discreet.server.access import ASKING, Caller, by_login, server_of
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.describe import schema
from discreet.server.outcome import as_outcome
from discreet.server.pages.forms import Posted, posted
from discreet.server.pages.looking import dataset_of
from discreet.server.pages.planned import planned
from discreet.server.pages.rendering import PART, render
from discreet.server.pages.shown import shown
from discreet.server.replay import request_of
from discreet.server.server import Server
from discreet.server.store.accounts import Account
from discreet.server.store.jobs import Job
from discreet.session.about import examples
from discreet.session.remote.wire import Chain
from discreet.session.saved import release_of_text

router = APIRouter(include_in_schema=False)
Asker = Annotated[Caller, Depends(by_login(*ASKING))]
Sent = Annotated[Posted, Depends(posted(*ASKING))]
EPSILON = "0.1"  # until another one is chosen


def body_of(sql: str, epsilon: str, verb: str = "release", refine: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request as programs send it."""
    return {"request": [["sql", [sql], {}]], "verb": verb, "price": {"epsilon": epsilon}, "refine": refine}


async def submit(server: Server, data: DataSet, account: Account, said: dict[str, Any]) -> Job:
    """The job of a request: the one that answered it before, or a new one, which leaves at its slot."""
    asked = Asked.read(said)
    found = await run_in_threadpool(_answered_before, server, data, account, said)  # what is refused is refused here, on the page
    if found is not None:
        return found
    if await run_in_threadpool(server.asking.known, data, account, asked) is None:
        await run_in_threadpool(server.asking.require_admitted, data, account, asked)
    job, _ = await run_in_threadpool(server.asking.add, data, account, said, None)
    server.run_later(account, job)
    return job


def _answered_before(server: Server, data: DataSet, account: Account, said: dict[str, Any]) -> Job | None:
    """A job of this account that answered the same, however it was spelled, under the same policy and from the same version of the data."""
    asked, text = Asked.read(said), json.dumps(said)
    priced = server.asking.plan(data, account, asked).priced
    for job in server.jobs.of(account.name, data.name):
        if job.state == "done" and Asked.read(job.asked).verb == asked.verb:
            receipt = json.loads(job.said["release"])["receipt"]
            same = job.request == text or (asked.verb == "release" and receipt["question"] == priced.question)
            if same and (receipt["policy"], receipt["version"]) == (priced.policy, priced.version):
                return job
    return None


@router.get("/d/{name}/ask")
def ask_page(request: Request, name: str, caller: Asker, job: str | None = None, example: int = 0) -> Response:
    """A question to begin with: that of an earlier job, or an example; planning takes a moment, and comes after the first paint."""
    data = dataset_of(request, caller.account, name)
    found = examples(data.catalog)
    sql, epsilon = found[example] if 0 <= example < len(found) else "", EPSILON
    if job is not None:
        known = server_of(request).asking.own_job(caller.account, job)
        asked = Asked.read(known.asked)
        if asked.chain.steps[0][0] == "sql" and known.dataset == name:
            sql, epsilon = str(asked.chain.steps[0][1][0]), str(asked.price.get("epsilon", EPSILON))
    return _page(request, caller, data, {"sql": sql, "epsilon": epsilon, "size": "", "plan": None, "problem": None}, 200)


def ask(
    request: Request, caller: Caller, data: DataSet, sql: str, epsilon: str, problem: Any = None, size: str = "", status: int = 200
) -> Response:
    """The page with the question and its plan, or the plan alone."""
    server, plan = server_of(request), None
    try:
        if problem is None and sql:
            plan = planned(server, data, caller.account, Asked.read(body_of(sql, epsilon)), _size(size))
    except Error as error:
        problem = as_outcome(error)
    values: dict[str, Any] = {"sql": sql, "epsilon": epsilon, "size": size, "plan": plan, "problem": problem}
    if PART in request.headers:
        return render(request, "_plan.html", caller, **values)
    return _page(request, caller, data, values, status)


def _page(request: Request, caller: Caller, data: DataSet, values: dict[str, Any], status: int) -> Response:
    """The page; where it comes without a plan it comes at once, and the script or a button asks for the plan."""
    told = schema(data)
    words = sorted({*(t["name"] for t in told["tables"]), *(c["name"] for t in told["tables"] for c in t["columns"])})
    return render(request, "ask.html", caller, status, data=told, words=words, tab="ask", **values)


@router.post("/d/{name}/plan")
def plan(request: Request, name: str, sent: Sent) -> Response:
    """The plan of a question; free."""
    data, fields = dataset_of(request, sent.caller.account, name), sent.fields
    sql, size = fields.text("sql", 20_000), fields.text("size", 20)
    try:
        epsilon = _epsilon(request, sent, data) if fields.text("want") == "error" else fields.number("epsilon")
        return ask(request, sent.caller, data, sql, epsilon, None, size)
    except Error as error:
        return ask(request, sent.caller, data, sql, fields.text("epsilon", 50), as_outcome(error), size)


def _epsilon(request: Request, sent: Posted, data: DataSet) -> str:
    """The least ε at which an output meets the error that is wanted."""
    fields = sent.fields
    asked = request_of(data.session(sent.caller.account), Chain.from_json([["sql", [fields.text("sql", 20_000)], {}]]))
    outputs = [name for name, width in asked.plan(epsilon=EPSILON).error().items() if width is not None]
    output = fields.text("output") or next(iter(outputs), "")
    return short(asked.price({output: float(fields.number("wanted_error"))}, size=_size(fields.text("size", 20))))


def _size(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.replace(",", "").isdigit() or not 0 < int(text.replace(",", "")) < 10**15:
        raise Invalid("the size of a group must be a whole number, such as 1000")
    return int(text.replace(",", ""))


@router.post("/d/{name}/ask")
async def release(request: Request, name: str, sent: Sent) -> Response:
    """Pay and answer; the answer is on the page of its job."""
    server, account = server_of(request), sent.caller.account
    data = await run_in_threadpool(dataset_of, request, account, name)
    sql, typed = sent.fields.text("sql", 20_000), sent.fields.text("epsilon", 50)
    try:
        job = await submit(server, data, account, body_of(sql, sent.fields.number("epsilon")))
    except Error as error:
        return await run_in_threadpool(ask, request, sent.caller, data, sql, typed, as_outcome(error), "", 400)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.post("/d/{name}/try")
def dry_run(request: Request, name: str, sent: Sent) -> Response:
    """The whole road on made-up rows of the declared schema; free."""
    server, fields = server_of(request), sent.fields
    data = dataset_of(request, sent.caller.account, name)
    sql, typed = fields.text("sql", 20_000), fields.text("epsilon", 50)
    try:
        found = server.asking.known(data, sent.caller.account, Asked.read(body_of(sql, fields.number("epsilon"), "dry_run")))
    except Error as error:
        return ask(request, sent.caller, data, sql, typed, as_outcome(error), "", 400)
    assert found is not None, "a dry run is answered at once"
    return render(
        request,
        "dry_run.html",
        sent.caller,
        data={"name": name},
        sql=sql,
        epsilon=typed,
        found=shown(release_of_text(found["release"])),
        tab="ask",
    )
