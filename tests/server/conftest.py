"""Fixtures of served data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served, make_server

from discreet.server.app import application
from discreet.server.datasets import DataSet


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server that is not listening."""
    found = make_server(tmp_path)
    yield found
    found.server.queue.close()
    found.server.datasets.close()
    found.server.database.close()


@pytest.fixture
def data(served: Served) -> DataSet:
    """Its data set."""
    found: DataSet = next(iter(served.server.datasets))
    return found


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    """A client of it, in this process."""
    with TestClient(application(served.server), raise_server_exceptions=False) as found:
        yield found
