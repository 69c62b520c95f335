"""The till: whatever is asked is paid for once, before anything is read, and its answer is kept for all who ask again."""

from __future__ import annotations

import datetime
import itertools
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, TypeVar, final

from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger.chain import Entry
from discreet.ledger.ledger import Ledger
from discreet.ledger.standing import Allowance
from discreet.loss.loss import Loss

CLOSED = "this session is closed: connect again"
PATIENCE = 20  # seconds to wait for somebody who has just paid for the same question


class Priced(Protocol):
    """Anything that is paid for as a whole."""

    @property
    def loss(self) -> Loss:
        """The price as a term."""

    @property
    def epsilon(self) -> Fraction:
        """Its ε."""

    @property
    def delta(self) -> Fraction:
        """Its δ."""


class Stored(Protocol):
    """Anything that the ledger keeps as text."""

    def to_text(self) -> str:
        """The text that it is read back from."""


Kept = TypeVar("Kept", bound=Stored)


@final
class Till:
    """A ledger as one analyst pays from it."""

    def __init__(self, ledger: Ledger, analyst: str | None, ready: Callable[[], None]) -> None:
        """`ready` raises if what is paid for could not be read anyway; it is called before every debit."""
        self._ledger, self._analyst, self._ready = ledger, analyst, ready
        self._failed: set[int] = set()  # payments of this process whose run failed
        self._closed = False

    def close(self) -> None:
        """Take no more payments."""
        self._closed = True

    @property
    def allowance(self) -> Allowance:
        """What may still be spent, and was."""
        return self._ledger.allowance(self._analyst)

    def knows(self, question: str) -> bool:
        """Whether a question was answered before."""
        return self._ledger.find(question) is not None

    def once(
        self,
        asked: Priced,
        question: str,
        note: str,
        run: Callable[[Entry], Kept],
        read: Callable[[str, bool], Kept],
        patience: float = PATIENCE,
    ) -> Kept:
        """Look for a stored answer; else pay, then run, then remember, then answer.

        A payment is for one draw. If the run fails after it, the question has to be paid for again: else an error that depends on the noise
        could be asked for again and again.
        """
        known = self._ledger.find(question)
        paid = self._pay(asked, question, note, patience) if known is None else None
        if paid is None:
            return read((known or self._ledger.find(question) or {})["release"], True)
        try:
            release = run(paid)
            text = release.to_text()
            self._ledger.store(paid, {"release": text})
        except BaseException:
            self._failed.add(paid.sequence)
            raise
        first = (self._ledger.find(question) or {})["release"]  # somebody slower than our patience may have been first after all
        return release if first == text else read(first, True)

    def _pay(self, asked: Priced, question: str, note: str, patience: float) -> Entry | None:
        """Pay for one draw; or None, if somebody who paid for the same question at the same time has answered it meanwhile."""
        for attempt in itertools.count():
            paid, fresh = self.claim(asked, question, f"{question}#{attempt}", note)
            if fresh:
                return paid
            began = time.monotonic()
            while self._ledger.find(question) is None:
                if paid.sequence in self._failed or max(abs(_seconds_since(paid.at)), time.monotonic() - began) > patience:
                    break  # whoever paid has failed: pay again
                time.sleep(0.05)
            else:
                return None
        raise AssertionError("unreachable")

    def claim(self, asked: Priced, question: str, key: str, note: str) -> tuple[Entry, bool]:
        """Pay for something under a key; and whether it was paid now, or before under the same key."""
        if self._closed:
            raise Invalid(CLOSED)
        self._ready()
        try:
            return self._ledger.claim(asked.loss, question=question, key=key, note=note, analyst=self._analyst)
        except BudgetExceeded:
            left = self.allowance.remaining
            if asked.delta > left.delta and asked.epsilon <= (left.epsilon or 0):
                raise BudgetExceeded(
                    f"of the budget's δ only {float(left.delta):.3g} is left for one question, and this one needs {float(asked.delta):.3g} "
                    "to find its groups or for Gaussian noise: declare its keys and pass delta=0. Nothing was charged."
                ) from None
            raise


def _seconds_since(at: str) -> float:
    return (datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(at)).total_seconds()
