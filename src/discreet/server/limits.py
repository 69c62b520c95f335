"""Rate limits: a bucket of requests for each account, and of wrong passwords for each address (or IPv6 network) and name."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import final

_MOST_KNOWN = 10_000  # buckets that are remembered


def network_of(address: str) -> str:
    """By what an address is counted: itself, or its /64 if it is IPv6, of which anybody has as many addresses as they like.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::1:2:3:4"), network_of("testclient")
    ('192.0.2.7', '192.0.2.7', '2001:db8::', 'testclient')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False).network_address)


@final
class Limit:
    """At most so many a minute for each name, and as many at once.

    Wrong passwords are counted for an address together with the name that it tried. So nobody can lock out others: an attacker who tries
    a name is slowed down at his own addresses only, and the holder of that name logs in from hers.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._a_minute, self._clock, self._lock = a_minute, clock, threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # name → what is left, and when

    def take(self, name: str) -> float:
        """Take one; 0 if there was one, else the seconds to wait."""
        with self._lock:
            left = self._left(name)
            if left < 1:
                return (1 - left) * 60 / self._a_minute
            self._keep(name, left - 1)
            return 0.0

    def wait(self, name: str) -> float:
        """The seconds until there is one; nothing is taken."""
        with self._lock:
            return max(0.0, (1 - self._left(name)) * 60 / self._a_minute)

    def _left(self, name: str) -> float:
        left, at = self._buckets.get(name, (float(self._a_minute), self._clock()))
        return min(float(self._a_minute), left + (self._clock() - at) * self._a_minute / 60)

    def _keep(self, name: str, left: float) -> None:
        self._buckets[name] = (left, self._clock())
        self._buckets.move_to_end(name)
        while len(self._buckets) > _MOST_KNOWN:
            self._buckets.popitem(last=False)
