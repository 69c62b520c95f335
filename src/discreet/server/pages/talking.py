"""Conversations: counts and means over some columns, one after the other; what follows from earlier answers is free."""

from __future__ import annotations

from typing import Annotated, Any

from attrs import evolve
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import Error, Invalid
from discreet.server.access import ASKING, Caller, by_login, server_of
from discreet.server.asked import Asked
from discreet.server.datasets import DataSet
from discreet.server.outcome import as_outcome
from discreet.server.pages.forms import Fields, Posted, posted
from discreet.server.pages.looking import dataset_of, gauge_of
from discreet.server.pages.planned import planned
from discreet.server.pages.problems import NotHere
from discreet.server.pages.rendering import render
from discreet.server.pages.shown import ShownCell, ShownTable, shown
from discreet.server.runs import BUSY, GONE, OpenRun
from discreet.server.store.accounts import Account
from discreet.session.synthesize.codes import Binned

router = APIRouter(include_in_schema=False)
Asker = Annotated[Caller, Depends(by_login(*ASKING))]
Sent = Annotated[Posted, Depends(posted(*ASKING))]
_LISTED = 60  # values of a column that are offered
_SOURCES = {
    "paid": "measured for this question",
    "cached": "asked before, so free",
    "posterior": "follows from earlier answers",
    "hypothesis": "estimated, and tested against the data",
}
_UNTESTED = "estimated, and not tested: what is left of the price does not pay for it"


@router.get("/d/{name}/talk")
def talks(request: Request, name: str, caller: Asker) -> Response:
    """The form to open a conversation, and those that are open."""
    return _talks(request, caller, dataset_of(request, caller.account, name))


@router.post("/d/{name}/talk")
async def open_talk(request: Request, name: str, sent: Sent) -> Response:
    """Plan a conversation for free, or open it."""
    server, account, fields = server_of(request), sent.caller.account, sent.fields
    data = await run_in_threadpool(dataset_of, request, account, name)
    try:
        asked = Asked.read(_request(data, fields))
        if fields.text("do") == "plan":
            plan = await run_in_threadpool(planned, server, data, account, asked)
            return await run_in_threadpool(_talks, request, sent.caller, data, fields, plan)
        opened = await server.runs.open(data, account, asked.chain, asked.price, server.asking.slot(data, asked))
    except Error as error:
        return await run_in_threadpool(_talks, request, sent.caller, data, fields, None, as_outcome(error), 400)
    return RedirectResponse(f"/talk/{opened.id}", 303)


@router.get("/talk/{number}")
def talk(request: Request, number: str, caller: Asker) -> Response:
    """What was asked and answered so far, and the form for more."""
    return _talk(request, caller, _own(request, caller.account, number))


@router.post("/talk/{number}")
async def ask(request: Request, number: str, sent: Sent) -> Response:
    """One more question; it leaves at its slot."""
    server, account = server_of(request), sent.caller.account
    opened = await run_in_threadpool(_own, request, account, number)
    data = await run_in_threadpool(dataset_of, request, account, opened.dataset)
    try:
        where, mean = conditions(opened, sent.fields), sent.fields.text("mean", 1000) or None
        slot = server.queue.clock.chosen(server.asking.rows_of(data), 1)
        await server.runs.step(data, opened, account, slot, lambda: opened.run.ask(where=where, mean=mean))
    except Error as error:
        return await run_in_threadpool(_talk, request, sent.caller, opened, as_outcome(error), 400)
    return RedirectResponse(f"/talk/{number}", 303)


@router.post("/talk/{number}/close")
def close(request: Request, number: str, sent: Sent) -> Response:
    """Close it; what was paid stays paid."""
    opened = _own(request, sent.caller.account, number)
    server_of(request).runs.close(opened)
    return RedirectResponse(f"/d/{opened.dataset}/talk", 303)


