"""Conversations, threshold streams and feeds that are open: they live in this process, and their payments in the ledger."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, final

from attrs import frozen

from discreet.errors import Invalid
from discreet.server.datasets import DataSet
from discreet.server.queue import FairQueue
from discreet.server.replay import request_of
from discreet.server.store.accounts import Account
from discreet.server.store.secret import new_secret
from discreet.session.remote.wire import Chain, value
from discreet.session.session import Session

_MOST = 50  # open runs of one account
_IDLE = 24 * 3600.0  # seconds after which an unused run is closed
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


@final
class Runs:
    """The open ones of all accounts. One step at a time: a second one waits."""

    def __init__(self, queue: FairQueue) -> None:
        self._queue, self._open, self._lock = queue, OrderedDict[str, tuple[OpenRun, float]](), threading.Lock()

    async def open(self, data: DataSet, account: Account, chain: Chain, price: Mapping[str, Any], slot: int) -> OpenRun:
        """Open what a chain requests; its first step may be charged now."""
        session = data.session(account)
        request = request_of(session, chain)
        if not hasattr(request, "open"):
            raise Invalid("this is released, not opened: use the interface for releases")
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

    async def step(self, opened: OpenRun, account: Account, slot: int, step: Callable[[], Any]) -> Any:
        """Take a step, in its turn and slot."""

        def work() -> Any:
            with opened.lock:
                return step()

        return await self._queue.run(account.name, slot, work)

    def close(self, opened: OpenRun) -> None:
        """Forget a run."""
        with self._lock:
            self._open.pop(opened.id, None)


def question_of(opened: OpenRun, said: Any) -> Any:
    """What a stream is asked: SQL text, or a chain."""
    found = value(said)
    return request_of(opened.session, found) if isinstance(found, Chain) else found
