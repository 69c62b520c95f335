"""Where a shared ledger lies: the address of a database, with the ledger's name in it."""

from __future__ import annotations

import re
from urllib.parse import unquote

from discreet.errors import Invalid

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_USUAL = "ledger"


def divided(address: str) -> tuple[str, str]:
    """The address for the driver, and the schema that `?ledger=name` stands for.

    >>> divided("postgresql://db.example/clinic?sslmode=require&ledger=visits")
    ('postgresql://db.example/clinic?sslmode=require', 'discreet_visits')
    """
    place, _, query = address.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    names = [unquote(value) for name, _, value in pairs if name == "ledger"] or [_USUAL]
    if len(names) > 1 or not _NAME.fullmatch(names[0]):
        raise Invalid("a ledger's name has lower-case letters, digits and underscores, as in postgresql://host/database?ledger=clinic")
    rest = "&".join("".join(pair) for pair in pairs if pair[0] != "ledger")
    return f"{place}?{rest}" if rest else place, f"discreet_{names[0]}"
