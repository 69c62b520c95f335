"""Where an agent's answers come from: an account on one data set, here or on a server."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.session.released import Released
from discreet.session.remote.wire import Chain

Price: TypeAlias = Mapping[str, Any]
LONGEST = 20_000  # characters of a question


@final
@frozen
class Request:
    """What an agent asks for: a question in SQL, or a synthetic table."""

    call: Literal["sql", "synthesize"]
    about: str  # the text of the question, or the name of the table
    options: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if len(self.about) > LONGEST:
            raise Invalid(f"a question has at most {LONGEST:,} characters: ask for less at a time")

    @property
    def chain(self) -> Chain:
        """The request as a server reads it."""
        return Chain(((self.call, (self.about,), dict(self.options)),))

    def on(self, session: Any) -> Any:
        """The request on a session, local or remote; nothing is read or spent."""
        return getattr(session, self.call)(self.about, **self.options)


@final
@frozen(eq=False)
class Planned:
    """A plan, local or remote, and whether this account has the answer already."""

    plan: Any
    known: bool

    @property
    def epsilon(self) -> Fraction:
        """The most ε that it may cost."""
        found: Fraction = self.plan.epsilon
        return found

    @property
    def delta(self) -> Fraction:
        """The most δ that it may cost."""
        found: Fraction = self.plan.delta
        return found


@final
@frozen
class Running:
    """A request that takes longer than a client waits: to be asked again later, at the same price."""


def key_of(request: Request, price: Price) -> str:
    """What identifies a request at a price."""
    return repr((request.chain, sorted(price.items())))


class Source(Protocol):
    """An account on one data set. Only `release` may charge it."""

    @property
    def name(self) -> str:
        """The account and the data set, as confirmations are bound to them."""

    async def about(self) -> dict[str, Any]:
        """What is declared and profiled, and example questions."""

    async def budget(self) -> dict[str, Any]:
        """What the account was granted, has spent and may still spend."""

    async def history(self) -> list[dict[str, Any]]:
        """What the account was charged for, oldest first."""

    async def plan(self, request: Request, price: Price) -> Planned:
        """What would happen at this price; free, and reads no private row."""

    async def price(self, request: Request, error: Mapping[str, float]) -> Fraction:
        """The least ε at which a question meets these errors; free."""

    async def release(self, request: Request, price: Price) -> Released | Running:
        """Pay and answer; free if the account has received the answer before."""

    def close(self) -> None:
        """Answer nothing more."""