def conditions(opened: OpenRun, fields: Fields) -> dict[str, Any]:
    """What was chosen of each column: some of its values, or all between two ends."""
    found: dict[str, Any] = {}
    for place, coding in enumerate(opened.run.codings):
        if isinstance(coding, Binned):
            ends = [fields.text(f"{end}{place}", 50) for end in ("low", "high")]
            if any(ends):
                low, high = (
                    float(fields.number(f"{end}{place}")) if text else float(edge)
                    for end, text, edge in zip(("low", "high"), ends, (coding.low, coding.high), strict=True)
                )
                found[coding.name] = (low, high)
        elif picked := fields.all(f"value{place}"):
            codes = [int(one) for one in picked if one.isascii() and one.isdigit() and int(one) < coding.size]
            if len(codes) < len(picked):
                raise Invalid("choose values from the list")
            found[coding.name] = [coding.values[code] if code < len(coding.values) else None for code in codes]
    return found


def _own(request: Request, account: Account, number: str) -> OpenRun:
    try:
        opened = server_of(request).runs.get(number, account)
    except Invalid:
        raise NotHere(GONE) from None
    if opened.kind != "interactive":
        raise NotHere(GONE)
    _require_idle(opened)
    return opened


def _require_idle(opened: OpenRun) -> None:
    """Raise Invalid while a step is taken: the page would show what it found before its slot ends."""
    if opened.steps["all"]:
        raise Invalid(BUSY)


def _request(data: DataSet, fields: Fields) -> dict[str, Any]:
    table, columns = fields.columns_of(data.catalog)
    more = {"accuracy": float(fields.number("accuracy")), "table": table}
    return {"request": [["interactive", [columns], more]], "price": {"epsilon": fields.number("epsilon")}}


def _talks(
    request: Request, caller: Caller, data: DataSet, fields: Fields | None = None, plan: Any = None, problem: Any = None, status: int = 200
) -> Response:
    tables = [
        (one.name, [column for column in one.columns if column.name != one.unit_column]) for one in data.catalog.tables if one.private
    ]
    usable = [column.name for _, columns in tables for column in columns if column.keys is not None or column.bounds is not None]
    given = Fields({}) if fields is None else fields
    return render(
        request,
        "talks.html",
        caller,
        status,
        data={"name": data.name},
        tab="talk",
        tables=tables,
        chosen=usable if fields is None else given.all("column"),
        accuracy=given.text("accuracy", 50) or "0.05",
        epsilon=given.text("epsilon", 50) or "1",
        open=[one for one in server_of(request).runs.of(caller.account, data.name) if one.kind == "interactive"],
        plan=plan,
        problem=problem,
    )


def _with_sources(table: ShownTable) -> ShownTable:
    """The transcript, which says in words where each answer comes from: one without an error was not tested against the data."""
    rows = [
        [asked, value, ShownCell(_UNTESTED if source.value == "hypothesis" and not value.error else _SOURCES[source.value])]
        for asked, value, source in table.rows
    ]
    return evolve(table, rows=rows)


def _talk(request: Request, caller: Caller, opened: OpenRun, problem: Any = None, status: int = 200) -> Response:
    data = dataset_of(request, caller.account, opened.dataset)
    _require_idle(opened)  # a program may have asked meanwhile
    columns = [
        {"name": one.name, "low": float(one.low), "high": float(one.high), "values": None}
        if isinstance(one, Binned)
        else {"name": one.name, "values": [(code, one.label(code)) for code in range(min(one.size, _LISTED))]}
        for one in opened.run.codings
    ]
    return render(
        request,
        "talk.html",
        caller,
        status,
        data={"name": opened.dataset},
        tab="talk",
        run=opened,
        columns=columns,
        numbers=[one["name"] for one in columns if one["values"] is None],
        table=_with_sources(shown(opened.run.release()).table),
        spent=opened.run.spent,
        plan=opened.run.plan,
        accuracy=opened.run.accuracy,
        budget=gauge_of(data, caller.account),
        problem=problem,
    )
