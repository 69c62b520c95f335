"""Counters in the text format of Prometheus: functions of public facts. What depends on runs is for the owner only."""

from __future__ import annotations

import threading
from collections import Counter
from typing import final


@final
class Metrics:
    """How many requests each route had, by status, and what the queue and the ledgers hold."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._lock = threading.Lock()

    def request(self, method: str, route: str, status: int) -> None:
        """Count a request."""
        with self._lock:
            self._requests[method, route, status] += 1

    def text(self, gauges: dict[str, float]) -> str:
        """All counters and these gauges."""
        lines = ["# TYPE discreet_requests_total counter"]
        with self._lock:
            for (method, route, status), count in sorted(self._requests.items()):
                lines.append(f'discreet_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}')
        for name, value in gauges.items():
            lines += [f"# TYPE discreet_{name.split('{')[0]} gauge", f"discreet_{name} {value:g}"]
        return "\n".join(lines) + "\n"
