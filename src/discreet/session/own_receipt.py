"""Which receipts an account may have verified: those of its own purchases, and those of published profiles."""

from __future__ import annotations

from discreet.errors import LedgerError
from discreet.ledger.payment import Payments
from discreet.ledger.receipt import NO_ENTRY, STATEFUL, Receipt


def require_own(receipt: Receipt, payments: Payments) -> None:
    """Raise LedgerError, as if they were not in the ledger, if a receipt lists payments for what this account has not."""
    published = receipt.kind == "profile" and isinstance(receipt.request.get("number"), int)
    free = receipt.question if published or receipt.kind in STATEFUL else None  # a run's name is secret to others
    if not all(paid.question == free or payments.knows(paid.question) for paid in receipt.payments):
        raise LedgerError(NO_ENTRY)
