"""Ours, many groups: which of a file's pages may be named, and their counts. A case is a FILE; it gives groups named and peak memory."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

begin = time.perf_counter()
import discreet  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402

CONTRIBUTIONS = {"groups": 4, "per_group": 1}


def peak() -> float:
    """The most bytes of memory that this process had at once; not getrusage, which counts the parent's too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return float("nan") if found is None else 1024.0 * int(found[1])


def asked(path: str) -> list[float]:
    """From the file to rows of Python values."""
    question = f"SELECT page, COUNT(*) AS n FROM {Path(path).stem} GROUP BY page"
    with discreet.connect(path, unit="person", epsilon=10, delta=1e-5, contributions=CONTRIBUTIONS, ledger=":memory:") as db:
        return [float(len(db.sql(question).release(epsilon=1).rows)), peak()]


def case(name: str) -> Callable[[], list[float]]:
    """Read a case."""
    return lambda: asked(name)


serve("discreet", import_seconds, case)
