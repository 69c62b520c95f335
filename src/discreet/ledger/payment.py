"""Payment: a request is charged once, before any private row is read; its answer is stored, and repeats are free."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fractions import Fraction
from typing import Protocol, Self, TypeVar, final

from discreet.errors import BudgetExceeded, Invalid, LedgerError
from discreet.ledger.chain import Entry
from discreet.ledger.leases import LASTS, Held
from discreet.ledger.ledger import Ledger
from discreet.ledger.standing import OWNER, Allowance
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

    def without_entries(self) -> Self:
        """The same, with a receipt that names no ledger entries, if it has one."""


Kept = TypeVar("Kept", bound=Storable)
Value = TypeVar("Value")

# the payments object and the reservation of the steps that are running
_reservation: ContextVar[tuple[object, str] | None] = ContextVar("reservation", default=None)
_running: ContextVar[frozenset[tuple[int, str]]] = ContextVar("running", default=frozenset())  # questions that this context is answering


@final
class Payments:
    """Payments of one analyst from a ledger.

    By default a stored answer is everybody's, free of charge. With `per_account`, each analyst is charged from her own budget for every
    answer when she first gets it, also where it is stored because somebody else asked (`Ledger.receive`). So what she learns is limited by
    her own budget, and the data set pays once. What she is told follows from her own account alone: what she knows, what remains, refusals,
    and whether an answer is a repeat do not say whether somebody else has asked. Receipts name no ledger entries, whose numbers would.

    Three things are not hidden. A stored answer comes sooner than one that is drawn, without progress. A feed whose next days another lost
    by a crash is lost to all. And where the budget of the data set is exhausted, what is stored can still be received, and what is not
    stored is refused, with the numbers of her own account. Without δ, that budget is never exhausted before the accounts if the grants of
    all periods and what the owner spends add up to no more. With δ it may be, even so: accounts that compose their questions by different
    theorems do not always add up by one.
    """

    def __init__(self, ledger: Ledger, analyst: str | None, ready: Callable[[], None], *, per_account: bool = False) -> None:
        """`ready` is called before every debit; it raises if the data could not be read anyway."""
        self.shown: Callable[[], Allowance] | None = None  # the allowance as the account may see it now, if that is not the newest
        self._ledger, self._analyst, self._ready = ledger, analyst, ready
        self.names_entries = not per_account
        self.account = analyst if per_account and analyst != OWNER else None  # who is charged for what she receives
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
        if self.shown is not None:
            return self.shown()
        found = self._ledger.allowance(self._analyst)
        return found if self.account is None else found.own

    def knows(self, question: str) -> bool:
        """Whether asking this question costs nothing: there is a stored answer, and this account was charged for it."""
        return self.stored(question) is not None

    def stored(self, question: str) -> str | None:
        """The stored answer to a question as text, if there is one that this account was charged for."""
        if self.account is not None and not self._ledger.has_received(question, self.account):
            return None
        return self._found(question)

    def published(self, question: str) -> str | None:
        """The stored answer to a question as text, if everybody may read it free of charge: with accounts, if the owner paid for it."""
        if self.account is not None:
            paid = self._ledger.paid_for(question)
            if paid is None or paid.body["analyst"] not in (None, OWNER):
                return None
        return self._found(question)

    def is_answered(self, question: str) -> bool:
        """Whether anybody has paid for an answer to this question; not to be told to an account."""
        return self._found(question) is not None

    def _found(self, question: str) -> str | None:
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
        """Return the stored answer, for which an account is charged if it is its first; else pay, run, store and return.

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
                return self._received(asked, question, note, read)
            entry = f"ledger entry {paid.sequence}" if self.names_entries else "this question"
            with self._lease(holder), _during(_running, running), _note_if_unanswered(entry, lost):
                release = run(paid)
                text = release.to_text()
                stored = self._ledger.store(paid, {"release": text}, holder)
            if stored is not None:
                first = stored.body["release"]["release"]
                return self._shown(release if first == text else read(first, True))

    def _received(self, asked: Priced, question: str, note: str, read: Callable[[str, bool], Kept]) -> Kept:
        """The stored answer; an account is charged before it is read. Only what this account had before is a repeat to it."""
        repeated = True
        if self.account is not None and not self._ledger.has_received(question, self.account):
            with self._paying(asked):
                charged = self._ledger.receive(question, self.account, note=note, reservation=self._current_reservation)
            repeated = charged is None
        return self._shown(read((self._ledger.find(question) or {})["release"], repeated))

    def _shown(self, release: Kept) -> Kept:
        return release if self.names_entries else release.without_entries()

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
            with self._refusing():
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

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Refuse an account with its own numbers, whatever budget is short: that of the data set would tell what others have spent."""
        try:
            yield
        except BudgetExceeded:
            if self.account is None:
                raise
            raise BudgetExceeded(self.allowance.refusal) from None

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

        An account reserves the whole price, also for steps that turn out to be stored, for which it is charged as for the others. Raise
        BudgetExceeded, and charge nothing, if the budget does not admit all steps together.
        """
        self.require_open()
        self._ready()
        holder = _new_holder()
        with self._refusing():
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
def _note_if_unanswered(entry: str, lost: str | None) -> Iterator[None]:
    """Add a note to the error of a failed run: the question was charged and not answered, and what to do."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{entry} was charged and not answered: {lost or 'ask again, and pay again, for a new draw'}")
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
