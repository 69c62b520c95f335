"""The profiles that a ledger holds: later sessions find them by table, unit and version of the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet.errors import Invalid
from discreet.ledger.payment import Payments
from discreet.ledger.receipt import PricedRequest
from discreet.session.profile.profile import Profile
from discreet.tables.catalog import Catalog
from discreet.tables.table import Table

MOST = 100  # profiles of one table that are looked for


def profile_request(table: Table, number: int | str) -> dict[str, Any]:
    """What names a profile: its table, who is protected there, and its number."""
    return {"is": "Profile", "table": table.name, "unit": str(table.unit), "number": number}


@final
@frozen(eq=False)
class StoredProfiles:
    """The profiles of one table that the ledger holds for this version of the data, oldest first; None for each that cannot be read."""

    table: str
    found: tuple[Profile | None, ...]

    @property
    def newest(self) -> Profile | None:
        """The newest that can be read."""
        return next((one for one in reversed(self.found) if one is not None), None)

    @property
    def warning(self) -> str | None:
        """What to do about the newest, if it cannot be read."""
        if not self.found or self.found[-1] is not None:
            return None
        instead = "is not used" if self.newest is None else "is not used, but the one before it is"
        return (
            f"the newest profile of {self.table} that the ledger holds {instead}: another version of discreet wrote it, and this one "
            f"cannot read it. Use that version, restore the ledger from a backup, or buy another with db.profile({self.table!r}, epsilon=…)"
        )


def stored_profiles(table: Table, catalog: Catalog, payments: Payments) -> StoredProfiles:
    """Look for the profiles of a table; an entry that was changed raises LedgerError, one in another format counts as absent."""
    found: list[Profile | None] = []
    declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
    while len(found) < MOST:
        named = PricedRequest("profile", profile_request(table, len(found)), Fraction(0), Fraction(0), *declared)
        stored = payments.stored(named.question)
        if stored is None:
            break
        try:
            found.append(Profile.from_text(stored, repeated=True))
        except Invalid:
            found.append(None)
    return StoredProfiles(table.name, tuple(found))
