"""Payment: every question is paid for once, before any row is read; its answer is stored and repeats are free."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fractions import Fraction
from typing import Protocol, TypeVar, final

from discreet.errors import BudgetExceeded, Invalid, LedgerError
from discreet.ledger.chain import Entry
from discreet.ledger.leases import LASTS, Held
from discreet.ledger.ledger import Ledger
from discreet.ledger.standing import Allowance
from discreet.loss.loss import Loss
from discreet.noise.bits import SystemBits

CLOSED = "this session is closed: connect again"
_LOOK = 0.05  # seconds between two looks for somebody else's answer


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
Value = TypeVar("Value")

# the account and the reservation that the steps running now belong to
_order: ContextVar[tuple[object, str] | None] = ContextVar("order", default=None)
_running: ContextVar[frozenset[tuple[int, str]]] = ContextVar("running", default=frozenset())  # questions that are being answered here


@final
class Payments:
    """A ledger as one analyst pays from it."""

    def __init__(self, ledger: Ledger, analyst: str | None, ready: Callable[[], None]) -> None:
        """`ready` raises if what is paid for could not be read anyway; it is called before every debit."""
        self._ledger, self._analyst, self._ready = ledger, analyst, ready
        self._closed = False

    def close(self) -> None:
        """Take no more payments."""
        self._closed = True

    def require_open(self) -> None:
        """Raise Invalid if the session was closed."""
        if self._closed:
            raise Invalid(CLOSED)

    @property
    def allowance(self) -> Allowance:
        """What may still be spent, and was."""
        return self._ledger.allowance(self._analyst)

    def knows(self, question: str) -> bool:
        """Whether a question was answered before."""
        return self._ledger.find(question) is not None

    def pay_once(
        self,
        asked: Priced,
        question: str,
        note: str,
        run: Callable[[Entry], Kept],
        read: Callable[[str, bool], Kept],
        lost: str | None = None,
    ) -> Kept:
        """Look for a stored answer; else pay, then run, then remember, then answer.

        A payment is for one draw. If the run fails after it, the question has to be paid for again: else an error that depends on the noise
        could be asked for again and again. Where a question may be drawn only once, whatever happens, `lost` is what later askers are told.

        Whoever pays holds a lease while the run goes on, and others wait for the answer as long as it is alive. A run whose lease ran out
        and was taken by another throws its result away: what is shown is always what is stored.
        """
        mine = id(self._ledger), question
        if mine in _running.get():
            raise Invalid("this question is asked again by its own run: let the run end first")
        while True:
            holder = _new_holder()
            paid = self._start(asked, question, note, holder, lost)
            if paid is None:
                return read((self._ledger.find(question) or {})["release"], True)
            with self._lease(holder), _during(_running, _running.get() | {mine}), _said_if_lost(paid, lost):
                release = run(paid)
                text = release.to_text()
                stored = self._ledger.store(paid, {"release": text}, holder)
            if stored is not None:
                first = stored.body["release"]["release"]
                return release if first == text else read(first, True)

    def _start(self, asked: Priced, question: str, note: str, holder: str, lost: str | None) -> Entry | None:
        """Pay for one draw; or None, if there is an answer, perhaps of somebody who paid at the same time."""
        while True:
            if self._ledger.find(question) is not None:
                return None
            with self._paying(asked):
                paid = self._ledger.start(
                    asked.loss,
                    question=question,
                    holder=holder,
                    note=note,
                    analyst=self._analyst,
                    order=self._of_order,
                    ever=lost is not None,
                )
            match paid:
                case Held.ANSWERED:
                    return None
                case Held.SPENT:
                    raise Invalid(str(lost))
                case Held.BUSY:
                    time.sleep(_LOOK)
                case _:
                    return paid

    def claim(self, asked: Priced, question: str, key: str, note: str) -> tuple[Entry, bool]:
        """Pay for something under a key; and whether it was paid now, or before under the same key."""
        with self._paying(asked):
            return self._ledger.claim(asked.loss, question=question, key=key, note=note, analyst=self._analyst, order=self._of_order)

    @contextmanager
    def _paying(self, asked: Priced) -> Iterator[None]:
        self.require_open()
        self._ready()
        try:
            yield
        except BudgetExceeded:
            left = self.allowance.remaining
            if asked.delta > left.delta and asked.epsilon <= (left.epsilon or 0):
                raise BudgetExceeded(
                    f"of the budget's δ only {float(left.delta):.3g} is left for one question, and this one needs {float(asked.delta):.3g} "
                    "to find its groups or for Gaussian noise: declare its keys and pass delta=0. Nothing was charged."
                ) from None
            raise

    # ── orders and leases ────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reserved(self, losses: Sequence[Loss]) -> Iterator[None]:
        """Hold budget for all steps of an order while they are taken, one debit each; what is left at the end lapses.

        BudgetExceeded, and nothing is charged, if the budget does not admit all of them together.
        """
        self.require_open()
        self._ready()
        holder = _new_holder()
        order = self._ledger.reserve(losses, holder=holder, analyst=self._analyst)
        try:
            with self._lease(holder), _during(_order, (self, order)):
                yield
        finally:
            with suppress(LedgerError):
                self._ledger.let_go(holder)

    @property
    def _of_order(self) -> str | None:
        """The reservation that the steps running now belong to, if it is of this account."""
        current = _order.get()
        return current[1] if current is not None and current[0] is self else None

    @contextmanager
    def _lease(self, holder: str) -> Iterator[None]:
        """Renew a holder's leases while the block runs; give them up if it fails."""
        done = threading.Event()
        heart = threading.Thread(target=self._renew, args=(holder, done), name="discreet-lease", daemon=True)
        try:
            heart.start()
            yield
        except BaseException:
            with suppress(LedgerError):  # it runs out by itself, and the error of the block is the one to tell
                self._ledger.let_go(holder)
            raise
        finally:
            done.set()
            if heart.ident is not None:
                heart.join()  # so that no thread outlives its run

    def _renew(self, holder: str, done: threading.Event) -> None:
        while not done.wait(LASTS / 5):
            with suppress(LedgerError):
                self._ledger.renew(holder)


@contextmanager
def _said_if_lost(paid: Entry, lost: str | None) -> Iterator[None]:
    """Say with the error of a run that its question was paid for and not answered, and what to do."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"ledger entry {paid.sequence} was charged and not answered: {lost or 'ask again, and pay again, for a new draw'}")
        raise


@contextmanager
def _during(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a variable of this context for a block."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def _new_holder() -> str:
    return f"{SystemBits().word():016x}"
