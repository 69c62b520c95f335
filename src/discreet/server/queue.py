"""A queue that is fair between accounts: each in turn, whoever asks more waits longer. A seat is held until its slot ends."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, final

from discreet.errors import Refused
from discreet.server.clock import Clock

T = TypeVar("T")
TOO_MANY = "you have too many questions waiting: wait for some of them to be answered"


@final
class FairQueue:
    """Run work in threads, at most `seats` at a time, taking accounts in turn.

    A seat is free again only when its answer leaves, at the end of a slot. So how long others wait depends on how many questions were
    asked and on their slots, which are public, and not on how long the runs took.
    """

    def __init__(self, clock: Clock, seats: int, most_waiting: int) -> None:
        self.clock, self._free, self._most = clock, seats, most_waiting
        self._each, self._held = max(1, seats // 2), Counter[str]()  # seats of one account, at most half of them
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._stopped = False
        self._threads = ThreadPoolExecutor(seats, thread_name_prefix="discreet-question")

    async def run(
        self, account: str, slot: int, work: Callable[[], T], record: Callable[[T], object] | None = None, since: float | None = None
    ) -> T:
        """The result of `work`, at the end of its slot; Refused if this account has too many waiting.

        `record` gets the result in the last part of the slot: however long it waits for the disk, the answer leaves when the slot ends.
        `since` is when the request arrived, at which its slot begins if a seat is free.
        """
        waited = await self._seat(account)
        begin = time.monotonic() if waited or since is None else since
        closing, ended = self.clock.closing, None
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, work)
            try:
                found = await asyncio.shield(running)
                ended = time.monotonic()
                if record is not None:
                    await _until(begin + self.clock.leaves(slot, ended - begin + closing) - closing)
                    await asyncio.to_thread(record, found)
                return found
            finally:
                if not running.done():  # the caller went away: the run goes on, and so does its seat
                    await asyncio.wait([running])
                ended = time.monotonic() if ended is None else ended
                await _until(begin + self.clock.leaves(slot, ended - begin + closing))
        finally:
            self._give_back(account)

    @property
    def waiting(self) -> int:
        """How many wait for a seat."""
        return sum(map(len, self._waiting.values()))

    async def _seat(self, account: str) -> bool:
        """Take a seat; whether it was waited for."""
        if self._stopped:
            raise asyncio.CancelledError
        if self._free and not self._waiting and self._held[account] < self._each:
            self._free -= 1
            self._held[account] += 1
            return False
        mine = self._waiting.setdefault(account, deque())
        if len(mine) >= self._most:
            raise Refused(TOO_MANY)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        mine.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(account)  # its seat came at the same moment
            elif turn in mine:
                mine.remove(turn)
                if not mine:
                    self._waiting.pop(account, None)
            raise
        return True

    def _give_back(self, account: str) -> None:
        """Free a seat, and give what is free to the accounts whose turn it is; each then goes to the end of the line."""
        self._free += 1
        self._held[account] -= 1
        if not self._held[account]:
            del self._held[account]
        while self._free and (name := next((one for one in self._waiting if self._held[one] < self._each), None)) is not None:
            turns = self._waiting.pop(name)
            turn = turns.popleft()
            if turns:
                self._waiting[name] = turns
            if not turn.done():
                self._free -= 1
                self._held[name] += 1
                turn.set_result(None)

    def stop(self) -> None:
        """Start nothing more: those who wait are cancelled, and their jobs stay queued."""
        self._stopped = True
        for turns in self._waiting.values():
            for turn in turns:
                turn.cancel()
        self._waiting.clear()

    def close(self) -> None:
        """Wait for runs to end."""
        self._threads.shutdown(wait=True, cancel_futures=True)


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
