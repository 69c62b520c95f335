"""What an account sees while its questions are being answered: what it saw before the first of them began.

Answers leave at the ends of slots. The ledger, however, is charged and holds the answer as soon as the run has come so far, and budgets,
histories and repeated questions are read from it. Whoever looked at them meanwhile would learn how long the run took, and what it found.
So while an account has questions in progress, its budget and history are shown as they were before, and what is being answered is not yet
known to it. Owners see everything at once.

Where several servers share a database, an account's questions about a data set are answered by one of them at a time; the others, which
do not know what the account saw before, show nothing meanwhile.
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

from discreet.errors import Error, Refused
from discreet.ledger.standing import Allowance
from discreet.server.store.accounts import Account
from discreet.server.store.instances import Instance

EVERYTHING = "*"  # a question whose name is not known beforehand: while it is answered, nothing counts as known
ELSEWHERE = "another server of this service is answering a question of yours: look again when its answer has left"
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

    def __init__(self, dataset: str = "", instance: Instance | None = None) -> None:
        """`instance` is the server, if others may share its database."""
        self._lock, self._open = threading.Lock(), dict[str, Before]()
        self._beginning: dict[str, threading.Lock] = {}  # of each account: one question begins or ends after another
        self._dataset, self._instance = dataset, None if instance is None or instance.is_alone else instance

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
            if self._instance is not None and not self._instance.claim(account, self._dataset):
                raise Refused(ELSEWHERE)
            try:
                before = look()  # nothing of this account is in progress, and nothing begins meanwhile
            except BaseException:
                self._release(account)
                raise
            before.questions.update(named)
            with self._lock:
                self._open[account] = before

    def _end(self, account: str, named: list[str]) -> None:
        with self._beginning[account]:
            with self._lock:
                before = self._open[account]
                before.questions.subtract(named)
                if before.questions[_ONE]:
                    return
                del self._open[account]
            self._release(account)

    def _release(self, account: str) -> None:
        if self._instance is not None:
            with suppress(Error):  # the answer leaves all the same
                self._instance.release(account, self._dataset)

    def before(self, account: Account) -> Before | None:
        """What an account saw before; None if nothing of it is in progress."""
        with self._lock:
            found = self._open.get(account.name)
        if found is None and account.role == "analyst" and self._is_elsewhere(account):
            raise Refused(ELSEWHERE)
        return found

    def _is_elsewhere(self, account: Account) -> bool:
        return self._instance is not None and self._instance.is_elsewhere(account.name, self._dataset)

    def hides(self, account: Account, question: str) -> bool:
        """Whether the answer to a question must not be shown yet."""
        before = self.before(account)
        return before is not None and bool(before.questions[question] or before.questions[EVERYTHING])
