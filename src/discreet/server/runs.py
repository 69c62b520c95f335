"""Conversations, threshold streams and feeds that are open: they live in this process, and their payments in the ledger."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Error, Invalid
from discreet.server.datasets import DataSet
from discreet.server.queue import FairQueue
from discreet.server.replay import request_of
from discreet.server.store.accounts import Account
from discreet.server.store.jobs import REUSED
from discreet.server.store.secret import new_secret
from discreet.session.remote.wire import Chain, value
from discreet.session.session import Session

_MOST = 50  # open runs of one account
_KEYS, _OUTCOMES = 1000, 20  # idempotency keys of openings, and outcomes of one run's steps, that are remembered
_IDLE = 24 * 3600.0  # seconds after which an unused run is closed
BUSY = "a question is being answered here: look again when it has left"
GONE = "this conversation, stream or feed is not open: open it again; what was paid stays paid"


@final
@frozen(eq=False)
class OpenRun:
    """One that is open, and whose it is."""

    id: str
    account: str
    dataset: str
    kind: str
    run: Any
    session: Session
    lock: threading.Lock
    steps: Counter[str] = field(factory=Counter)  # how many are being taken; until they leave, the run is shown as it was before
    seen: dict[str, Any] = field(factory=dict)  # its state before
    outcomes: OrderedDict[str, tuple[str, Any]] = field(factory=OrderedDict)  # of steps with an idempotency key: the body, what came of it


@final
class Runs:
    """The open ones of all accounts. One step at a time: a second one waits."""

    def __init__(self, queue: FairQueue) -> None:
        self._queue, self._open, self._lock = queue, OrderedDict[str, tuple[OpenRun, float]](), threading.Lock()
        self._opening: OrderedDict[tuple[str, str], tuple[str, asyncio.Task[OpenRun]]] = OrderedDict()

    async def open(
        self, data: DataSet, account: Account, chain: Chain, price: Mapping[str, Any], slot: int, once: str | None = None, body: str = ""
    ) -> OpenRun:
        """Open what a chain requests; its first step may be charged now. With the same key and body again, it is the same run."""
        known = None if once is None else self._opening.get((account.name, once))
        if known is not None and known[0] != body:
            raise Invalid(REUSED)
        task = asyncio.create_task(self._opened(data, account, chain, price, slot)) if known is None else known[1]
        if known is None and once is not None:
            self._opening[account.name, once] = (body, task)
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # it may be that nobody waits for it
            while len(self._opening) > _KEYS:
                self._opening.popitem(last=False)
        return await asyncio.shield(task)

    async def _opened(self, data: DataSet, account: Account, chain: Chain, price: Mapping[str, Any], slot: int) -> OpenRun:
        session = data.session(account)
        request = await asyncio.to_thread(request_of, session, chain)
        if not hasattr(request, "open"):
            raise Invalid("this is released, not opened: use the interface for releases")
        async with data.in_progress(account, ()):
            run = await self._queue.run(account.name, slot, lambda: request.open(**price))
        opened = OpenRun(new_secret(100), account.name, data.name, chain.steps[0][0], run, session, threading.Lock())
        with self._lock:
            mine = [one.id for one, _ in self._open.values() if one.account == account.name]
            for old in mine[: max(0, len(mine) - _MOST + 1)]:
                del self._open[old]
            self._open[opened.id] = (opened, time.monotonic())
        return opened

    def get(self, number: str, account: Account) -> OpenRun:
        """An open run of this account."""
        with self._lock:
            found = self._open.get(number)
            if found is None or found[0].account != account.name or time.monotonic() - found[1] > _IDLE:
                raise Invalid(GONE)
            self._open[number] = (found[0], time.monotonic())
            return found[0]

    def of(self, account: Account, dataset: str) -> list[OpenRun]:
        """The open runs of an account on a data set, newest last."""
        with self._lock:
            return [one for one, _ in self._open.values() if (one.account, one.dataset) == (account.name, dataset)]

    async def step(
        self, data: DataSet, opened: OpenRun, account: Account, slot: int, step: Callable[[], Any], once: str | None = None, body: str = ""
    ) -> Any:
        """Take a step, in its turn and slot. With the same key and body again, it returns or raises what it did the first time."""

        def work() -> Any:
            with opened.lock:
                if once is None:
                    return step()
                if once not in opened.outcomes:
                    opened.outcomes[once] = (body, _outcome(step))
                    while len(opened.outcomes) > _OUTCOMES:
                        opened.outcomes.popitem(last=False)
                before, found = opened.outcomes[once]
            if before != body:
                raise Invalid(REUSED)
            if isinstance(found, Error):
                raise found
            return found

        arrived = time.monotonic()
        opened.steps["all"] += 1
        try:
            async with data.in_progress(account, ()):
                return await self._queue.run(account.name, slot, work, since=arrived)
        finally:
            opened.steps["all"] -= 1

    def close(self, opened: OpenRun) -> None:
        """Forget a run."""
        with self._lock:
            self._open.pop(opened.id, None)


def _outcome(step: Callable[[], Any]) -> Any:
    try:
        return step()
    except Error as error:
        return error


def question_of(opened: OpenRun, said: Any) -> Any:
    """What a stream is asked: SQL text, or a chain."""
    found = value(said)
    return request_of(opened.session, found) if isinstance(found, Chain) else found
