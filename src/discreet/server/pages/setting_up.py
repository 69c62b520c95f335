"""Set up a data set, page by page: its files, who is protected, the budget, and the policy that says so; for owners.

Nothing is remembered between the pages: each carries what was answered before it, and everything is checked again when it comes back.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any, final

from attrs import frozen
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet import exact, parameter
from discreet.errors import Error, Invalid
from discreet.server import setup
from discreet.server.access import OWNING, Caller, by_login, server_of
from discreet.server.outcome import as_outcome
from discreet.server.pages.asking import submit
from discreet.server.pages.auditing import profile_request
from discreet.server.pages.forms import Fields, Posted, posted
from discreet.server.pages.looking import dataset_of
from discreet.server.pages.policy_lines import policy_lines
from discreet.server.pages.problems import NotHere
from discreet.server.pages.rendering import render
from discreet.session.project import draft_policy, schemas_of, sources_named
from discreet.tables.declaration import EACH_ROW, IDENTITIES
from discreet.tables.draft import Decided, candidates

router = APIRouter(include_in_schema=False)
Owner = Annotated[Caller, Depends(by_login(*OWNING))]
Sent = Annotated[Posted, Depends(posted(*OWNING))]
STEPS = {"files": "Data", "who": "Who is protected", "budget": "Budget", "policy": "Policy"}
DELIMITERS = {"": "commas", ";": "semicolons", "|": "bars", "\t": "tabs"}
PUBLIC = "public"  # who is protected in a table: nobody; columns are written with "column:" before their names
_MOST_TABLES = 50
_TOML = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


@final
@frozen
class Answered:
    """What the pages have been told so far."""

    files: list[str]
    delimiter: str
    units: list[str]
    rows: list[str]
    epsilon: str
    delta: str
    text: str
    profile: str

    @classmethod
    def read(cls, fields: Fields) -> Answered:
        """Read a form; only its shape is checked here."""
        typed, delimiter = fields.text("typed", 1000), fields.raw("delimiter")
        files = list(dict.fromkeys([*fields.all("file"), *([typed] if typed else [])]))
        if len(files) > _MOST_TABLES:
            raise Invalid(f"at most {_MOST_TABLES} files can be set up here: choose fewer, or write the policy with `discreet init`")
        if delimiter not in DELIMITERS:
            raise Invalid("choose from the list what separates the values of CSV files")
        units, rows = ([fields.text(f"{what}{place}", 1000) for place in range(len(files))] for what in ("unit", "rows"))
        text = fields.raw("text").replace("\r\n", "\n")
        return cls(files, delimiter, units, rows, fields.text("epsilon", 50), fields.text("delta", 50), text, fields.text("profile", 50))


@router.get("/owner/setup/{name}")
def setup_page(request: Request, name: str, caller: Owner) -> Response:
    """The first page; of a data set that is served already, what to do next."""
    if name not in server_of(request).folders:
        data = dataset_of(request, caller.account, name)
        return render(request, "setup_done.html", caller, data={"name": data.name})
    return _page(request, caller, name, "files", Answered([], "", [], [], "1", "1e-6", "", ""))


@router.post("/owner/setup/{name}")
async def go_on(request: Request, name: str, sent: Sent) -> Response:
    """The page that was asked for, if what was answered allows it; or save the policy, and serve it."""
    server, wanted, answered = server_of(request), sent.fields.text("do", 20), Answered.read(sent.fields)
    if name not in server.folders:
        await run_in_threadpool(dataset_of, request, sent.caller.account, name)
        return RedirectResponse(f"/owner/setup/{name}", 303)
    if wanted != "save":
        return await run_in_threadpool(_asked_for, request, sent.caller, name, wanted, answered)
    try:
        price = sent.fields.number("profile") if answered.profile else None
        await run_in_threadpool(setup.save, server, name, answered.text, sent.caller.account)
    except Error as error:
        return await run_in_threadpool(_page, request, sent.caller, name, "policy", answered, as_outcome(error), 400)
    if price is None:
        return RedirectResponse(f"/owner/setup/{name}", 303)
    return await _profiled(request, sent.caller, name, price)


async def _profiled(request: Request, caller: Caller, name: str, price: str) -> Response:
    """Buy a profile of each private table, now that they are served."""
    data = await run_in_threadpool(dataset_of, request, caller.account, name)
    try:
        for table in (one for one in data.catalog.tables if one.private):
            await submit(server_of(request), data, caller.account, profile_request(table.name, price))
    except Error as error:
        return await run_in_threadpool(render, request, "setup_done.html", caller, 400, data={"name": name}, problem=as_outcome(error))
    return RedirectResponse(f"/owner/setup/{name}", 303)


def _asked_for(request: Request, caller: Caller, name: str, wanted: str, answered: Answered) -> Response:
    """A page and what it is made of; the page before it, with the problem, if the answers do not suffice."""
    if wanted not in (*STEPS, "check"):
        raise NotHere("there is no such step")
    folder, here = server_of(request).folders[name], "files"
    try:
        if wanted != "files":
            sources = _sources(answered, folder)
        if wanted in ("budget", "policy", "check"):
            here = "who"
            units = _units(answered, sources)
        if wanted == "policy":
            here = "budget"
            text = draft_policy(sources, folder, _decided(answered, list(sources), units))
            return _page(request, caller, name, "policy", answered, text=text)
        if wanted == "check":
            here = "policy"
            setup.check(answered.text, folder)
            said = {"message": "This policy can be served. Lines marked CHECK still wait for your decision.", "notes": [], "good": True}
            if "CHECK:" not in answered.text:
                said["message"] = "This policy can be served."
            return _page(request, caller, name, "policy", answered, said)
    except Error as error:
        return _page(request, caller, name, here, answered, as_outcome(error), 400)
    return _page(request, caller, name, wanted, answered)


def _sources(answered: Answered, folder: Any) -> dict[str, Any]:
    if not answered.files:
        raise Invalid("choose at least one file")
    return sources_named([setup.file_below(folder, one) for one in answered.files], answered.delimiter or None)


def _units(answered: Answered, sources: dict[str, Any]) -> dict[str, str | None]:
    """Who is protected in each table: a column, each row, or nobody."""
    found: dict[str, str | None] = {}
    for (name, columns), said in zip(schemas_of(sources).items(), answered.units, strict=True):
        column = said.removeprefix("column:")
        if said == PUBLIC:
            found[name] = None
        elif said == EACH_ROW or (said != column and column in columns):
            found[name] = column
        else:
            raise Invalid(f"say who is protected in {name}: choose from the list")
    if all(unit is None for unit in found.values()):
        raise Invalid("there must be a table in which someone is protected")
    return found


def _decided(answered: Answered, names: list[str], units: dict[str, str | None]) -> Decided:
    rows: dict[str, int] = {}
    for name, typed in zip(names, answered.rows, strict=True):
        if typed and units[name] not in (None, EACH_ROW):
            if not typed.isascii() or not typed.isdigit() or not 0 < int(typed) < 10**9:
                raise Invalid(f"how many rows of one count in {name} is a whole number, such as 10; or leave it empty")
            rows[name] = int(typed)
    fields = Fields({"epsilon": [answered.epsilon], "delta": [answered.delta]})
    epsilon, delta = exact.positive(fields.number("epsilon"), "ε"), parameter.any_delta(fields.number("delta"))
    return Decided(_written(fields.number("epsilon"), epsilon), _written(fields.number("delta"), delta), units, rows)


def _written(typed: str, number: Fraction) -> str:
    """A number as TOML reads it: as it was typed, where that is possible."""
    return typed if _TOML.fullmatch(typed) else exact.short(number)


def _page(
    request: Request, caller: Caller, name: str, step: str, answered: Answered, problem: Any = None, status: int = 200, text: str = ""
) -> Response:
    folder = server_of(request).folders[name]
    values: dict[str, Any] = {"name": name, "step": step, "steps": STEPS, "answered": answered, "problem": problem, "folder": str(folder)}
    if step == "files":
        offered = setup.files_below(folder)
        values |= {"offered": offered, "typed": [one for one in answered.files if one not in offered][:1], "delimiters": DELIMITERS}
    elif step == "who":
        schemas = schemas_of(_sources(answered, folder))
        values |= {"tables": [_choices(table, columns) for table, columns in schemas.items()], "each_row": EACH_ROW, "public": PUBLIC}
    elif step == "policy":
        shown = text or answered.text
        values |= {"text": shown, "lines": policy_lines(shown), "checks": sum(line.check for line in policy_lines(shown))}
    return render(request, "setup.html", caller, status, **values)


def _choices(table: str, columns: Any) -> dict[str, Any]:
    """A table, and its columns that may say who is protected: likely ones first."""
    likely = candidates(columns)
    others = [one for one, kind in columns.items() if kind in IDENTITIES and one not in likely]
    return {"name": table, "likely": likely, "columns": [*likely, *others]}
