"""Agents on a server: each account asks through the same queue, slots and jobs as people and programs, within limits of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from discreet import errors
from discreet.agents.agent import Agent
from discreet.agents.confirming import Confirmations
from discreet.agents.limits import Limits, Spending
from discreet.agents.sessions import least_price
from discreet.agents.source import Planned, Price, Request, Running, key_of
from discreet.errors import Error, Invalid
from discreet.server.asked import Asked
from discreet.server.datasets import UNKNOWN, DataSet
from discreet.server.describe import budget, schema
from discreet.server.outcome import Outcome
from discreet.server.replay import request_of
from discreet.server.server import Server
from discreet.server.settings import Settings
from discreet.server.store.accounts import Account
from discreet.server.store.jobs import OPEN, Job
from discreet.session.released import Released
from discreet.session.remote.wire import plain
from discreet.session.saved import release_of_text

_LOOK = 0.1  # seconds between two looks at a job
_ERRORS: dict[str, type[Error]] = {name: getattr(errors, name) for name in errors.__all__}
SEVERAL = "this token is good for several data sets: connect to /mcp/NAME, or make a token for one of them"


@final
class Agents:
    """The agents of one server: what each has spent, and its answers that are still to come. The ledger holds their budgets."""

    def __init__(self) -> None:
        self._confirmations = Confirmations()
        self._spending: dict[str, Spending] = {}  # by account: what it learns from several data sets adds up
        self._jobs: dict[tuple[str, str, str], str] = {}

    def of(self, server: Server, account: Account, dataset: str | None, allowed: tuple[str, ...] | None) -> Agent:
        """The agent of an account on a data set; on its only one, if none is named. `allowed` are those of its token, if not all."""
        data = _data(server, account, dataset, allowed)
        limits = limits_of(server.settings)
        spending = self._spending.setdefault(account.name, Spending(limits.session))
        return Agent(AccountSource(server, data, account, self._jobs), limits, self._confirmations, spending)


def limits_of(settings: Settings) -> Limits:
    """The limits of all agents on a server."""
    return Limits(settings.agent_question, settings.agent_session, settings.agent_confirm)


def _data(server: Server, account: Account, dataset: str | None, allowed: tuple[str, ...] | None) -> DataSet:
    if dataset is None:
        found = [one for one in server.datasets.of(account) if allowed is None or one.name in allowed]
        if len(found) > 1:
            raise Invalid(SEVERAL)
        dataset = found[0].name if found else ""
    if allowed is not None and dataset not in allowed:
        raise Invalid(UNKNOWN)
    return server.datasets.get(dataset, account)


@final
class AccountSource:
    """An account on a data set of this server."""

    def __init__(self, server: Server, data: DataSet, account: Account, jobs: dict[tuple[str, str, str], str]) -> None:
        """`jobs` are those that run longer than clients wait; the agent was told to ask again."""
        self._server, self._data, self._account, self._jobs = server, data, account, jobs

    @property
    def name(self) -> str:
        """The account and the data set."""
        return f"{self._account.name} on {self._data.name}"

    async def about(self) -> dict[str, Any]:
        """What is declared and profiled, and example questions."""
        return await asyncio.to_thread(schema, self._data)

    async def budget(self) -> dict[str, Any]:
        """What the account was granted, has spent and may still spend."""
        return await asyncio.to_thread(budget, self._data, self._account)

    async def history(self) -> list[dict[str, Any]]:
        """What the account was charged for."""
        return await asyncio.to_thread(self._data.history, self._account)

    async def plan(self, request: Request, price: Price) -> Planned:
        """What would happen at this price; an answer whose slot has not ended is not known yet."""

        def planned() -> Planned:
            plan = self._server.asking.plan(self._data, self._account, Asked.read(_body(request, price)))
            hidden = self._data.hides(self._account, plan.priced.question)
            return Planned(plan, not hidden and self._data.session(self._account).stored(plan) is not None)

        return await asyncio.to_thread(planned)

    async def price(self, request: Request, error: Mapping[str, float]) -> Fraction:
        """The least ε at which a question meets these errors."""
        return await asyncio.to_thread(lambda: least_price(request_of(self._data.session(self._account), request.chain), error))

    async def release(self, request: Request, price: Price) -> Released | Running:
        """Pay and answer as a job, at the end of its slot; one that takes longer than clients wait is asked for again."""
        key = (self._account.name, self._data.name, key_of(request, price))
        found: Outcome | Job
        if key in self._jobs:
            found = await self._waited(self._jobs[key])
        else:
            found = await self._server.ask(self._data, self._account, _body(request, price), None, self._server.settings.wait)
        if isinstance(found, Job) and found.state in OPEN:
            self._jobs[key] = found.id
            return Running()
        self._jobs.pop(key, None)
        return _released(found.said if isinstance(found, Job) else found)

    async def _waited(self, number: str) -> Job:
        until = time.monotonic() + self._server.settings.wait
        while True:
            job = await asyncio.to_thread(self._server.asking.own_job, self._account, number)
            if job.state not in OPEN or time.monotonic() >= until:
                return job
            await asyncio.sleep(_LOOK)

    def close(self) -> None:
        """The server stays open."""


def _body(request: Request, price: Price) -> dict[str, Any]:
    """A request as programs send it, with all its fields, so that what they received before is found."""
    return {"request": request.chain.to_json(), "verb": "release", "price": plain(dict(price)), "refine": [], "of": None}


def _released(outcome: Outcome) -> Released:
    if "error" not in outcome:
        return release_of_text(outcome["release"], bool(outcome.get("repeated")))
    error = _ERRORS.get(str(outcome["error"]), Error)(str(outcome["message"]))
    for note in outcome.get("notes", ()):
        error.add_note(str(note))
    raise error
