"""Exact answers, and what must not be said."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from discreet.engines.postgres.engine import Postgres
from discreet.private import reveal

Run = Callable[[str], Any]


def answer(engine: Postgres, text: str) -> list[tuple[Any, ...]]:
    found = reveal(engine.run(text))
    return sorted(zip(*(values.tolist() for values in found.values()), strict=True), key=lambda row: (row[0] is None, row[0]))


def quiet(error: BaseException, address: str) -> None:
    """Nothing of an address is in an error, nor in what led to it."""
    parts = urlsplit(address)
    said = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    for secret in (parts.password, parts.username, f":{parts.port}", parts.hostname, address, "tender", "reader"):
        assert secret is None or secret not in said
