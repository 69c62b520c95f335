"""Payment: a request is charged once, before any private row is read; its answer is stored, and repeats are free."""

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
_LOOK = 0.05  # seconds between two checks for the answer of another process


class Priced(Protocol):
    """Anything with a price."""

    @property
    def loss(self) -> Loss:
        """The loss that is charged."""

    @property
    def epsilon(self) -> Fraction:
        """Its ε."""

    @property
    def delta(self) -> Fraction:
        """Its δ."""


class Storable(Protocol):
    """Anything that the ledger can store as text."""

    def to_text(self) -> str:
        """The text from which it can be read back."""


Kept = TypeVar("Kept", bound=Storable)
Value = TypeVar("Value")

# the payments object and the reservation of the steps that are running
_reservation: ContextVar[tuple[object, str] | None] = ContextVar("reservation", default=None)
_running: ContextVar[frozenset[tuple[int, str]]] = ContextVar("running", default=frozenset())  # questions that this context is answering


@final
class Payments:
    """Payments of one analyst from a ledger."""

    def __init__(self, ledger: Ledger, analyst: str | None, ready: Callable[[], None]) -> None:
        """`ready` is called before every debit; it raises if the data could not be read anyway."""
        self._ledger, self._analyst, self._ready = ledger, analyst, ready
        self._closed = False

    def close(self) -> None:
        """Accept no more payments."""
        self._closed = True

    def require_open(self) -> None:
        """Raise Invalid if the session was closed."""
        if self._closed:
            raise Invalid(CLOSED)

    @property
    def allowance(self) -> Allowance:
        """What was spent, and what may still be spent."""
        return self._ledger.allowance(self._analyst)

    def knows(self, question: str) -> bool:
        """Whether there is a stored answer to a question."""
        return self.stored(question) is not None

    def stored(self, question: str) -> str | None:
        """The stored answer to a question as text, if there is one."""
        found = self._ledger.find(question)
        return None if found is None else str(found["release"])

    def pay_once(
        self,
        asked: Priced,
        question: str,
        note: str,
        run: Callable[[Entry], Kept],
        read: Callable[[str, bool], Kept],
        lost: str | None = None,
    ) -> Kept:
        """Return the stored answer; else pay, run, store and return.

        A payment covers one draw of noise. If the run fails, the question must be paid for again: otherwise an error that depends on the
        noise could be provoked any number of times. With `lost`, noise is drawn only once, even if the run fails; `lost` is then the error
        message for later callers.

        The payer holds a lease during the run, and others wait for the answer until the lease expires. A run whose lease expired and was
        taken over discards its result: what is returned is always what is stored.
        """
        running = self._running_with(question)
        while True:
            holder = _new_holder()
            paid = self._start(asked, question, note, holder, lost)
            if paid is None:
                return read((self._ledger.find(question) or {})["release"], True)
            with self._lease(holder), _during(_running, running), _note_if_unanswered(paid, lost):
                release = run(paid)
                text = release.to_text()
                stored = self._ledger.store(paid, {"release": text}, holder)
            if stored is not None:
                first = stored.body["release"]["release"]
                return release if first == text else read(first, True)

    def _start(self, asked: Priced, question: str, note: str, holder: str, lost: str | None) -> Entry | None:
        """Pay for one draw; or None if there is an answer, perhaps from somebody who paid at the same time."""
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
                    reservation=self._current_reservation,
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
        """Pay under a key; return the entry, and whether this call paid or an earlier one under the same key."""
        with self._paying(asked):
            return self._ledger.claim(
                asked.loss, question=question, key=key, note=note, analyst=self._analyst, reservation=self._current_reservation
            )

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
                    f"only δ = {float(left.delta):.3g} of the budget is left for one question, and this one needs {float(asked.delta):.3g} "
                    "to discover its groups or for Gaussian noise: declare its keys and pass delta=0. Nothing was charged."
                ) from None
            raise

    def _running_with(self, question: str) -> frozenset[tuple[int, str]]:
        """What this context is answering, with one more question; Invalid if that would wait for itself."""
        mine = id(self._ledger), question
        if mine in _running.get():
            raise Invalid("this question is asked again while it is being answered in the same thread: let the first run finish")
        return _running.get() | {mine}

    # ── reservations and leases ──────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def in_turn(self, request: str) -> Iterator[None]:
        """Wait while somebody else pays for the steps of the same request: what they bought is then stored, and free."""
        running = self._running_with(f"request {request}")
        holder = _new_holder()
        while True:
            self.require_open()
            if self._ledger.take_turn(request, holder):
                break
            time.sleep(_LOOK)
        try:
            with self._lease(holder), _during(_running, running):
                yield
        finally:
            with suppress(LedgerError):
                self._ledger.drop_leases(holder)

    @contextmanager
    def reserved(self, losses: Sequence[Loss]) -> Iterator[None]:
        """Reserve budget for all steps of a request while they run, each with its own debit; what is not debited is free again at the end.

        Raise BudgetExceeded, and charge nothing, if the budget does not admit all steps together.
        """
        self.require_open()
        self._ready()
        holder = _new_holder()
        name = self._ledger.reserve(losses, holder=holder, analyst=self._analyst)
        try:
            with self._lease(holder), _during(_reservation, (self, name)):
                yield
        finally:
            with suppress(LedgerError):
                self._ledger.drop_leases(holder)

    @property
    def _current_reservation(self) -> str | None:
        """The reservation of the steps that are running, if it was made by this object."""
        current = _reservation.get()
        return current[1] if current is not None and current[0] is self else None

    @contextmanager
    def _lease(self, holder: str) -> Iterator[None]:
        """Renew the leases of a holder while the block runs; drop them if it fails."""
        done = threading.Event()
        heart = threading.Thread(target=self._renew, args=(holder, done), name="discreet-lease", daemon=True)
        try:
            heart.start()
            yield
        except BaseException:
            with suppress(LedgerError):  # it expires by itself, and the error of the block is the one to report
                self._ledger.drop_leases(holder)
            raise
        finally:
            done.set()
            if heart.ident is not None:
                heart.join()  # no thread outlives its run

    def _renew(self, holder: str, done: threading.Event) -> None:
        while not done.wait(LASTS / 5):
            with suppress(LedgerError):
                self._ledger.renew(holder)


@contextmanager
def _note_if_unanswered(paid: Entry, lost: str | None) -> Iterator[None]:
    """Add a note to the error of a failed run: the question was charged and not answered, and what to do."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"ledger entry {paid.sequence} was charged and not answered: {lost or 'ask again, and pay again, for a new draw'}")
        raise


@contextmanager
def _during(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a context variable for a block."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def _new_holder() -> str:
    return f"{SystemBits().word():016x}"
