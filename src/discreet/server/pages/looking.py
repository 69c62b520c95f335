"""Look around: the data sets, what is public about each, and one's own history."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from discreet.errors import Invalid
from discreet.ledger.standing import Allowance, Amount
from discreet.server.access import ASKING, EVERYBODY, Caller, by_login, server_of
from discreet.server.datasets import UNKNOWN, DataSet
from discreet.server.describe import schema
from discreet.server.pages.drawing import gauge
from discreet.server.pages.problems import NotHere
from discreet.server.pages.rendering import STATIC, drawing, render
from discreet.server.pages.shown import opened, profile_of
from discreet.server.store.accounts import Account
from discreet.session.profile.profile import Profile

router = APIRouter(include_in_schema=False)
Anyone = Annotated[Caller, Depends(by_login(*EVERYBODY))]
Asker = Annotated[Caller, Depends(by_login(*ASKING))]
_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


def dataset_of(request: Request, account: Account, name: str) -> DataSet:
    """A data set that an account may use; the same answer if it may not and if there is none."""
    try:
        return server_of(request).datasets.get(name, account)
    except Invalid:
        raise NotHere(UNKNOWN) from None


@lru_cache(maxsize=256)
def _spent_and_left(found: Allowance) -> tuple[Amount, Amount]:
    """They take a while to compute exactly. Of an account they depend on its own charges alone, and so does the time that this takes."""
    return found.spent, found.remaining


def gauge_of(data: DataSet, account: Account, asking: Any = None) -> dict[str, Any] | None:
    """What an account was granted, has spent and may still spend, and a drawing of it; None for who asks nothing."""
    if account.role == "auditor":
        return None
    found = data.allowance(account)
    charged, left = _spent_and_left(found)
    spent, granted = charged.epsilon, found.granted.epsilon
    return {
        "granted": granted,
        "delta": found.granted.delta,
        "spent": spent,
        "left": left.epsilon,
        "left_delta": left.delta,
        "meaning": left.meaning,
        "renews": None if found.period is None else str(found.period.next.start),
        "drawn": drawing(gauge(spent, granted, asking)),
    }


@router.get("/static/{name}")
def static(name: str) -> Response:
    """The style sheet, the script and the icon; public, and kept by browsers."""
    found = STATIC.get(name)
    if found is None:
        raise NotHere("there is no such file")
    return Response(found, media_type=_KINDS[name.rpartition(".")[2]], headers={"Cache-Control": "public, max-age=31536000, immutable"})


@router.get("/")
def home(request: Request, caller: Anyone) -> Response:
    """The data sets that this account may use."""
    server = server_of(request)
    found = [
        {
            "name": data.name,
            "protects": data.catalog.protected,
            "tables": [t.name for t in data.catalog.tables],
            "budget": gauge_of(data, caller.account),
        }
        for data in server.datasets.of(caller.account)
    ]
    recent = [] if caller.account.role == "auditor" else server.jobs.of(caller.account.name, most=8)
    shared = [] if caller.account.role == "auditor" else server.jobs.shared_with(caller.account.name)
    new = list(server.folders) if caller.account.role == "owner" else []
    return render(request, "home.html", caller, datasets=found, recent=recent, shared=shared, new=new)


@router.get("/d/{name}")
def dataset(request: Request, name: str, caller: Anyone) -> Response:
    """The schema, what is declared, the profile, examples, and one's own budget."""
    data = dataset_of(request, caller.account, name)
    profiles = [profile_of(table.profile) for table in data.catalog.tables if table.profile is not None]
    profiles += _own_profiles(request, caller.account, data, {one["table"] for one in profiles})
    return render(
        request,
        "dataset.html",
        caller,
        data=schema(data),
        budget=gauge_of(data, caller.account),
        profiles=profiles,
        tab="overview",
    )


def _own_profiles(request: Request, account: Account, data: DataSet, published: set[str]) -> list[dict[str, Any]]:
    """Profiles that an analyst bought, where the owner published none; from answers that have left, never from the session itself."""
    if account.role != "analyst":
        return []
    found: dict[str, dict[str, Any]] = {}
    for job in server_of(request).jobs.of(account.name, data.name):
        if job.state == "done" and job.asked["request"][0][0] == "profile":
            release = opened(job.said["release"])
            if isinstance(release, Profile) and release.receipt.priced.version == data.catalog.version:
                found.setdefault(release.table.table, profile_of(release.table) | {"own": True})
    return [one for table, one in found.items() if table not in published]


@router.get("/d/{name}/history")
def history(request: Request, name: str, caller: Asker) -> Response:
    """What this account asked, and what became of it."""
    data = dataset_of(request, caller.account, name)
    jobs = server_of(request).jobs
    shared = [job for job in jobs.shared_with(caller.account.name) if job.dataset == name]
    return render(
        request,
        "history.html",
        caller,
        data={"name": name},
        jobs=jobs.of(caller.account.name, name),
        shared=shared,
        budget=gauge_of(data, caller.account),
        tab="history",
    )
