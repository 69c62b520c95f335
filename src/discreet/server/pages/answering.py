"""Answers: the page of a job, its progress, its downloads; refine, share and cancel."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import BudgetExceeded, Error, Invalid
from discreet.server.access import ASKING, Caller, by_login, server_of
from discreet.server.api.answers import parquet_of
from discreet.server.asked import Asked, as_received
from discreet.server.datasets import DataSet
from discreet.server.outcome import NO_JOB
from discreet.server.pages.asking import submit
from discreet.server.pages.forms import Posted, posted
from discreet.server.pages.looking import dataset_of, gauge_of
from discreet.server.pages.problems import NotHere
from discreet.server.pages.rendering import PART, render
from discreet.server.pages.shown import opened, shown
from discreet.server.store.accounts import Account
from discreet.server.store.jobs import OPEN, Job

router = APIRouter(include_in_schema=False)
Asker = Annotated[Caller, Depends(by_login(*ASKING))]
Sent = Annotated[Posted, Depends(posted(*ASKING))]
_FILES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}


def job_of(request: Request, account: Account, number: str) -> Job:
    """A job of this account, or one that was shared with it, on a data set that it may use; else there is nothing here."""
    try:
        job = server_of(request).asking.own_job(account, number)
    except Invalid:
        raise NotHere(NO_JOB) from None
    dataset_of(request, account, job.dataset)
    return job


def finished(request: Request, account: Account, number: str) -> Job:
    """One's own job that was answered."""
    job = job_of(request, account, number)
    if job.account != account.name or job.state != "done":
        raise NotHere(NO_JOB)
    return job


@router.get("/jobs/{number}")
def job_page(request: Request, number: str, caller: Asker) -> Response:
    """How far a job is, or its answer."""
    return page(request, caller, job_of(request, caller.account, number))


def page(request: Request, caller: Caller, job: Job, problem: Any = None, status: int = 200) -> Response:
    """The page of a job, with a problem if the last form had one."""
    asked = Asked.read(job.asked)
    values: dict[str, Any] = {
        "job": job,
        "sql": asked.title if asked.chain.steps[0][0] == "sql" else None,
        "price": asked.price,
        "problem": problem,
        "slot": server_of(request).asking.slot_of(job, time.time()),
        "now": time.time(),
    }
    if PART in request.headers:  # the script looks how far it is
        return render(request, "_progress.html", caller, 200 if job.state in OPEN else 286, **values)
    data = dataset_of(request, caller.account, job.dataset)
    values |= {"data": {"name": job.dataset}, "budget": gauge_of(data, caller.account), "tab": "history"}
    if job.account != caller.account.name:
        return render(request, "shared.html", caller, status, **values)
    found = shown(opened(job.said["release"])) if job.state == "done" else None
    values |= {"cost": "" if found is None else found.cost, "is_whole_used": _is_whole_used(request, data, caller.account, job, asked)}
    can_refine = found is not None and found.can_refine and asked.verb == "release" and values["sql"] is not None
    return render(request, "job.html", caller, status, found=found, verb=asked.verb, can_refine=can_refine, **values)


def _is_whole_used(request: Request, data: DataSet, account: Account, job: Job, asked: Asked) -> bool:
    """Whether a job was refused although the account's own budget admits it; nothing but the account's own numbers is looked at."""
    if account.role != "analyst" or job.said.get("error") != BudgetExceeded.__name__:
        return False
    try:
        return data.allowance(account).admits(server_of(request).asking.plan(data, account, asked).loss)
    except Error:  # the policy has changed since
        return False


