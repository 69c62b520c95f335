"""Synthetic tables: choose columns, see the plan, order one; its progress, fidelity and downloads are on the page of its job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import Error
from discreet.server.access import ASKING, Caller, by_login, server_of
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.outcome import as_outcome
from discreet.server.pages.asking import submit
from discreet.server.pages.forms import Fields, Posted, posted
from discreet.server.pages.looking import dataset_of
from discreet.server.pages.planned import planned
from discreet.server.pages.rendering import render

router = APIRouter(include_in_schema=False)
Asker = Annotated[Caller, Depends(by_login(*ASKING))]
Sent = Annotated[Posted, Depends(posted(*ASKING))]
_USUAL = "1"  # ε


@router.get("/d/{name}/synthetic")
def synthetic_page(request: Request, name: str, caller: Asker, table: str | None = None) -> Response:
    """The form, and the tables that were ordered."""
    return _page(request, caller, dataset_of(request, caller.account, name), table, None, _USUAL)


@router.post("/d/{name}/synthetic")
async def order(request: Request, name: str, sent: Sent) -> Response:
    """Plan a synthetic table for free, or order it."""
    fields, account = sent.fields, sent.caller.account
    data = await run_in_threadpool(dataset_of, request, account, name)
    table, columns, typed = fields.text("table", 1000), fields.all("column"), fields.text("epsilon", 50)
    try:
        said = request_for(data, fields)
        if fields.text("do") == "plan":
            plan = await run_in_threadpool(planned, server_of(request), data, account, Asked.read(said))
            return await run_in_threadpool(_page, request, sent.caller, data, table, columns, typed, plan)
        job = await submit(server_of(request), data, account, said)
    except Error as error:
        return await run_in_threadpool(_page, request, sent.caller, data, table, columns, typed, None, as_outcome(error), 400)
    return RedirectResponse(f"/jobs/{job.id}", 303)


def request_for(data: DataSet, fields: Fields) -> dict[str, Any]:
    """A synthetic table as programs order it."""
    table, columns = fields.columns_of(data.catalog)
    return {
        "request": [["synthesize", [table], {"columns": columns}]],
        "verb": "release",
        "price": {"epsilon": fields.number("epsilon")},
        "refine": None,
    }


def _page(
    request: Request,
    caller: Caller,
    data: DataSet,
    table: str | None,
    chosen: list[str] | None,
    epsilon: str,
    plan: Any = None,
    problem: Any = None,
    status: int = 200,
) -> Response:
    private = [one for one in data.catalog.tables if one.private]
    shown = next((one for one in private if one.name == table), private[0] if private else None)
    columns = [] if shown is None else [one for one in shown.columns if one.name != shown.unit_column]
    jobs = [job for job in server_of(request).jobs.of(caller.account.name, data.name) if job.asked["request"][0][0] == "synthesize"]
    return render(
        request,
        "synthetic.html",
        caller,
        status,
        data={"name": data.name},
        tab="synthetic",
        tables=[one.name for one in private],
        table=shown,
        columns=columns,
        chosen=[one.name for one in columns if one.keys is not None or one.bounds is not None] if chosen is None else chosen,
        epsilon=epsilon,
        plan=plan,
        jobs=jobs,
        problem=problem,
    )
