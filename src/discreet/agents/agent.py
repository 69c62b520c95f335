"""What an agent can do on one data set. Describing and forecasting are free; asking is charged to its account, within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, final

from attrs import field, frozen

from discreet.agents import shown
from discreet.agents.confirming import LASTS, Confirmations
from discreet.agents.limits import Limits, Spending
from discreet.agents.source import Planned, Price, Request, Running, Source, key_of
from discreet.errors import BudgetExceeded, Invalid, NotEnoughData, Refused
from discreet.exact import Number, short
from discreet.session.released import Released

DECLINED = "whoever was asked to confirm this declined: nothing was charged. Ask at a lower price, or not at all"
UNASKED = "a person must confirm this price, and could not be asked just now: nothing was charged. Ask again in a while"
_UNCHARGED = (BudgetExceeded, Invalid, Refused)  # but for NotEnoughData, whose discovery was charged


@final
@frozen(eq=False)
class Agent:
    """An account, its limits, and what it has spent in this session."""

    source: Source
    limits: Limits = field(factory=Limits)
    confirmations: Confirmations = field(factory=Confirmations)
    spending: Spending = field()

    @spending.default
    def _unspent(self) -> Spending:
        return Spending(self.limits.session)

    # ── free ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def describe(self) -> dict[str, Any]:
        """The tables, who is protected, what is declared and profiled, examples, and the limits."""
        return shown.described(await self.source.about()) | {"limits": self._limits()}

    async def forecast(self, request: Request, price: Price, error: Mapping[str, float] | None = None) -> dict[str, Any]:
        """The price, the expected error and why it is private; with `error`, the least price that meets it."""
        if error is not None:
            if price.get("epsilon") is not None:
                raise Invalid("give epsilon or error, not both: one follows from the other")
            price = {**price, "epsilon": await self.source.price(request, error)}
        planned = await self.source.plan(request, price)
        return await asyncio.to_thread(shown.forecast, planned) | {
            "within_limits": planned.known or planned.epsilon <= min(self.limits.question, self.spending.left),
            "needs_confirmation": not planned.known and self.limits.needs_confirmation(planned.epsilon),
        }

    async def remaining(self) -> dict[str, Any]:
        """The budget of the account, and what the limits leave of it now."""
        found = await self.source.budget()
        renews = {"renews": shown.text(found["renews"])} if "renews" in found else {}
        return {
            "status": "remaining",
            "budget": {name: shown.plain(found[name]) for name in ("granted", "spent", "remaining")} | renews,
            "limits": self._limits(),
            "meaning": [
                "remaining is the largest single question that the budget still admits; it never grows by asking.",
                "limits are the most ε of one question, of this session, and of a question that need not be confirmed.",
            ],
        }

    async def history(self) -> dict[str, Any]:
        """What this account paid for."""
        return shown.history(await self.source.history())

    def _limits(self) -> dict[str, str]:
        return {
            "one_question": short(self.limits.question),
            "this_session": short(self.limits.session),
            "left_of_this_session": short(self.spending.left),
            "without_confirmation": short(self.limits.confirm),
        }

    # ── paid ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def to_confirm(self, request: Request, price: Price) -> Planned | None:
        """The plan, if its price must be confirmed before it is paid; BudgetExceeded if it is above the limit of one question."""
        planned = await self.source.plan(request, price)
        if planned.known:
            return None
        self.limits.require(planned.epsilon)
        return planned if self._needs_confirmation(request, price, planned) else None

    def _needs_confirmation(self, request: Request, price: Price, planned: Planned) -> bool:
        """Whether this must be confirmed; what is being answered was confirmed and counted when it was begun."""
        return self._key(request, price) not in self.spending.running and self.limits.needs_confirmation(planned.epsilon)

    async def ask(
        self,
        request: Request,
        price: Price,
        *,
        confirm: str | None = None,
        confirmed: bool = False,
        by_person: bool = False,
        first_row: int = 0,
    ) -> dict[str, Any]:
        """Pay and answer; or say that it must be confirmed, with a token for that.

        `confirmed` if somebody has confirmed it already; `by_person` if the client can ask a person: then no token replaces that.
        """
        planned = await self.source.plan(request, price)
        if planned.known:
            self.spending.running.pop(self._key(request, price), None)  # its answer has come, and stays counted
            return self._told(await self.source.release(request, price), first_row)
        self.limits.require(planned.epsilon)
        if self._needs_confirmation(request, price, planned) and not confirmed:
            if by_person:
                raise Refused(UNASKED)
            if confirm is None:
                return self._unconfirmed(request, planned)
            if not self.confirmations.fits(confirm, self.source.name, request, planned):
                raise Invalid(
                    "this confirmation is not for this question at this price, or is too old: ask without `confirm` for a new one. "
                    "Nothing was charged."
                )
        return self._told(await self._paid(request, price, planned), first_row)

    async def _paid(self, request: Request, price: Price, planned: Planned) -> Released | Running:
        """Count the price, once also where the answer comes later, and not where nothing is charged."""
        key = self._key(request, price)
        take_back = self.spending.running.pop(key, None) or self.spending.take(planned.epsilon)
        try:
            found = await self.source.release(request, price)
        except _UNCHARGED as error:
            if not isinstance(error, NotEnoughData):
                take_back()
            raise
        if isinstance(found, Running):
            self.spending.running[key] = take_back
        elif found.repeated:
            take_back()
        return found

    def _key(self, request: Request, price: Price) -> str:
        return f"{self.source.name}\n{key_of(request, price)}"  # limits may be for several data sets

    def _told(self, found: Released | Running, first_row: int) -> dict[str, Any]:
        if isinstance(found, Running):
            return {
                "status": "running",
                "meaning": [
                    "this takes longer: ask the same again at the same price in a while. It is charged once, and not confirmed again."
                ],
            }
        if first_row < 0:
            raise Invalid("first_row must not be negative: the first row is 0")
        return shown.answer(found, first_row)

    def _unconfirmed(self, request: Request, planned: Planned) -> dict[str, Any]:
        return {
            "status": "unconfirmed",
            "price": shown.price(planned.epsilon, planned.delta),
            "confirm": self.confirmations.token(self.source.name, request, planned),
            "meaning": [
                f"nothing was charged. A price above ε = {short(self.limits.confirm)} must be confirmed: tell the user what is asked and "
                "what it costs, and if they agree, ask exactly the same again with `confirm` set to this text.",
                f"it is good for this question at this price, for {LASTS // 60} minutes.",
            ],
        }

    def question_to_confirm(self, request: Request, planned: Planned) -> str:
        """The question that a person is asked, with what the agent asks quoted."""
        return (
            f"An agent asks to spend ε = {short(planned.epsilon)}, δ = {short(planned.delta)} of its privacy budget, which does not come "
            f"back. It asks, in its own words: “{shown.text(request.about, 500)}”"
        )


def price_of(epsilon: Number | None, delta: Number | None) -> dict[str, Any]:
    """A price as it was given, without what was not."""
    return {name: given for name, given in (("epsilon", epsilon), ("delta", delta)) if given is not None}
