"""The address of a shared ledger: that of a database, with the name of the ledger in it."""

from __future__ import annotations

import re
from urllib.parse import unquote

from discreet.errors import Invalid

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_USUAL = "ledger"


def split_address(address: str) -> tuple[str, str]:
    """The address for the driver, and the schema that `?ledger=name` names.

    >>> split_address("postgresql://db.example/clinic?sslmode=require&ledger=visits")
    ('postgresql://db.example/clinic?sslmode=require', 'discreet_visits')
    """
    place, _, query = address.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    names = [unquote(value) for name, _, value in pairs if name == "ledger"] or [_USUAL]
    if len(names) > 1 or not _NAME.fullmatch(names[0]):
        raise Invalid(
            "a ledger name may contain lower-case letters, digits and underscores: write postgresql://host/database?ledger=clinic"
        )
    rest = "&".join("".join(pair) for pair in pairs if pair[0] != "ledger")
    return f"{place}?{rest}" if rest else place, f"discreet_{names[0]}"
