"""Check: whether a request can be asked, whether a release is genuine, and intervals of another confidence; all of it is free."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from discreet.errors import Invalid
from discreet.server.access import ASKING, Caller, by_token
from discreet.server.api.asking import dataset_of
from discreet.server.api.bodies import ConfidenceBody, RequestBody, VerifyBody
from discreet.server.asked import Asked
from discreet.server.perform import held
from discreet.server.perform import verify as compare
from discreet.server.replay import request_of
from discreet.session.release import Release, columns_to_json
from discreet.session.remote.wire import Chain, value
from discreet.session.saved import release_of_text

router = APIRouter(prefix="/api/v1")
Reader = Annotated[Caller, Depends(by_token(*ASKING))]


@router.post("/datasets/{name}/requests")
def check(request: Request, name: str, body: RequestBody, caller: Reader) -> dict[str, Any]:
    """Read a request without planning it: how it is shown, and whether its text has a price; or why it is refused."""
    session = dataset_of(request, caller, name).session(caller.account)
    found = request_of(session, Chain.from_json(body.model_dump(mode="json")["request"]))
    question = getattr(found, "question", None) if body.request[0][0] == "sql" else None
    return {
        "shown": repr(found),
        "html": found._repr_html_() if hasattr(found, "_repr_html_") else None,
        "priced": getattr(question, "epsilon", None) is not None,
    }


@router.post("/datasets/{name}/confidences")
def at_confidence(request: Request, name: str, body: ConfidenceBody, caller: Reader) -> dict[str, Any]:
    """The columns of an answer that this account has, with intervals of another confidence."""
    data, said = dataset_of(request, caller, name), body.model_dump(mode="json")
    asked = Asked.read({key: said[key] for key in ("request", "price", "refine")})
    found = held(data.session(caller.account), asked, partial(data.hides, caller.account))
    if not isinstance(found, Release):
        raise Invalid("there is no answer at this price: release the question first, and state its delta")
    changed = found.at_confidence(value(said["confidence"]))
    return columns_to_json(changed.columns) | {"level": str(changed.level)}


@router.post("/datasets/{name}/verifications")
def verify(request: Request, name: str, body: VerifyBody, caller: Reader) -> dict[str, bool]:
    """Compare a release and its receipt with the ledger; an error if they are not from here."""
    data = dataset_of(request, caller, name)
    compare(data.session(caller.account), release_of_text(body.release), partial(data.hides, caller.account))
    return {"verified": True}
