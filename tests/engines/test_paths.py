"""Folders of patterns, and columns that only folder names hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.engines.paths import fixed_folder, require_no_partitions
from discreet.errors import EngineError


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [("/data/*.parquet", "/data"), ("/data/y=*/m/*.parquet", "/data"), ("/data/[ab]/x", "/data"), ("/data/visits.parquet", "/data")],
)
def test_the_folder_before_the_first_wildcard(pattern: str, folder: str) -> None:
    assert fixed_folder(Path(pattern)) == Path(folder)


def test_partition_columns_that_files_store_are_fine() -> None:
    require_no_partitions("t", {"year=2024", "plain"}, ["year", "cost"], "")


def test_partition_columns_that_no_file_stores_are_refused() -> None:
    with pytest.raises(EngineError) as caught:
        require_no_partitions("t", {"year=2024", "year=2025", "dept=a"}, ["cost"], ", or do that")
    assert str(caught.value) == (
        "t: dept, year is stored only in folder names (dept=…), which are not read as columns: write the files again with this column in "
        "them, or do that"
    )
    with pytest.raises(EngineError, match=r"c0, c1, c2, c3, c4 and 2 more is stored"):
        require_no_partitions("t", {f"c{i}=1" for i in range(7)}, [], "")
