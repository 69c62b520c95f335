"""How processes share the tests (`pytest -n 2`): file by file, but all that needs Spark goes to one of them, and first.

A Spark takes ten seconds to start and gigabytes of memory, so one is enough; a PostgreSQL is light, so each process has its own. The mark
`xdist_group` would say the same, but pytest 9.2 no longer sees it (https://github.com/pytest-dev/pytest-xdist/issues/1386).
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

SPARK = "spark"


class ByFile(LoadScopeScheduling):
    """Whoever has nothing left to do takes the next file; those with few and long tests are not kept for the end."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the order of the collection, below

    def _split_scope(self, nodeid: str) -> str:
        return SPARK if asks_for_spark(nodeid) else nodeid.split("::", 1)[0]


def asks_for_spark(nodeid: str) -> bool:
    """Whether a test needs Spark: its name, a parameter's or its folder's says so."""
    return SPARK in nodeid


def in_order(items: list[pytest.Item]) -> None:
    """Put the tests that need Spark first, and see that each can be told by its name."""
    for item in items:
        if SPARK in getattr(item, "fixturenames", ()) and not asks_for_spark(item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} needs Spark: say so in its name, so that all such tests run in one process")
    items.sort(key=lambda item: not asks_for_spark(item.nodeid))
