"""The versions of engines that the tests cover; others are not opened."""

from __future__ import annotations

from typing import TypeAlias

from discreet.errors import EngineError

Version: TypeAlias = tuple[int, int]


def require_tested(engine: str, version: str, first: Version, end: Version, advice: str) -> None:
    """Raise EngineError unless first ≤ version < end, by the first two numbers of the version.

    >>> require_tested("DuckDB", "1.4.1", (2, 0), (3, 0), "install duckdb>=2,<3")
    Traceback (most recent call last):
    discreet.errors.EngineError: engine version outside the tested range: DuckDB 1.4.1; install duckdb>=2,<3
    """
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not first <= numbers < end:
        raise EngineError(f"engine version outside the tested range: {engine} {version}; {advice}")
