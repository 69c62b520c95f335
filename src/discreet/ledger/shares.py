"""Grant analysts the shares of the budget that a policy declares."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Invalid
from discreet.ledger.ledger import Ledger
from discreet.ledger.standing import Allowance, Amount


def grant_share(ledger: Ledger, analyst: str, wanted: Amount, known: Allowance | None, every: str | None = None) -> None:
    """Grant the declared share; if more was already spent, the least that covers it, so that little or nothing more can be spent.

    With `every`, the share is for each week or month.
    """
    if known is None:
        ledger.grant(analyst, wanted.epsilon or 0, wanted.delta, every)
        return
    spent, before = known.spent.epsilon or Fraction(0), known.granted.epsilon or Fraction(0)
    delta = max(wanted.delta, known.spent.delta)
    covering = [spent + (before - spent) * Fraction(part, 8) for part in range(9)]
    limits = [(max(wanted.epsilon or Fraction(0), spent), delta)]
    limits += [(epsilon, delta if epsilon < before else known.granted.delta) for epsilon in covering]
    for limit in limits:
        try:
            ledger.grant(analyst, *limit, every)
            return
        except Invalid:
            continue  # in the accounting in which it was spent, this does not cover it
