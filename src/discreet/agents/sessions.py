"""Sessions as sources: one of a local policy, or one of a server that is reached with a token.

On a local policy one thing is done at a time: while a question is answered, nothing else is, so that neither budgets nor histories tell how
long it takes. An answer from a local policy is sent at the end of a slot, as from a server; see `discreet.server.clock`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, final

from discreet.agents.source import Planned, Price, Request, Running, key_of
from discreet.errors import Invalid, Refused
from discreet.ledger.standing import OWNER
from discreet.session.about import about, budget_of
from discreet.session.project import open_project
from discreet.session.released import Released
from discreet.session.remote.session import RemoteSession
from discreet.session.session import Session

WAIT = 20.0  # seconds: clients give up after a minute or so
BUSY = "an earlier question is still being answered: ask again in a while. Nothing was charged"
T = TypeVar("T")
# after how many seconds an answer is sent: from the session, the call, and how many it took to compute
SendAfter: TypeAlias = Callable[[Session, str, float], float]


@final
class LocalSource:
    """An account on the tables of a policy on this machine."""

    def __init__(self, session: Session, analyst: str, send_after: SendAfter, wait: float = WAIT) -> None:
        """`wait` is how many seconds a caller waits before being told to ask again later."""
        self._session, self._analyst, self._send_after, self._wait = session, analyst, send_after, wait
        self._turn = asyncio.Lock()
        self._open: dict[str, tuple[Planned, asyncio.Task[Released]]] = {}  # what is being answered, by request and price

    @classmethod
    def open(cls, path: str | os.PathLike[str], analyst: str, send_after: SendAfter) -> LocalSource:
        """The policy of a discreet.toml; the account needs a grant."""
        if analyst == OWNER:
            raise Invalid("an agent has an account of its own: grant it a small budget with `discreet grant`, and name it with --analyst")
        return cls(open_project(path, None, analyst, per_account=True), analyst, send_after)

    @property
    def name(self) -> str:
        """The account."""
        return self._analyst

    async def about(self) -> dict[str, Any]:
        """What is declared and profiled, and example questions."""
        return await self._alone(lambda: about("here", self._session.catalog))

    async def budget(self) -> dict[str, Any]:
        """What the account was granted, has spent and may still spend."""
        return await self._alone(lambda: budget_of(self._session.ledger.allowance(self._analyst).own))

    async def history(self) -> list[dict[str, Any]]:
        """What the account was charged for."""
        return await self._alone(self._session.history)

    async def plan(self, request: Request, price: Price) -> Planned:
        """What would happen at this price."""
        if (running := self._open.get(key_of(request, price))) is not None:
            return running[0]
        return await self._alone(lambda: self._planned(request, price))

    async def price(self, request: Request, error: Mapping[str, float]) -> Fraction:
        """The least ε at which a question meets these errors."""
        return await self._alone(lambda: least_price(request.on(self._session), error))

    async def release(self, request: Request, price: Price) -> Released | Running:
        """Pay and answer, at the end of a slot if something may be read."""
        key = key_of(request, price)
        if key not in self._open:
            planned = await self.plan(request, price)
            task = asyncio.ensure_future(self._in_turn(lambda: self._answered(request, price)))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may come back for it
            self._open[key] = planned, task
        task = self._open[key][1]
        await asyncio.wait([task], timeout=self._wait)
        if not task.done():
            return Running()
        self._open.pop(key, None)
        return task.result()

    def close(self) -> None:
        """Close the session."""
        self._session.close()

    def _planned(self, request: Request, price: Price) -> Planned:
        found = request.on(self._session).plan(**price)
        return Planned(found, self._session.stored(found) is not None)

    async def _answered(self, request: Request, price: Price) -> Released:
        known = (await asyncio.to_thread(self._planned, request, price)).known
        begin = time.monotonic()
        try:
            return await asyncio.to_thread(released, request, self._session, price)
        finally:
            if not known:
                took = time.monotonic() - begin
                await asyncio.sleep(self._send_after(self._session, request.call, took) - took)

    async def _alone(self, work: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.ensure_future(self._in_turn(lambda: asyncio.to_thread(work))))

    async def _in_turn(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do one thing after another; Refused if what was begun takes longer than callers wait."""
        try:
            await asyncio.wait_for(self._turn.acquire(), self._wait)
        except TimeoutError:
            raise Refused(BUSY) from None
        try:
            return await work()
        finally:
            self._turn.release()


@final
class RemoteSource:
    """The account of a token on a data set of a server, which keeps slots and budgets."""

    def __init__(self, session: RemoteSession, address: str) -> None:
        self._session, self._address = session, address
        self._received: set[str] = set()  # requests and prices whose answers came through here

    @classmethod
    def open(cls, address: str) -> RemoteSource:
        """A data set of a server, with the token of the environment."""
        return cls(RemoteSession.open(address), address)

    @property
    def name(self) -> str:
        """The data set; the account is that of the token."""
        return self._address

    async def about(self) -> dict[str, Any]:
        """What is declared and profiled, and example questions."""
        return self._session.about

    async def budget(self) -> dict[str, Any]:
        """What the account was granted, has spent and may still spend."""
        return await asyncio.to_thread(lambda: self._session.budget)

    async def history(self) -> list[dict[str, Any]]:
        """What the account was charged for."""
        return await asyncio.to_thread(self._session.history)

    async def plan(self, request: Request, price: Price) -> Planned:
        """What would happen at this price."""
        known = key_of(request, price) in self._received
        return await asyncio.to_thread(lambda: Planned(request.on(self._session).plan(**price), known))

    async def price(self, request: Request, error: Mapping[str, float]) -> Fraction:
        """The least ε at which a question meets these errors."""
        return await asyncio.to_thread(lambda: least_price(request.on(self._session), error))

    async def release(self, request: Request, price: Price) -> Released | Running:
        """Pay and answer."""
        found = await asyncio.to_thread(released, request, self._session, price)
        self._received.add(key_of(request, price))
        return found

    def close(self) -> None:
        """Send nothing more."""
        self._session.close()


def least_price(request: Any, error: Mapping[str, float]) -> Fraction:
    """The least ε at which a question meets these errors; Invalid if it is none."""
    if not hasattr(request, "price"):
        raise Invalid("only questions have a price for an error: give an epsilon")
    found: Fraction = request.price(dict(error))
    return found


def released(request: Request, session: Any, price: Price) -> Released:
    """Pay and answer in this thread, without progress on the screen: standard output belongs to the protocol."""
    quiet = {"progress": lambda _step, _share: None} if request.call == "synthesize" else {}
    found: Released = request.on(session).release(**price, **quiet)
    return found
