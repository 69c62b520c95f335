"""What an account sees while its questions are being answered: what it saw before the first of them began.

Answers leave at the ends of slots. The ledger, however, is charged and holds the answer as soon as the run has come so far, and budgets,
histories and repeated questions are read from it. Whoever looked at them meanwhile would learn how long the run took, and what it found.
So while an account has questions in progress, its budget and history are shown as they were before, and what is being answered is not yet
known to it. Owners see everything at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import final

from attrs import field, frozen

from discreet.ledger.standing import Allowance
from discreet.server.store.accounts import Account

EVERYTHING = "*"  # a question whose name is not known beforehand: while it is answered, nothing counts as known
_ONE = ""  # counts the questions, also those without a name


@final
@frozen(eq=False)
class Before:
    """What an account saw before its first question in progress, and the questions."""

    allowance: Allowance
    entries: int  # of the ledger
    questions: Counter[str] = field(factory=Counter)


@final
class _Once:
    """A call that does something the first time."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._acts = [act]

    def __call__(self) -> None:
        with suppress(IndexError):
            self._acts.pop()()


@final
class InProgress:
    """The questions of one data set that are being answered, by account."""

    def __init__(self) -> None:
        self._lock, self._open = threading.Lock(), dict[str, Before]()
        self._beginning: dict[str, threading.Lock] = {}  # of each account: one question after another

    @asynccontextmanager
    async def during(self, account: Account, questions: Iterable[str], look: Callable[[], Before]) -> AsyncIterator[Callable[[], None]]:
        """Hide what these questions change until the block ends, or what it gets is called; `look` gives what is seen before."""
        if account.role != "analyst":
            yield lambda: None
            return
        named = [*questions, _ONE]
        begun = asyncio.ensure_future(asyncio.to_thread(self._begin, account.name, named, look))  # it waits for the ledger
        show = _Once(partial(self._end, account.name, named))
        try:
            await asyncio.shield(begun)
            yield show
        finally:
            if not begun.done():  # cancelled: it still begins, and then ends
                begun.add_done_callback(lambda done: None if done.cancelled() or done.exception() else show())
            elif begun.exception() is None:
                show()

    def _begin(self, account: str, named: list[str], look: Callable[[], Before]) -> None:
        with self._beginning.setdefault(account, threading.Lock()):
            with self._lock:
                before = self._open.get(account)
                if before is not None:
                    before.questions.update(named)
                    return
            before = look()  # nothing of this account is in progress, and nothing begins meanwhile
            before.questions.update(named)
            with self._lock:
                self._open[account] = before

    def _end(self, account: str, named: list[str]) -> None:
        with self._lock:
            before = self._open[account]
            before.questions.subtract(named)
            if not before.questions[_ONE]:
                del self._open[account]

    def before(self, account: Account) -> Before | None:
        """What an account saw before; None if nothing of it is in progress."""
        with self._lock:
            return self._open.get(account.name)

    def hides(self, account: Account, question: str) -> bool:
        """Whether the answer to a question must not be shown yet."""
        before = self.before(account)
        return before is not None and bool(before.questions[question] or before.questions[EVERYTHING])
