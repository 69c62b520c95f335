"""Releases of a remote session are those of a local one; what can be done with the question behind them is done by the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from attrs import evolve, field, frozen

from discreet.errors import Unreachable
from discreet.exact import Number
from discreet.session.release import Release, columns_from_json
from discreet.session.released import MALFORMED, Released
from discreet.session.remote.http import Connection, Progress
from discreet.session.remote.plan import UNREADABLE
from discreet.session.remote.wire import Chain, plain
from discreet.session.saved import release_of_text

Price = dict[str, Any]


def bought(
    connection: Connection, chain: Chain, price: Mapping[str, Any], *, verb: str = "release", of: Released | None = None,
    progress: Progress | None = None,
) -> Released:  # fmt: skip
    """Pay for what a chain requests, and receive it."""
    given = {name: one for name, one in price.items() if one is not None}
    body = {"request": chain.to_json(), "verb": verb, "price": plain(given)} | ({} if of is None else {"of": of.to_text()})
    found = read(connection.order(body, progress))
    return _asked(connection, chain, given, found) if verb == "release" else found


def stored(connection: Connection, chain: Chain, price: Mapping[str, Any]) -> Released | None:
    """What this account has received for the same request at the same price; None if it would have to pay."""
    given = {name: one for name, one in price.items() if one is not None}
    said = connection.post("releases", {"request": chain.to_json(), "price": plain(given), "stored": True})
    return None if said.get("release") is None else _asked(connection, chain, given, read(said))


def _asked(connection: Connection, chain: Chain, given: Price, found: Released) -> Released:
    """An answer that knows its question, for refinements and other confidences."""
    if not isinstance(found, Release):
        return found
    target = {"epsilon": found.receipt.epsilon} if "error" in given else {}  # the least ε is not looked for again
    paid = {name: one for name, one in given.items() if name in ("epsilon", "delta", "confidence")} | target
    return evolve(found, question=RemoteAsked(connection, chain, (paid,)))


def read(said: Any) -> Released:
    """The release in a response of the server."""
    try:
        told = said["release"]
        text = told if isinstance(told, str) else json.dumps(told, separators=(",", ":"), allow_nan=False)
        return release_of_text(text, bool(said.get("repeated")))
    except MALFORMED:
        raise Unreachable(UNREADABLE) from None


@final
@frozen(eq=False)
class RemoteAsked:
    """A question that a server answered: its calls, the price of the answer, and the price of each refinement since."""

    connection: Connection = field(repr=False)
    chain: Chain
    prices: tuple[Price, ...]

    @property
    def said(self) -> str:
        """How it was asked."""
        name, arguments, _ = self.chain.steps[0]
        return str(arguments[0]) if name == "sql" and arguments else repr(self.chain)

    def refine(self, first: Release, epsilon: Number, delta: Number | None = None) -> Release:
        """Buy another draw of its totals and combine both; the same again is free."""
        more: Price = {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
        found = read(self.connection.order(self._body(*self.prices[1:], more) | {"verb": "refine"}))
        assert isinstance(found, Release), "a refinement of an answer is one"
        return evolve(found, question=RemoteAsked(self.connection, self.chain, (*self.prices, more)))

    def at_confidence(self, first: Release, confidence: Number) -> Release:
        """The same answers with intervals of another confidence; free."""
        said = self.connection.post("confidences", self._body(*self.prices[1:]) | {"confidence": plain(confidence)}, even_closed=True)
        return evolve(first, columns=columns_from_json(said), stored=first.stored or first.columns, level=Fraction(said["level"]))

    def _body(self, *refined: Price) -> dict[str, Any]:
        return {"request": self.chain.to_json(), "price": plain(self.prices[0]), "refine": [plain(one) for one in refined]}

    def __reduce_ex__(self, _: Any) -> Any:
        return _forgotten, ()  # a connection is not copied: a release that is copied or pickled is as one that was read from a file


def _forgotten() -> None:
    return None
