"""Logs: one line of JSON an event, made of public facts. Why an engine failed goes to a file of its own, for the owner.

A request's line has its duration, which may depend on private rows. So the log, like the file of failures, is for the owner alone.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import IO, Any, Self, final

from discreet.server.metrics import known


@final
class Log:
    """Write events. No argument, key, row, address of a file or text of a question is ever among them."""

    def __init__(self, out: IO[str] | None, failures: Path | None) -> None:
        self._out, self._failures, self._lock = out, failures, threading.Lock()

    @classmethod
    def quiet(cls) -> Self:
        """A log that writes nothing."""
        return cls(None, None)

    @classmethod
    def to_screen(cls, failures: Path | None = None) -> Self:
        """A log on standard error."""
        return cls(sys.stderr, failures)

    def event(self, event: str, **facts: str | int | float | bool | None) -> None:
        """One line."""
        if self._out is not None:
            line = json.dumps({"at": _now(), "event": event, **facts})
            with self._lock:
                print(line, file=self._out, flush=True)

    def request(self, method: str, route: str, status: int, account: str | None, milliseconds: float | None) -> None:
        """A request, by its route and not by its path, which may contain what somebody typed."""
        facts: dict[str, Any] = {} if milliseconds is None else {"ms": round(milliseconds, 1)}
        self.event("request", method=known(method), route=route, status=status, account=account, **facts)

    def failed(self, job: str, error: BaseException) -> None:
        """A job that failed: its kind is an event; the reason, which may contain data, goes to the owner's file alone."""
        self.event("job failed", job=job, error=type(error).__name__)
        self._explain(f"job {job}", error)

    def crashed(self, route: str, error: BaseException) -> None:
        """A request that failed for a reason that nobody foresaw."""
        self.event("request failed", route=route, error=type(error).__name__)
        self._explain(f"request {route}", error)

    def engine_failed(self, dataset: str, error: BaseException) -> None:
        """An error of an engine, before it is dropped: only the owner's file has its text."""
        self.event("engine failed", dataset=dataset, error=type(error).__name__)
        self._explain(f"engine of {dataset}", error)

    def _explain(self, what: str, error: BaseException) -> None:
        self.explain(what, "".join(traceback.format_exception(error)))

    def explain(self, what: str, text: str) -> None:
        """A text that may contain data, for the owner's file alone."""
        if self._failures is not None:
            with self._lock, open(self._failures, "a", encoding="utf-8", errors="backslashreplace", opener=_private) as file:
                print(f"{_now()} {what}\n{text}", file=file)


@final
class Libraries(logging.Handler):
    """What libraries log: that they did is an event; what they said may contain data, and goes to the owner's file."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One record."""
        self._log.event("library", logger=record.name, level=record.levelname)
        self._log.explain(f"library {record.name}", self.format(record))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
