"""Counters in the text format of Prometheus: functions of public facts. What depends on runs is for the owner only."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import final

from attrs import frozen

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def known(method: str) -> str:
    """A method as it is counted and logged: clients can invent names without end."""
    return method if method in METHODS else "(other)"


@final
@frozen
class Gauge:
    """A number of now, perhaps of one data set."""

    name: str
    value: float
    dataset: str | None = None


@final
class Metrics:
    """How many requests each route had, by status, and what the queue and the ledgers hold."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._lock = threading.Lock()

    def request(self, method: str, route: str, status: int) -> None:
        """Count a request."""
        with self._lock:
            self._requests[known(method), route, status] += 1

    def text(self, gauges: Iterable[Gauge]) -> str:
        """All counters and these gauges."""
        lines = ["# TYPE discreet_requests_total counter"]
        with self._lock:
            for (method, route, status), count in sorted(self._requests.items()):
                lines.append(f'discreet_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}')
        typed: set[str] = set()
        for gauge in sorted(gauges, key=lambda one: one.name):
            if gauge.name not in typed:
                lines.append(f"# TYPE discreet_{gauge.name} gauge")
                typed.add(gauge.name)
            of = "" if gauge.dataset is None else f'{{dataset="{gauge.dataset.translate(_ESCAPED)}"}}'
            lines.append(f"discreet_{gauge.name}{of} {gauge.value!r}")
        return "\n".join(lines) + "\n"
