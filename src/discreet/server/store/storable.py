"""What both kinds of database ask of values, and say when they cannot be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from discreet.errors import Invalid

_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")
UNUSABLE = "the server's database is busy, full or out of reach; try again, and tell the owner if that does not help"


def storable(values: Sequence[Any]) -> Sequence[Any]:
    """The same values; Invalid if one is a text that no database stores."""
    for value in values:
        if isinstance(value, str) and _UNSTORABLE.search(value):
            raise Invalid("a text here holds a character that no database stores (NUL, or half of a surrogate pair): leave it out")
    return values
