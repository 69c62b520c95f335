"""The profiles that a ledger holds: later sessions find them by table, unit and version of the data.

Where each account is charged for what it receives (`Payments(…, per_account=True)`), those that the owner bought are published: every
account uses them free of charge. A profile that an account buys is its own. It is named by its price and what is declared, and not by a
number, which would tell what others bought. The same profile is drawn once for all accounts, and each is charged for it. The session that
asked for it uses it; a later session of the account asks for it again, free of charge, which a server does when it starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet.errors import Invalid
from discreet.ledger.chain import digest
from discreet.ledger.payment import Payments
from discreet.ledger.receipt import PricedRequest
from discreet.session.profile.profile import Profile
from discreet.tables.catalog import Catalog
from discreet.tables.profile import TableProfile
from discreet.tables.profiled import profiled
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
    """Look for the profiles of a table that everybody may use.

    An entry that was changed raises LedgerError; one in another format counts as absent.
    """
    found: list[Profile | None] = []
    declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
    for number in range(MOST):
        question = PricedRequest("profile", profile_request(table, number), Fraction(0), Fraction(0), *declared).question
        if not payments.is_answered(question):
            break
        stored = payments.published(question)
        if stored is None:
            continue
        try:
            found.append(Profile.from_text(stored, repeated=True))
        except Invalid:
            found.append(None)
    return StoredProfiles(table.name, tuple(found))


def with_newest(catalog: Catalog, payments: Payments, own: Mapping[str, TableProfile]) -> Catalog:
    """The catalog with the newest profile of every private table, the account's own first; warn of those that cannot be read."""
    found = catalog
    for table in [one for one in catalog.tables if one.private]:
        if table.name in own:
            found = profiled(found, own[table.name])
            continue
        stored = stored_profiles(table, catalog, payments)
        found = profiled(found, stored.newest.table) if stored.newest is not None else found
        if stored.warning is not None:
            warnings.warn(stored.warning, UserWarning, stacklevel=7)  # where somebody called connect
    return found


def name_at_price(epsilon: Fraction, delta: Fraction, catalog: Catalog) -> str:
    """What names a profile that accounts buy at a price, instead of a number."""
    return digest(["profile at a price", str(epsilon), str(delta), catalog.digest])
