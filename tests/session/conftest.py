"""A file of visits for whoever asks."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from session.visits import table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(table(), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"
