"""Ask: plans and prices are free, releases are jobs."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import JSONResponse, Response

from discreet.errors import Invalid
from discreet.exact import short
from discreet.server.access import ASKING, Caller, Forbidden, by_token, server_of
from discreet.server.api.answers import answered, is_converted
from discreet.server.api.bodies import PlanBody, PriceBody, ReleaseBody, ShareBody
from discreet.server.api.plans import plan_of
from discreet.server.asked import Asked, as_received
from discreet.server.datasets import UNKNOWN, DataSet
from discreet.server.outcome import NO_JOB
from discreet.server.replay import request_of
from discreet.server.store.jobs import OPEN, Job
from discreet.session.remote.wire import Chain, value

router = APIRouter(prefix="/api/v1")
Reader = Annotated[Caller, Depends(by_token(*ASKING, scope="read"))]
Asker = Annotated[Caller, Depends(by_token(*ASKING, scope="ask"))]
Once = Annotated[
    str | None, Header(alias="Idempotency-Key", max_length=200, description="a retry with the same key returns the first outcome")
]
Prefer = Annotated[str | None, Header(description="respond-async returns a job at once")]


def dataset_of(request: Request, caller: Caller, name: str) -> DataSet:
    """A data set that this caller may use."""
    if not caller.may_use(name):
        raise Invalid(UNKNOWN)
    return server_of(request).datasets.get(name, caller.account)


@router.post("/datasets/{name}/plans")
def plan(request: Request, name: str, body: PlanBody, caller: Reader) -> dict[str, Any]:
    """What would happen at this price, and the error to expect; free, and reads no private row."""
    data = dataset_of(request, caller, name)
    asked = Asked.read({"request": _calls(body), "price": body.price})
    found = server_of(request).asking.plan(data, caller.account, asked)
    slot, clock = server_of(request).asking.slot(data, asked), server_of(request).queue.clock
    leaves = {"seconds": clock.slots[slot] if clock.slots else None, "leak": None if clock.off else clock.leak(slot)}
    return plan_of(found, value(body.error or {}), body.shown) | leaves


@router.post("/datasets/{name}/prices")
def price(request: Request, name: str, body: PriceBody, caller: Reader) -> dict[str, str]:
    """The least ε at which every output meets its target error; free."""
    data = dataset_of(request, caller, name)
    asked = request_of(data.session(caller.account), Chain.from_json(_calls(body)))
    if not hasattr(asked, "price"):
        raise Invalid("only questions have a price for an error: give an epsilon")
    try:
        return {"epsilon": short(asked.price(value(body.error), **value(body.more)))}
    except TypeError:
        raise Invalid("price() takes error, size, confidence, delta, at and assume") from None


@router.post("/datasets/{name}/releases")
async def release(request: Request, name: str, body: ReleaseBody, caller: Asker, once: Once = None, prefer: Prefer = None) -> Response:
    """Pay and answer, at the end of a slot; 202 with a job if that is later than the server lets clients wait.

    The body has the columns and the receipt, as `release.save` writes them; `Accept: text/csv`, `application/vnd.apache.arrow.stream` and
    `application/vnd.apache.parquet` give the rows. The same question at the same price is free the second time; with `stored`, only
    such an answer is sent, and a release of null if there is none.
    """
    server, said = server_of(request), body.plain()
    data = dataset_of(request, caller, name)
    if body.stored:
        known = await server.received(data, caller.account, said)
        return await asyncio.to_thread(answered, request, known) if known is not None else JSONResponse({"release": None})
    wait = 0.0 if "respond-async" in (prefer or "") else server.settings.wait
    found = await server.ask(data, caller.account, said, once, wait)
    send = partial(job_answer, request, found) if isinstance(found, Job) else partial(answered, request, found)
    return await asyncio.to_thread(send) if is_converted(request) else send()


def job_answer(request: Request, job: Job) -> Response:
    """The outcome of a job that has ended; else where to look for it."""
    if job.state not in OPEN:
        return answered(request, job.said, job.id)
    return JSONResponse(job_of(job), 202, {"Location": f"/api/v1/jobs/{job.id}", "Discreet-Job": job.id, "Retry-After": "1"})


def job_of(job: Job) -> dict[str, Any]:
    """A job without its outcome."""
    return {
        "job": job.id,
        "dataset": job.dataset,
        "title": job.title,
        "state": job.state,
        "progress": job.progress,
        "step": job.step,
        "created": job.created,
        "ended": job.ended,
        "error": job.said.get("error") if job.outcome else None,
        "message": job.said.get("message") if job.outcome else None,
    }


@router.get("/jobs")
def jobs(request: Request, caller: Reader) -> dict[str, Any]:
    """One's own jobs, newest first, and those that others shared."""
    mine, shared = server_of(request).jobs.of(caller.account.name), server_of(request).jobs.shared_with(caller.account.name)
    return {
        "jobs": [job_of(job) for job in mine if caller.may_use(job.dataset)],
        "shared": [job_of(job) for job in shared if caller.may_use(job.dataset)],
    }


def own_job(request: Request, caller: Caller, number: str) -> Job:
    """A job of this caller, or one that was shared; the same error if it is somebody else's and if there is none."""
    job = server_of(request).asking.own_job(caller.account, number)
    if not caller.may_use(job.dataset):
        raise Invalid(NO_JOB)
    return job


@router.get("/jobs/{number}")
def job_state(request: Request, number: str, caller: Reader) -> dict[str, Any]:
    """How far a job is."""
    return job_of(own_job(request, caller, number))


@router.get("/jobs/{number}/answer")
async def job_release(request: Request, number: str, caller: Asker) -> Response:
    """The answer of a job. One that was shared is charged to this account when it is first received."""
    job = await asyncio.to_thread(own_job, request, caller, number)
    if job.account == caller.account.name or job.state in OPEN:
        return await asyncio.to_thread(job_answer, request, job)
    if job.state != "done":
        raise Invalid(NO_JOB)
    body = ReleaseBody.model_validate(as_received(job.asked, job.said))
    return await release(request, job.dataset, body, caller)  # as if it had been asked: stored, so nothing is drawn, and charged once


@router.delete("/jobs/{number}")
def cancel(request: Request, number: str, caller: Asker) -> dict[str, bool]:
    """Cancel a job that has not begun. One that runs may have been charged, and goes on."""
    job = own_job(request, caller, number)
    if job.account != caller.account.name:
        raise Forbidden("this is somebody else's job")
    return {"cancelled": server_of(request).jobs.cancel(number)}


@router.post("/jobs/{number}/shares")
def share(request: Request, number: str, body: ShareBody, caller: Asker) -> dict[str, str]:
    """Show an answer to another account, which is charged its price when it first looks."""
    server, job = server_of(request), own_job(request, caller, number)
    if job.account != caller.account.name or job.state != "done":
        raise Invalid("only your own answers can be shared, once they are there")
    other = server.accounts.get(body.account)
    if other is None or other.role == "auditor" or not server.datasets.get(job.dataset, caller.account).admits(other):
        raise Invalid("there is no such account that may use this data set")
    server.jobs.share(number, other.name)
    return {"shared": other.name}


def _calls(body: PlanBody | PriceBody) -> Any:
    return body.model_dump(mode="json")["request"]
