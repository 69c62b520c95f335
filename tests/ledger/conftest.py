"""A quick place for files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one: the tests that count on a real disk say so."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
