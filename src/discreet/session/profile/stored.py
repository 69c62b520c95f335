"""The profiles that a ledger holds: later sessions find them by table, unit and version of the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

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
    """The profiles of a table that the ledger holds for this version of the data, oldest first."""
    found: list[Profile] = []
    declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
    while len(found) < MOST:
        named = PricedRequest("profile", profile_request(table, len(found)), Fraction(0), Fraction(0), *declared)
        stored = payments.stored(named.question)
        if stored is None:
            break
        found.append(Profile.from_text(stored, repeated=True))
    return found
