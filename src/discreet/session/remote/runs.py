"""Conversations, threshold streams and feeds that are open on a server: each step is taken there, once, however often it is sent."""

from __future__ import annotations

import datetime
from abc import ABC
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet.algorithms.marginals.interactive import InteractiveAnswer
from discreet.errors import Invalid, Unreachable
from discreet.exact import Number
from discreet.ledger.ledger import Ledger
from discreet.ledger.receipt import CONFIDENCE, Receipt
from discreet.loss import record
from discreet.loss.loss import Loss
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED
from discreet.session.feeds.days import Days
from discreet.session.remote.answers import read
from discreet.session.remote.http import Connection
from discreet.session.remote.plan import UNREADABLE, RemotePlan, checked
from discreet.session.remote.query import sent
from discreet.session.remote.wire import Chain, plain, value
from discreet.session.transcript import Transcript
from discreet.session.watch.watch import Outcome


class RemoteRun(ABC):  # noqa: B024 – what can be asked differs by kind
    """A run that is open on a server. The ledger there keeps what was paid, and the run ends with the server."""

    COPIED: ClassVar[str] = "a run on a server cannot be copied or pickled, for its steps are paid one by one: open one where it is needed"

    def __init__(self, connection: Connection, plan: RemotePlan, said: Mapping[str, Any]) -> None:
        self.plan = plan
        self._connection, self._number, self._said = connection, str(said["run"]), said

    def _step(self, step: str, **arguments: Any) -> Any:
        given = {name: plain(sent(self._connection, one)) for name, one in arguments.items() if one is not None}
        self._said = self._connection.step(f"/runs/{self._number}", {"step": step, "arguments": given})
        return self._said["answer"]

    @property
    def receipt(self) -> Receipt:
        """What was paid so far."""
        return Receipt.from_json(self._said["receipt"])

    def verify(self, ledger: Ledger | None = None) -> None:
        """Check that receipt; with a ledger also that it was paid there."""
        receipt = self.receipt
        receipt.verify(ledger if receipt.payments else None)

    def close(self) -> None:
        """Close it on the server; what was paid stays paid."""
        self._connection.forget(f"/runs/{self._number}")

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(self.COPIED)

    def __repr__(self) -> str:
        return str(self._said["shown"])

    def _repr_html_(self) -> str:
        return str(self._said["html"])


@final
class RemoteConversation(RemoteRun):
    """A stream of counts and means over some columns, on a server: answers agree with each other."""

    def ask(self, where: Mapping[str, Any] | None = None, mean: str | None = None) -> InteractiveAnswer:
        """How many records meet a condition, or the mean of a number over them, as `Conversation.ask`."""
        if where is not None and not isinstance(where, Mapping):
            raise Invalid('conditions are a dict, such as {"dept": "er", "age": (30, 39)}')
        said = self._step("ask", where=where, mean=mean)
        return InteractiveAnswer(**({name: value(one) for name, one in said.items()} | {"cost": record.from_json(said["cost"])}))

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return int(self._said["asked"])

    @property
    def spent(self) -> float:
        """The ε that all steps so far cost together, at this conversation's δ."""
        return float(value(self._said["spent"]))

    @property
    def accuracy(self) -> float:
        """How far off an answer may be, in records."""
        return float(value(self._said["accuracy"]))

    def release(self) -> Transcript:
        """Everything that was asked and answered so far, with the receipt; free."""
        return _transcript(self._step("release"))


@final
class RemoteWatch(RemoteRun):
    """A stream of threshold questions on a server: only those above their threshold use up what was paid."""

    def ask(self, question: Any, threshold: Number | None = None) -> Outcome:
        """Say whether a total is above the threshold: in SQL, or as `db.sql(...)` or `db.table(...)` make it."""
        return Outcome(**{name: value(one) for name, one in self._step("ask", question=question, threshold=threshold).items()})

    def error(self, confidence: Number = 0.95, questions: int = 1, question: Any = None) -> float:
        """How far on the wrong side of its threshold an answer may be, as `Watch.error`; nothing is spent."""
        return float(value(self._step("error", confidence=confidence, questions=questions, question=question)))

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return int(self._said["asked"])

    @property
    def spent(self) -> Fraction:
        """The ε of all rounds so far."""
        return Fraction(value(self._said["spent"]))

    @property
    def left(self) -> int:
        """How many hits there may still be."""
        return int(self._said["left"])

    def release(self) -> Transcript:
        """Everything that was asked and answered so far, with the receipt; free."""
        return _transcript(self._step("release"))


@final
class RemoteFeed(RemoteRun):
    """Running totals by day, on a server: the first release pays for all days of the horizon."""

    @property
    def loss(self) -> Loss:
        """What all days together cost one unit, over the whole horizon."""
        return self.plan.loss

    def error(self, confidence: Number = CONFIDENCE, *, window: int | None = None, size: int = 1) -> float:
        """How far off a running total or a window's sum may be; with `size`, so many of them at once."""
        return float(value(self._step("error", confidence=confidence, window=window, size=size)))

    def explain(self) -> str:
        """Who is protected, what it costs, whether that was paid, and how far off the totals will be."""
        return str(self._said["text"])

    def release(self, until: datetime.date | str, *, confidence: Number = CONFIDENCE) -> Days:
        """Give the running totals of all days up to this one; days that were not released before are noised now, at no further cost."""
        answer = self._step("release", until=until, confidence=confidence)
        found = read({"release": answer["release"], "repeated": self._said.get("repeated")})
        if not isinstance(found, Days):
            raise Unreachable(UNREADABLE)
        return found


@final
@frozen(repr=False, eq=False)
class RemoteOpening:
    """A conversation, a threshold stream or a feed that is asked for: `plan` shows its price and error, `open` opens it."""

    connection: Connection
    chain: Chain
    said: Any = field(default=None)

    def checked(self) -> RemoteOpening:
        """The same, after the server has read it; Refused or Invalid if it cannot be asked."""
        return RemoteOpening(self.connection, self.chain, checked(self.connection, self.chain))

    def plan(self, epsilon: Number, delta: Number | None = None) -> RemotePlan:
        """What would happen at this price; reads and spends nothing."""
        return RemotePlan.of(self.connection, self.chain, {"epsilon": epsilon, "delta": delta})

    def open(self, epsilon: Number, delta: Number | None = None) -> RemoteRun:
        """Open it on the server, where it stays until it is closed or the server stops."""
        return opened(self.connection, self.chain, {"epsilon": epsilon} | ({} if delta is None else {"delta": delta}))

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return repr(self.chain)[:200] if self.said is None else str(self.said["shown"])

    def _repr_html_(self) -> str:
        said = self.said and self.said.get("html")
        return said or html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .open(epsilon=…) opens it"])


_KINDS: dict[str, type[RemoteRun]] = {"interactive": RemoteConversation, "watch": RemoteWatch, "daily": RemoteFeed}


def opened(connection: Connection, chain: Chain, price: Mapping[str, Any]) -> RemoteRun:
    """Open what a chain requests."""
    said = connection.step("runs", {"request": chain.to_json(), "price": plain(price)})
    return _KINDS[chain.steps[0][0]](connection, RemotePlan(connection, chain, price, said["plan"]), said)


def _transcript(answer: Any) -> Transcript:
    found = read(answer)
    if not isinstance(found, Transcript):
        raise Unreachable(UNREADABLE)
    return found
