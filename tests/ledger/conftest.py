"""A quick place for files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger.shelves import Files, Schemas, Shelf


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one: the tests that count on a real disk say so."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def shelf(request: pytest.FixtureRequest, place: Path) -> Shelf:
    """Somewhere to keep ledgers: what is asked of a ledger is asked of each."""
    return Files(place) if request.param == "sqlite" else Schemas(place, request.getfixturevalue("postgres"))


@pytest.fixture
def schemas(postgres: str, place: Path) -> Schemas:
    """PostgreSQL only."""
    return Schemas(place, postgres)
