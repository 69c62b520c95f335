"""Bodies that no handler should have to think of: nested without end, or with texts that cannot be written down."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fastapi import Request

from discreet.errors import Invalid

_DEEPEST = 60  # nested lists and objects


async def require_plain(request: Request) -> None:
    """Raise Invalid if a body of JSON is nested too deeply or holds half of a surrogate pair; a dependency of every route."""
    if "json" not in request.headers.get("content-type", ""):
        return
    try:
        level = [json.loads(await request.body())]
    except (ValueError, RecursionError):
        return  # whoever reads it will say that it is no JSON
    for _ in range(_DEEPEST):
        if any(isinstance(one, str) and any("\ud800" <= letter <= "\udfff" for letter in one) for one in level):
            raise Invalid("a text of this request holds half of a surrogate pair: leave it out")
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise Invalid("this request is nested too deeply")


def _inside(one: Any) -> Iterable[Any]:
    if isinstance(one, dict):
        return [*one, *one.values()]
    return one if isinstance(one, list) else ()
