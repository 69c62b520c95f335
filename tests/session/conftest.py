"""A file of visits for whoever asks, and sessions on it: here, or on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from session.served import policy, remote_session
from session.visits import connect, declared, table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(table(), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


@pytest.fixture(params=["local", "remote"])
def opened(request: pytest.FixtureRequest, path: Path) -> Iterator[Callable[..., Any]]:
    """Sessions on the file, each with a ledger of its own, as `connect` of `visits` opens them: whoever takes this is tested on both."""
    with ExitStack() as stack:

        def session(**more: Any) -> Any:
            if request.param == "local":
                return stack.enter_context(connect(path, ledger=":memory:", **more))
            return stack.enter_context(remote_session({"visits": pq.read_table(path)}, policy("visits", **declared(**more))))

        yield session
