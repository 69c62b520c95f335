"""Conversations, threshold streams and feeds: opened, asked step by step, and released."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from discreet.errors import Invalid
from discreet.exact import short
from discreet.loss import record
from discreet.loss.loss import Loss
from discreet.server.access import ASKING, Caller, by_token, server_of
from discreet.server.api.asking import Once, dataset_of
from discreet.server.api.bodies import RunBody, StepBody
from discreet.server.api.plans import plan_of
from discreet.server.asked import Asked
from discreet.server.runs import GONE, OpenRun, question_of
from discreet.session.released import Released
from discreet.session.remote.wire import plain, value

router = APIRouter(prefix="/api/v1")
Asker = Annotated[Caller, Depends(by_token(*ASKING, scope="ask"))]


@router.post("/datasets/{name}/runs")
async def open_run(request: Request, name: str, body: RunBody, caller: Asker, once: Once = None) -> dict[str, Any]:
    """Open a conversation, a threshold stream or a feed."""
    server, data, said = server_of(request), dataset_of(request, caller, name), body.model_dump(mode="json")
    asked = Asked.read(said)
    text = json.dumps([name, said], sort_keys=True)
    try:
        opened = await server.runs.open(data, caller.account, asked.chain, asked.price, server.asking.slot(data, asked), once, text)
    except TypeError:
        raise Invalid("open() takes epsilon and delta") from None
    return {"run": opened.id, "plan": await asyncio.to_thread(plan_of, opened.run.plan)} | await asyncio.to_thread(state_of, opened)


@router.post("/runs/{number}")
async def step(request: Request, number: str, body: StepBody, caller: Asker, once: Once = None) -> dict[str, Any]:
    """One step: ask, release what was said so far, or look at its error or state."""
    server = server_of(request)
    opened = server.runs.get(number, caller.account)
    data = dataset_of(request, caller, opened.dataset)
    if not caller.may_use(opened.dataset):
        raise Invalid(GONE)
    if body.step == "state":
        return await asyncio.to_thread(state_of, opened)
    arguments = value(body.arguments)
    if not isinstance(arguments, dict):
        raise Invalid('arguments are written as {"question": "SELECT COUNT(*) FROM visits"}')
    if "question" in arguments:
        arguments["question"] = await asyncio.to_thread(question_of, opened, body.arguments["question"])
    method = getattr(opened.run, body.step, None)
    if method is None:
        raise Invalid(f"this has no {body.step}()")

    def call() -> Any:
        try:
            return method(**arguments)
        except (TypeError, OverflowError):
            raise Invalid(f"{body.step}() does not take these arguments: see its documentation") from None

    if body.step == "error":
        return {"answer": _told(await asyncio.to_thread(call))} | await asyncio.to_thread(state_of, opened)
    slot, text = server.queue.clock.chosen(server.asking.rows_of(data), 1), json.dumps(body.model_dump(mode="json"), sort_keys=True)
    await asyncio.to_thread(state_of, opened)  # what is seen until this step leaves
    spent = await asyncio.to_thread(lambda: opened.session.spent)
    found = await server.runs.step(data, opened, caller.account, slot, call, once, text)
    repeated = isinstance(found, Released) and found.repeated and await asyncio.to_thread(lambda: opened.session.spent) == spent
    return {"answer": _told(found), "repeated": repeated} | await asyncio.to_thread(state_of, opened)


@router.delete("/runs/{number}")
def close(request: Request, number: str, caller: Asker) -> dict[str, str]:
    """Close it; what was paid stays paid."""
    server = server_of(request)
    opened = server.runs.get(number, caller.account)
    if not caller.may_use(opened.dataset):
        raise Invalid(GONE)
    server.runs.close(opened)
    return {"closed": number}


def state_of(opened: OpenRun) -> dict[str, Any]:
    """What it cost so far and how it is shown; while a step is taken, as it was before."""
    if opened.steps["all"] and opened.seen:
        return opened.seen
    found = _state(opened)
    if opened.steps["all"] and opened.seen:  # a step has begun meanwhile
        return opened.seen
    opened.seen.update(found)
    return dict(opened.seen)


def _state(opened: OpenRun) -> dict[str, Any]:
    run, found = opened.run, {"kind": opened.kind, "shown": repr(opened.run), "html": opened.run._repr_html_()}
    for name in ("spent", "left", "accuracy", "asked"):
        if hasattr(run, name):
            found[name] = plain(getattr(run, name))
    found |= {"text": str((run if hasattr(run, "explain") else run.plan).explain()), "receipt": run.receipt.to_json()}
    return found | {"epsilon": short(run.plan.epsilon), "delta": short(run.plan.delta)}


def _told(found: Any) -> Any:
    if isinstance(found, Released):
        return {"release": found.to_text()}
    if isinstance(found, Loss):
        return record.to_json(found)
    if hasattr(found, "_asdict"):
        return {key: plain(one) for key, one in found._asdict().items()}
    if hasattr(found, "__attrs_attrs__"):
        return {one.name: _told(getattr(found, one.name)) for one in found.__attrs_attrs__}
    return plain(found)
