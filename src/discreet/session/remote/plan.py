"""The plan of a remote request: price, loss, expected error and explanation, as the server decided them. It holds no data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Unreachable
from discreet.explain.forecast import Forecast
from discreet.explain.text import Explanation
from discreet.ledger.receipt import PricedRequest
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.loss import Loss
from discreet.session.priced_plan import PricedPlan
from discreet.session.remote.http import Connection
from discreet.session.remote.wire import Chain, plain, value

UNREADABLE = "the server sent what this version of discreet cannot read: install the version that the server has"


@final
@frozen(eq=False, repr=False, slots=False)
class RemotePlan(PricedPlan):
    """Everything that a server decided about a request at a price."""

    connection: Connection
    chain: Chain
    price: Mapping[str, Any]  # as it was given
    said: Mapping[str, Any] = field()

    @classmethod
    def of(cls, connection: Connection, chain: Chain, price: Mapping[str, Any]) -> RemotePlan:
        """Let the server plan a request; nothing is read or spent."""
        given = {name: one for name, one in price.items() if one is not None}
        return cls(connection, chain, given, connection.post("plans", {"request": chain.to_json(), "price": plain(given)}))

    @cached_property
    def priced(self) -> PricedRequest:
        """The request at its price, as the server's ledger names it."""
        try:
            told = dict(self.said["priced"])
            amounts = {name: exact.rational(told[name]) for name in ("epsilon", "delta", "confidence")}
            return PricedRequest(**(told | amounts))
        except (KeyError, TypeError, ValueError):
            raise Unreachable(UNREADABLE) from None

    @cached_property
    def loss(self) -> Loss:
        """The privacy loss: as a term, or as the charge that covers it where it is not decided yet."""
        said = self.said["loss"]
        return Charge.from_json(said["charge"]) if "charge" in said else record.from_json(said)

    @property
    def epsilon(self) -> Fraction:
        """The most ε that it may cost, everything included."""
        return exact.rational(self.said["epsilon"])

    @property
    def delta(self) -> Fraction:
        """The most δ that it may cost; 0 where none is needed."""
        return exact.rational(self.said["delta"])

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return str(self.said["title"])

    def error(self, confidence: Any = None, size: int | None = None, **more: Any) -> Any:
        """The expected error at this confidence (0.95), as the same plan on a local session gives it; reads and spends nothing."""
        given = {"confidence": confidence, "size": size} | more
        asked = {name: one for name, one in given.items() if one is not None}
        return _error(self._again(error=plain(asked)) if asked else self.said)

    def shown(self, size: int) -> float:
        """The probability that a group of `size` units is shown; 1 where the groups are public."""
        return float(self._again(shown=size)["shown"])

    def _again(self, **more: Any) -> Any:
        return self.connection.post("plans", {"request": self.chain.to_json(), "price": plain(dict(self.price))} | more)

    def explain(self) -> Any:
        """Who is protected, what is done, what it costs and why it is private: for a question an Explanation, else text."""
        facts = self.said.get("facts")
        return str(self.said["text"]) if facts is None else Explanation(dict(facts))

    def _repr_html_(self) -> str:
        return str(self.said["html"])


def checked(connection: Connection, chain: Chain) -> Any:
    """How the server reads a request; nothing is planned or spent."""
    return connection.post("requests", {"request": chain.to_json()})


def _error(said: Mapping[str, Any]) -> Any:
    found, told = value(said["error"]), said.get("forecast")
    if told is None:
        return found
    return Forecast(found, float(told["confidence"]), frozenset(told["ranks"]), dict(told["assumed"]), value(said["worst"]))
