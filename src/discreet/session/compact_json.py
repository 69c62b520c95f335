"""Long answers as JSON: a list that occurs twice is written once, for writing its numbers is what a release of many groups mostly does."""

from __future__ import annotations

import json
from typing import Any

_FEW = 100  # a list of at most so many items is searched for longer ones
_ENCODE = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def compact_json(value: Any) -> str:
    """The text that `json.dumps` writes without spaces; faster where the same list occurs several times, as totals among answers do.

    >>> compact_json({"values": [1, 2.5, None], "text": "a, b"})
    '{"values":[1,2.5,null],"text":"a, b"}'
    """
    return _text(value, {})


def _text(value: Any, written: dict[int, str]) -> str:
    """`written` has the texts of long lists by identity, which `value` keeps alive."""
    if type(value) is dict and all(type(key) is str for key in value):
        return "{" + ",".join(f"{_ENCODE(key)}:{_text(item, written)}" for key, item in value.items()) + "}"
    if type(value) is list and len(value) <= _FEW:
        return "[" + ",".join(_text(item, written) for item in value) + "]"
    if type(value) is list:
        if id(value) not in written:
            written[id(value)] = _ENCODE(value)
        return written[id(value)]
    return _ENCODE(value)
