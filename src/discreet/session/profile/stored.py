"""The profiles that a ledger holds: later sessions find them by table, unit and version of the data.

Where each account is charged for what it receives (`Payments(…, per_account=True)`), those that the owner bought are published: every
account uses them free of charge. A profile that an account buys is its own. It is named by its price and what is declared, and not by a
number, which would tell what others bought. The same profile is drawn once for all accounts, and each is charged for it. The session that
asked for it uses it; a later session of the account asks for it again, free of charge.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.ledger.chain import digest
from discreet.ledger.payment import Payments
from discreet.ledger.receipt import PricedRequest
from discreet.session.profile.profile import Profile
from discreet.tables.catalog import Catalog
from discreet.tables.table import Table

MOST = 100  # profiles of one table that are looked for


def profile_request(table: Table, number: int | str) -> dict[str, Any]:
    """What names a profile: its table, who is protected there, and its number."""
    return {"is": "Profile", "table": table.name, "unit": str(table.unit), "number": number}


def stored_profiles(table: Table, catalog: Catalog, payments: Payments) -> list[Profile]:
    """The profiles of a table that the ledger holds for this version of the data and everybody may use, oldest first."""
    found: list[Profile] = []
    declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
    for number in range(MOST):
        question = PricedRequest("profile", profile_request(table, number), Fraction(0), Fraction(0), *declared).question
        if not payments.is_answered(question):
            break
        stored = payments.published(question)
        if stored is not None:
            found.append(Profile.from_text(stored, repeated=True))
    return found


def name_at_price(epsilon: Fraction, delta: Fraction, catalog: Catalog) -> str:
    """What names a profile that accounts buy at a price, instead of a number."""
    return digest(["profile at a price", str(epsilon), str(delta), catalog.digest])
