"""Ours, one client of a ledger. A case is "COUNT PLACE": it spends so many times and gives the seconds of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

begin = time.perf_counter()
from discreet import Pure  # noqa: E402
from discreet.ledger.ledger import Ledger, open_ledger  # noqa: E402
from discreet.ledger.terms import Terms  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402

PRICE = Pure("1/1000")


@cache
def opened(place: str) -> Ledger:
    """The ledger, begun by whoever comes first."""
    return open_ledger(place, Terms(10**9, 0, "person"))


def case(name: str) -> Callable[[], list[float]]:
    """Open the ledger, which is not in the time."""
    count, place = name.split(" ", 1)
    ledger = opened(place)

    def spend(number: int) -> float:
        start = time.perf_counter()
        ledger.spend(PRICE, question=f"question {number}")
        return time.perf_counter() - start

    return lambda: [spend(number) for number in range(int(count))]


serve("discreet", import_seconds, case)
