"""What an account sees while its questions are being answered: what it saw before the first of them began.

Answers leave at the ends of slots. The ledger, however, is charged and holds the answer as soon as the run has come so far, and budgets,
histories and repeated questions are read from it. Whoever looked at them meanwhile would learn how long the run took, and what it found.
So while an account has questions in progress, its budget and history are shown as they were before, and what is being answered is not yet
known to it. Owners see everything at once.

Where several servers share a database, an account's questions about a data set are answered by one of them at a time; the others, which
do not know what the account saw before, show nothing meanwhile.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
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
class InProgress:
    """The questions of one data set that are being answered, by account."""

    def __init__(self, dataset: str = "", instance: Instance | None = None) -> None:
        """`instance` is the server, if others may share its database."""
        self._lock, self._open = threading.Lock(), dict[str, Before]()
        self._dataset, self._instance = dataset, None if instance is None or instance.is_alone else instance

    @contextmanager
    def during(self, account: Account, questions: Iterable[str], look: Callable[[], Before]) -> Iterator[None]:
        """Hide what these questions change until the block ends, when their answers leave; `look` gives what is seen before."""
        if account.role != "analyst":
            yield
            return
        named = [*questions, _ONE]
        with self._lock:
            if account.name not in self._open:
                if self._instance is not None and not self._instance.claim(account.name, self._dataset):
                    raise Refused(ELSEWHERE)
                self._open[account.name] = look()
            self._open[account.name].questions.update(named)
        try:
            yield
        finally:
            with self._lock:
                before = self._open[account.name]
                before.questions.subtract(named)
                if not before.questions[_ONE]:
                    del self._open[account.name]
                    if self._instance is not None:
                        with suppress(Error):  # the answer leaves all the same
                            self._instance.release(account.name, self._dataset)

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