@router.get("/jobs/{number}/answer.{kind}")
def download(request: Request, number: str, kind: str, caller: Asker) -> Response:
    """The rows as CSV or Parquet, or everything with its receipt as JSON."""
    job = finished(request, caller.account, number)
    if kind not in _FILES:
        raise NotHere("there is no such file")
    found = opened(job.said["release"])
    if kind == "json":
        body: bytes | str = job.said["release"] + "\n"
    elif kind == "csv":
        body = found.to_csv() or ""
    else:
        body = parquet_of(found)
    name = f"{job.dataset}-{job.id[:8]}.{kind}"  # of letters and digits: a data set's name is an identifier
    ascii_name = name.encode("ascii", "replace").decode().replace("?", "_")
    return Response(body, media_type=_FILES[kind], headers={"Content-Disposition": f'attachment; filename="{ascii_name}"'})


@router.post("/jobs/{number}/refine")
async def refine(request: Request, number: str, sent: Sent) -> Response:
    """Spend more on the same question, and combine both answers."""
    account = sent.caller.account
    job = await run_in_threadpool(finished, request, account, number)
    data = await run_in_threadpool(dataset_of, request, account, job.dataset)
    asked = Asked.read(job.asked)
    try:
        said = job.asked | {"verb": "refine", "refine": {"epsilon": sent.fields.number("epsilon")}}
        if asked.verb != "release" or asked.chain.steps[0][0] != "sql":
            raise Invalid("only the first answer to a question is refined here: ask again at a higher ε")
        made = await submit(server_of(request), data, account, said)
    except Error as error:
        return await run_in_threadpool(page, request, sent.caller, job, {"message": str(error), "notes": []}, 400)
    return RedirectResponse(f"/jobs/{made.id}", 303)


@router.post("/jobs/{number}/bias")
async def bias(request: Request, number: str, sent: Sent) -> Response:
    """Pay to learn how many units bounding and clipping affect."""
    account = sent.caller.account
    job = await run_in_threadpool(finished, request, account, number)
    data = await run_in_threadpool(dataset_of, request, account, job.dataset)
    try:
        # the request as it was, with its parameters and its dialect: its text alone may be another question
        said = job.asked | {"verb": "bias", "price": {"epsilon": sent.fields.number("epsilon")}, "refine": None}
        made = await submit(server_of(request), data, account, said)
    except Error as error:
        return await run_in_threadpool(page, request, sent.caller, job, {"message": str(error), "notes": []}, 400)
    return RedirectResponse(f"/jobs/{made.id}", 303)


@router.post("/jobs/{number}/receive")
async def receive(request: Request, number: str, sent: Sent) -> Response:
    """Pay for an answer that somebody shared, as if it had been asked: it is stored, so nothing is drawn."""
    account = sent.caller.account
    job = await run_in_threadpool(job_of, request, account, number)
    if job.state != "done":
        raise NotHere(NO_JOB)
    data = await run_in_threadpool(dataset_of, request, account, job.dataset)
    said = as_received(job.asked, job.said)
    await run_in_threadpool(server_of(request).asking.require_receivable, data, account, Asked.read(said))
    made = await submit(server_of(request), data, account, said)
    return RedirectResponse(f"/jobs/{made.id}", 303)


@router.post("/jobs/{number}/share")
def share(request: Request, number: str, sent: Sent) -> Response:
    """Show an answer to another account, which is charged its price when it first looks."""
    server, job = server_of(request), finished(request, sent.caller.account, number)
    other = server.accounts.get(sent.fields.text("account", 100))
    if other is None or other.role == "auditor" or not dataset_of(request, sent.caller.account, job.dataset).admits(other):
        return page(
            request, sent.caller, job, {"message": "there is no such account that may use this data set: check the name", "notes": []}, 400
        )
    server.jobs.share(number, other.name)
    return page(
        request, sent.caller, job, {"message": f"shared with {other.name}, who is charged the price on looking", "notes": [], "good": True}
    )


@router.post("/jobs/{number}/cancel")
def cancel(request: Request, number: str, sent: Sent) -> Response:
    """Cancel a job that has not begun."""
    job = job_of(request, sent.caller.account, number)
    if job.account != sent.caller.account.name:
        raise NotHere(NO_JOB)
    server_of(request).jobs.cancel(number)
    return RedirectResponse(f"/jobs/{number}", 303)
