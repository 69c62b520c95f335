"""The server's database in a file and in PostgreSQL: what is asked of one is asked of the other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database, open_database


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, place: Path) -> str:
    """An empty place for a database."""
    if request.param == "sqlite":
        return str(place / "server.db")
    address: str = request.getfixturevalue("postgres")
    with psycopg.connect(address, autocommit=True) as admin:
        admin.execute("DROP SCHEMA IF EXISTS discreet_server CASCADE")
    return address


@pytest.fixture
def database(where: str) -> Iterator[Database]:
    found = open_database(where)
    yield found
    found.close()


@pytest.fixture
def accounts(database: Database) -> Accounts:
    """An owner and ann."""
    found = Accounts(database)
    found.add("owner", "owner", None)
    found.add("ann", "analyst", "owner")
    return found
