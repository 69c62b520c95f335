"""The limits of an agent beside its budget: on one question, on a session, and on what it may ask without confirmation."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import final

from attrs import field, frozen

from discreet import exact
from discreet.errors import BudgetExceeded, Invalid
from discreet.exact import Number, short

DAY = 24 * 3600.0  # seconds: what was spent longer ago no longer counts


def _amount(given: Number) -> Fraction:
    found = exact.rational(given, "limit")
    if found < 0:
        raise Invalid("the limits of an agent must not be negative: give an epsilon, as in 0.5")
    return found


@final
@frozen
class Limits:
    """How much ε an agent may spend on one question, in one session, and on a question that nobody confirms."""

    question: Fraction = field(default=Fraction(1, 2), converter=_amount)
    session: Fraction = field(default=Fraction(1), converter=_amount)
    confirm: Fraction = field(default=Fraction(1, 10), converter=_amount)

    def require(self, epsilon: Fraction) -> None:
        """Raise BudgetExceeded if one question would cost more than the limit."""
        if epsilon > self.question:
            raise BudgetExceeded(
                f"one question of an agent may cost at most ε = {short(self.question)} here, and this one costs {short(epsilon)}: "
                "ask at a lower price. Nothing was charged."
            )

    def needs_confirmation(self, epsilon: Fraction) -> bool:
        """Whether a question at this price must be confirmed."""
        return epsilon > self.confirm


@final
class Spending:
    """What an agent has spent in a session, which lasts a day: a brake on loops. The account's budget in the ledger is the guarantee."""

    def __init__(self, most: Fraction, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._now = most, now
        self._spent: deque[tuple[float, Fraction]] = deque()
        self.running: dict[str, Callable[[], None]] = {}  # what is counted and not answered yet, and how to take that back

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        while self._spent and self._spent[0][0] <= self._now() - DAY:
            self._spent.popleft()
        return max(Fraction(0), self._most - sum((epsilon for _, epsilon in self._spent), Fraction(0)))

    def take(self, epsilon: Fraction) -> Callable[[], None]:
        """Count a price before it is paid, or raise BudgetExceeded; what is returned takes it back, if nothing was charged."""
        if epsilon > self.left:
            raise BudgetExceeded(
                f"this session of an agent may spend ε = {short(self.left)} more, and this costs {short(epsilon)}: "
                "what was answered before is free to ask again; a session ends after a day. Nothing was charged."
            )
        taken = (self._now(), epsilon)
        self._spent.append(taken)
        return lambda: self._spent.remove(taken)
