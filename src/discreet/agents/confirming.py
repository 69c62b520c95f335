"""Confirmations: a token that belongs to one account, one request and one price, for a few minutes."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import final

from discreet.agents.source import Planned, Request
from discreet.exact import short
from discreet.noise.bits import SystemBits

LASTS = 600  # seconds


@final
class Confirmations:
    """Make and check tokens. The key is random and lives as long as this process, so nobody else can make them."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._key, self._now = SystemBits().words(4).tobytes(), now

    def token(self, account: str, request: Request, planned: Planned) -> str:
        """A token with which this account may confirm this request at this price."""
        until = int(self._now()) + LASTS
        return f"{until:x}-{self._seal(until, account, request, planned)}"

    def fits(self, token: str, account: str, request: Request, planned: Planned) -> bool:
        """Whether a token is good for this account, request and price, and not too old."""
        said, _, seal = token[:100].partition("-")
        try:
            until = int(said, 16)
        except ValueError:
            return False
        made = self._seal(until, account, request, planned)
        return hmac.compare_digest(seal.encode(errors="replace"), made.encode()) and self._now() <= until

    def _seal(self, until: int, account: str, request: Request, planned: Planned) -> str:
        bound = [until, account, request.chain.to_json(), short(planned.epsilon), short(planned.delta)]
        return hmac.new(self._key, json.dumps(bound, sort_keys=True).encode(), hashlib.sha256).hexdigest()
